"""The gRPC handlers: requests are checked for form, the engine decides, answers become messages."""

from collections.abc import Iterator

import grpc

from memqual.v1 import common_pb2, destination_pb2, destination_pb2_grpc
from services.common import clock
from services.common.canonical import sha256_hex
from services.common.errors import ServiceError
from services.common.limits import (
    check_attempt,
    check_id,
    check_json_object,
    check_optional_id,
)
from services.destination.engine import Engine
from services.destination.model import (
    Applied,
    Capability,
    Invocation,
    InvokeAnswer,
    Presence,
    QueryQuestion,
    Read,
    Refusal,
    Refused,
    ToolFailed,
    WorkflowRules,
)
from services.destination.sent import SentRecorder
from services.destination.settings import check_settings
from services.destination.tools.retail.module import Retail
from services.destination.tools.retail.store import StateDigests

__all__ = ["AuditHandlers", "DestinationHandlers"]

_CONFIGURE_FIRST = "the workflow is not configured; call ConfigureWorkflow on the audit port first"
_STATUSES: dict[Refusal, tuple[grpc.StatusCode, str]] = {
    Refusal.NO_SUCH_TOOL: (grpc.StatusCode.NOT_FOUND, "no such tool"),
    Refusal.UNCONFIGURED: (grpc.StatusCode.FAILED_PRECONDITION, _CONFIGURE_FIRST),
    Refusal.FENCED: (
        grpc.StatusCode.FAILED_PRECONDITION,
        "fenced: a query said that this attempt will never apply; begin a later attempt",
    ),
    Refusal.TOO_LATE: (
        grpc.StatusCode.FAILED_PRECONDITION,
        "too late: the call arrived after its not_after; begin again",
    ),
    Refusal.ATTEMPT_APPLIED: (
        grpc.StatusCode.FAILED_PRECONDITION,
        "this attempt was applied before; ask the memory what became of it",
    ),
    Refusal.NOT_QUERYABLE: (
        grpc.StatusCode.FAILED_PRECONDITION,
        "this workflow's capability is not QUERY; DescribeTool tells what it is",
    ),
}
_PRESENCES = {
    Presence.PRESENT: common_pb2.EFFECT_PRESENCE_PRESENT,
    Presence.ABSENT_FINAL: common_pb2.EFFECT_PRESENCE_ABSENT_FINAL,
    Presence.ABSENT_UNCERTAIN: common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
}
_CAPABILITIES = {
    Capability.NONE: common_pb2.EFFECT_CAPABILITY_NONE,
    Capability.QUERY: common_pb2.EFFECT_CAPABILITY_QUERY,
    Capability.IDEMPOTENT: common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
}


def _refusal_error(refusal: Refusal) -> ServiceError:
    return ServiceError(*_STATUSES[refusal])


class DestinationHandlers(destination_pb2_grpc.DestinationServiceServicer):
    """What the agent host calls."""

    def __init__(self, name: str, engine: Engine, sent: SentRecorder) -> None:
        self._name = name
        self._engine = engine
        self._sent = sent

    def DescribeTool(
        self, request: destination_pb2.DescribeToolRequest, context: grpc.ServicerContext
    ) -> destination_pb2.DescribeToolResponse:
        """Tells what holds for a workflow and tool."""
        check_id("workflow_id", request.workflow_id)
        tool = self._engine.registry.find(check_id("tool", request.tool))
        if tool is None:
            raise _refusal_error(Refusal.NO_SUCH_TOOL)
        rules = self._engine.rules_of(request.workflow_id)
        if rules is None:
            raise _refusal_error(Refusal.UNCONFIGURED)
        return destination_pb2.DescribeToolResponse(
            destination=self._name,
            capability=_CAPABILITIES[rules.capability],
            retention_seconds=rules.retention_seconds,
            now_unix_ns=clock.wall_ns(),
            read_only=tool.read_only,
        )

    def Invoke(
        self, request: destination_pb2.InvokeRequest, context: grpc.ServicerContext
    ) -> destination_pb2.InvokeResponse:
        """Calls a tool."""
        call = _invocation(request)
        answer = self._engine.invoke(call)
        # gRPC calls back when the call ends, its answer written to the transport; it refuses the
        # callback when the caller has gone already.
        context.add_callback(lambda: self._sent.add(call, answer.call_sequence))
        return _invoke_response(answer)

    def QueryEffect(
        self, request: destination_pb2.QueryEffectRequest, context: grpc.ServicerContext
    ) -> destination_pb2.QueryEffectResponse:
        """Tells whether an operation's effect is there."""
        question = QueryQuestion(
            workflow_id=check_id("workflow_id", request.workflow_id),
            operation_id=check_id("operation_id", request.operation_id),
            fence_attempt=check_attempt("fence_attempt", request.fence_attempt),
        )
        answer = self._engine.query(question)
        if isinstance(answer, Refused):
            raise _refusal_error(answer.reason)
        return destination_pb2.QueryEffectResponse(
            presence=_PRESENCES[answer.presence],
            result=_tool_result(answer.effect) if answer.effect else None,
        )


