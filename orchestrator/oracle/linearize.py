"""Follows every world that a correct memory can be in, call by call (DESIGN §6).

Calls overlap, and some are never answered, so their order is not told. A configuration is a world
together with the calls that were forwarded and not taken yet. When a call's answer is seen, every
pending call may have been taken before it, in any order; the call itself has been taken. This is
just-in-time linearization; `Step` holds what it found.

Calls that change nothing are taken in one order only, or many hosts that ask at once would leave
open as many worlds as there are orders of their questions:

- One that is never answered and changes nothing need not be taken at all; nothing waits for it.
- Of several answered ones that change nothing and come to the same, the one forwarded first is
  taken first: it can have been taken together with any other of them, at that other's instant.
- For the same reason one that changes nothing is not taken right before the call at hand when that
  call changes nothing either and comes to the same: its own turn comes later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.oracle.decisions import begin_outcomes, peek_outcomes
from orchestrator.oracle.errors import OracleLimitError
from orchestrator.oracle.frame import Frame
from orchestrator.oracle.messages import (
    BeginAsked,
    PeekAsked,
    QueryAsked,
    ReceiptAsked,
    RenewAsked,
)
from orchestrator.oracle.outcomes import Outcome, matched
from orchestrator.oracle.recordings import (
    query_outcomes,
    receipt_outcomes,
    renew_outcomes,
    resolve_outcomes,
)
from orchestrator.oracle.view import Call
from orchestrator.oracle.worlds import Row, World, first_world
from orchestrator.oracle.zone import Instant

__all__ = [
    "CONFIGURATIONS_AFTER_A_VIOLATION",
    "MAX_CONFIGURATIONS",
    "Candidate",
    "Configuration",
    "Early",
    "Explorer",
    "Step",
    "in_order_of_answers",
    "outcomes",
]

MAX_CONFIGURATIONS = 20_000
"""More possible worlds than this are not followed: the trial is an ERROR, never a FAIL."""

CONFIGURATIONS_AFTER_A_VIOLATION = 1_000
"""The same once an answer was found that no memory can have given: the verdict stands by then."""


@dataclass(frozen=True)
class Early:
    """A call that was taken before another one whose answer was seen first.

    Attributes:
        position: Its position in the view.
        world: The world just before it.
        outcome: What it came to; its own answer was found to fit.
    """

    position: int
    world: World
    outcome: Outcome


@dataclass(frozen=True)
class Configuration:
    """One way in which everything so far can have happened.

    Attributes:
        world: The memory's state.
        pending: Positions of the calls that were forwarded and not taken yet.
        early: Calls that were taken and whose answers are still to come.
    """

    world: World
    pending: frozenset[int]
    early: tuple[Early, ...] = ()

    def taken_early(self, position: int) -> Early | None:
        """How a call was taken, if it was."""
        return next((entry for entry in self.early if entry.position == position), None)


@dataclass(frozen=True)
class Candidate:
    """One way in which the call at hand can have been taken.

    Attributes:
        before: The configuration when its answer was seen.
        world: The world just before the call itself.
        outcome: What it came to.
        matched: The world to go on with, given the answer; None when the answer contradicts it.
    """

    before: Configuration
    world: World
    outcome: Outcome
    matched: World | None


@dataclass(frozen=True)
class Step:
    """Everything that was possible when one call's answer was seen.

    Attributes:
        position: The call's position in the view.
        candidates: Every way in which it can have been taken, consistent with every other known
            answer.
    """

    position: int
    candidates: tuple[Candidate, ...]

    def matching(self) -> list[tuple[Candidate, World]]:
        """What fits the answer, each with the world to go on with."""
        return [(one, one.matched) for one in self.candidates if one.matched is not None]


def outcomes(world: World, call: Call, frame: Frame) -> Iterator[Outcome]:
    """Every outcome of any call in one world."""
    asked = call.request
    if isinstance(asked, BeginAsked):
        yield from begin_outcomes(world, call, asked, frame)
    elif isinstance(asked, PeekAsked):
        yield from peek_outcomes(world, call, asked, frame)
    elif isinstance(asked, ReceiptAsked):
        yield from receipt_outcomes(world, call, asked, frame)
    elif isinstance(asked, QueryAsked):
        yield from query_outcomes(world, call, asked, frame)
    elif isinstance(asked, RenewAsked):
        yield from renew_outcomes(world, call, asked, frame)
    else:
        yield from resolve_outcomes(world, call, asked, frame)


class Explorer:
    """The set of configurations, moved on from answer to answer.

    Args:
        calls: The operation's calls, as the view has them.
        frame: The operation and the memory that it is asked of.
    """

    def __init__(self, calls: Sequence[Call], frame: Frame) -> None:
        self._calls = calls
        self._frame = frame
        self._configurations: tuple[Configuration, ...]
        self._configurations = (Configuration(first_world(), frozenset()),)
        self._seen: set[int] = set()
        self._violated = False

    def step(self, position: int) -> Step:
        """Finds every way in which an answered call can have been taken.

        Calls must come in the order of their answers.

        Raises:
            OracleLimitError: More configurations than the bound.
        """
        call = self._calls[position]
        arrived = {
            index
            for index, other in enumerate(self._calls)
            if index not in self._seen
            and (call.last_ns is None or other.forwarded_ns <= call.last_ns)
        }
        self._seen |= arrived
        candidates = tuple(
            candidate
            for before, idle in self._reachable(arrived, position)
            for candidate in self._candidates(before, position)
            if idle is None or idle != self._idle_sort(position, candidate)
        )
        self._check_limit(len(candidates))
        return Step(position, candidates)

    def follow(self, position: int, worlds: Iterable[tuple[Configuration, World]]) -> None:
        """Goes on with these worlds, each from the configuration that it came from.

        Raises:
            OracleLimitError: More configurations than the bound.
        """
        following = (
            Configuration(
                world,
                before.pending - {position},
                tuple(entry for entry in before.early if entry.position != position),
            )
            for before, world in worlds
        )
        self._configurations = tuple(dict.fromkeys(following))
        self._check_limit(len(self._configurations))

    def _candidates(self, before: Configuration, position: int) -> Iterator[Candidate]:
        early = before.taken_early(position)
        if early is not None:
            yield Candidate(before, early.world, early.outcome, before.world)
            return
        call = self._calls[position]
        for outcome in outcomes(before.world, call, self._frame):
            yield Candidate(before, before.world, outcome, matched(outcome, call.answer))

    def _idle_sort(self, position: int, candidate: Candidate) -> _Sort | None:
        """Sort of the call at hand if it changes nothing, and was not taken before already."""
        early = candidate.before.taken_early(position) is not None
        if early or not _same_but_for_time(candidate.outcome.after, candidate.world):
            return None
        return _sort_of(self._calls[position], candidate.outcome)

    def _reachable(self, arrived: set[int], position: int) -> tuple[_Reached, ...]:
        """All configurations before one call: any pending others taken first, in any order.

        Each with the sort of what was taken last, if that changed nothing.
        """
        found: dict[_Reached, None] = {}
        todo: list[_Reached] = [
            (self._without_past(replace(known, pending=known.pending | arrived)), None)
            for known in self._configurations
        ]
        while todo:
            current = todo.pop()
            if current in found:
                continue
            found[current] = None
            self._check_limit(len(found))
            if current[0].taken_early(position) is not None:
                continue
            todo.extend(self._after_taking(current[0], position))
        return tuple(found)

    def _after_taking(self, current: Configuration, position: int) -> Iterator[_Reached]:
        """One more pending call was taken; of idle ones only the first of each sort."""
        known: set[_Sort] = set()
        for other in sorted(current.pending - {position}, key=self._order):
            call = self._calls[other]
            idle: set[_Sort] = set()
            for outcome in outcomes(current.world, call, self._frame):
                after = matched(outcome, call.answer)
                if after is None:
                    continue
                sort = None
                if _same_but_for_time(after, current.world):
                    if not call.answered:
                        continue
                    sort = _sort_of(call, outcome)
                    idle.add(sort)
                    if sort in known:
                        continue
                early = current.early
                if call.answered:
                    taken = Early(other, current.world, outcome)
                    early = tuple(sorted((*early, taken), key=lambda entry: entry.position))
                left = Configuration(after, current.pending - {other}, early)
                yield self._without_past(left), sort
            known |= idle

    def judge_on(self) -> None:
        """An answer was found that no memory can have given: go on within a smaller bound."""
        self._violated = True

    def _check_limit(self, count: int) -> None:
        limit = MAX_CONFIGURATIONS
        if self._violated:
            limit = min(limit, CONFIGURATIONS_AFTER_A_VIOLATION)
        if count > limit:
            raise OracleLimitError(
                f"operation {self._frame.operation_id} leaves more than {limit} worlds open"
            )

    def _order(self, position: int) -> tuple[int, int]:
        return self._calls[position].forwarded_ns, position

    def _without_past(self, configuration: Configuration) -> Configuration:
        """Gives up pending calls that can be taken no more, so that equal futures compare equal."""
        now_ns = configuration.world.zone.span(Instant.POINT)[0]
        if now_ns is None:
            return configuration
        pending = frozenset(
            index
            for index in configuration.pending
            if not self._is_past(self._calls[index], now_ns)
        )
        return replace(configuration, pending=pending)

    def _is_past(self, call: Call, now_ns: int) -> bool:
        return not call.answered and call.last_ns is not None and call.last_ns < now_ns


_Sort = tuple[object, ...]
"""What a call came to that changes nothing: equal ones can be taken at one instant."""

_Reached = tuple[Configuration, _Sort | None]


_TIMELESS_ROWS = frozenset({Row.IDENTITY, Row.COMPLETE, Row.ABANDONED})


def _sort_of(call: Call, outcome: Outcome) -> _Sort:
    # What no time matters to can be taken at any other call's instant, whatever it is. A decision
    # depends on the world and the time, however it is asked for; a renewal on who asks as well.
    asked, segment = call.request, outcome.after.segment
    if isinstance(asked, BeginAsked | PeekAsked):
        if outcome.row in _TIMELESS_ROWS:
            return "timeless", segment
        return type(asked), outcome.pattern, outcome.row, outcome.timing, segment
    return (
        (asked, outcome.pattern, segment)
        if isinstance(asked, RenewAsked)
        else ("timeless", segment)
    )


def _same_but_for_time(after: World, before: World) -> bool:
    return replace(after, zone=before.zone, segment=before.segment) == before


def in_order_of_answers(calls: Sequence[Call]) -> list[int]:
    """Positions of the answered calls, in the order in which their answers were seen."""
    answered = [index for index, call in enumerate(calls) if call.answered]
    return sorted(answered, key=lambda index: (calls[index].last_ns or 0, calls[index].sequence))
