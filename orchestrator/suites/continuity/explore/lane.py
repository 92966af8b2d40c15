"""One workflow of a schedule: what its agents were told so far, and the next step taken.

No step decides anything: it does what the schedule says with what was told. A step that has nothing
to work on (a receipt before any grant) is passed over, so that any selection of steps can be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from memqual.v1 import common_pb2, continuity_pb2, vendor_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.dispatching import ask_destination, dispatch
from orchestrator.suites.continuity.explore.faults import LaneFaults
from orchestrator.suites.continuity.explore.odd import changed_receipt, changed_spec, receipt_of
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Step
from orchestrator.suites.continuity.explore.wearing import wear_out
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import sha256_hex

__all__ = ["Lane"]

_AGENTS = 3
_PRESENCES = {
    "present": common_pb2.EFFECT_PRESENCE_PRESENT,
    "absent_final": common_pb2.EFFECT_PRESENCE_ABSENT_FINAL,
    "absent_uncertain": common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN,
    "unknown": common_pb2.EFFECT_PRESENCE_UNKNOWN,
}


@dataclass
class _Told:
    """One EXECUTE that an agent was told, of the operation as it asked for it."""

    agent: str
    spec: continuity_pb2.OperationSpec
    attempt: int
    token: str
    receipt: continuity_pb2.Receipt | None = None


@dataclass
class _Ticket:
    """One QUERY that an agent was told."""

    agent: str
    spec: continuity_pb2.OperationSpec
    attempt: int
    ticket: str


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
        operator: Who says words about its operation.
    """

    stage: Stage
    member: Member
    faults: LaneFaults
    operator: Operator
    _told: list[_Told] = field(default_factory=list, init=False)
    _tickets: list[_Ticket] = field(default_factory=list, init=False)
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
            Act.RESOLVE: lambda step: self.say(step.variant),
            Act.WEAR_OUT: lambda step: wear_out(self, step.variant),
            Act.FAULT: lambda step: self.faults.arm(step.variant),
            Act.RELEASE: lambda step: self.faults.release(deliver=step.variant == "deliver"),
        }
        taken[step.act](step)

    @property
    def limits(self) -> vendor_pb2.Limits:
        """What the memory declares."""
        return self.stage.context.describe.limits

    def operation(self, number: int) -> continuity_pb2.OperationSpec:
        """The workflow's operation of that number; 0: the lane's own.

        Its intent is its own: what agents here lie about must not be told to the workflow's host.
        """
        spec = spec_of(self.member, str(number))
        spec.intent_digest = sha256_hex(f"explored:{number}:{spec.intent_digest}".encode())
        return spec

    def host(self, name: str) -> Incarnation:
        """A life of a host of the workflow's own; a fault that silences shortens its patience."""
        return self._incarnation(f"{name}-{self.member.workflow_id}")

    def ask(self, host: Incarnation) -> continuity_pb2.Decision | None:
        """Ask about the lane's own operation."""
        return self._ask_memory(host.name, self.operation(0), None)

    def renew(self) -> bool:
        """Ask for more time under the latest grant; whether it was given."""
        if not self._told:
            return False
        held = self._told[-1]
        reply = self._incarnation(held.agent).renew(held.spec, held.attempt, held.token)
        return reply.answer is not None

    def say(self, word: str) -> None:
        """An operator's word; see `Operator.say`."""
        self.operator.say(word, self.faults.patience_seconds)

    def _die(self, step: Step) -> None:
        self._agent(step.agent).life += 1

    def _agent(self, number: int) -> _Agent:
        return self._agents.setdefault(number, _Agent())

    def _name(self, number: int) -> str:
        return f"x{number}.{self._agent(number).life}-{self.member.workflow_id}"

    def _incarnation(self, name: str) -> Incarnation:
        session, seconds = self.stage.context.session, self.faults.patience_seconds
        return Incarnation(session, name, seconds, self.member.workflow_id)

    def _begin(self, step: Step) -> None:
        which = step.agent + _AGENTS * step.amount
        spec = changed_spec(self.operation(0), step.variant, which)
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
        spec = self.operation(0)
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

    def _ask_memory(
        self, name: str, spec: continuity_pb2.OperationSpec, begin_id: str | None
    ) -> continuity_pb2.Decision | None:
        decision = self._incarnation(name).begin(spec, begin_id).answer
        if decision is None:
            return None
        if decision.HasField("execute"):
            told = decision.execute
            self._told.append(_Told(name, spec, told.attempt, told.lease_token))
        elif decision.HasField("query"):
            asked = decision.query
            self._tickets.append(_Ticket(name, spec, asked.attempt, asked.query_ticket))
        return decision

    def _held(self, step: Step) -> _Told | None:
        """The grant of so many grants ago, if there were as many."""
        return self._told[-1 - step.amount] if step.amount < len(self._told) else None

    def _dispatch(self, step: Step) -> None:
        told = self._held(step)
        if told is not None:
            session, seconds = self.stage.context.session, self.faults.patience_seconds
            found = dispatch(session, self.member, told.spec, told.attempt, seconds)
            told.receipt = found or told.receipt

    def _record(self, step: Step) -> None:
        told = self._held(step)
        if told is None:
            return
        own = told.receipt or receipt_of(told.spec, told.attempt, told.agent)
        receipt = changed_receipt(told.spec, own, step.variant)
        name, attempt, token = _wronged(told, step.variant)
        if step.variant == "attempt":
            receipt.attempt = attempt
        self._incarnation(name).record(told.spec, attempt, token, receipt)

    def _ask(self, step: Step) -> None:
        if step.amount >= len(self._tickets):
            return
        asked = self._tickets[-1 - step.amount]
        spec, attempt, ticket = asked.spec, asked.attempt, asked.ticket
        said, _, change = step.variant.partition(":")
        receipt = None
        if said in _PRESENCES:
            presence = _PRESENCES[said]
            if said == "present":
                receipt = changed_receipt(spec, receipt_of(spec, attempt, asked.agent), change)
        else:
            session, seconds = self.stage.context.session, self.faults.patience_seconds
            presence, receipt = ask_destination(session, spec, attempt, seconds)
            ticket = f"{ticket}x" if said == "ticket" else ticket
            attempt += 1 if said == "attempt" else 0
            if receipt is not None:
                receipt.attempt = attempt
        self._incarnation(asked.agent).record_query(spec, attempt, ticket, presence, receipt)

    def _renew(self, step: Step) -> None:
        told = self._held(step)
        if told is not None:
            name, attempt, token = _wronged(told, step.variant)
            self._incarnation(name).renew(told.spec, attempt, token)


def _wronged(told: _Told, change: str) -> tuple[str, int, str]:
    """Who says to hold which attempt under which token, with one of them wrong."""
    name = f"o{told.agent}" if change == "other_life" else told.agent
    attempt = told.attempt + 1 if change == "attempt" else told.attempt
    token = f"{told.token}x" if change == "token" else told.token
    return name, attempt, token
