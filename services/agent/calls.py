"""One tool call: asked of the memory, dispatched once an attempt, recorded (DESIGN §4, §5).

The host does what the last decision says and nothing else: it chooses no step, repairs nothing and
reconciles nothing. What stays uncertain is asked of the memory again, a bounded number of times.
"""

import uuid

import grpc
import structlog

from memqual.v1 import (
    agent_pb2,
    continuity_pb2,
    destination_pb2,
    observer_pb2,
)
from services.agent.clients import CallScope, Clients, code_of
from services.agent.decisions import (
    Confirmation,
    Decision,
    Grant,
    MalformedDecision,
    Query,
    Rejection,
    Reuse,
    Waiting,
    read_decision,
)
from services.agent.effects import CallRecord, Effects, Operation
from services.agent.events import HostEvents
from services.agent.operations import (
    DefiniteAnswer,
    answer_of_invoke,
    answer_of_receipt,
    operation_spec,
)
from services.agent.state import PendingCall
from services.agent.stops import ConfirmationNeeded, Failed, Parked, Rejected

__all__ = ["DECISIONS_A_WAKE_UP", "ToolCaller"]

DECISIONS_A_WAKE_UP = 10
ARMS_WITH_MEMORY = frozenset({agent_pb2.ARM_MEMORY, agent_pb2.ARM_BOTH})

_log = structlog.get_logger(__name__)


class ToolCaller:
    """Performs tool calls for all workflows of one life of the host."""

    def __init__(self, clients: Clients, events: HostEvents, incarnation_id: str) -> None:
        self._clients = clients
        self._events = events
        self._incarnation_id = incarnation_id
        self._effects = Effects(clients, events, incarnation_id)

    def perform(
        self,
        workflow: agent_pb2.Workflow,
        call: PendingCall,
        record: CallRecord,
        settled: tuple[str, ...] = (),
    ) -> DefiniteAnswer:
        """Brings one call to its answer, by the workflow's arm.

        Args:
            workflow: the workflow as it was started.
            call: the call.
            record: what Status tells.
            settled: operations whose results the checkpoint holds.

        Raises:
            Parked: the memory said WAIT, or decided ten times without an end.
            ConfirmationNeeded: the memory said CONFIRM.
            Rejected: the memory said REJECT.
            Failed: no decision could be had, it was malformed, or the call cannot be made.
        """
        if workflow.arm in ARMS_WITH_MEMORY:
            return self._governed(workflow, call, record, settled)
        return self._direct(workflow, call)

    def _direct(self, workflow: agent_pb2.Workflow, call: PendingCall) -> DefiniteAnswer:
        request = destination_pb2.InvokeRequest(
            workflow_id=workflow.workflow_id,
            operation_id=call.operation_id,
            tool=call.tool,
            arguments_json=call.arguments_json,
        )
        self._emit(workflow, call, observer_pb2.EVENT_KIND_DISPATCHED, 0)
        try:
            response = self._clients.invoke(request, CallScope.of(workflow, call, 0))
        except grpc.RpcError as error:
            raise Failed(code_of(error), "invoke") from error
        answer = answer_of_invoke(response, attempt=0)
        if answer is None:
            raise Failed(grpc.StatusCode.INTERNAL, "malformed_result")
        self._emit(workflow, call, observer_pb2.EVENT_KIND_RESULT_RECEIVED, 0)
        return answer

    def _governed(
        self,
        workflow: agent_pb2.Workflow,
        call: PendingCall,
        record: CallRecord,
        settled: tuple[str, ...],
    ) -> DefiniteAnswer:
        tool = self._describe(workflow, call)
        operation = Operation(
            workflow=workflow,
            call=call,
            tool=tool,
            spec=operation_spec(workflow, call, tool),
            record=record,
            settled=settled,
        )
        for _ in range(DECISIONS_A_WAKE_UP):
            answer = self._follow(operation, self._ask(operation))
            if answer is not None:
                return answer
        _log.warning(
            "decisions_exhausted",
            workflow=workflow.workflow_id,
            operation=call.operation_id,
            decisions=DECISIONS_A_WAKE_UP,
        )
        raise Parked(remaining_ms=0)

    def _describe(
        self, workflow: agent_pb2.Workflow, call: PendingCall
    ) -> destination_pb2.DescribeToolResponse:
        request = destination_pb2.DescribeToolRequest(
            workflow_id=workflow.workflow_id, tool=call.tool
        )
        try:
            return self._clients.describe_tool(request, CallScope.of(workflow, call, 0))
        except grpc.RpcError as error:
            raise Failed(code_of(error), "describe_tool") from error

    def _ask(self, operation: Operation) -> Decision:
        request = continuity_pb2.BeginRequest(
            spec=operation.spec,
            incarnation_id=self._incarnation_id,
            # In RAM only, for this call and its transport retries.
            begin_id=uuid.uuid4().hex,
            settled=continuity_pb2.SettledOperations(operation_ids=operation.settled),
        )
        try:
            response = self._clients.begin(request, operation.scope)
        except grpc.RpcError as error:
            raise Failed(code_of(error), "begin") from error
        try:
            decision = read_decision(response, operation.spec)
        except MalformedDecision as error:
            raise Failed(grpc.StatusCode.INTERNAL, f"malformed_decision: {error}") from error
        kind, attempt = _kind_and_attempt(decision)
        operation.record.decided(
            operation.call.operation_id, kind, response.decision.reason_code, attempt
        )
        operation.attempt = attempt or operation.attempt
        self._emit(
            operation.workflow,
            operation.call,
            observer_pb2.EVENT_KIND_DECISION_RECEIVED,
            operation.attempt,
        )
        return decision

    def _follow(self, operation: Operation, decision: Decision) -> DefiniteAnswer | None:
        """Does what the decision says; None means that the memory is to be asked again."""
        match decision:
            case Grant():
                return self._effects.dispatch(operation, decision)
            case Query():
                self._effects.query(operation, decision)
                return None
            case Reuse():
                return answer_of_receipt(decision.receipt)
            case Waiting():
                raise Parked(decision.remaining_ms)
            case Confirmation():
                raise ConfirmationNeeded(operation.call.operation_id)
            case Rejection():
                raise Rejected

    def _emit(
        self,
        workflow: agent_pb2.Workflow,
        call: PendingCall,
        kind: "observer_pb2.EventKind.ValueType",
        attempt: int,
    ) -> None:
        self._events.emit(workflow, kind, operation_id=call.operation_id, attempt=attempt)


def _kind_and_attempt(
    decision: Decision,
) -> "tuple[continuity_pb2.DecisionKind.ValueType, int]":
    match decision:
        case Grant():
            return continuity_pb2.DECISION_KIND_EXECUTE, decision.attempt
        case Waiting():
            return continuity_pb2.DECISION_KIND_WAIT, 0
        case Query():
            return continuity_pb2.DECISION_KIND_QUERY, decision.attempt
        case Reuse():
            return continuity_pb2.DECISION_KIND_REUSE, decision.receipt.attempt
        case Confirmation():
            return continuity_pb2.DECISION_KIND_CONFIRM, 0
        case Rejection():
            return continuity_pb2.DECISION_KIND_REJECT, 0
