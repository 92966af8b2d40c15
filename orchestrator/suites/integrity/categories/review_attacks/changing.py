"""The attack of K on a record that is not what it was when its challenge was issued."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeAlias

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotExpressible, NotServed
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    PROMOTE,
    RELEASE,
    Act,
    Pending,
    Sought,
    decision_on,
    signed,
)
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    Stage,
)
from orchestrator.suites.integrity.categories.review_attacks.texts import Proposal
from orchestrator.suites.integrity.lifecycle_steps import (
    Changed,
    archive,
    forget,
    inspect,
    quarantine,
    supersede,
)
from orchestrator.suites.integrity.steps import Offered

__all__ = ["changed_record"]

_REASON = "withdrawn"
_LATER = " Since the spring a second colleague confirms it."

_Changing: TypeAlias = Generator[Ask, Answer, tuple[Pending, str] | None]
_End: TypeAlias = Callable[[str, memory_pb2.Scope, str], Generator[Ask, Answer, Changed]]


def changed_record(stage: Stage) -> Act:
    """Archived, forgotten, quarantined or superseded between the challenge and its decision."""
    unserved: list[NotServed] = []
    parts = 0
    for change in (_archived, _forgotten, _replaced):
        try:
            changed = yield from change(stage)
        except NotServed as error:
            unserved.append(error)
            continue
        if changed is None:
            continue
        parts += 1
        pending, what = changed
        ask = decision_on(f"attack.{what}", pending, signing=signed(pending))
        yield from stage.attack(ask.step, pending, ask, f"an approval of a record {what} since")
    if not parts and unserved:
        raise unserved[0]
    if not parts:
        raise NotExpressible("nothing changes a record over which a challenge is open")
    spare = yield from stage.pending("twin", stage.case.spare)
    yield from stage.twin(spare)


def _archived(stage: Stage) -> _Changing:
    pending = yield from _ended(stage, "archived", stage.case.first, archive)
    return None if pending is None else (pending, "archived")


def _forgotten(stage: Stage) -> _Changing:
    pending = yield from _ended(stage, "forgotten", stage.case.second, forget)
    return None if pending is None else (pending, "forgotten")


def _ended(
    stage: Stage, name: str, proposal: Proposal, end: _End
) -> Generator[Ask, Answer, Pending | None]:
    """A record that was put out of use after its challenge was issued; None where nothing can be.

    Some memories change a proposal by a review only: there the record is approved and quarantined
    first, and the challenge is one over the quarantined record.
    """
    pending = yield from stage.pending(name, proposal)
    record_id = pending.record.record_id
    if (yield from end(f"{name}.change", pending.scope, record_id)).done:
        return pending
    if not (yield from stage.approved(f"{name}.settled", pending)):
        return None
    yield from quarantine(f"{name}.quarantine", pending.scope, record_id, _REASON)
    if (yield from stage.in_force(f"{name}.quarantined", pending, pending.scope)):
        return None
    for action in (PROMOTE, RELEASE):
        got = yield from stage.challenge(f"{name}.{action}", pending, pending.scope, action)
        if isinstance(got, str):
            continue
        changed = yield from end(f"{name}.change_again", pending.scope, record_id)
        return replace(pending, challenge=got) if changed.done else None
    return None


def _replaced(stage: Stage) -> _Changing:
    """The operator's own procedure, in force or not: withdrawn, or replaced by himself."""
    proposal, scope = stage.case.third, stage.scope
    sought = yield from stage.proposed("changed", proposal.own, proposal.own_nonce, scope)
    if not sought.record.kept:
        return None
    active = yield from stage.in_force("changed.before", sought, scope)
    got = yield from stage.challenge("changed.request", sought, scope)
    if isinstance(got, str):
        return None
    pending = Pending(sought.record, sought.nonce, scope, got)
    if active and stage.case.varied.number("change", 2) == 1:
        what = "quarantined"
        yield from quarantine("changed.change", scope, sought.record.record_id, _REASON)
    else:
        what = "superseded"
        offer = replace(proposal.own, content=proposal.own.content + _LATER)
        newcomer = yield from supersede(
            "changed.change",
            scope,
            sought.record.record_id,
            offer.observation(stage.scene.namespace),
        )
        if not (yield from _out_of_use(sought, newcomer, scope)):
            return None
    if (yield from stage.in_force("changed.after", pending, scope)):
        return None
    return pending, what


def _out_of_use(
    old: Sought, newcomer: Offered, scope: memory_pb2.Scope
) -> Generator[Ask, Answer, bool]:
    """Whether a newcomer really took the place of a record."""
    if not newcomer.kept or newcomer.record_id == old.record.record_id:
        return False
    try:
        shown = yield from inspect("changed.inspect", scope, old.record.record_id)
    except NotServed:
        return True
    return shown.state not in (
        memory_pb2.RECORD_STATE_ACTIVE,
        memory_pb2.RECORD_STATE_QUARANTINED,
    )
