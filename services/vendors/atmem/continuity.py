"""ContinuityService over atmem's continuity vaults (CAPABILITIES.md, "Continuity")."""

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

import grpc

from memqual.v1 import continuity_pb2, continuity_pb2_grpc
from services.common.canonical import JsonObject
from services.common.errors import ServiceError
from services.vendors.atmem import arriving, names
from services.vendors.atmem.decisions import decide, paused, rejected, remaining_ms
from services.vendors.atmem.definitions import definition_of, spec_of
from services.vendors.atmem.model import (
    RENEWALS_MAX,
    NativeOperation,
    NativeOutcome,
    NativeRefusal,
    OperationStatus,
    WorkflowsPort,
)
from services.vendors.atmem.receipts import (
    answered,
    disposition_of,
    execution_of,
    native_receipt,
    question_of,
    receipt_message,
    same_receipt,
)
from services.vendors.atmem.refusals import (
    CLOCK_BEHIND,
    KEY_CONFLICT,
    known_rule,
    service_error,
)
from services.vendors.atmem.vaults import Vaults

__all__ = ["ContinuityServicer"]

_KNOWN_MAX: Final = 10_000
_STATES: Final = {
    OperationStatus.PENDING: continuity_pb2.OPERATION_STATE_NEW,
    OperationStatus.UNCERTAIN: continuity_pb2.OPERATION_STATE_GRANTED,
    OperationStatus.COMPLETED: continuity_pb2.OPERATION_STATE_COMPLETED,
    OperationStatus.ABANDONED: continuity_pb2.OPERATION_STATE_ABANDONED,
}

OpenWorkflows = Callable[[Path], WorkflowsPort]


