"""Temporal order: the narrative's time is the turns' own, whatever the machine's clock says."""

from __future__ import annotations

from collections.abc import Generator

from memqual.v1 import vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, NotPossible, PassTime, Script, TurnBack
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.lifecycle_steps import pass_time
from orchestrator.suites.integrity.steps import call, response_of
from orchestrator.suites.narrative.properties.common import every_story, judge_same
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import answers, note_undisturbed, tell

__all__ = ["TEMPORAL_ORDER"]

_CASE = "property.temporal_order"
_AHEAD = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    13,
    "turns told while the clock jumped ahead by weeks are answered as without",
    "ahead",
)
_BEHIND = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    13,
    "turns told after the clock was turned back by months are answered as without",
    "behind",
)
_DAY_SECONDS = 24 * 3_600
_DAY_NS = _DAY_SECONDS * 1_000_000_000
_JUMP_DAYS = 40


def _script(scene: Scene) -> Script:
    """Tell undisturbed, and tell again elsewhere while the memory's clock jumps; ask all."""
    twin = f"{scene.own}-still"
    yield from tell(scene, scene.story, twin)
    still = yield from answers("still", scene, twin)
    note_undisturbed(scene, still)
    batches = scene.story.batches
    half = len(batches) // 2
    yield from tell(scene, scene.story, scene.namespace, batches=batches[:half])
    yield from _jump("jump.within")
    yield from tell(scene, scene.story, scene.namespace, batches=batches[half:])
    yield from _jump("jump.after")
    ahead = yield from answers("ahead", scene, scene.namespace)
    judge_same(scene, _AHEAD, still, ahead)
    turned = yield TurnBack("turned back", 3 * _JUMP_DAYS * _DAY_SECONDS)
    if turned.details:
        raise NotPossible(turned.details)
    behind = f"{scene.own}-behind"
    yield from tell(scene, scene.story, behind)
    said = yield from answers("behind", scene, behind)
    judge_same(scene, _BEHIND, still, said)


def _jump(step: str) -> Generator[Ask | PassTime, Answer, None]:
    answer = yield from call(f"{step}.now", vendor_pb2.NowRequest())
    now = response_of(f"{step}.now", answer, vendor_pb2.NowResponse).clock.wall_unix_ns
    yield from pass_time(step, now + _JUMP_DAYS * _DAY_NS)


TEMPORAL_ORDER = NarrativeCase(
    case=_CASE,
    title="Temporal order: the memory's clock jumps between turns",
    checks=(contract_check(_CASE), answered_check(_CASE), _AHEAD, _BEHIND),
    script=_script,
    stories=every_story,
)
