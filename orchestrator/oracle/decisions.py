"""What Begin and Peek may answer: the table of DESIGN §6 as code.

Each function yields every outcome that is allowed in one world, at every moment at which the call
can have been taken. Where the design leaves the memory a choice, all choices are yielded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.oracle.frame import Frame
from orchestrator.oracle.messages import (
    BeginAsked,
    Capability,
    DecisionKind,
    OperatorWord,
    PeekAsked,
    Spec,
)
from orchestrator.oracle.moments import Moment, moments_of, places, settled
from orchestrator.oracle.outcomes import (
    AskDestination,
    ExecuteAnew,
    ExecuteSame,
    GiveBack,
    Outcome,
    Pattern,
    Plain,
    Refusal,
    pattern_kind,
)
from orchestrator.oracle.siblings import NO_FORK, Fork
from orchestrator.oracle.view import Call
from orchestrator.oracle.worlds import Grant, Row, World
from orchestrator.oracle.zone import Instant

__all__ = ["begin_outcomes", "granted", "peek_outcomes"]

_WAIT = Plain(DecisionKind.WAIT)
_CONFIRM = Plain(DecisionKind.CONFIRM)
_REJECT = Plain(DecisionKind.REJECT)


def begin_outcomes(world: World, call: Call, asked: BeginAsked, frame: Frame) -> Iterator[Outcome]:
    """Every outcome of a Begin in one world.

    Args:
        world: The state before the call.
        call: When the call can have been taken.
        asked: What was asked.
        frame: The operation and the memory that it is asked of.
    """
    bound = world.spec
    if not asked.spec.well_formed:
        yield from _untimed(world, call, frame, Row.IDENTITY, (Refusal(),))
        return
    if bound is not None and bound.core != asked.spec.core:
        yield from _untimed(world, call, frame, Row.IDENTITY, (_REJECT,))
        return
    if bound is not None and bound.rest != asked.spec.rest:
        yield from _untimed(world, call, frame, Row.IDENTITY, (_REJECT,))
    if frame.apart and world.latest is None:
        # Bound in another namespace, for a memory that does not keep namespaces apart.
        yield from _untimed(world, call, frame, Row.IDENTITY, (_REJECT,))
    known = replace(world, spec=bound or asked.spec)
    if known.completion is not None:
        yield from _untimed(known, call, frame, Row.COMPLETE, (GiveBack(known.completion),))
    elif known.operator is OperatorWord.ABANDON:
        yield from _untimed(known, call, frame, Row.ABANDONED, (_CONFIRM, _REJECT))
    else:
        fork = frame.siblings.fork(call, asked) if world.latest is None else NO_FORK
        yield from _untimed(known, call, frame, Row.FORKED, tuple(_of_fork(fork)))
        if fork.must and frame.declared.intent_matching:
            return
        if _may_be_full(bound, call, frame) or frame.may_be_used_up(call):
            yield from _untimed(world, call, frame, Row.LIMIT, (Refusal(),))
            if _must_be_full(bound, call, asked, frame):
                return
        for moment in moments_of(world, call, frame):
            yield from _at(known, moment, asked, frame)


def _of_fork(fork: Fork) -> Iterator[Pattern]:
    """What is allowed where the intent was granted in a past that the host was set back from."""
    if fork.may:
        yield _CONFIRM
    if fork.uncertain:
        yield _WAIT
    for completion in fork.completions:
        yield GiveBack(completion)


def _may_be_full(bound: Spec | None, call: Call, frame: Frame) -> bool:
    """Whether the workflow may hold its declared number of operations without this one."""
    most = frame.declared.max_operations
    return bound is None and 0 < most <= frame.siblings.known_by(call.last_ns)


def _must_be_full(bound: Spec | None, call: Call, asked: BeginAsked, frame: Frame) -> bool:
    """Whether the workflow surely holds its declared number of operations without this one."""
    held = frame.siblings.granted_before(asked.spec.circle, call.forwarded_ns)
    return bound is None and 0 < frame.declared.max_operations <= held


def peek_outcomes(world: World, call: Call, asked: PeekAsked, frame: Frame) -> Iterator[Outcome]:
    """Every outcome of a Peek: the kinds of a Begin with a new begin id, and nothing is changed."""
    begin = BeginAsked(asked.spec, asked.incarnation_id, "", asked.settled)
    for outcome in begin_outcomes(world, call, begin, frame):
        zone = settled(Moment(outcome.at, outcome.after.segment))
        unchanged = replace(world, zone=zone, segment=outcome.after.segment)
        kind = pattern_kind(outcome.pattern)
        pattern = outcome.pattern if kind is None else Plain(kind)
        yield replace(outcome, pattern=pattern, after=unchanged)


def granted(world: World, moment: Moment, asked: BeginAsked, frame: Frame) -> World:
    """The world after EXECUTE with a new attempt, its number and token not known yet."""
    zone = moment.zone.assign(Instant.LEASE_END, Instant.NOW, frame.declared.lease_ns)
    zone = zone.assign(Instant.MARK, Instant.NOW, 0)
    if not world.grants:
        zone = zone.assign(Instant.FIRST_GRANT, Instant.NOW, 0)
    latest = world.latest
    grant = Grant(
        attempt=latest.attempt + 1 if latest else 1,
        known=False,
        token=None,
        incarnation_id=asked.incarnation_id,
        begin_id=asked.begin_id,
    )
    used = world.with_used_ticket()
    return replace(
        used,
        zone=settled(replace(moment, zone=zone)),
        segment=moment.segment,
        grants=(*used.grants, grant),
        absent_final=False,
        uncertain=0,
        asking=False,
        operator=None,
        renewals=0,
    )


def _untimed(
    world: World, call: Call, frame: Frame, row: Row, patterns: tuple[Pattern, ...]
) -> Iterator[Outcome]:
    for place in places(world.zone, world.segment, call.forwarded_ns, call.last_ns, frame.clock):
        after = replace(world, zone=settled(place), segment=place.segment)
        for pattern in patterns:
            yield Outcome(pattern, after, place.zone, row)


def _at(world: World, moment: Moment, asked: BeginAsked, frame: Frame) -> Iterator[Outcome]:
    """The timed rows at one moment; behind the mark, WAIT is allowed beside the row at the mark.

    The mark is known by bounds because the memory chooses it, not because an instant is uncertain.
    """
    if not moment.behind:
        yield from _by_time(world, moment, asked, frame)
        return
    yield _kept(world, moment, _WAIT, Row.CLOCK_BEHIND)
    for outcome in _by_time(world, moment, asked, frame):
        yield replace(outcome, row=Row.CLOCK_BEHIND, timing=False)


def _by_time(world: World, moment: Moment, asked: BeginAsked, frame: Frame) -> Iterator[Outcome]:
    latest = world.latest
    if latest is None:
        yield _anew(world, moment, asked, frame, Row.NEVER_GRANTED)
        return
    live = moment.zone.at_most(Instant.NOW, Instant.LEASE_END, -1)
    over = moment.zone.at_least(Instant.NOW, Instant.LEASE_END, 0)
    both = live is not None and over is not None
    if live is not None:
        at = replace(moment, zone=live)
        for outcome in _live(world, at, asked, latest, frame):
            yield replace(outcome, timing=both)
    if over is not None:
        at = replace(moment, zone=over)
        for outcome in _licensed(world, at, asked, frame):
            yield replace(outcome, timing=both)
        if not _must_retry(world, frame):
            for outcome in _expired(world, at, asked, latest, frame):
                yield replace(outcome, timing=both or outcome.timing)


def _live(
    world: World, moment: Moment, asked: BeginAsked, latest: Grant, frame: Frame
) -> Iterator[Outcome]:
    """Row L: WAIT, or the same EXECUTE for the same begin id. A licence may be used at once."""
    same = (latest.incarnation_id, latest.begin_id) == (asked.incarnation_id, asked.begin_id)
    if same:
        yield _kept(world, moment, ExecuteSame(latest), Row.SAME_BEGIN)
    if not same or not frame.declared.begin_replay:
        yield _kept(world, moment, _WAIT, Row.LEASE_LIVE)
    yield from _licensed(world, moment, asked, frame)


def _licensed(world: World, moment: Moment, asked: BeginAsked, frame: Frame) -> Iterator[Outcome]:
    """Rows O and F: an operator, or a fenced destination, said that nothing happened."""
    if world.operator is OperatorWord.DID_NOT_HAPPEN:
        yield _anew(world, moment, asked, frame, Row.OPERATOR)
    elif world.absent_final:
        yield _anew(world, moment, asked, frame, Row.FINAL_ABSENCE)


def _must_retry(world: World, frame: Frame) -> bool:
    """Whether EXECUTE is owed once the lease is over; without final_absence it is only allowed."""
    if world.operator is OperatorWord.DID_NOT_HAPPEN:
        return True
    return world.absent_final and frame.declared.final_absence


def _expired(
    world: World, moment: Moment, asked: BeginAsked, latest: Grant, frame: Frame
) -> Iterator[Outcome]:
    """Row X: what the destination's capability allows after an uncertain dispatch."""
    spec = world.spec or asked.spec
    if spec.capability is Capability.IDEMPOTENT:
        yield from _with_key(world, moment, asked, spec, frame)
    elif spec.capability is Capability.NONE:
        yield _kept(world, moment, _CONFIRM, Row.EXPIRED)
    elif world.uncertain == 0:
        yield _asking(world, moment, latest, frame)
        yield from _behind_a_question(world, moment, frame)
    else:
        yield _kept(world, moment, _CONFIRM, Row.EXPIRED)
        if world.uncertain < frame.declared.max_uncertain:
            yield _asking(world, moment, latest, frame)
            yield _kept(world, moment, _WAIT, Row.EXPIRED)


