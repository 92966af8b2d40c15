"""What a decision makes the host do outside: dispatch once, ask for the effect, record both.

Nothing here decides; whatever stays uncertain is told to the caller, who asks the memory again.
"""

from dataclasses import dataclass, field
from typing import Protocol

import grpc
import structlog

from memqual.v1 import (
    agent_pb2,
    common_pb2,
    continuity_pb2,
    destination_pb2,
    observer_pb2,
)
from services.agent.clients import CallScope, Clients, code_of
from services.agent.decisions import Grant, Query
from services.agent.events import HostEvents
from services.agent.operations import (
    DefiniteAnswer,
    answer_of_invoke,
    answer_of_query,
    not_after_unix_ns,
    receipt_of,
)
from services.agent.state import PendingCall
from services.agent.stops import Failed

__all__ = ["CallRecord", "Effects", "Operation"]

# After this the destination has not applied this dispatch and never will.
REFUSED_DISPATCH_CODE = grpc.StatusCode.FAILED_PRECONDITION
# Nor after these; and asking again would meet the same refusal.
BAD_DISPATCH_CODES = frozenset({grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND})
COMPLETING_DISPOSITIONS = frozenset(
    {
        continuity_pb2.RECEIPT_DISPOSITION_COMPLETED,
        continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED,
    }
)
KNOWN_DISPOSITIONS = COMPLETING_DISPOSITIONS | {continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY}
ABSENT_PRESENCES = frozenset(
    {common_pb2.EFFECT_PRESENCE_ABSENT_FINAL, common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN}
)

_log = structlog.get_logger(__name__)


class CallRecord(Protocol):
    """What this process keeps of an operation, for Status."""

    def decided(
        self,
        operation_id: str,
        kind: "continuity_pb2.DecisionKind.ValueType",
        reason_code: str,
        attempt: int,
    ) -> None:
        """The latest decision; `attempt` is 0 where the kind carries none."""

    def first_dispatch(self, operation_id: str, attempt: int) -> bool:
        """Notes a dispatch; False when this process dispatched that attempt before."""


@dataclass(slots=True)
class Operation:
    """One governed call while it is worked on.

    Attributes:
        workflow: the workflow as it was started.
        call: the call.
        tool: what the destination said of the tool.
        spec: what the memory is asked about.
        record: what Status tells.
        settled: operations whose results the checkpoint holds.
        attempt: latest attempt granted or asked about; 0 before.
    """

    workflow: agent_pb2.Workflow
    call: PendingCall
    tool: destination_pb2.DescribeToolResponse
    spec: continuity_pb2.OperationSpec
    record: CallRecord
    settled: tuple[str, ...] = ()
    attempt: int = field(default=0)

    @property
    def scope(self) -> CallScope:
        """Metadata of the operation's next call."""
        return CallScope.of(self.workflow, self.call, self.attempt)


