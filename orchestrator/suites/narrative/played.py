"""The scripts of levels: tell, look, ask (ATANT's protocol)."""

from __future__ import annotations

from orchestrator.suites.integrity.calls import Gather, Script
from orchestrator.suites.narrative.scene import Scene
from orchestrator.suites.narrative.steps import (
    ask_questions,
    look_into_storage,
    owe_inside,
    predicted,
    tell,
)

__all__ = ["level", "level_open"]

_ALL_TOLD = "told"


def level(scene: Scene) -> Script:
    """Tell a story, and what stands beside it; when all are told, ask as its speaker.

    Storage is read where the story has the memory for itself: there what is found is its own.
    """
    if scene.traced:
        owe_inside(scene)
    facts = yield from tell(scene, scene.story, scene.namespace)
    for story in scene.beside:
        yield from tell(scene, story, scene.namespace)
    yield Gather(_ALL_TOLD)
    if scene.traced:
        if not scene.case.together:
            yield from look_into_storage(scene)
        yield from predicted(scene, facts)
    yield from ask_questions(scene, scene.questions)


def level_open(scene: Scene) -> Script:
    """Ask of a story that another trial of the job has told, with no speaker given."""
    yield Gather(_ALL_TOLD)
    yield from ask_questions(scene, scene.questions, scoped=False)
