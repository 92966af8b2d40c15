"""Plays of `families.matrix`: the evaluator asks in a host's place, and calls as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memqual.v1 import common_pb2, continuity_pb2, destination_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import spec_of, tool_error_receipt
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import (
    UNSEEN_VISIBILITY_MS,
    ToolArguments,
    arguments_of,
    settings_of,
)
from services.common.canonical import canonical_json, parse_canonical_object, sha256_hex

__all__ = ["PLAYS"]

_HOUR_NS = UNSEEN_VISIBILITY_MS * NS // 1_000


class _Host:
    """One life of a host that the evaluator plays, for one operation after the other."""

    def __init__(self, stage: Stage, life: str, member: Member) -> None:
        self._session = stage.context.session
        self._pauses = stage.pauses
        self._member = member
        self._memory = Incarnation(stage.context.session, f"{life}-{member.workflow_id}")

    def ask(self, spec: continuity_pb2.OperationSpec) -> continuity_pb2.Decision:
        """Begin; an empty decision stands for a refusal or no answer."""
        return self._memory.begin(spec).answer or continuity_pb2.Decision()

    def dispatch(
        self, spec: continuity_pb2.OperationSpec, wanted: ToolArguments, attempt: int, key: str = ""
    ) -> destination_pb2.InvokeResponse:
        """Call the tool as a host does, under a key of its choice. Raises grpc.RpcError."""
        destination = self._session.destination_for(spec.workflow_id, spec.operation_id, attempt)
        return destination.Invoke(
            destination_pb2.InvokeRequest(
                workflow_id=spec.workflow_id,
                operation_id=spec.operation_id,
                attempt=attempt,
                tool=wanted.tool,
                arguments_json=wanted.arguments_json,
                idempotency_key=key,
            )
        )

    def execute(
        self, spec: continuity_pb2.OperationSpec, wanted: ToolArguments, key: str, *, record: bool
    ) -> None:
        """Ask, and do what EXECUTE says; record what came of it where the host lives for that."""
        granted = self.ask(spec).execute
        if not granted.attempt:
            return
        answer = self.dispatch(spec, wanted, granted.attempt, key)
        if not record:
            return
        if answer.HasField("tool_error"):
            receipt = tool_error_receipt(spec, granted.attempt, answer.tool_error.code)
        else:
            receipt = _receipt(spec, granted.attempt, answer.result)
        self._memory.record(spec, granted.attempt, granted.lease_token, receipt)

    def query(self, spec: continuity_pb2.OperationSpec) -> None:
        """Ask, and where the answer is QUERY tell what the destination says of the effect.

        A memory that pauses first is asked again when its pause is over.
        """
        decision = self.ask(spec)
        if decision.HasField("wait"):
            self._pauses.let_pass(decision.wait.remaining_ms / 1_000)
            decision = self.ask(spec)
        asked = decision.query
        if not asked.query_ticket:
            return
        destination = self._session.destination_for(
            spec.workflow_id, spec.operation_id, asked.attempt
        )
        found = destination.QueryEffect(
            destination_pb2.QueryEffectRequest(
                workflow_id=spec.workflow_id,
                operation_id=spec.operation_id,
                fence_attempt=asked.attempt,
            )
        )
        there = found.presence == common_pb2.EFFECT_PRESENCE_PRESENT
        receipt = _receipt(spec, asked.attempt, found.result) if there else None
        self._memory.record_query(spec, asked.attempt, asked.query_ticket, found.presence, receipt)


def _key_reused(stage: Stage) -> None:
    """A's effect is there, its host is gone; B's call carries A's key; A is asked about again."""
    for member in stage.batch.members:
        host = _Host(stage, "first", member)
        host.execute(spec_of(member), arguments_of(member), _key_of(member), record=False)
        other = _other(member)
        host.execute(spec_of(member, "other", other), other, _key_of(member), record=True)
    stage.do("expire", stage.reach_lease_end)
    for member in stage.batch.members:
        host = _Host(stage, "second", member)
        host.execute(spec_of(member), arguments_of(member), _key_of(member), record=True)
        host.ask(spec_of(member, "other", _other(member)))
        host.ask(spec_of(member))


def _visible_later(stage: Stage) -> None:
    """The effect is there and nobody sees it; asked again after its time, everybody does."""
    settings = [settings_of(member) for member in stage.batch.members]
    for one in settings:
        one.visibility_delay_ms = UNSEEN_VISIBILITY_MS
    stage.context.session.destination_audit.ConfigureWorkflow(
        destination_pb2.ConfigureWorkflowRequest(settings=settings)
    )
    for member in stage.batch.members:
        host = _Host(stage, "first", member)
        host.execute(spec_of(member), arguments_of(member), "", record=False)
    stage.do("expire", stage.reach_lease_end)
    hosts = {member: _Host(stage, "second", member) for member in stage.batch.members}
    for member, host in hosts.items():
        host.query(spec_of(member))
    stage.do("visible", lambda: stage.move_clock("destination", _HOUR_NS + NS))
    for member, host in hosts.items():
        host.query(spec_of(member))
        host.ask(spec_of(member))


def _key_of(member: Member) -> str:
    return spec_of(member).idempotency_key


def _other(member: Member) -> ToolArguments:
    """The same tool with other arguments."""
    wanted = arguments_of(member)
    arguments = parse_canonical_object(wanted.arguments_json)
    changed = {"content": "Another notice."} if "content" in arguments else {"amount_cents": 7}
    return ToolArguments(
        tool=wanted.tool, arguments_json=canonical_json({**arguments, **changed}).decode()
    )


def _receipt(
    spec: continuity_pb2.OperationSpec, attempt: int, result: destination_pb2.ToolResult
) -> continuity_pb2.Receipt:
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=attempt,
        arguments_digest=spec.arguments_digest,
        result_json=result.result_json,
        result_digest=sha256_hex(result.result_json.encode()),
        effect_id=result.effect_id,
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "matrix.key_reused": _key_reused,
    "matrix.visible_later": _visible_later,
}
