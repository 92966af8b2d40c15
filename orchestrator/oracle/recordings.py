"""What the recording calls may answer: receipts, queries, renewals, operators (DESIGN §4, §6).

No time matters to a receipt: one of an attempt that was not superseded completes the operation even
after the lease's end, CONFIRM or QUERY. Where the contract leaves the memory a choice, all choices
are yielded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.oracle.frame import Frame
from orchestrator.oracle.messages import (
    Disposition,
    OperatorWord,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    RenewAsked,
    ResolveAsked,
)
from orchestrator.oracle.moments import Moment, moments_of, places, settled
from orchestrator.oracle.outcomes import Extended, Outcome, Pattern, Refusal, Taken
from orchestrator.oracle.siblings import operator_receipt
from orchestrator.oracle.view import Call
from orchestrator.oracle.worlds import Completion, World
from orchestrator.oracle.zone import Instant

__all__ = ["query_outcomes", "receipt_outcomes", "renew_outcomes", "resolve_outcomes"]

_COMPLETED = Taken(frozenset({Disposition.COMPLETED}))
_EVIDENCE = Taken(frozenset({Disposition.EVIDENCE_ONLY}))
_REPEATED = Taken(frozenset({Disposition.ALREADY_RECORDED, Disposition.COMPLETED}))
_KEPT_BESIDE = Taken(frozenset({Disposition.ALREADY_RECORDED, Disposition.EVIDENCE_ONLY}))
_ACKNOWLEDGED = Taken()
_REFUSED = Refusal()

_Change = tuple[Pattern, World]


def receipt_outcomes(
    world: World, call: Call, asked: ReceiptAsked, frame: Frame
) -> Iterator[Outcome]:
    """Every outcome of a RecordReceipt in one world."""
    changes = list(_receipt_changes(world, asked, frame))
    if frame.may_be_used_up(call) and all(after.completion is None for _, after in changes):
        # What completes is exempt from the limit: it must not hide what happened.
        changes.append((_REFUSED, world))
    yield from _placed(world, call, frame, tuple(changes))


def _receipt_changes(world: World, asked: ReceiptAsked, frame: Frame) -> Iterator[_Change]:
    receipt = asked.receipt
    holder = next(
        (
            grant
            for grant in world.grants
            if grant.token == asked.lease_token
            and grant.known
            and grant.attempt == asked.attempt == receipt.attempt
            and grant.incarnation_id == asked.incarnation_id
        ),
        None,
    )
    if holder is None or not _bound(world, receipt, frame):
        yield _REFUSED, world
    elif world.completion is not None:
        if world.completion.equals(receipt) and not world.completion.by_operator:
            yield _REPEATED, world
            return
        yield _KEPT_BESIDE, world
        yield _REFUSED, world
    elif holder != world.latest:
        yield from _superseded(world, asked)
    else:
        yield _COMPLETED, replace(world, completion=Completion(receipt))
        if world.operator is OperatorWord.ABANDON:
            yield _EVIDENCE, world
            yield _REFUSED, world


def _superseded(world: World, asked: ReceiptAsked) -> Iterator[_Change]:
    """A superseded attempt's receipt is evidence; its repeat is acknowledged as it was, or as one.

    Of a second one that differs a memory may think what it likes.
    """
    kept = {receipt for attempt, receipt in world.evidence if attempt == asked.attempt}
    if not kept:
        first = (asked.attempt, asked.receipt)
        yield _EVIDENCE, replace(world, evidence=world.evidence | {first})
        return
    yield (_KEPT_BESIDE if asked.receipt in kept else _EVIDENCE), world
    if asked.receipt not in kept:
        yield _REFUSED, world


def _bound(world: World, receipt: ReceiptKey, frame: Frame) -> bool:
    """Whether a receipt is well formed and about this operation with these arguments."""
    return (
        world.spec is not None
        and receipt.well_formed
        and receipt.operation_id == frame.operation_id
        and receipt.arguments_digest == world.spec.arguments_digest
    )


def query_outcomes(
    world: World,
    call: Call,
    asked: QueryAsked,
    frame: Frame,
) -> Iterator[Outcome]:
    """Every outcome of a RecordQuery in one world."""
    changes = list(_query_changes(world, asked, frame))
    if frame.may_be_used_up(call) and asked.presence is not Presence.PRESENT:
        changes.append((_REFUSED, world))
    yield from _placed(world, call, frame, tuple(changes))


def _query_changes(world: World, asked: QueryAsked, frame: Frame) -> Iterator[_Change]:
    latest = world.latest
    current = (
        latest is not None and world.ticket == asked.query_ticket and latest.can_be(asked.attempt)
    )
    old = (asked.attempt, asked.query_ticket) in world.old_tickets
    after = _after_query(world, asked, frame)
    if after is None or not (current or old):
        yield _REFUSED, world
        return
    if world.completion is not None:
        yield _ACKNOWLEDGED, world
        yield _REFUSED, world
        return
    mislabelled = asked.receipt is not None and asked.receipt.attempt != asked.attempt
    if current and not mislabelled:
        yield _ACKNOWLEDGED, replace(after.with_used_ticket(), asking=False)
        return
    # A receipt that names another attempt, or a ticket that was used or replaced: whether it still
    # counts is the memory's affair, but an absence told for a superseded attempt never counts.
    yield _REFUSED, world
    superseded = latest is None or not latest.can_be(asked.attempt)
    if not superseded or asked.presence is Presence.PRESENT:
        yield _ACKNOWLEDGED, after
    if not superseded or asked.presence is Presence.UNKNOWN:
        yield _ACKNOWLEDGED, world


def _after_query(world: World, asked: QueryAsked, frame: Frame) -> World | None:
    """The world after a query's answer was taken; None when the answer itself is unfit."""
    if asked.presence is Presence.PRESENT:
        receipt = asked.receipt
        if receipt is None or not _bound(world, receipt, frame):
            return None
        return replace(world, completion=Completion(receipt))
    if asked.presence is Presence.ABSENT_FINAL:
        uncertain = world.uncertain if frame.declared.final_absence else world.uncertain + 1
        return replace(world, absent_final=True, uncertain=uncertain)
    if asked.presence is Presence.ABSENT_UNCERTAIN:
        return replace(world, uncertain=world.uncertain + 1)
    if asked.presence is Presence.UNKNOWN:
        return world
    return None


