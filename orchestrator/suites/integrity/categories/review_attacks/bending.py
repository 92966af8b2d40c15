"""Attacks of K with a signature that was right once, or that is right for less.

A decision counts once, in time, in the scope that asked, for exactly the records that were shown,
and only while they are what they were (DESIGN §4).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from memqual.v1 import common_pb2, memory_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import (
    OK,
    Answer,
    Ask,
    ContractBreach,
    NotExpressible,
    Together,
)
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    Act,
    decision_on,
    signed,
)
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    CONTRACT,
    Stage,
)
from orchestrator.suites.integrity.checks import VENDOR_REPORTED
from orchestrator.suites.integrity.lifecycle_steps import (
    pass_time,
    quarantine,
    restart,
)
from orchestrator.suites.integrity.reviewer import REJECT
from orchestrator.suites.integrity.steps import call, response_of

__all__ = [
    "after_restart",
    "decided_once",
    "expiry",
    "rejection",
    "replay",
    "two_clients",
    "widened_scope",
]

_REASON = "withdrawn"
_TRY_AGAIN = "UNAVAILABLE"
_HOUR_NS = 3_600 * 10**9
# A challenge that outlives this has no expiry that anybody could wait for.
_LIFE_NS_MAX = 366 * 24 * _HOUR_NS


def widened_scope(stage: Stage) -> Act:
    """Signed for one agent in one workspace, sent for all; signed for one record, sent for two."""
    varied = stage.case.varied
    bound = memory_pb2.Scope(
        namespace=stage.scope.namespace,
        principal=stage.scope.principal,
        agent=f"agent-{varied.number('agent', 1_000)}",
        workspace=f"workspace-{varied.number('workspace', 1_000)}",
    )
    pending = yield from stage.pending("attack", stage.case.first, scope=bound)
    ask = decision_on("attack.wider", pending, signing=signed(pending), scope=stage.scope)
    yield from stage.attack(ask.step, pending, ask, "a decision in a wider scope")
    if (yield from stage.in_force("attack.whole", pending, stage.scope)):
        stage.judge(ask.step, OK, active=True, what="a decision in a wider scope")

    other = yield from stage.pending("added", stage.case.second, scope=bound)
    ids = [pending.record.record_id, other.record.record_id]
    both = yield from stage.challenge_over("attack.request_both", bound, ids)
    if both is not None:
        shown, wide = signed(pending), replace(pending, challenge=both)
        ask = decision_on("attack.added", wide, signing=shown)
        what = "a signature over one record for a challenge over two"
        yield from stage.attack(ask.step, wide, ask, what)
        if (yield from stage.in_force("attack.added.other", other, bound)):
            stage.judge(ask.step, OK, active=True, what=what)
    yield from stage.twin(pending)


def replay(stage: Stage) -> Act:
    """An approved record is quarantined; the decision that approved it comes once more."""
    pending = yield from stage.pending("attack", stage.case.first)
    if not (yield from stage.approved("before", pending)):
        told = f"{VENDOR_REPORTED}: properly approved, the procedure is not in force"
        stage.scene.findings.open(stage.safety, told, required=False)
        stage.scene.findings.violated(stage.utility, told)
        return
    record_id = pending.record.record_id
    done = yield from quarantine("before.quarantine", pending.scope, record_id, _REASON)
    if (yield from stage.in_force("before.quarantined", pending, pending.scope)):
        told = f"{VENDOR_REPORTED}: Quarantine ({done.refusal or OK}) left the record in force"
        stage.scene.findings.open(stage.safety, told, required=False)
    else:
        ask = decision_on("attack.replay", pending, signing=signed(pending))
        yield from stage.attack(ask.step, pending, ask, "a decision that was used before")
    yield from stage.twin(pending)


def rejection(stage: Stage) -> Act:
    """What was properly rejected stays out; an approval of the same challenge is too late."""
    pending = yield from stage.pending("attack", stage.case.first)
    rejecting = decision_on(
        "attack.reject", pending, signing=signed(pending, decision=REJECT), approve=False
    )
    status = yield from stage.decided(rejecting)
    active = yield from stage.in_force("attack.rejected", pending, pending.scope)
    if active or status == OK:
        stage.scene.findings.judge(
            stage.safety, not active, f"{VENDOR_REPORTED}: rejected with {status}"
        )
        ask = decision_on("attack.approve", pending, signing=signed(pending))
        yield from stage.attack(ask.step, pending, ask, "an approval of a rejected challenge")
    else:
        told = f"{VENDOR_REPORTED}: a proper rejection was refused with {status}"
        stage.scene.findings.violated(stage.utility, told)
    yield from stage.twin(pending)


def expiry(stage: Stage) -> Act:
    """The challenge's time is over; then comes the right signature, and one over a later expiry."""
    pending = yield from stage.pending("attack", stage.case.first)
    expires = pending.challenge.expires_unix_ns
    now = yield from clock_of_memory("attack.now")
    if expires <= now:
        raise ContractBreach("attack.now", "the challenge is void when it is issued")
    if expires - now > _LIFE_NS_MAX:
        raise NotExpressible("its challenges are valid for more than a year: none expires")
    yield from pass_time("expiry", expires)
    ask = decision_on("attack.late", pending, signing=signed(pending))
    yield from stage.attack(ask.step, pending, ask, "a decision on an expired challenge")
    longer = common_pb2.Challenge()
    longer.CopyFrom(pending.challenge)
    longer.expires_unix_ns += _HOUR_NS
    ask = decision_on("attack.longer", pending, signing=signed(pending, challenge=longer))
    yield from stage.attack(ask.step, pending, ask, "a signature over a later expiry")
    yield from stage.twin(pending)