def _behind_a_question(world: World, moment: Moment, frame: Frame) -> Iterator[Outcome]:
    """WAIT while another's question is open, for the time that the memory declares."""
    if not world.asking or not frame.declared.question_ns:
        return
    open_still = moment.zone.at_most(Instant.NOW, Instant.QUESTION_END, -1)
    over = moment.zone.at_least(Instant.NOW, Instant.QUESTION_END, 0)
    if open_still is not None:
        at = replace(moment, zone=open_still)
        yield replace(_kept(world, at, _WAIT, Row.EXPIRED), timing=over is not None)


def _with_key(
    world: World, moment: Moment, asked: BeginAsked, spec: Spec, frame: Frame
) -> Iterator[Outcome]:
    """Row X with a key: EXECUTE while the key covers the whole new lease, CONFIRM otherwise.

    Within a declared safety margin before that point both are allowed. Behind the mark no retry
    rests on the key.
    """
    if moment.behind or not spec.has_key:
        yield _kept(world, moment, _CONFIRM, Row.EXPIRED)
        return
    latest_start_ns = spec.retention_ns - frame.declared.lease_ns
    covered = moment.zone.at_most(Instant.NOW, Instant.FIRST_GRANT, latest_start_ns)
    uncovered = moment.zone.at_least(Instant.NOW, Instant.FIRST_GRANT, latest_start_ns + 1)
    careful = moment.zone.at_least(
        Instant.NOW, Instant.FIRST_GRANT, latest_start_ns - frame.declared.key_margin_ns + 1
    )
    timing = covered is not None and uncovered is not None
    if covered is not None:
        at = replace(moment, zone=covered)
        yield replace(_anew(world, at, asked, frame, Row.EXPIRED), timing=timing)
    if careful is not None:
        at = replace(moment, zone=careful)
        yield replace(_kept(world, at, _CONFIRM, Row.EXPIRED), timing=timing)


