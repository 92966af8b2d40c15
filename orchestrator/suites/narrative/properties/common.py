"""What the scripts of several properties share."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.suites.integrity.checks import quoted
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.scene import NarrativeCheck, Scene
from orchestrator.suites.narrative.steps import Said
from orchestrator.suites.narrative.stories import Story

__all__ = ["differing", "every_story", "judge_same", "lost"]


def every_story(corpus: Corpus) -> Sequence[Story]:
    """The stories of all levels, one of each round in turn, so that the first few are mixed."""
    rounds: dict[str | None, list[Story]] = {}
    for story in corpus.stories:
        rounds.setdefault(story.round, []).append(story)
    longest = max((len(stories) for stories in rounds.values()), default=0)
    return [
        stories[at] for at in range(longest) for stories in rounds.values() if at < len(stories)
    ]


def differing(scene: Scene, first: Sequence[Said], second: Sequence[Said]) -> str:
    """The first question that two times got different answers to, in words; empty for none."""
    for question, one, other in zip(scene.story.questions, first, second, strict=True):
        if not one.agrees(other, deterministic=scene.deterministic):
            return f"{question.question_id}: {_told(one)}, then {_told(other)}"
    return ""


def lost(scene: Scene, first: Sequence[Said], second: Sequence[Said]) -> str:
    """The first question that was answered rightly once and not a second time; empty for none."""
    for question, one, other in zip(scene.story.questions, first, second, strict=True):
        if one.right and not other.right:
            return f"{question.question_id}: {_told(one)}, then {_told(other)}"
    return ""


def judge_same(
    scene: Scene, check: NarrativeCheck, first: Sequence[Said], second: Sequence[Said]
) -> None:
    """Conclude whether all questions got the same answers both times."""
    wrong = differing(scene, first, second)
    count = f"{len(first)} questions answered alike"
    scene.findings.judge(check, not wrong, wrong or count)


def _told(said: Said) -> str:
    return "declined" if said.declined else quoted(said.text)
