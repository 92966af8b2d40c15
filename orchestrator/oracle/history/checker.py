"""Just-in-time linearization of one operation's history, within a bound on states (Lowe 2017).

Operations are independent of each other, so a history is checked one operation at a time. When an
answer is seen, its call has been taken; every other call that was forwarded may have been taken
before it or not, in any order. A call without an answer stays open for ever, or until its memory
was dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.history.machine import NEW, State, Timed, idle_by_nature, next_states
from orchestrator.oracle.history.telling import told
from orchestrator.oracle.messages import BeginAsked, DecisionTold, Malformed, Unanswered
from orchestrator.oracle.view import Call, OperationView

__all__ = ["STATES_MAX", "HistoryResult", "Verdict", "check_history"]

STATES_MAX = 100_000
"""States of one history that are looked at; a history that needs more is undecided."""

_RELAXATIONS_MAX = 200


class Verdict(StrEnum):
    """What a history is."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class HistoryResult:
    """What was found about one history.

    Attributes:
        verdict: Whether some memory can have answered all of it.
        states: How many states were looked at.
        contradiction: The calls that contradict each other, in words, in order of forwarding;
            empty unless rejected.
        overlapping: Calls that were under way beside another one.
    """

    verdict: Verdict
    states: int
    contradiction: tuple[str, ...] = ()
    overlapping: int = 0


def check_history(
    view: OperationView,
    clock: ClockMap,
    declared: DeclaredMemory,
    states_max: int = STATES_MAX,
) -> HistoryResult:
    """Look for an order of one operation's calls that explains every answer.

    Args:
        view: The operation's calls.
        clock: The memory's lease clock.
        declared: What the memory declares.
        states_max: States after which the search is given up.
    """
    calls = view.calls
    overlapping = _overlapping(calls)
    search = _Search(view.operation_id, calls, clock, declared.lease_ns, states_max)
    try:
        failed = search.first_failure()
    except _TooMany:
        return HistoryResult(Verdict.UNDECIDED, search.states, overlapping=overlapping)
    if failed is None:
        return HistoryResult(Verdict.ACCEPTED, search.states, overlapping=overlapping)
    ends_ns = calls[failed].last_ns or 0
    prefix = [
        _open(call) if (call.last_ns or ends_ns) > ends_ns else call
        for call in calls
        if call.forwarded_ns <= ends_ns
    ]
    core = _core(view.operation_id, prefix, clock, declared.lease_ns)
    return HistoryResult(
        Verdict.REJECTED, search.states, tuple(told(call) for call in core), overlapping
    )


class _TooMany(Exception):
    """The bound on states is reached."""


@dataclass(frozen=True)
class _Node:
    """A state, and the calls that were forwarded and are not taken yet."""

    state: State
    pending: frozenset[int]


class _Search:
    """One search; `states` counts what it looked at."""

    def __init__(
        self,
        operation_id: str,
        calls: Sequence[Call],
        clock: ClockMap,
        lease_ns: int,
        states_max: int,
    ) -> None:
        self._timed = [_timed(call, clock, operation_id) for call in calls]
        self._nameless = _nameless(calls)
        self._lease_ns = lease_ns
        self._states_max = states_max
        self.states = 0

    def first_failure(self) -> int | None:
        """Position of the first answer that no order explains; None when there is none.

        Raises:
            _TooMany: The bound is reached.
        """
        nodes = {_Node(NEW, frozenset())}
        seen: set[int] = set()
        for position in self._answered():
            last_ns = self._timed[position].call.last_ns or 0
            arrived = {
                index
                for index, timed in enumerate(self._timed)
                if index not in seen and timed.call.forwarded_ns <= last_ns
            }
            seen |= arrived
            nodes = {_Node(node.state, node.pending | arrived) for node in nodes}
            nodes = self._reached(nodes, position)
            if not nodes:
                return position
        return None

    def _answered(self) -> list[int]:
        answered = [at for at, timed in enumerate(self._timed) if _ended(timed.call)]
        return sorted(answered, key=lambda at: (self._timed[at].call.last_ns or 0, at))

    def _reached(self, nodes: set[_Node], position: int) -> set[_Node]:
        """Every node in which the call at `position` was taken."""
        found: set[_Node] = set()
        todo = list(nodes)
        known = set(todo)
        while todo:
            node = self._with_idle(todo.pop())
            if position not in node.pending:
                found.add(node)
                continue
            for following in self._following(node):
                if following not in known:
                    known.add(following)
                    todo.append(following)
                    self._count()
        return found

    def _with_idle(self, node: _Node) -> _Node:
        """Takes at once what changes nothing wherever it is taken, and can be taken here.

        One that came after another call's memory had died is left: what is still to be taken
        before it, such as a receipt that reached its memory unanswered, would be lost.
        """
        idle = {
            at
            for at in node.pending
            if idle_by_nature(self._timed[at].call)
            and self._left(node.pending, {at}) == node.pending - {at}
            and node.state in next_states(node.state, self._timed[at], self._lease_ns)
        }
        return _Node(node.state, self._left(node.pending, idle)) if idle else node

    def _following(self, node: _Node) -> Iterator[_Node]:
        alike: set[tuple[object, ...]] = set()
        for at in sorted(node.pending, key=self._urgency):
            call = self._timed[at].call
            if at in self._nameless:
                # Which of these was taken, nobody can tell: the one that came first.
                sort = (type(call.request), getattr(call.request, "spec", None), call.last_ns)
                if sort in alike:
                    continue
                alike.add(sort)
            for state in next_states(node.state, self._timed[at], self._lease_ns):
                if state == node.state and not _ended(call):
                    continue
                yield _Node(state, self._left(node.pending, {at}))

    def _left(self, pending: frozenset[int], taken: set[int]) -> frozenset[int]:
        """What may still be taken: nothing whose memory was dead before a taken call came."""
        came_ns = max(self._timed[at].call.forwarded_ns for at in taken)
        return frozenset(
            at for at in pending - taken if not _over_before(self._timed[at].call, came_ns)
        )

    def _urgency(self, at: int) -> tuple[int, int]:
        call = self._timed[at].call
        return call.forwarded_ns, at

    def _count(self) -> None:
        self.states += 1
        if self.states > self._states_max:
            raise _TooMany


