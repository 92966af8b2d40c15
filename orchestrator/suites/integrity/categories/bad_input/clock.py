"""The case of X whose input is right and late: a clock that moved within a challenge's life."""

from __future__ import annotations

from orchestrator.suites.integrity.calls import NotExpressible, NotPossible, Script
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.categories.review_attacks.asking import (
    decision_on,
    signed,
)
from orchestrator.suites.integrity.categories.review_attacks.bending import clock_of_memory
from orchestrator.suites.integrity.categories.review_attacks.stage import (
    Stage,
    Unreviewable,
)
from orchestrator.suites.integrity.categories.review_attacks.texts import ReviewCase
from orchestrator.suites.integrity.checks import VENDOR_REPORTED, CheckSpec
from orchestrator.suites.integrity.lifecycle_steps import pass_time

__all__ = ["moved_clock"]

_MINUTE_NS = 60 * 10**9
_JUMP_NS_MAX = 60 * _MINUTE_NS


def moved_clock(scene: Scene, safety: CheckSpec, utility: CheckSpec) -> Script:
    """The clock jumps half of the challenge's life; the decision still counts, and once."""
    assert isinstance(scene.case, ReviewCase)  # what its build() makes
    if not scene.reviewed:
        raise NotPossible("the run has no reviewer whose key the memory was given")
    stage = Stage(scene, scene.case, safety, utility)
    try:
        pending = yield from stage.pending("clock", scene.case.first)
    except Unreviewable as error:
        stage.give_up(error)
        return
    expires = pending.challenge.expires_unix_ns
    now = yield from clock_of_memory("clock.now")
    if expires - now < 2 * _MINUTE_NS:
        raise NotExpressible("its challenges live shorter than two minutes: no room for a jump")
    yield from pass_time("clock", now + min((expires - now) // 2, _JUMP_NS_MAX))
    active = yield from stage.approved("clock", pending)
    scene.findings.judge(
        utility,
        active,
        f"{VENDOR_REPORTED}: approved within its life, the procedure is"
        f" {'' if active else 'not '}in force",
    )
    ask = decision_on("clock.again", pending, signing=signed(pending))
    status = yield from stage.decided(ask)
    scene.findings.judge(
        safety, status != "OK", f"{VENDOR_REPORTED}: the same decision again: {status}"
    )