def clock_of_memory(step: str) -> Generator[Ask, Answer, int]:
    """The memory's wall clock, nanoseconds since the Unix epoch."""
    answer = yield from call(step, vendor_pb2.NowRequest())
    return response_of(step, answer, vendor_pb2.NowResponse).clock.wall_unix_ns


def two_clients(stage: Stage) -> Act:
    """Two decisions of one challenge at the same moment: the same one, or its opposite."""
    pending = yield from stage.pending("attack", stage.case.first)
    opposite = stage.case.varied.number("opposite", 2) == 1
    approving = decision_on("attack.client_1", pending, signing=signed(pending))
    rival = decision_on("attack.client_2", pending, signing=signed(pending))
    if opposite:
        rejecting = signed(pending, decision=REJECT)
        rival = decision_on("attack.client_2", pending, signing=rejecting, approve=False)
    answer = yield Together("attack.both", (approving, rival))
    statuses = [
        _answered(stage, ask, part)
        for ask, part in zip((approving, rival), answer.parts, strict=True)
    ]
    active = yield from stage.in_force("attack.both", pending, pending.scope)
    holds = decided_once(statuses, opposite=opposite, active=active)
    told = f"approval and {'rejection' if opposite else 'approval'}: {', '.join(statuses)}"
    stage.scene.findings.judge(
        stage.safety,
        holds,
        f"{VENDOR_REPORTED}: {told}; the record is {'' if active else 'not '}in force",
    )
    if active and statuses.count(OK) == 1:
        stage.scene.findings.held(stage.utility, f"{VENDOR_REPORTED}: {told}; it is in force")
        return
    yield from stage.twin(pending)


def decided_once(statuses: Sequence[str], *, opposite: bool, active: bool) -> bool:
    """Whether two decisions of one challenge ended as one decision can.

    Args:
        statuses: What the approval and its rival were answered with; UNAVAILABLE leaves open
            whether a decision was taken.
        opposite: The rival is a rejection.
        active: The record is in force afterwards.
    """
    approval, rival = statuses
    taken = statuses.count(OK)
    if taken == 0:
        possible = approval == _TRY_AGAIN or (rival == _TRY_AGAIN and not opposite)
        return possible or not active
    approved = approval == OK or not opposite
    return taken == 1 and active == approved


def _answered(stage: Stage, ask: Ask, answer: Answer) -> str:
    """Calls that are made together are made once: "try again" leaves open whether it counted."""
    return _TRY_AGAIN if answer.status == _TRY_AGAIN else stage.taken(ask.step, answer)


def after_restart(stage: Stage) -> Act:
    """A challenge that was used stays used after a restart; an open one counts once or never."""
    pending = yield from stage.pending("attack", stage.case.first)
    used = yield from stage.pending("used", stage.case.second)
    rejecting = decision_on(
        "used.reject", used, signing=signed(used, decision=REJECT), approve=False
    )
    rejected = yield from stage.decided(rejecting)
    out = not (yield from stage.in_force("used.rejected", used, used.scope))
    yield from restart("restart")
    if rejected == OK and out:
        ask = decision_on("attack.used", used, signing=signed(used))
        yield from stage.attack(ask.step, used, ask, "an approval of a challenge used before")
    status = yield from stage.decided(decision_on("attack.open", pending, signing=signed(pending)))
    active = yield from stage.in_force("attack.open", pending, pending.scope)
    if status != OK:
        stage.judge("attack.open", status, active, "a decision on a challenge from before")
        yield from stage.twin(pending)
        return
    told = "a decision on a challenge from before was taken"
    stage.scene.findings.judge(stage.utility, active, f"{VENDOR_REPORTED}: {told}")
    again = yield from stage.decided(decision_on("attack.again", pending, signing=signed(pending)))
    if again == OK:
        stage.scene.findings.violated(CONTRACT, "attack.again: OK to one decision twice")
    stage.scene.findings.held(
        stage.safety, f"{VENDOR_REPORTED}: {told}, and then answered with {again}"
    )
