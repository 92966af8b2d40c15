"""Order of arrival: turns that come out of their order are of the times that they say.

A host that was offline tells late what was said early. No clock is touched here, so the case
applies where `property.temporal_order` cannot be played.
"""

from __future__ import annotations

from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.narrative.properties.common import every_story, lost
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import answers, note_undisturbed, tell

__all__ = ["ARRIVAL_ORDER"]

_CASE = "property.arrival_order"
_REVERSED = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    13,
    "what is answered rightly of turns that came in order is so of turns that came in reverse",
    "reversed",
)


def _script(scene: Scene) -> Script:
    """Tell in order, tell in reverse elsewhere, ask both."""
    twin = f"{scene.own}-inorder"
    yield from tell(scene, scene.story, twin)
    in_order = yield from answers("inorder", scene, twin)
    note_undisturbed(scene, in_order)
    batches = scene.story.batches[::-1]
    yield from tell(scene, scene.story, scene.namespace, batches=batches)
    reversed_ = yield from answers("reversed", scene, scene.namespace)
    wrong = lost(scene, in_order, reversed_)
    right = sum(said.right for said in in_order)
    scene.findings.judge(_REVERSED, not wrong, wrong or f"{right} right answers stayed right")


ARRIVAL_ORDER = NarrativeCase(
    case=_CASE,
    title="Order of arrival: turns that come in reverse",
    checks=(contract_check(_CASE), answered_check(_CASE), _REVERSED),
    script=_script,
    stories=every_story,
)