class Effects:
    """Does what decisions say, for all workflows of one life of the host."""

    def __init__(self, clients: Clients, events: HostEvents, incarnation_id: str) -> None:
        self._clients = clients
        self._events = events
        self._incarnation_id = incarnation_id

    def dispatch(self, operation: Operation, grant: Grant) -> DefiniteAnswer | None:
        """Dispatches a granted attempt and records its receipt.

        Returns:
            The answer, when it is definite and the memory has the operation complete; None when the
            memory is to be asked again.

        Raises:
            Failed: the attempt was dispatched before, the call is malformed, or the memory
                acknowledged the receipt with nothing.
        """
        call, spec = operation.call, operation.spec
        if not operation.record.first_dispatch(call.operation_id, grant.attempt):
            raise Failed(
                grpc.StatusCode.INTERNAL,
                "malformed_decision: execute with an attempt that was dispatched already",
            )
        request = destination_pb2.InvokeRequest(
            workflow_id=operation.workflow.workflow_id,
            operation_id=call.operation_id,
            attempt=grant.attempt,
            tool=call.tool,
            arguments_json=call.arguments_json,
            not_after_unix_ns=not_after_unix_ns(operation.tool, grant.remaining_lease_ms),
            idempotency_key=spec.idempotency_key,
        )
        self._emit(operation, observer_pb2.EVENT_KIND_DISPATCHED)
        try:
            response = self._clients.invoke(request, operation.scope)
        except grpc.RpcError as error:
            self._after_failed_dispatch(operation, error)
            return None
        answer = answer_of_invoke(response, grant.attempt)
        if answer is None:
            _log.warning("malformed_result", operation=call.operation_id, attempt=grant.attempt)
            return None
        self._emit(operation, observer_pb2.EVENT_KIND_RESULT_RECEIVED)
        return answer if self._record_receipt(operation, grant, answer) else None

    def _after_failed_dispatch(self, operation: Operation, error: grpc.RpcError) -> None:
        code = code_of(error)
        _log.info(
            "dispatch_failed",
            workflow=operation.workflow.workflow_id,
            operation=operation.call.operation_id,
            attempt=operation.attempt,
            code=code.name,
            outcome="refused" if code is REFUSED_DISPATCH_CODE else "uncertain",
        )
        if code in BAD_DISPATCH_CODES:
            raise Failed(code, "invoke") from error

    def _record_receipt(self, operation: Operation, grant: Grant, answer: DefiniteAnswer) -> bool:
        """True when the memory has the operation complete; otherwise it is to be asked again."""
        request = continuity_pb2.RecordReceiptRequest(
            namespace=operation.workflow.namespace,
            operation_id=operation.call.operation_id,
            incarnation_id=self._incarnation_id,
            attempt=grant.attempt,
            lease_token=grant.lease_token,
            receipt=receipt_of(operation.spec, answer),
        )
        try:
            response = self._clients.record_receipt(request, operation.scope)
        except grpc.RpcError as error:
            self._log_unrecorded(operation, "receipt", error)
            return False
        if response.disposition not in KNOWN_DISPOSITIONS:
            raise Failed(grpc.StatusCode.INTERNAL, "malformed_acknowledgement: no disposition")
        self._emit(operation, observer_pb2.EVENT_KIND_RECEIPT_RECORDED)
        return response.disposition in COMPLETING_DISPOSITIONS

    def query(self, operation: Operation, query: Query) -> None:
        """Asks the destination for the effect and tells the memory what it said."""
        presence, answer = self._effect(operation, query)
        request = continuity_pb2.RecordQueryRequest(
            namespace=operation.workflow.namespace,
            operation_id=operation.call.operation_id,
            incarnation_id=self._incarnation_id,
            attempt=query.attempt,
            query_ticket=query.ticket,
            presence=presence,
            receipt=None if answer is None else receipt_of(operation.spec, answer),
        )
        try:
            self._clients.record_query(request, operation.scope)
        except grpc.RpcError as error:
            self._log_unrecorded(operation, "query", error)

    def _effect(
        self, operation: Operation, query: Query
    ) -> "tuple[common_pb2.EffectPresence.ValueType, DefiniteAnswer | None]":
        request = destination_pb2.QueryEffectRequest(
            workflow_id=operation.workflow.workflow_id,
            operation_id=operation.call.operation_id,
            fence_attempt=query.attempt,
        )
        try:
            response = self._clients.query_effect(request, operation.scope)
        except grpc.RpcError as error:
            _log.info(
                "query_failed",
                workflow=operation.workflow.workflow_id,
                operation=operation.call.operation_id,
                code=code_of(error).name,
            )
            return common_pb2.EFFECT_PRESENCE_UNKNOWN, None
        answer = answer_of_query(response, query.attempt)
        if answer is not None:
            return common_pb2.EFFECT_PRESENCE_PRESENT, answer
        if response.presence in ABSENT_PRESENCES:
            return response.presence, None
        # PRESENT without its result, or no presence at all: nothing was learnt.
        return common_pb2.EFFECT_PRESENCE_UNKNOWN, None

    def _log_unrecorded(self, operation: Operation, what: str, error: grpc.RpcError) -> None:
        _log.warning(
            "not_recorded",
            what=what,
            workflow=operation.workflow.workflow_id,
            operation=operation.call.operation_id,
            attempt=operation.attempt,
            code=code_of(error).name,
        )

    def _emit(self, operation: Operation, kind: "observer_pb2.EventKind.ValueType") -> None:
        self._events.emit(
            operation.workflow,
            kind,
            operation_id=operation.call.operation_id,
            attempt=operation.attempt,
        )
