"""Model independence: what one configuration was told, another one answers on the same volume.

The second configuration is that of another machine (time zone, locale, hash seed) and whatever a
vendor.yaml names as `second_environment`, such as another model.
"""

from __future__ import annotations

from orchestrator.suites.integrity.calls import Reconfigure, Script
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.narrative.properties.common import every_story, judge_same
from orchestrator.suites.narrative.scene import (
    NarrativeCase,
    NarrativeCheck,
    Scene,
    answered_check,
    contract_check,
)
from orchestrator.suites.narrative.steps import answers, note_undisturbed, tell

__all__ = ["MODEL_INDEPENDENCE"]

_CASE = "property.model_independence"
_SAME = NarrativeCheck(
    _CASE,
    Column.SAFETY,
    14,
    "a second configuration on the same volume answers as the first",
    "answers",
)


def _script(scene: Scene) -> Script:
    """Tell and ask in the first configuration, ask again in the second."""
    yield from tell(scene, scene.story, scene.namespace)
    first = yield from answers("first", scene, scene.namespace)
    note_undisturbed(scene, first)
    yield Reconfigure("second configuration")
    second = yield from answers("second", scene, scene.namespace)
    judge_same(scene, _SAME, first, second)


MODEL_INDEPENDENCE = NarrativeCase(
    case=_CASE,
    title="Model independence: told to one configuration, asked of another",
    checks=(contract_check(_CASE), answered_check(_CASE), _SAME),
    script=_script,
    stories=every_story,
)
