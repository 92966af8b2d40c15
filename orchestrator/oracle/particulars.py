"""Whether the particulars of an allowed decision are fit: attempt, token, lease, times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from orchestrator.oracle.frame import Frame
from orchestrator.oracle.messages import Capability, DecisionKind, DecisionTold
from orchestrator.oracle.outcomes import GRAIN_NS, MILLISECOND_NS, ExecuteAnew, ExecuteSame, Outcome
from orchestrator.oracle.view import Call
from orchestrator.oracle.worlds import Row, World
from orchestrator.oracle.zone import Instant, Zone

__all__ = ["Problem", "identity_problems", "problems_of"]


class Problem(StrEnum):
    """What is wrong with a decision whose kind is allowed."""

    ATTEMPT_NOT_LARGER = "attempt_not_larger"
    TOKEN_REUSED = "token_reused"
    TOKEN_DIFFERS = "token_differs"
    LEASE_TOO_LONG = "lease_longer_than_declared"
    LEASE_TOO_SHORT = "lease_shorter_than_declared"
    GRANTED_AT = "granted_at_outside_the_clock"
    KEY_DEADLINE = "key_deadline_later_than_the_key"
    WAIT_TOO_LONG = "wait_longer_than_declared"


def problems_of(
    call: Call, told: DecisionTold, before: World, outcome: Outcome, frame: Frame
) -> tuple[Problem, ...]:
    """What is wrong with a decision's particulars, given an outcome that it matches.

    Args:
        call: The call, for how long it can have taken.
        told: The decision.
        before: The world before it.
        outcome: The outcome that it matches.
        frame: The operation and the memory that it is asked of.
    """
    pattern, lease_ns = outcome.pattern, frame.declared.lease_ns
    found: list[Problem] = []
    if told.kind is DecisionKind.WAIT:
        if told.remaining_ms * MILLISECOND_NS > _longest_wait_ns(call, outcome, frame):
            found.append(Problem.WAIT_TOO_LONG)
    elif isinstance(pattern, ExecuteAnew):
        taken_ns = 0 if call.last_ns is None else call.last_ns - call.forwarded_ns
        found += _anew(told, outcome.at, lease_ns, taken_ns)
    elif isinstance(pattern, ExecuteSame):
        found += _same(told, before, outcome.at, lease_ns)
    if told.kind is DecisionKind.EXECUTE and _key_deadline_is_late(told, outcome.after, frame):
        found.append(Problem.KEY_DEADLINE)
    return tuple(found)


def identity_problems(
    told: DecisionTold, outcomes: Iterable[tuple[World, Outcome]]
) -> tuple[Problem, ...]:
    """What is wrong with the attempt or token of an EXECUTE where an EXECUTE is allowed.

    Args:
        told: An EXECUTE that matches no outcome.
        outcomes: Every outcome of the call, with the world before it.

    Returns:
        Nothing when no EXECUTE is allowed, or only the same one and this is another attempt.
    """
    found: set[Problem] = set()
    for before, outcome in outcomes:
        pattern = outcome.pattern
        if isinstance(pattern, ExecuteAnew):
            if told.attempt <= pattern.above:
                found.add(Problem.ATTEMPT_NOT_LARGER)
            if any(grant.token == told.token for grant in before.grants):
                found.add(Problem.TOKEN_REUSED)
        elif isinstance(pattern, ExecuteSame) and pattern.grant.can_be(told.attempt):
            found.add(Problem.TOKEN_DIFFERS)
    return tuple(sorted(found))


def _longest_wait_ns(call: Call, outcome: Outcome, frame: Frame) -> int:
    """The most that a WAIT may tell, with what a coarse clock adds to it.

    Row L waits for one lease. Elsewhere it is a pause, and before it the clock may have to come up
    to its mark, which another operation may have set.
    """
    if outcome.row is Row.LEASE_LIVE:
        return frame.declared.lease_ns + MILLISECOND_NS
    lag_ns = frame.clock.lag_ns(outcome.after.segment, call.forwarded_ns)
    return lag_ns + frame.declared.pause_ns + GRAIN_NS


def _anew(told: DecisionTold, at: Zone, lease_ns: int, taken_ns: int) -> Iterator[Problem]:
    remaining_ns = told.remaining_ms * MILLISECOND_NS
    if remaining_ns > lease_ns:
        yield Problem.LEASE_TOO_LONG
    if remaining_ns < lease_ns - taken_ns - GRAIN_NS:
        yield Problem.LEASE_TOO_SHORT
    if not _inside(told.granted_at_ns, at, Instant.NOW, 0):
        yield Problem.GRANTED_AT


def _same(told: DecisionTold, before: World, at: Zone, lease_ns: int) -> Iterator[Problem]:
    left_ns = at.bounds[Instant.LEASE_END * len(Instant) + Instant.NOW]
    if told.remaining_ms * MILLISECOND_NS > min(left_ns, lease_ns) + GRAIN_NS:
        yield Problem.LEASE_TOO_LONG
    renewed = before.renewals > 0
    if not renewed and not _inside(told.granted_at_ns, at, Instant.LEASE_END, lease_ns):
        yield Problem.GRANTED_AT


def _inside(value_ns: int, at: Zone, instant: Instant, earlier_ns: int) -> bool:
    """Whether a time is within the bounds of `instant` - `earlier_ns`, give or take the grain."""
    wanted_ns = value_ns + earlier_ns
    dated = at.within(instant, Instant.ZERO, wanted_ns - GRAIN_NS, wanted_ns + GRAIN_NS)
    return dated is not None


def _key_deadline_is_late(told: DecisionTold, after: World, frame: Frame) -> bool:
    """Whether the key is promised for longer than it is kept, counted from the first grant."""
    spec = after.spec
    if spec is None or spec.capability is not Capability.IDEMPOTENT:
        return False
    first_ns = after.zone.span(Instant.FIRST_GRANT)[1]
    if first_ns is None or not frame.declared.wall_clock:
        return False
    return told.key_deadline_ns > first_ns + spec.retention_ns + GRAIN_NS
