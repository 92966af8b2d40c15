"""Reads story files, says everything that is wrong with them, and loads those that are right.

    story_files ─► read_drafts ─► join_published ─► Story ─► lint_turns, ─► across ─► Linted
                   documents      answers           stories  lint_questions  files

No file makes this fail: what cannot be read, parsed or believed is a finding with its line.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import StoryError
from orchestrator.runtimes.yamlmodel import Complaint, examine
from orchestrator.suites.narrative.answers import join_published
from orchestrator.suites.narrative.events import short
from orchestrator.suites.narrative.findings import Finding, Rule, Severity
from orchestrator.suites.narrative.lint_questions import lint_questions
from orchestrator.suites.narrative.lint_story import StoryPath, lint_turns
from orchestrator.suites.narrative.reading import Draft, read_drafts, story_files
from orchestrator.suites.narrative.stories import (
    REQUIRED,
    Level,
    Story,
    StoryFile,
)

__all__ = ["Linted", "lint_paths", "load_stories"]

_SHOWN_MAX = 12


@dataclass(frozen=True)
class Linted:
    """What became of story files.

    Attributes:
        files: The files that were read.
        stories: Stories whose fields are all of the right kinds, in the order of the files; that
            they have no errors is not said.
        findings: What is wrong, by file and line.
    """

    files: tuple[Path, ...]
    stories: tuple[Story, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that keep stories from being used."""
        return tuple(each for each in self.findings if each.severity is Severity.ERROR)


@dataclass(frozen=True)
class _Placed:
    """A story with the draft that knows its lines."""

    draft: Draft
    story: Story

    def finding(self, place: StoryPath, severity: Severity, rule: Rule, message: str) -> Finding:
        line = self.draft.content.line_of(place)
        return Finding(self.draft.path, line, severity, rule, message)


def lint_paths(paths: Iterable[Path]) -> Linted:
    """Reads and checks story files.

    Args:
        paths: Files, and folders whose .yaml, .yml and .json files are all taken for stories.

    Raises:
        UsageError: a path does not exist, or a folder holds no such file.
    """
    files = story_files(paths)
    findings: list[Finding] = []
    drafts: list[Draft] = []
    placed: list[_Placed] = []
    for path in files:
        found, wrong = read_drafts(path)
        drafts += found
        findings += wrong
    for draft in join_published(drafts):
        story, wrong = _story(draft)
        findings += wrong
        if story is not None:
            placed.append(_Placed(draft, story))
    for each in placed:
        findings += _remarks(each)
    findings += _across(placed)
    return Linted(files, tuple(each.story for each in placed), tuple(sorted(set(findings))))


def load_stories(paths: Iterable[Path]) -> tuple[Story, ...]:
    """The stories of files and folders, in the order of the files' names.

    Raises:
        UsageError: a path does not exist, or a folder holds no story.
        StoryError: a story has errors; the diagnosis lists the first of them with their lines.
    """
    linted = lint_paths(paths)
    errors = linted.errors
    if errors:
        shown = "\n".join(f"  {error}" for error in errors[:_SHOWN_MAX])
        more = f"\n  … and {len(errors) - _SHOWN_MAX} more" if len(errors) > _SHOWN_MAX else ""
        raise StoryError(
            f"{len(errors)} errors in stories:\n{shown}{more}",
            next_step="Correct them; `memqual stories lint` lists all, docs/stories.md the rules.",
        )
    return linted.stories


def _story(draft: Draft) -> tuple[Story | None, list[Finding]]:
    found, complaints = examine(StoryFile, draft.content)
    absent = list(_absent(draft))
    said = {place for place, _, _ in absent}
    findings = [
        Finding(draft.path, line, Severity.ERROR, Rule.FIELDS, message)
        for line, message in (
            *((line, message) for _, line, message in absent),
            # Of some of them the model says, too, that they are missing.
            *(
                _told(each, draft)
                for each in complaints
                if each.kind != "missing" or each.path not in said
            ),
        )
    ]
    if found is None or absent:
        return None, findings
    return Story(**dict(found), form=draft.form), findings


def _told(complaint: Complaint, draft: Draft) -> tuple[int, str]:
    """Line and sentence; of a number that stands for text also how it was written."""
    written = draft.written.get(complaint.path)
    if complaint.kind != "string_type" or written is None:
        return complaint.line, complaint.sentence
    where = ".".join(map(str, complaint.path))
    return complaint.line, f"{where}: {short(written)} is no text here: quote it"


def _absent(draft: Draft) -> Iterator[tuple[StoryPath, int, str]]:
    """Fields that the story's form requires and that are not there: place, line and sentence."""
    required = REQUIRED[draft.form]
    data = draft.content.data
    parts: list[tuple[StoryPath, object, Level]] = [((), data, Level.STORY)]
    for name, level in (("batches", Level.BATCH), ("questions", Level.QUESTION)):
        items = data.get(name)
        if isinstance(items, list):
            parts += [((name, index), item, level) for index, item in enumerate(items)]
    for place, part, level in parts:
        if not isinstance(part, dict):
            continue
        for name in required[level]:
            # An empty value says as little as none; `null` is what YAML makes of it.
            if part.get(name) is None:
                near = difflib.get_close_matches(name, set(part) - set(required[level]), n=1)
                hint = f"; is {short(near[0])} meant as one?" if near else ""
                what = "no questions: " if name == "questions" else ""
                inside = f" in {'.'.join(map(str, place))}" if place else ""
                line = draft.content.line_of(place)
                yield (*place, name), line, f"{what}the field {name!r} is missing{inside}{hint}"


def _remarks(placed: _Placed) -> Iterator[Finding]:
    for remarks in (lint_turns(placed.story), lint_questions(placed.story)):
        for remark in remarks:
            yield placed.finding(remark.place, remark.severity, remark.rule, remark.message)


def _across(placed: list[_Placed]) -> Iterator[Finding]:
    """Ids, narrators and turns that stand in two stories."""
    ids: dict[str, _Place] = {}
    narrators: dict[str, _Place] = {}
    turns: dict[str, _Place] = {}
    for number, each in enumerate(placed):
        story = each.story
        if other := _other(ids, story.story_id, _Place(number, each, ("story_id",))):
            message = f"story_id {short(story.story_id)} is that of {other.where}, too"
            yield each.finding(("story_id",), Severity.ERROR, Rule.IDS, message)
        other = _other(narrators, _same(story.speaker), _Place(number, each, ("narrator",)))
        if other and story.narrator:
            message = f"the narrator {short(story.narrator)} is that of {other.where}, too"
            yield each.finding(("narrator",), Severity.ERROR, Rule.NARRATOR, message)
        for index, turn in enumerate(story.batches):
            place: StoryPath = ("batches", index, "user_input")
            if other := _other(turns, _same(turn.user_input), _Place(number, each, place)):
                message = f"the same turn stands at {other.where}"
                yield each.finding(place, Severity.WARNING, Rule.IDS, message)


def _same(text: str) -> str:
    """What texts have in common that differ in case, blanks and composition only."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


@dataclass(frozen=True)
class _Place:
    """Where something stands: which story of all, and where in it; a line may hold several."""

    number: int
    placed: _Placed
    path: StoryPath

    @property
    def where(self) -> str:
        draft = self.placed.draft
        return f"{draft.path}:{draft.content.line_of(self.path)}"


def _other(seen: dict[str, _Place], key: str, here: _Place) -> _Place | None:
    """Where the same stood first; None: it stands here for the first time."""
    first = seen.setdefault(key, here)
    return None if first is here else first
