"""The narrative axis where people read it: levels and tiers, checkpoints, what failed (ATANT).

The published and the strict reading of CP8 stand side by side everywhere; tiers that count are
those of the strict one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.model import Suite, TrialRecord, Verdict
from orchestrator.report.narrative_words import (
    LevelLook,
    level_looks,
    level_words,
    not_scored_or,
    published_note,
    share_words,
    verdict_words,
)
from orchestrator.report.wording import MARKS, Mark
from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.gauge import read_asked
from orchestrator.suites.narrative.tiers import levels_of
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = [
    "CHECKPOINT_NAMES",
    "AskedFailure",
    "AskedFailures",
    "CellLook",
    "NarrativeView",
    "narrative_of",
]

CHECKPOINT_NAMES = {
    Checkpoint.CLASSIFICATION: "CP1 input classification",
    Checkpoint.STORAGE: "CP2 extraction and storage",
    Checkpoint.PREDICTION: "CP3 predictive indexing",
    Checkpoint.TAGGING: "CP4 type tagging",
    Checkpoint.QUERY: "CP5 query classification",
    Checkpoint.MATCHING: "CP6 structural matching",
    Checkpoint.CONVERGENCE: "CP7 convergence",
    Checkpoint.PUBLISHED: "CP8 final answer, published",
    Checkpoint.STRICT: "CP8 final answer, strict",
    Checkpoint.TEMPORAL: "CP9 temporal reasoning",
    Checkpoint.ADAPTATION: "CP10 contextual adaptation",
}
"""What each checkpoint is called, in the order in which they are read."""

_NOT_SCORED = "N/R"
_FAILURES_KEPT = 50


@dataclass(frozen=True)
class CellLook:
    """One cell.

    Attributes:
        verdicts: What its trials came to, in words.
        stories: Stories without a wrong answer by each reading, and what no answer can get wrong,
            in words; empty where nothing was asked.
        checkpoints: Rate of every checkpoint, in order; N/R where nothing was told or expected.
        groups: Kind, name, questions, published and strict, each in words.
        failures: Checkpoint, pattern and count.
    """

    row: NarrativeRow
    verdicts: str
    stories: tuple[str, ...]
    mark: Mark
    checkpoints: tuple[str, ...]
    groups: tuple[tuple[str, str, str, str, str], ...]
    failures: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class AskedFailure:
    """One question whose answer was not right: strictly, where its story can be read so."""

    trial_id: str
    story: str
    question: str
    expected_type: str
    failed: str
    seen: str


@dataclass(frozen=True)
class NarrativeView:
    """The whole axis of one subject.

    Attributes:
        reached_strict, reached_published: The highest level with a tier, in words.
        names: Headings of the checkpoints.
    """

    levels: tuple[LevelLook, ...]
    reached_strict: str
    reached_published: str
    names: tuple[str, ...]
    cells: tuple[CellLook, ...]
    failures: tuple[AskedFailure, ...]
    failures_left_out: int


class AskedFailures:
    """The first questions that were not answered rightly; trials are added one at a time."""

    def __init__(self) -> None:
        self.first: list[AskedFailure] = []
        self.count = 0

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over."""
        if trial.cell.suite is not Suite.NARRATIVE:
            return
        named = {figure.name: figure.value for figure in trial.figures}
        for figure in trial.figures:
            asked = read_asked(figure)
            if asked is None or asked.right:
                continue
            self.count += 1
            if len(self.first) < _FAILURES_KEPT:
                self.first.append(
                    AskedFailure(
                        trial.trial_id,
                        named.get("story", ""),
                        asked.question_id,
                        asked.expected_type,
                        ", ".join(asked.failed) or "cp8 alone",
                        asked.seen,
                    )
                )


def narrative_of(
    rows: Sequence[NarrativeRow], failures: AskedFailures, *, assisted: bool
) -> NarrativeView:
    """Arrange what the narrative trials amount to.

    Args:
        rows: As the aggregate holds them.
        failures: The first wrong answers.
        assisted: A language model takes part in the memory's answers.
    """
    levels = levels_of(rows)
    return NarrativeView(
        levels=level_looks(levels, assisted=assisted),
        reached_strict=level_words(levels, strict=True, assisted=assisted),
        reached_published=level_words(levels, strict=False, assisted=assisted),
        names=tuple(CHECKPOINT_NAMES.values()),
        cells=tuple(_cell(row) for row in rows),
        failures=tuple(failures.first),
        failures_left_out=failures.count - len(failures.first),
    )


def _cell(row: NarrativeRow) -> CellLook:
    rates = {one.checkpoint: share_words(one.held, one.counted) for one in row.checkpoints}
    return CellLook(
        row=row,
        verdicts=verdict_words(row),
        stories=tuple(_story_words(row)),
        mark=MARKS[_verdict(row)],
        checkpoints=tuple(rates.get(one, _NOT_SCORED) for one in CHECKPOINT_NAMES),
        groups=tuple(_groups(row)),
        failures=tuple(
            (CHECKPOINT_NAMES[one.checkpoint], one.pattern, one.count)
            for one in sorted(row.failures, key=lambda one: -one.count)
        ),
    )


def _story_words(row: NarrativeRow) -> Iterator[str]:
    if not row.questions:
        return
    strict = not_scored_or(row.stories_strict, row.stories_asked_strict)
    published = share_words(row.stories_published, row.stories_asked)
    yield f"stories without a wrong answer: strict {strict}, published {published}"
    note = published_note(row)
    if note:
        yield note


def _verdict(row: NarrativeRow) -> Verdict:
    """The look of a cell: the gravest that its trials came to."""
    for count, verdict in (
        (row.failed, Verdict.FAIL),
        (row.errors, Verdict.ERROR),
        (row.passed, Verdict.PASS),
        (row.stories, Verdict.UNSCORED),
    ):
        if count:
            return verdict
    return Verdict.NOT_RUN


def _groups(row: NarrativeRow) -> Iterator[tuple[str, str, str, str, str]]:
    for by in ("type", "pattern", "round"):
        yield from _of_kind(row, by)


def _of_kind(row: NarrativeRow, by: str) -> Iterable[tuple[str, str, str, str, str]]:
    return (
        (
            by,
            one.name,
            str(one.questions),
            share_words(one.published, one.questions),
            not_scored_or(one.strict, one.questions_strict),
        )
        for one in row.groups
        if one.by == by
    )
