"""Determinism: equal turns and equal questions have equal answers, where that is declared."""

from __future__ import annotations

from orchestrator.model import NotRunSubtype
from orchestrator.suites.integrity.calls import Script
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.narrative.properties.common import every_story, judge_same
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import answers, note_undisturbed, tell

__all__ = ["DETERMINISM"]

_CASE = "property.determinism"
_AGAIN = NarrativeCheck(
    _CASE, Column.SAFETY, 15, "a question that is asked again is answered as before", "again"
)
_TWIN = NarrativeCheck(
    _CASE, Column.SAFETY, 15, "another namespace with the same turns answers the same", "twin"
)


def _script(scene: Scene) -> Script:
    yield from tell(scene, scene.story, scene.namespace)
    first = yield from answers("first", scene, scene.namespace)
    note_undisturbed(scene, first)
    again = yield from answers("again", scene, scene.namespace)
    judge_same(scene, _AGAIN, first, again)
    twin = f"{scene.own}-twin"
    yield from tell(scene, scene.story, twin)
    other = yield from answers("twin", scene, twin)
    judge_same(scene, _TWIN, first, other)


def _declared(declared: Declared, deterministic: bool) -> NotRun | None:
    if deterministic:
        return None
    return NotRun(NotRunSubtype.CAPABILITY_ABSENT, "the memory does not declare itself determinate")


DETERMINISM = NarrativeCase(
    case=_CASE,
    title="Determinism: two runs, identical answers",
    checks=(contract_check(_CASE), answered_check(_CASE), _AGAIN, _TWIN),
    script=_script,
    stories=every_story,
    limits=_declared,
)