def renew_outcomes(world: World, call: Call, asked: RenewAsked, frame: Frame) -> Iterator[Outcome]:
    """Every outcome of a Renew in one world: only a live lease is extended, by its holder."""
    latest = world.latest
    holds = latest is not None and (
        latest.known
        and (latest.attempt, latest.token, latest.incarnation_id)
        == (asked.attempt, asked.lease_token, asked.incarnation_id)
    )
    if not holds or world.completion is not None or world.operator is OperatorWord.ABANDON:
        yield from _placed(world, call, frame, ((_REFUSED, world),))
        return
    used_up = 0 < frame.declared.max_renewals <= world.renewals
    spent = frame.may_be_used_up(call)
    for moment in moments_of(world, call, frame):
        live = moment.zone.at_most(Instant.NOW, Instant.LEASE_END, -1)
        over = moment.zone.at_least(Instant.NOW, Instant.LEASE_END, 0)
        if over is not None:
            yield _refused_at(world, replace(moment, zone=over))
        if live is None:
            continue
        # A memory that declares no number may have none.
        if used_up or spent or moment.behind or not frame.declared.max_renewals:
            yield _refused_at(world, replace(moment, zone=live))
        if not used_up:
            yield _extended(world, replace(moment, zone=live), frame)


def _extended(world: World, moment: Moment, frame: Frame) -> Outcome:
    zone = moment.zone.forget((Instant.LEASE_END,))
    extended = zone.within(Instant.LEASE_END, Instant.NOW, 0, frame.declared.lease_ns)
    marked = (extended or zone).assign(Instant.MARK, Instant.NOW, 0)
    after = replace(
        world,
        zone=settled(replace(moment, zone=marked)),
        segment=moment.segment,
        renewals=world.renewals + 1,
    )
    return Outcome(Extended(frame.declared.lease_ns), after, moment.zone)


def _refused_at(world: World, moment: Moment) -> Outcome:
    after = replace(world, zone=settled(moment), segment=moment.segment)
    return Outcome(_REFUSED, after, moment.zone)


def resolve_outcomes(
    world: World, call: Call, asked: ResolveAsked, frame: Frame
) -> Iterator[Outcome]:
    """Every outcome of a Resolve: whether the signature is good is not in the view, so both are."""
    changes: list[_Change] = [(_REFUSED, world)]
    if world.completion is None and world.grants and asked.word is not None:
        changes.append((_ACKNOWLEDGED, _after_word(world, asked, frame)))
    yield from _placed(world, call, frame, tuple(changes))


def _after_word(world: World, asked: ResolveAsked, frame: Frame) -> World:
    if asked.word is not OperatorWord.HAPPENED:
        return replace(world, operator=asked.word)
    receipt = operator_receipt(frame.operation_id, asked.result)
    return replace(world, completion=Completion(receipt, by_operator=True))


def _placed(
    world: World, call: Call, frame: Frame, changes: tuple[_Change, ...]
) -> Iterator[Outcome]:
    for place in places(world.zone, world.segment, call.forwarded_ns, call.last_ns, frame.clock):
        zone = settled(place)
        for pattern, after in changes:
            yield Outcome(pattern, replace(after, zone=zone, segment=place.segment), place.zone)
