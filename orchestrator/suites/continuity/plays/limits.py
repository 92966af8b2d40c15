"""Plays of `families.limits`: each limit is met by as many steps as are declared, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memqual.v1 import continuity_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.families.limits import (
    CHALLENGED,
    attempts_to_take,
    operations_to_bind,
    renewals_to_take,
    revisions_to_grant,
    revisions_to_make,
)
from orchestrator.suites.continuity.plays.asking import (
    Held,
    asking,
    finish,
    granted,
    in_turn,
    label,
)
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import sha256_hex

__all__ = ["PLAYS"]

_STEPS_WITHOUT_LIMIT = 5
_REVISIONS_BEYOND = 2


def _renewals(stage: Stage, held: Held) -> None:
    most = renewals_to_take(stage.context.describe.limits)
    for number in range(most or _STEPS_WITHOUT_LIMIT):
        label(stage, held.member, f"within:{number + 1}")
        held.host.renew(held.spec, held.attempt, held.token)
    if most is not None:
        label(stage, held.member, "beyond")
        held.host.renew(held.spec, held.attempt, held.token)
    asking(stage, held.member, "second").begin(held.spec)
    finish(stage, held)


def _renew_wrongly(stage: Stage, held: Held) -> None:
    member, spec = held.member, held.spec
    label(stage, member, "forged token")
    held.host.renew(spec, held.attempt, "forged-token")
    label(stage, member, "other life")
    asking(stage, member, "second").renew(spec, held.attempt, held.token)
    label(stage, member, "other attempt")
    held.host.renew(spec, held.attempt + 1, held.token)


def _renew_late(stage: Stage, held: Held) -> None:
    label(stage, held.member, "after its end")
    held.host.renew(held.spec, held.attempt, held.token)
    finish(stage, held)
    label(stage, held.member, "complete")
    held.host.renew(held.spec, held.attempt, held.token)
    asking(stage, held.member, "last").begin(held.spec)


def _attempts(stage: Stage) -> None:
    most = attempts_to_take(stage.context.describe.limits)
    trials = {member.trial_id: granted(stage, member) for member in stage.batch.members}
    for number in range(2, (most or _STEPS_WITHOUT_LIMIT) + 1):
        stage.reach_lease_end()
        for member in stage.batch.members:
            if trials[member.trial_id] is not None:
                trials[member.trial_id] = granted(stage, member, name=f"life{number}")
    if most is not None:
        stage.reach_lease_end()
    for held in trials.values():
        if held is None:
            continue
        if most is not None:
            label(stage, held.member, "beyond")
            asking(stage, held.member, "beyond").begin(held.spec)
        finish(stage, held)


def _another(member: Member, number: int) -> continuity_pb2.OperationSpec:
    """One operation of the workflow with arguments, and so an intent, of its own."""
    spec = spec_of(member, f"number-{number}")
    spec.arguments_digest = sha256_hex(f"arguments {number}".encode())
    spec.intent_digest = sha256_hex(f"intent {number}".encode())
    return spec


def _operations(stage: Stage) -> None:
    most = operations_to_bind(stage.context.describe.limits)
    for member in stage.batch.members:
        first = granted(stage, member)
        if first is None:
            continue
        for number in range(1, most or _STEPS_WITHOUT_LIMIT):
            if granted(stage, member, spec=_another(member, number)) is None:
                break
        if most is not None:
            label(stage, member, "beyond")
            asking(stage, member, "first").begin(_another(member, most))
        asking(stage, member, "second").begin(first.spec)
        finish(stage, first)
        if most is not None:
            # Complete operations are held, too.
            label(stage, member, "beyond, one complete")
            asking(stage, member, "first").begin(_another(member, most))


def _revisions(stage: Stage) -> None:
    """By grants where so few are declared, which every design counts; else by challenges."""
    grants = revisions_to_grant(stage.context.describe.limits)
    trials = [one for one in (granted(stage, member) for member in stage.batch.members) if one]
    if grants is None:
        for held in trials:
            _challenge_until_full(stage, held)
    for number in range(2, (grants or 1) + 1):
        stage.reach_lease_end()
        # A memory that counts more than grants is full before; its latest grant stands.
        trials = [granted(stage, held.member, name=f"life{number}") or held for held in trials]
    stage.reach_lease_end()
    for held in trials:
        label(stage, held.member, "beyond")
        latest = granted(stage, held.member, name="beyond") or held
        label(stage, held.member, "receipt")
        latest.record()
        label(stage, held.member, "read")
        asking(stage, held.member, "last").begin(held.spec)


def _challenge_until_full(stage: Stage, held: Held) -> None:
    """Ask for challenges until none is issued; whether the limit is met is read from the label."""
    most = revisions_to_make(stage.context.describe.limits)
    operator = asking(stage, held.member, "operator")
    for _ in range((most or 0) + _REVISIONS_BEYOND):
        if operator.request_resolve(held.spec).answer is None:
            break
    label(stage, held.member, CHALLENGED)
    operator.request_resolve(held.spec)


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "limits.renewals": in_turn(_renewals),
    "limits.renewal_holder": in_turn(_renew_wrongly, None, _renew_late),
    "limits.attempts": _attempts,
    "limits.operations": _operations,
    "limits.revisions": _revisions,
}
