"""The cells of the narrative axis: levels, then properties (ATANT; DESIGN §7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.played import level, level_open
from orchestrator.suites.narrative.properties import PROPERTIES
from orchestrator.suites.narrative.scene import NarrativeCase, contract_check, every_question
from orchestrator.suites.narrative.stories import Question, Story

__all__ = ["CASES", "LEVEL_CASES", "cases_of_level", "level_of"]

_PREFIX = "level."
_SCOPED, _OPEN = "scoped", "open"
_TITLES = {
    LevelName.CORE: "Core: 50 stories, each alone",
    LevelName.STRESS: "Stress: 250 stories, each alone",
    LevelName.CUMULATIVE: "Cumulative: 50 stories in one memory",
    LevelName.SCALE: "Scale: 250 stories in one memory",
    LevelName.SCALE_1000: "Scale 1000: 250 stories and 750 derived ones in one memory",
}


def cases_of_level(name: LevelName) -> tuple[str, ...]:
    """The cells that a level is decided by."""
    if name in (LevelName.CORE, LevelName.STRESS):
        return (f"{_PREFIX}{name.value}",)
    return tuple(f"{_PREFIX}{name.value}_{how}" for how in (_SCOPED, _OPEN))


def level_of(case: str) -> LevelName | None:
    """The level that a cell is of; None for a property."""
    return next((name for name in LevelName if case in cases_of_level(name)), None)


def _stories_of(name: LevelName) -> Callable[[Corpus], Sequence[Story]]:
    # The stories of the largest level are those of the one before: deriving more takes time.
    wanted = LevelName.SCALE if name is LevelName.SCALE_1000 else name
    return lambda corpus: corpus.level(wanted).stories


def _beside(name: LevelName) -> Callable[[Corpus], Sequence[Sequence[Story]]]:
    """Derived stories, dealt over the trials of a level."""

    def deal(corpus: Corpus) -> Sequence[Sequence[Story]]:
        plan = corpus.level(name)
        count = len(plan.stories)
        return [plan.distractors[at::count] for at in range(count)]

    return deal


def _open_questions(story: Story) -> Sequence[Question]:
    return [one for one in story.questions if one.question_open is not None]


def _level_cases() -> tuple[NarrativeCase, ...]:
    found: list[NarrativeCase] = []
    for name in LevelName:
        names = cases_of_level(name)
        for case in names:
            together = "" if len(names) == 1 else f"{_PREFIX}{name.value}"
            is_open = bool(together) and case.endswith(_OPEN)
            asked = (
                ""
                if not together
                else ", asked " + ("with no speaker given" if is_open else "by the speaker")
            )
            found.append(
                NarrativeCase(
                    case=case,
                    title=_TITLES[name] + asked,
                    checks=(contract_check(case),),
                    script=level_open if is_open else level,
                    stories=_stories_of(name),
                    questions=_open_questions if is_open else every_question,
                    beside=None if is_open else _beside(name),
                    graded=True,
                    whole=True,
                    together=together,
                    asks_alone=is_open,
                )
            )
    return tuple(found)


LEVEL_CASES = _level_cases()

CASES: Mapping[str, NarrativeCase] = {one.case: one for one in (*LEVEL_CASES, *PROPERTIES)}
"""Every case by name, in the order in which they are planned."""