class AuditHandlers(destination_pb2_grpc.DestinationAuditServiceServicer):
    """What the evaluator calls."""

    def __init__(self, engine: Engine, sent: SentRecorder, retail: Retail) -> None:
        self._engine = engine
        self._sent = sent
        self._retail = retail

    def ConfigureWorkflow(
        self, request: destination_pb2.ConfigureWorkflowRequest, context: grpc.ServicerContext
    ) -> destination_pb2.ConfigureWorkflowResponse:
        """Sets how the destination behaves for workflows."""
        rules: list[WorkflowRules] = check_settings(request.settings)
        self._engine.configure(rules)
        return destination_pb2.ConfigureWorkflowResponse()

    def ReadJournal(
        self, request: destination_pb2.ReadJournalRequest, context: grpc.ServicerContext
    ) -> Iterator[destination_pb2.ReadJournalResponse]:
        """Streams the journal, with the answers that gRPC has reported as sent until now."""
        self._sent.flush()
        for record in self._engine.journal(request.from_sequence):
            yield destination_pb2.ReadJournalResponse(record=record.to_proto())

    def ReadStateHash(
        self, request: destination_pb2.ReadStateHashRequest, context: grpc.ServicerContext
    ) -> destination_pb2.ReadStateHashResponse:
        """Digest of what the tools have done."""
        workflow_id = check_optional_id("workflow_id", request.workflow_id)
        response = destination_pb2.ReadStateHashResponse(
            digest=self._engine.state_hash(workflow_id or None)
        )
        if request.with_retail_store:
            digests = self._retail_digests(workflow_id)
            response.retail_compact_digest = digests.compact
            response.retail_spaced_digest = digests.spaced
        return response

    def _retail_digests(self, workflow_id: str) -> StateDigests:
        if not workflow_id:
            raise ServiceError(
                grpc.StatusCode.INVALID_ARGUMENT, "with_retail_store needs a workflow_id"
            )
        with self._engine.reading() as connection:
            return self._retail.digests(connection, workflow_id)

    def ReadClock(
        self, request: destination_pb2.ReadClockRequest, context: grpc.ServicerContext
    ) -> destination_pb2.ReadClockResponse:
        """The destination's clocks."""
        return destination_pb2.ReadClockResponse(clock=clock.reading())


def _invocation(request: destination_pb2.InvokeRequest) -> Invocation:
    if request.not_after_unix_ns < 0:
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT,
            "not_after_unix_ns is negative; send 0 for no bound",
        )
    arguments = check_json_object("arguments_json", request.arguments_json)
    return Invocation(
        workflow_id=check_id("workflow_id", request.workflow_id),
        operation_id=check_id("operation_id", request.operation_id),
        attempt=check_attempt("attempt", request.attempt),
        tool=check_id("tool", request.tool),
        arguments=arguments,
        # The text is canonical, so its bytes are what the digest covers.
        arguments_digest=sha256_hex(request.arguments_json.encode("utf-8")),
        not_after_unix_ns=request.not_after_unix_ns,
        idempotency_key=check_optional_id("idempotency_key", request.idempotency_key),
    )


def _tool_result(effect: Applied) -> destination_pb2.ToolResult:
    return destination_pb2.ToolResult(
        result_json=effect.result_json, effect_id=effect.effect_id, replayed=effect.replayed
    )


def _invoke_response(answer: InvokeAnswer) -> destination_pb2.InvokeResponse:
    match answer.outcome:
        case Applied() as effect:
            return destination_pb2.InvokeResponse(result=_tool_result(effect))
        case Read(result_json):
            return destination_pb2.InvokeResponse(
                result=destination_pb2.ToolResult(result_json=result_json)
            )
        case ToolFailed(code, message):
            return destination_pb2.InvokeResponse(
                tool_error=destination_pb2.ToolError(code=code, message=message)
            )
        case Refused(reason):
            raise _refusal_error(reason)
