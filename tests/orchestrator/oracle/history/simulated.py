"""A memory that really runs, its clients' calls overlapping at random: histories to check."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from orchestrator.oracle.clockmap import ClockMap, ClockSegment
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    PeekAsked,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    Refused,
    Request,
    Spec,
    Unanswered,
)
from orchestrator.oracle.view import Call, OperationView

SECOND = 1_000_000_000
LEASE_NS = 120 * SECOND
ARGUMENTS = "a" * 64
REFUSED = Refused(9)


def clock() -> ClockMap:
    """A clock that is the interposer's own, exactly."""
    return ClockMap((ClockSegment(0, 1 << 62, 0, 0),))


def spec(capability: Capability = Capability.NONE, core: str = "core") -> Spec:
    """A specification."""
    keyed = capability is Capability.IDEMPOTENT
    return Spec(core, "rest", capability, ARGUMENTS, keyed, 86_400 * SECOND if keyed else 0)


def receipt(attempt: int, result: str = "done") -> ReceiptKey:
    """What a host reports."""
    return ReceiptKey("op", attempt, ARGUMENTS, result, "d", f"e{attempt}", "succeeded")


@dataclass
class Memory:
    """Right by construction: one lease at a time, one completion."""

    capability: Capability
    attempt: int = 0
    holder: tuple[str, str] = ("", "")
    granted_ns: int = 0
    final: bool = False
    ticket: str = ""
    done: ReceiptKey | None = None
    rng: random.Random = field(default_factory=random.Random)

    def take(self, asked: Request, now_ns: int) -> Answer:
        """One call, at one instant."""
        match asked:
            case BeginAsked():
                return self._begin(asked, now_ns)
            case PeekAsked():
                return self._peek(asked, now_ns)
            case ReceiptAsked():
                return self._receipt(asked)
            case QueryAsked():
                return self._query(asked)
        raise AssertionError(asked)

    def _begin(self, asked: BeginAsked, now_ns: int) -> DecisionTold:
        if self.done is not None:
            return DecisionTold(DecisionKind.REUSE, "r", receipt=self.done)
        if not self.attempt or self.final:
            return self._grant(asked, now_ns)
        if now_ns >= self.granted_ns + LEASE_NS:
            return self._expired(asked, now_ns)
        if self.holder == (asked.incarnation_id, asked.begin_id):
            return self._execute()
        return DecisionTold(DecisionKind.WAIT, "r", remaining_ms=1)

    def _peek(self, asked: PeekAsked, now_ns: int) -> DecisionTold:
        begin = BeginAsked(asked.spec, asked.incarnation_id, "")
        told = replace(self)._begin(begin, now_ns)
        return DecisionTold(told.kind, "r")

    def _expired(self, asked: BeginAsked, now_ns: int) -> DecisionTold:
        if self.capability is Capability.IDEMPOTENT:
            return self._grant(asked, now_ns)
        if self.capability is Capability.QUERY:
            self.ticket = self.ticket or f"q{self.attempt}"
            return DecisionTold(DecisionKind.QUERY, "r", self.attempt, self.ticket)
        return DecisionTold(DecisionKind.CONFIRM, "r")

    def _grant(self, asked: BeginAsked, now_ns: int) -> DecisionTold:
        self.attempt += 1
        self.holder = (asked.incarnation_id, asked.begin_id)
        self.granted_ns, self.final, self.ticket = now_ns, False, ""
        return self._execute()

    def _execute(self) -> DecisionTold:
        return DecisionTold(
            DecisionKind.EXECUTE,
            "r",
            self.attempt,
            f"t{self.attempt}",
            LEASE_NS // 1_000_000,
            self.granted_ns,
        )

    def _receipt(self, asked: ReceiptAsked) -> Answer:
        if asked.lease_token != f"t{asked.attempt}" or asked.attempt > self.attempt:
            return REFUSED
        if self.done is not None:
            known = self.done == asked.receipt
            return Accepted(Disposition.ALREADY_RECORDED if known else Disposition.EVIDENCE_ONLY)
        if asked.attempt < self.attempt:
            return Accepted(Disposition.EVIDENCE_ONLY)
        self.done = asked.receipt
        return Accepted(Disposition.COMPLETED)

    def _query(self, asked: QueryAsked) -> Answer:
        if not asked.query_ticket or asked.query_ticket != self.ticket or self.done is not None:
            return REFUSED
        if asked.presence is Presence.PRESENT and asked.receipt is not None:
            self.done = asked.receipt
        self.final = self.final or asked.presence is Presence.ABSENT_FINAL
        return Accepted()


