"""One workflow of a schedule: what its agents were told so far, and the next step taken.

No step decides anything: it does what the schedule says with what was told. A step that has nothing
to work on (a receipt before any grant) is passed over, so that any selection of steps can be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.dispatching import ask_destination, dispatch
from orchestrator.suites.continuity.explore.faults import LaneFaults
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Step
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import receipt_for, spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import sha256_hex

__all__ = ["Lane"]

_SHORT_SECONDS = 0.4
"""Deadline of calls that a fault may have silenced; what comes later is in the trace as well."""

_PRESENCES = {
    "present": common_pb2.EFFECT_PRESENCE_PRESENT,
    "absent_final": common_pb2.EFFECT_PRESENCE_ABSENT_FINAL,
    "absent_uncertain": common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
    "unknown": common_pb2.EFFECT_PRESENCE_UNKNOWN,
}


@dataclass
class _Told:
    """One EXECUTE that an agent was told."""

    agent: str
    attempt: int
    token: str
    receipt: continuity_pb2.Receipt | None = None


@dataclass
class _Agent:
    """One agent: its present life, and what it asked last."""

    life: int = 0
    asked: int = 0
    last: tuple[str, continuity_pb2.OperationSpec, str] | None = None
    """Incarnation, specification and begin id of the last question."""


@dataclass
class Lane:
    """One workflow under way.

    Attributes:
        stage: The batch.
        member: The trial.
        faults: The lane's faults of the network.
    """

    stage: Stage
    member: Member
    faults: LaneFaults
    operator: Operator
    _told: list[_Told] = field(default_factory=list, init=False)
    _tickets: list[tuple[str, int, str]] = field(default_factory=list, init=False)
    _agents: dict[int, _Agent] = field(default_factory=dict, init=False)
    _crowds: int = field(default=0, init=False)

    def take(self, step: Step) -> None:
        """Take one step.

        Raises:
            KeyError: The step befalls the whole stack.
            ChaosError: The interposer does not do as it is told.
        """
        taken: dict[Act, Callable[[Step], None]] = {
            Act.BEGIN: self._begin,
            Act.PEEK: self._begin,
            Act.AGAIN: self._again,
            Act.TOGETHER: self._together,
            Act.FOLLOW: self._follow,
            Act.LIFE: self._die,
            Act.DISPATCH: self._dispatch,
            Act.RECORD: self._record,
            Act.ASK: self._ask,
            Act.RENEW: self._renew,
            Act.RESOLVE: lambda step: self.operator.say(step.variant),
            Act.FAULT: lambda step: self.faults.arm(step.variant),
            Act.RELEASE: lambda step: self.faults.release(deliver=step.variant == "deliver"),
        }
        taken[step.act](step)

    def _spec(self) -> continuity_pb2.OperationSpec:
        """The lane's operation.

        Its intent is its own: what agents here lie about must not be told to the workflow's host.
        """
        spec = spec_of(self.member)
        spec.intent_digest = sha256_hex(f"explored:{spec.intent_digest}".encode())
        return spec

    def _die(self, step: Step) -> None:
        self._agent(step.agent).life += 1

    def _agent(self, number: int) -> _Agent:
        return self._agents.setdefault(number, _Agent())

    def _name(self, number: int) -> str:
        return f"x{number}.{self._agent(number).life}-{self.member.workflow_id}"

    def _incarnation(self, name: str) -> Incarnation:
        host = Incarnation(self.stage.context.session, name)
        if self.faults.silencing:
            host.call_seconds = _SHORT_SECONDS
        return host

    def _begin(self, step: Step) -> None:
        spec = _changed(self._spec(), step.variant)
        name = self._name(step.agent)
        if step.act is Act.PEEK:
            self._incarnation(name).peek(spec)
            return
        agent = self._agent(step.agent)
        agent.asked += 1
        begin_id = f"b{step.agent}.{agent.life}.{agent.asked}-{self.member.workflow_id}"
        agent.last = (name, spec, begin_id)
        self._ask_memory(name, spec, begin_id)

    def _again(self, step: Step) -> None:
        last = self._agent(step.agent).last
        if last is not None:
            name, spec, begin_id = last
            self._ask_memory(f"o{name}" if step.variant else name, spec, begin_id)

    def _together(self, step: Step) -> None:
        self._crowds += 1
        spec = self._spec()
        names = [
            f"t{self._crowds}.{number}-{self.member.workflow_id}" for number in range(step.amount)
        ]
        with ThreadPoolExecutor(max(1, len(names))) as pool:
            list(pool.map(lambda name: self._ask_memory(name, spec, f"b-{name}"), names))

    def _follow(self, step: Step) -> None:
        here = Step(act=Act.BEGIN, lane=step.lane, agent=step.agent)
        for _ in range(1 + step.amount):
            granted, asked = len(self._told), len(self._tickets)
            self._begin(here)
            if len(self._told) > granted:
                self._dispatch(here)
                if self._told[-1].receipt is not None:
                    self._record(here)
                return
            if len(self._tickets) == asked:
                return
            self._ask(here)

    def _ask_memory(self, name: str, spec: continuity_pb2.OperationSpec, begin_id: str) -> None:
        decision = self._incarnation(name).begin(spec, begin_id).answer
        if decision is None:
            return
        if decision.HasField("execute"):
            told = decision.execute
            self._told.append(_Told(name, told.attempt, told.lease_token))
        elif decision.HasField("query"):
            self._tickets.append((name, decision.query.attempt, decision.query.query_ticket))

    def _held(self, step: Step) -> _Told | None:
        """The grant of so many grants ago, if there were as many."""
        return self._told[-1 - step.amount] if step.amount < len(self._told) else None

    def _dispatch(self, step: Step) -> None:
        told = self._held(step)
        if told is not None:
            spec = self._spec()
            session = self.stage.context.session
            told.receipt = dispatch(session, self.member, spec, told.attempt) or told.receipt

    def _record(self, step: Step) -> None:
        told = self._held(step)
        if told is None:
            return
        spec = self._spec()
        receipt = continuity_pb2.Receipt()
        receipt.CopyFrom(told.receipt or receipt_for(spec, told.attempt))
        name, attempt, token = told.agent, told.attempt, told.token
        match step.variant:
            case "token":
                token = f"{token}x"
            case "other_life":
                name = f"o{name}"
            case "attempt":
                attempt = receipt.attempt = attempt + 1
            case "operation":
                receipt.operation_id = sha256_hex(receipt.operation_id.encode())
            case "arguments":
                receipt.arguments_digest = sha256_hex(b"other arguments")
            case "mislabelled":
                receipt.attempt = attempt + 1
            case "other_result":
                receipt = receipt_for(spec, attempt, "another")
        self._incarnation(name).record(spec, attempt, token, receipt)

    def _ask(self, step: Step) -> None:
        if step.amount >= len(self._tickets):
            return
        name, attempt, ticket = self._tickets[-1 - step.amount]
        spec = self._spec()
        receipt = None
        match step.variant:
            case "" | "ticket" | "attempt":
                session = self.stage.context.session
                presence, receipt = ask_destination(session, spec, attempt)
                ticket = f"{ticket}x" if step.variant == "ticket" else ticket
                attempt += 1 if step.variant == "attempt" else 0
            case said:
                presence = _PRESENCES[said]
                if said == "present":
                    receipt = receipt_for(spec, attempt)
        if receipt is not None and receipt.attempt != attempt:
            receipt.attempt = attempt
        self._incarnation(name).record_query(spec, attempt, ticket, presence, receipt)

    def _renew(self, step: Step) -> None:
        told = self._held(step)
        if told is None:
            return
        name, attempt, token = told.agent, told.attempt, told.token
        match step.variant:
            case "token":
                token = f"{token}x"
            case "other_life":
                name = f"o{name}"
            case "attempt":
                attempt += 1
        self._incarnation(name).renew(self._spec(), attempt, token)


def _changed(spec: continuity_pb2.OperationSpec, variant: str) -> continuity_pb2.OperationSpec:
    """A specification with one field changed, still well formed."""
    match variant:
        case "arguments":
            spec.arguments_digest = sha256_hex(b"other arguments")
        case "tool":
            spec.tool = f"{spec.tool}_other"
        case "destination":
            spec.destination = f"{spec.destination}-other"
        case "principal":
            spec.principal = f"{spec.principal}-other"
        case "key" if spec.idempotency_key:
            spec.idempotency_key = f"{spec.idempotency_key[:32]}-other"
        case "capability":
            keyed = spec.capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
            other = common_pb2.EFFECT_CAPABILITY_QUERY
            if not keyed and spec.capability == other:
                other = common_pb2.EFFECT_CAPABILITY_NONE
            spec.capability = other
            spec.idempotency_key, spec.retention_seconds = "", 0
    return spec