def _nameless(calls: Sequence[Call]) -> frozenset[int]:
    """Questions without an answer that were never asked again: who asked tells nothing."""
    asked = Counter(
        (call.request.incarnation_id, call.request.begin_id)
        for call in calls
        if isinstance(call.request, BeginAsked)
    )
    return frozenset(
        at
        for at, call in enumerate(calls)
        if isinstance(call.request, BeginAsked)
        and not _ended(call)
        and asked[call.request.incarnation_id, call.request.begin_id] == 1
    )


def _ended(call: Call) -> bool:
    return not isinstance(call.answer, Unanswered)


def _over_before(call: Call, instant_ns: int) -> bool:
    return not _ended(call) and call.last_ns is not None and call.last_ns < instant_ns


def _timed(call: Call, clock: ClockMap, operation_id: str) -> Timed:
    """What the clock can have shown, over every part of it that the call can have met."""
    last_ns = call.last_ns
    met = [
        part
        for part in clock.segments
        if part.last_ns >= call.forwarded_ns and (last_ns is None or part.first_ns <= last_ns)
    ]
    earliest_ns = min(max(part.first_ns, call.forwarded_ns) + part.low_ns for part in met)
    if last_ns is None:
        return Timed(call, earliest_ns, None, operation_id)
    shown = [part for part in clock.segments if part.first_ns <= last_ns]
    latest_ns = max(min(part.last_ns, last_ns) + part.high_ns for part in shown)
    return Timed(call, earliest_ns, latest_ns, operation_id)


def _open(call: Call) -> Call:
    """The same call with an answer that is not known any more."""
    return replace(call, answer=Unanswered(), last_ns=None)


def _core(
    operation_id: str, calls: Sequence[Call], clock: ClockMap, lease_ns: int
) -> tuple[Call, ...]:
    """The calls whose answers are needed for the contradiction.

    An answer that is forgotten leaves more possible, so what still contradicts without it does so
    for other reasons.
    """
    kept = list(calls)
    for at in range(min(len(kept), _RELAXATIONS_MAX)):
        if not _ended(kept[at]) or _lends_token(kept[at], kept):
            continue
        relaxed = [*kept[:at], _open(kept[at]), *kept[at + 1 :]]
        try:
            search = _Search(operation_id, relaxed, clock, lease_ns, STATES_MAX)
            still = search.first_failure() is not None
        except _TooMany:
            still = False
        if still:
            kept = relaxed
    return tuple(call for call in kept if _ended(call) and not isinstance(call.answer, Malformed))


def _lends_token(call: Call, calls: Sequence[Call]) -> bool:
    """Whether another call brings what this one's answer told: then the answer was surely seen.

    Whether that call was answered is no matter: it can have done what its token allows.
    """
    token = call.answer.token if isinstance(call.answer, DecisionTold) else ""
    brought = (
        getattr(other.request, "lease_token", "") or getattr(other.request, "query_ticket", "")
        for other in calls
    )
    return bool(token) and token in brought


def _overlapping(calls: Sequence[Call]) -> int:
    """Calls that were under way while another one was."""
    found: set[int] = set()
    ordered = sorted(range(len(calls)), key=lambda at: calls[at].forwarded_ns)
    open_until: list[tuple[int, int]] = []
    for at in ordered:
        call = calls[at]
        open_until = [(end, of) for end, of in open_until if end > call.forwarded_ns]
        if open_until:
            found.add(at)
            found.update(of for _, of in open_until)
        if _ended(call) and call.last_ns is not None:
            open_until.append((call.last_ns, at))
    return len(found)
