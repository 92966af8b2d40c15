"""The attack of K on a record that is not what it was when its challenge was issued."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TypeAlias

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotServed
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    Act,
    Pending,
    Sought,
    Stage,
    decision_on,
    signed,
)
from orchestrator.suites.integrity.lifecycle_steps import (
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

_Changed: TypeAlias = Generator[Ask, Answer, tuple[Pending, str] | None]


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
    spare = yield from stage.pending("twin", stage.case.spare)
    yield from stage.twin(spare)


def _archived(stage: Stage) -> _Changed:
    pending = yield from stage.pending("archived", stage.case.first)
    done = yield from archive("archived.change", pending.scope, pending.record.record_id)
    return (pending, "archived") if done.done else None


def _forgotten(stage: Stage) -> _Changed:
    pending = yield from stage.pending("forgotten", stage.case.second)
    done = yield from forget("forgotten.change", pending.scope, pending.record.record_id)
    return (pending, "forgotten") if done.done else None


def _replaced(stage: Stage) -> _Changed:
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
