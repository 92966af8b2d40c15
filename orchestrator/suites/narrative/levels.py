"""Which stories each level of ATANT plays, and how: alone or all in one memory (ATANT, section 8).

Stories come from a folder with `open` and `sealed` below it, or from any folder. Levels take what
is there: with fewer stories than a level wants its plan says so, and no claim can rest on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.suites.narrative.distractors import derive
from orchestrator.suites.narrative.lint import load_stories
from orchestrator.suites.narrative.stories import Story
from orchestrator.suites.narrative.vocabulary import Category

__all__ = [
    "STORIES_FOLDER",
    "Half",
    "LevelName",
    "LevelPlan",
    "load_folder",
    "plan_level",
    "story_order",
]

# What memqual comes with.
STORIES_FOLDER = Path(__file__).parent / "stories"

_CORE_ROUND = "r1"
_CORE_STORIES = 50
_ALL_STORIES = 250
_SCALE_1000 = 1_000


class Half(StrEnum):
    """Part of a corpus: written for all to see, or apart from the code that it measures."""

    OPEN = "open"
    SEALED = "sealed"
    BOTH = "both"


class LevelName(StrEnum):
    """The standard's four levels, and ours; each requires the one before."""

    CORE = "core"
    STRESS = "stress"
    CUMULATIVE = "cumulative"
    SCALE = "scale"
    SCALE_1000 = "scale_1000"

    @property
    def requires(self) -> LevelName | None:
        """The level that must be reached before this one counts."""
        order = list(LevelName)
        place = order.index(self)
        return order[place - 1] if place else None


@dataclass(frozen=True)
class LevelPlan:
    """What a level plays.

    Attributes:
        level: Which one.
        isolated: One namespace a story; else one for all.
        stories: Stories that are told and asked of.
        distractors: Derived stories that are told only.
        wanted: How many stories the level is defined on, distractors counted.
    """

    level: LevelName
    isolated: bool
    stories: tuple[Story, ...]
    distractors: tuple[Story, ...]
    wanted: int

    @property
    def complete(self) -> bool:
        """Whether there are as many stories as the level wants, so that it can be claimed."""
        return len(self.stories) + len(self.distractors) >= self.wanted

    @property
    def questions(self) -> int:
        """How many questions are asked, once each."""
        return sum(len(story.questions) for story in self.stories)


def load_folder(folder: Path, half: Half = Half.BOTH) -> tuple[Story, ...]:
    """The stories of a folder, the service desk's among them, in order of their ids.

    Args:
        folder: With `open` and `sealed` below it, or without; what stands beside the two is taken
            only with both.
        half: Which half.

    Raises:
        UsageError: the folder or the half is not there, or has no story.
        StoryError: a story has errors.
    """
    path = folder if half is Half.BOTH else folder / half
    if not path.is_dir():
        raise UsageError(
            f"{path} is no folder, so there are no stories of the {half} half.",
            next_step="Give a folder that has the half below it, or take both.",
        )
    return tuple(sorted(load_stories([path]), key=story_order))


def plan_level(level: LevelName, stories: Sequence[Story]) -> LevelPlan:
    """What a level plays.

    Core and Cumulative play round r1, or where no story names a round the first 50; the service
    desk is of no level.

    Args:
        level: Which one.
        stories: All there are, in the order that they are to be told in.
    """
    told = tuple(story for story in stories if story.category is not Category.SERVICE_DESK)
    match level:
        case LevelName.CORE | LevelName.CUMULATIVE:
            isolated = level is LevelName.CORE
            return LevelPlan(level, isolated, _core(told), (), _CORE_STORIES)
        case LevelName.STRESS | LevelName.SCALE:
            isolated = level is LevelName.STRESS
            return LevelPlan(level, isolated, told, (), _ALL_STORIES)
        case LevelName.SCALE_1000:
            more = derive(told, max(0, _SCALE_1000 - len(told)))
            return LevelPlan(level, False, told, more, _SCALE_1000)


def _core(stories: Sequence[Story]) -> tuple[Story, ...]:
    named = tuple(story for story in stories if story.round == _CORE_ROUND)
    return named or tuple(stories[:_CORE_STORIES])


def story_order(story: Story) -> tuple[int, int, str]:
    """Sorts published stories by their number and before others, which go by their id."""
    number = story.story_id
    is_number = number.isascii() and number.isdigit()
    return (0, int(number), "") if is_number else (1, 0, number)
