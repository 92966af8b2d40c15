"""What one call can come to in one world, and whether an observed answer is that (DESIGN §6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    DecisionKind,
    DecisionTold,
    Disposition,
    Refused,
    Renewed,
)
from orchestrator.oracle.worlds import Completion, Grant, Row, World
from orchestrator.oracle.zone import Instant, Zone

__all__ = [
    "GRAIN_NS",
    "MILLISECOND_NS",
    "AskDestination",
    "ExecuteAnew",
    "ExecuteSame",
    "Extended",
    "GiveBack",
    "Outcome",
    "Pattern",
    "Plain",
    "Refusal",
    "Taken",
    "label",
    "matched",
    "pattern_kind",
]

MILLISECOND_NS = 1_000_000

GRAIN_NS = 1_000_000_000
"""Coarsest clock that a memory may keep its times by: one second."""


@dataclass(frozen=True)
class ExecuteAnew:
    """EXECUTE with a new attempt, larger than `above`."""

    above: int


@dataclass(frozen=True)
class ExecuteSame:
    """The EXECUTE that was given before, equal in attempt and token."""

    grant: Grant


@dataclass(frozen=True)
class Plain:
    """A decision that its kind says all about: WAIT, CONFIRM, REJECT."""

    kind: DecisionKind


@dataclass(frozen=True)
class AskDestination:
    """QUERY for the latest attempt."""

    grant: Grant


@dataclass(frozen=True)
class GiveBack:
    """REUSE of what completed the operation."""

    completion: Completion


@dataclass(frozen=True)
class Taken:
    """A recording that is acknowledged; with one of these dispositions when it is a receipt."""

    dispositions: frozenset[Disposition] = frozenset()


@dataclass(frozen=True)
class Extended:
    """A lease that is extended to at most `most_ns` from now."""

    most_ns: int


@dataclass(frozen=True)
class Refusal:
    """A definite refusal; which status is the memory's affair."""


Pattern = ExecuteAnew | ExecuteSame | Plain | AskDestination | GiveBack | Taken | Extended | Refusal


@dataclass(frozen=True)
class Outcome:
    """One thing that a call can come to.

    Attributes:
        pattern: What the answer then is.
        after: The world after it.
        at: Bounds at the call, NEXT_POINT and (when timed) NOW included.
        row: Why; None for what is no decision.
        timing: In the same world another answer was possible only because an instant is known by
            bounds.
    """

    pattern: Pattern
    after: World
    at: Zone
    row: Row | None = None
    timing: bool = False


def matched(outcome: Outcome, answer: Answer) -> World | None:
    """The world after an outcome, given what the answer told; None when the answer is another.

    A missing or malformed answer tells nothing, so every outcome is possible.
    """
    pattern, after = outcome.pattern, outcome.after
    if isinstance(answer, Refused):
        return after if isinstance(pattern, Refusal) else None
    if isinstance(answer, Accepted):
        return _matched_acknowledgement(pattern, after, answer)
    if isinstance(answer, Renewed):
        return _matched_renewal(pattern, after, answer)
    if isinstance(answer, DecisionTold):
        return _matched_decision(pattern, after, answer)
    return after


def _matched_acknowledgement(pattern: Pattern, after: World, answer: Accepted) -> World | None:
    if not isinstance(pattern, Taken):
        return None
    if pattern.dispositions and answer.disposition not in pattern.dispositions:
        return None
    return after


def _matched_renewal(pattern: Pattern, after: World, answer: Renewed) -> World | None:
    """MARK is the renewal's instant; the answer was made a little later, or by a coarse clock."""
    if not isinstance(pattern, Extended):
        return None
    told_ns = answer.remaining_ms * MILLISECOND_NS
    if told_ns > pattern.most_ns:
        return None
    narrowed = after.zone.within(Instant.LEASE_END, Instant.MARK, told_ns, told_ns + GRAIN_NS)
    return None if narrowed is None else replace(after, zone=narrowed)


def _matched_decision(pattern: Pattern, after: World, told: DecisionTold) -> World | None:
    if told.kind is not pattern_kind(pattern):
        return None
    if isinstance(pattern, ExecuteSame | AskDestination) and not pattern.grant.can_be(told.attempt):
        return None
    if isinstance(pattern, ExecuteAnew | ExecuteSame):
        return _matched_execute(pattern, after, told)
    if isinstance(pattern, AskDestination):
        return replace(after.with_latest(told.attempt, None), ticket=told.token)
    if isinstance(pattern, GiveBack):
        fits = told.receipt is not None and pattern.completion.equals(told.receipt)
        return after if fits else None
    return after


def _matched_execute(
    pattern: ExecuteAnew | ExecuteSame, after: World, told: DecisionTold
) -> World | None:
    if not _identity_fits(pattern, after, told):
        return None
    known = after.with_latest(told.attempt, told.token)
    return _dated(known, told) if isinstance(pattern, ExecuteAnew) else known


def _identity_fits(pattern: ExecuteAnew | ExecuteSame, after: World, told: DecisionTold) -> bool:
    """Whether an EXECUTE's attempt and token are those of a new grant, or of the one repeated."""
    if any(grant.token == told.token for grant in after.grants[:-1]):
        return False
    if isinstance(pattern, ExecuteAnew):
        return told.attempt > pattern.above
    return pattern.grant.token in (None, told.token)


def _dated(after: World, told: DecisionTold) -> World:
    """Takes the memory's word for when it granted, where it can be true: MARK is that instant.

    Where the clock was set between two readings, this tells before from after.
    """
    at_ns = told.granted_at_ns
    dated = after.zone.within(Instant.MARK, Instant.ZERO, at_ns - GRAIN_NS, at_ns + GRAIN_NS)
    return after if dated is None else replace(after, zone=dated)


def pattern_kind(pattern: Pattern) -> DecisionKind | None:
    """Kind of decision that a pattern stands for; None for what is no decision."""
    if isinstance(pattern, ExecuteAnew | ExecuteSame):
        return DecisionKind.EXECUTE
    if isinstance(pattern, AskDestination):
        return DecisionKind.QUERY
    if isinstance(pattern, GiveBack):
        return DecisionKind.REUSE
    return pattern.kind if isinstance(pattern, Plain) else None


def label(pattern: Pattern) -> str:
    """Name of a pattern in reports, and in the comparison with the brute-force model."""
    if isinstance(pattern, Taken):
        return "OK(" + "|".join(sorted(pattern.dispositions)) + ")"
    kind = pattern_kind(pattern)
    if kind is DecisionKind.EXECUTE:
        return "EXECUTE(new)" if isinstance(pattern, ExecuteAnew) else "EXECUTE(same)"
    if kind is not None:
        return kind.value
    return "OK(renewed)" if isinstance(pattern, Extended) else "REFUSED"