class ContinuityServicer(continuity_pb2_grpc.ContinuityServiceServicer):
    """One atmem workflow for each operation; statuses as continuity.proto names them."""

    def __init__(
        self,
        vaults: Vaults,
        open_workflows: OpenWorkflows,
        read_clock_seconds: Callable[[], float] = time.time,
    ) -> None:
        """Serves the vaults; `read_clock_seconds` is the clock that atmem's leases run on."""
        self._vaults = vaults
        self._open = open_workflows
        self._now = read_clock_seconds
        self._known = _KnownDefinitions()

    def Begin(
        self, request: continuity_pb2.BeginRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.BeginResponse:
        """Creates the workflow on first sight, then asks atmem to begin its call."""
        arriving.check_begin(request)
        spec = request.spec
        run_id = names.run_id(request.incarnation_id)
        # As atmem's own client does: a new one for each `begin`. An id that was used is blocked
        # for ever, and the contract's begin ids may come again.
        attempt_id = f"attempt_{uuid.uuid4().hex}"
        with self._vaults.lock(spec.namespace):
            decision = self._begin(spec, run_id, attempt_id)
        return continuity_pb2.BeginResponse(decision=decision)

    def _begin(
        self, spec: continuity_pb2.OperationSpec, run_id: str, attempt_id: str
    ) -> continuity_pb2.Decision:
        workflows = self._workflows(spec.namespace, make=True)
        try:
            before = workflows.create(names.workflow_key(spec.operation_id), definition_of(spec))
        except NativeRefusal as refusal:
            if known_rule(refusal) is KEY_CONFLICT:
                return rejected()
            raise service_error(refusal) from refusal
        self._known.put(spec.namespace, spec.operation_id, before.definition)
        try:
            answer = workflows.begin(before.workflow_id, run_id, attempt_id)
        except NativeRefusal as refusal:
            if known_rule(refusal) is CLOCK_BEHIND:
                return paused(before, self._now())
            raise service_error(refusal) from refusal
        return decide(before, answer, self._now())

    def Renew(
        self, request: continuity_pb2.RenewRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RenewResponse:
        """Extends a live lease."""
        arriving.check_renew(request)
        with self._vaults.lock(request.namespace):
            workflows, before = self._find(request.namespace, request.operation_id)
            attempt = execution_of(before, request.attempt)
            try:
                until_seconds = workflows.renew(
                    before.workflow_id,
                    request.lease_token,
                    run_id=names.run_id(request.incarnation_id),
                    attempt_id=attempt.attempt_id,
                )
            except NativeRefusal as refusal:
                if known_rule(refusal) is CLOCK_BEHIND:
                    # Definite: the lease stays as it is, and trying again may come too late.
                    raise ServiceError(
                        grpc.StatusCode.FAILED_PRECONDITION, f"atmem: {CLOCK_BEHIND.text}"
                    ) from refusal
                raise service_error(refusal) from refusal
            return continuity_pb2.RenewResponse(
                remaining_lease_ms=remaining_ms(until_seconds, self._now()),
                remaining_renewals=max(0, RENEWALS_MAX - attempt.renewals - 1),
            )

    def RecordReceipt(
        self, request: continuity_pb2.RecordReceiptRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RecordReceiptResponse:
        """Gives atmem the outcome of an attempt to execute."""
        arriving.check_record_receipt(request)
        with self._vaults.lock(request.namespace):
            workflows, before = self._find(request.namespace, request.operation_id)
            attempt = execution_of(before, request.attempt)
            sent = native_receipt(request.receipt, before)
            try:
                outcome = workflows.outcome(
                    before.workflow_id,
                    request.lease_token,
                    sent,
                    run_id=names.run_id(request.incarnation_id),
                    attempt_id=attempt.attempt_id,
                )
            except NativeRefusal as refusal:
                raise service_error(refusal) from refusal
        return continuity_pb2.RecordReceiptResponse(
            disposition=disposition_of(before, outcome, sent, attempt)
        )

    def RecordQuery(
        self, request: continuity_pb2.RecordQueryRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RecordQueryResponse:
        """Gives atmem the outcome of an attempt to query."""
        arriving.check_record_query(request)
        receipt = request.receipt if request.HasField("receipt") else None
        with self._vaults.lock(request.namespace):
            workflows, before = self._find(request.namespace, request.operation_id)
            attempt = question_of(before, request.attempt)
            sent = answered(request.presence, receipt, before)
            try:
                outcome: NativeOutcome = workflows.outcome(
                    before.workflow_id,
                    request.query_ticket,
                    sent,
                    run_id=names.run_id(request.incarnation_id),
                    attempt_id=attempt.attempt_id,
                )
            except NativeRefusal as refusal:
                raise service_error(refusal) from refusal
        if not outcome.accepted and not same_receipt(before.receipt, sent):
            raise ServiceError(
                grpc.StatusCode.PERMISSION_DENIED, "atmem: stale lease of the question"
            )
        return continuity_pb2.RecordQueryResponse()

    def GetOperation(
        self, request: continuity_pb2.GetOperationRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.GetOperationResponse:
        """What atmem keeps of one operation."""
        arriving.check_key(request.namespace, request.operation_id)
        with self._vaults.lock(request.namespace):
            _, operation = self._find(request.namespace, request.operation_id)
        return continuity_pb2.GetOperationResponse(operation=_record(operation))

    def ListOperations(
        self, request: continuity_pb2.ListOperationsRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.ListOperationsResponse:
        """What atmem keeps of one workflow of the contract, in order of first sight."""
        arriving.check_list_operations(request)
        response = continuity_pb2.ListOperationsResponse()
        with self._vaults.lock(request.namespace):
            if not self._vaults.continuity(request.namespace).exists():
                return response
            workflows = self._workflows(request.namespace, make=False)
            try:
                found = [workflows.get(one) for one in workflows.workflow_ids().values()]
            except NativeRefusal as refusal:
                raise service_error(refusal) from refusal
        records = (_record(operation) for operation in found)
        response.operations.extend(
            record for record in records if record.spec.workflow_id == request.workflow_id
        )
        return response

    def Peek(self, request: continuity_pb2.PeekRequest, context: grpc.ServicerContext) -> NoReturn:
        """Not in atmem: begin decides and grants in one."""
        raise _unimplemented("atmem decides and grants in one call")

    def RequestResolve(
        self, request: continuity_pb2.RequestResolveRequest, context: grpc.ServicerContext
    ) -> NoReturn:
        """Not in atmem: it has no operator's word but abandon, and no challenge."""
        raise _unimplemented("atmem issues no challenge for an operator")

    def Resolve(
        self, request: continuity_pb2.ResolveRequest, context: grpc.ServicerContext
    ) -> NoReturn:
        """Not in atmem, as RequestResolve."""
        raise _unimplemented("atmem issues no challenge for an operator")

    def _workflows(self, namespace: str, *, make: bool) -> WorkflowsPort:
        folder = self._vaults.continuity(namespace)
        if not make and not folder.exists():
            raise _unknown()
        try:
            return self._open(folder)
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal

    def _find(self, namespace: str, operation_id: str) -> tuple[WorkflowsPort, NativeOperation]:
        """An operation by the contract's id; the caller holds the namespace's lock.

        A repeat of `create` is how atmem shows a call without writing: `get` seals an audit entry
        for each look. It needs the definition, so `get` is used once for what is not known here.
        """
        workflows = self._workflows(namespace, make=False)
        workflow_key = names.workflow_key(operation_id)
        definition = self._known.get(namespace, operation_id)
        try:
            if definition is not None:
                return workflows, workflows.create(workflow_key, definition)
            workflow_id = workflows.workflow_ids().get(workflow_key)
            if workflow_id is None:
                raise _unknown()
            operation = workflows.get(workflow_id)
        except NativeRefusal as refusal:
            raise service_error(refusal) from refusal
        self._known.put(namespace, operation_id, operation.definition)
        return workflows, operation

    def forget(self, namespace: str) -> None:
        """Forgets a namespace's operations; the caller holds its lock and removed its vault."""
        self._known.drop(namespace)


class _KnownDefinitions:
    """Definitions of operations seen lately, as atmem keeps them; the rest is in the vault."""

    def __init__(self) -> None:
        self._definitions: OrderedDict[tuple[str, str], JsonObject] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, namespace: str, operation_id: str) -> JsonObject | None:
        with self._lock:
            return self._definitions.get((namespace, operation_id))

    def put(self, namespace: str, operation_id: str, definition: JsonObject) -> None:
        with self._lock:
            self._definitions[namespace, operation_id] = definition
            self._definitions.move_to_end((namespace, operation_id))
            if len(self._definitions) > _KNOWN_MAX:
                self._definitions.popitem(last=False)

    def drop(self, namespace: str) -> None:
        with self._lock:
            for key in [key for key in self._definitions if key[0] == namespace]:
                del self._definitions[key]


def _record(operation: NativeOperation) -> continuity_pb2.OperationRecord:
    record = continuity_pb2.OperationRecord(
        spec=spec_of(operation.definition),
        state=_STATES[operation.status],
        attempt=len(operation.executions),
    )
    if operation.receipt is not None:
        record.receipt.CopyFrom(receipt_message(operation.receipt))
    return record


def _unknown() -> ServiceError:
    return ServiceError(grpc.StatusCode.NOT_FOUND, "no such operation")


def _unimplemented(why: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.UNIMPLEMENTED, why)