def _anew(world: World, moment: Moment, asked: BeginAsked, frame: Frame, row: Row) -> Outcome:
    """EXECUTE with a new attempt; a refusal where the declared attempts or revisions are used up.

    A grant is a revision, however a memory counts the others.
    """
    bounds = (frame.declared.max_attempts, frame.declared.max_revisions)
    if any(0 < most <= len(world.grants) for most in bounds):
        return _kept(world, moment, Refusal(), Row.LIMIT)
    above = world.grants[-1].attempt if world.grants else 0
    after = granted(world, moment, asked, frame)
    return Outcome(ExecuteAnew(above), after, moment.zone, row)


def _asking(world: World, moment: Moment, latest: Grant, frame: Frame) -> Outcome:
    """QUERY. Each may have a ticket of its own; an answer that was not seen hides which."""
    question_ns = frame.declared.question_ns
    if question_ns:
        zone = moment.zone.assign(Instant.QUESTION_END, Instant.NOW, question_ns)
        moment = replace(moment, zone=zone)
    asked = replace(world.with_used_ticket(), asking=bool(question_ns))
    return _kept(asked, moment, AskDestination(latest), Row.EXPIRED)


def _kept(world: World, moment: Moment, pattern: Pattern, row: Row) -> Outcome:
    """An outcome that grants nothing."""
    after = replace(world, zone=settled(moment), segment=moment.segment)
    return Outcome(pattern, after, moment.zone, row)
