"""ContinuityService over gRPC: checks formats, asks `Operations` and `Resolutions`, reports."""

import grpc

from memqual.v1 import continuity_pb2, continuity_pb2_grpc
from services.common.errors import ServiceError
from services.common.limits import check_attempt, check_id
from services.memory.answers import Decision as DecisionValue
from services.memory.answers import Execute, Query, QueryCall, ReceiptCall, RenewCall, Reuse
from services.memory.formats import Formats
from services.memory.messages import (
    check_key,
    decision_kind,
    decision_message,
    disposition_message,
    operation_message,
    presence_from,
    remaining_ms,
)
from services.memory.operations import Operations
from services.memory.reporting import Reporter
from services.memory.resolutions import Resolutions

__all__ = ["ContinuityServicer"]

# Below the server's limit on what it sends (4 MiB).
LISTED_BYTES = 4_000_000


class ContinuityServicer(continuity_pb2_grpc.ContinuityServiceServicer):
    """The contract's ContinuityService; statuses as continuity.proto names them."""

    def __init__(
        self,
        operations: Operations,
        resolutions: Resolutions,
        reporter: Reporter,
        formats: Formats | None = None,
    ) -> None:
        """Serves these operations; telemetry goes to the reporter; formats read requests."""
        self._formats = formats or Formats()
        self._operations = operations
        self._resolutions = resolutions
        self._reporter = reporter

    def Begin(
        self, request: continuity_pb2.BeginRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.BeginResponse:
        """Decides, and grants the attempt when the decision is EXECUTE."""
        binding = self._formats.binding(request.spec)
        check_id("incarnation_id", request.incarnation_id)
        check_id("begin_id", request.begin_id)
        settled = self._formats.settled(request)
        decision = self._operations.begin(
            binding, request.incarnation_id, request.begin_id, settled
        )
        self._reporter.decided(binding, _attempt_named(decision))
        return continuity_pb2.BeginResponse(decision=decision_message(decision))

    def Peek(
        self, request: continuity_pb2.PeekRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.PeekResponse:
        """The kind that a fresh Begin would answer now."""
        binding = self._formats.binding(request.spec)
        check_id("incarnation_id", request.incarnation_id)
        decision = self._operations.peek(
            binding, request.incarnation_id, self._formats.settled(request)
        )
        return continuity_pb2.PeekResponse(
            kind=decision_kind(decision), reason_code=decision.reason.value
        )

    def Renew(
        self, request: continuity_pb2.RenewRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RenewResponse:
        """Extends a live lease."""
        check_key(request.namespace, request.operation_id)
        call = RenewCall(
            incarnation_id=check_id("incarnation_id", request.incarnation_id),
            attempt=check_attempt("attempt", request.attempt),
            lease_token=check_id("lease_token", request.lease_token),
        )
        step = self._operations.renew(request.namespace, request.operation_id, call)
        return continuity_pb2.RenewResponse(
            remaining_lease_ms=remaining_ms(step.remaining_ns),
            remaining_renewals=step.remaining_renewals,
        )

    def RecordReceipt(
        self, request: continuity_pb2.RecordReceiptRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RecordReceiptResponse:
        """Takes what the destination answered to a dispatch."""
        check_key(request.namespace, request.operation_id)
        call = ReceiptCall(
            incarnation_id=check_id("incarnation_id", request.incarnation_id),
            attempt=check_attempt("attempt", request.attempt),
            lease_token=check_id("lease_token", request.lease_token),
            receipt=self._formats.receipt(request.receipt),
        )
        operation, disposition = self._operations.record_receipt(
            request.namespace, request.operation_id, call
        )
        self._reporter.recorded(operation, call.attempt)
        return continuity_pb2.RecordReceiptResponse(disposition=disposition_message(disposition))

    def RecordQuery(
        self, request: continuity_pb2.RecordQueryRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RecordQueryResponse:
        """Takes what the destination answered to a question."""
        check_key(request.namespace, request.operation_id)
        incarnation_id = check_id("incarnation_id", request.incarnation_id)
        presence, receipt = presence_from(request)
        call = QueryCall(
            attempt=check_attempt("attempt", request.attempt),
            query_ticket=check_id("query_ticket", request.query_ticket),
            presence=presence,
            receipt=receipt,
        )
        operation = self._operations.record_query(
            request.namespace, request.operation_id, incarnation_id, call
        )
        self._reporter.recorded(operation, call.attempt)
        return continuity_pb2.RecordQueryResponse()

    def RequestResolve(
        self, request: continuity_pb2.RequestResolveRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.RequestResolveResponse:
        """Issues the challenge that an operator signs."""
        check_key(request.namespace, request.operation_id)
        principal = check_id("principal", request.principal)
        challenge = self._resolutions.request(request.namespace, request.operation_id, principal)
        return continuity_pb2.RequestResolveResponse(challenge=challenge)

    def Resolve(
        self, request: continuity_pb2.ResolveRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.ResolveResponse:
        """Takes the operator's signed decision."""
        self._resolutions.resolve(request)
        return continuity_pb2.ResolveResponse()

    def GetOperation(
        self, request: continuity_pb2.GetOperationRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.GetOperationResponse:
        """What is kept of one operation."""
        check_key(request.namespace, request.operation_id)
        operation = self._operations.get(request.namespace, request.operation_id)
        return continuity_pb2.GetOperationResponse(operation=operation_message(operation))

    def ListOperations(
        self, request: continuity_pb2.ListOperationsRequest, context: grpc.ServicerContext
    ) -> continuity_pb2.ListOperationsResponse:
        """What is kept of one workflow, in order of first sight."""
        check_id("namespace", request.namespace)
        check_id("workflow_id", request.workflow_id)
        operations = self._operations.list_workflow(request.namespace, request.workflow_id)
        response = continuity_pb2.ListOperationsResponse(
            operations=[operation_message(operation) for operation in operations]
        )
        if response.ByteSize() > LISTED_BYTES:
            raise ServiceError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "the workflow's receipts are too large for one answer; use GetOperation",
            )
        return response


def _attempt_named(decision: DecisionValue) -> int:
    match decision:
        case Execute() | Query():
            return decision.attempt
        case Reuse():
            return decision.receipt.attempt
        case _:
            return 0
