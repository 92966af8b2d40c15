"""The stories that a run plays, as its plan and its bundle know them.

How many trials a level has follows from the corpus, so the corpus is part of the plan. A bundle
keeps it whole as `stories.json`: everything can be planned, played and scored again from that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import yaml
from pydantic import ValidationError

from orchestrator.errors import UsageError
from orchestrator.model import Frozen
from orchestrator.suites.narrative.levels import (
    STORIES_FOLDER,
    LevelName,
    LevelPlan,
    load_folder,
    plan_level,
    story_order,
)
from orchestrator.suites.narrative.stories import Story
from orchestrator.suites.narrative.vocabulary import Category

__all__ = ["STORIES_FILE", "Corpus", "KeptCorpus", "own_corpus", "package_corpus", "read_fast"]

STORIES_FILE = "stories.json"
"""Where a bundle keeps it."""


class KeptCorpus(Frozen):
    """stories.json: every story of a run as it was understood, in order."""

    stories: tuple[Story, ...]


@dataclass(frozen=True, eq=False)
class Corpus:
    """All stories that a run may play.

    Attributes:
        every: In the order in which they are told, both domains.
        own: They are somebody's own, and did not come with memqual.
    """

    every: tuple[Story, ...]
    own: bool = False

    @cached_property
    def stories(self) -> tuple[Story, ...]:
        """The first domain: those of the levels."""
        return tuple(one for one in self.every if one.category is not Category.SERVICE_DESK)

    @cached_property
    def desk(self) -> tuple[Story, ...]:
        """The second domain."""
        return tuple(one for one in self.every if one.category is Category.SERVICE_DESK)

    @cached_property
    def text(self) -> str:
        """stories.json."""
        return KeptCorpus(stories=self.every).model_dump_json() + "\n"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of stories.json."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def level(self, name: LevelName) -> LevelPlan:
        """What a level plays."""
        return _level(self, name)


@cache
def _level(corpus: Corpus, name: LevelName) -> LevelPlan:
    return plan_level(name, corpus.stories)


@cache
def package_corpus() -> Corpus:
    """The corpus that comes with memqual: both halves and the second domain; may be empty.

    Raises:
        UsageError: A checked-in file is no story.
    """
    return Corpus(read_fast(STORIES_FOLDER.rglob("*.yaml")))


def read_fast(paths: Iterable[Path]) -> tuple[Story, ...]:
    """Stories of the superset that were linted before, in order of their ids.

    The lint knows lines and takes its time: tests hold it over the files that come with memqual.

    Raises:
        UsageError: A file is no story.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stories = (
        _validated(path, yaml.load(path.read_text(encoding="utf-8"), loader)) for path in paths
    )
    return tuple(sorted(stories, key=story_order))


def own_corpus(folder: Path) -> Corpus:
    """A corpus of somebody's own: all stories of a folder.

    Raises:
        UsageError: There is no story in it.
        StoryError: One has errors; `memqual stories lint` lists them.
    """
    return Corpus(load_folder(folder), own=True)


def _validated(path: Path, data: object) -> Story:
    try:
        return Story.model_validate(data)
    except ValidationError as error:
        raise UsageError(
            f"{path.name} is no story.", next_step=f"See why: memqual stories lint {path}"
        ) from error