@dataclass
class _Client:
    name: str
    told: DecisionTold | None = None
    asked: int = 0
    holder: str = ""


def simulate(
    seed: int,
    clients: int,
    calls: int,
    capability: Capability = Capability.NONE,
    memory: Callable[[Capability], Memory] = Memory,
    *,
    deaths: int = 0,
) -> OperationView:
    """A history: each client makes its calls one after another, all at once beside each other.

    With `deaths` the memory dies so often and loses nothing: what is under way then is never
    answered, and taken if its turn had come. Some of the questions are Peeks.
    """
    rng = random.Random(seed)
    subject = memory(capability)
    waiting = [_Client(f"c{number}") for number in range(clients)]
    left = {client.name: calls for client in waiting}
    free_at = {client.name: 0 for client in waiting}
    windows: list[tuple[int, int, int, _Client, bool]] = []
    for client in waiting:
        at = rng.randrange(5_000)
        for _ in range(calls):
            took = 2 + rng.randrange(5_000)
            instant = at + 1 + rng.randrange(took)
            windows.append((instant * 1_000, at * 1_000, (at + took + 1) * 1_000, client, False))
            at += took + 1 + rng.randrange(2_000)
            if rng.random() < 0.02:
                at += LEASE_NS // 1_000 * 2
    ends = max(last for _, _, last, _, _ in windows)
    died = sorted(rng.randrange(ends) for _ in range(deaths))
    made = []
    for number, (instant, first, last, client, _) in enumerate(sorted(windows, key=lambda w: w[0])):
        request = _next(client, rng, capability, peeks=bool(deaths))
        death = next((at for at in died if first <= at < last), None)
        lost = death is not None or rng.random() < 0.05
        taken = not lost or rng.random() < 0.5
        if death is not None:
            taken = instant < death
        answer: Answer = subject.take(request, instant) if taken else Unanswered()
        if lost:
            answer = Unanswered()
        elif isinstance(answer, DecisionTold) and not isinstance(request, PeekAsked):
            client.told = answer
            client.holder = request.incarnation_id if isinstance(request, BeginAsked) else ""
        known = death if lost else last
        made.append(Call(number + 1, number + 1, "agent", request, answer, first, known))
    assert free_at.keys() == left.keys()
    return OperationView("op", tuple(sorted(made, key=lambda call: call.forwarded_ns)))


def _next(client: _Client, rng: random.Random, capability: Capability, *, peeks: bool) -> Request:
    told = client.told
    if told is not None and told.kind is DecisionKind.EXECUTE and rng.random() < 0.7:
        return ReceiptAsked(client.holder, told.attempt, told.token, receipt(told.attempt))
    if told is not None and told.kind is DecisionKind.QUERY and rng.random() < 0.7:
        presence = rng.choice([Presence.PRESENT, Presence.ABSENT_FINAL])
        brought = receipt(told.attempt) if presence is Presence.PRESENT else None
        return QueryAsked(client.name, told.attempt, told.token, presence, brought)
    if peeks and rng.random() < 0.5:
        return PeekAsked(spec(capability), client.name)
    client.asked += 1
    return BeginAsked(spec(capability), client.name, f"{client.name}-{client.asked}")


def with_answer(view: OperationView, position: int, answer: Answer) -> OperationView:
    """The same history with one answer replaced."""
    calls = list(view.calls)
    calls[position] = replace(calls[position], answer=answer)
    return OperationView(view.operation_id, tuple(calls))
