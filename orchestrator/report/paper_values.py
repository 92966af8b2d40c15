"""What the study's tables are made of: rows of values, and how trials become a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.model import Arm, Verdict

__all__ = [
    "HASH_CHARACTERS",
    "NOT_PUBLISHED",
    "PaperRow",
    "PaperTable",
    "PaperValue",
    "SeenTrial",
    "counted",
    "digests_of",
    "matched",
    "values_of",
    "yes_or_no",
]

HASH_CHARACTERS = 12
NOT_PUBLISHED = "-"


@dataclass(frozen=True)
class PaperValue:
    """One value of a table.

    Attributes:
        published: What the study published; a dash where it did not.
        ours: What our trials came to, each different value with how many trials had it.
    """

    published: str
    ours: str


@dataclass(frozen=True)
class PaperRow:
    """One row.

    Attributes:
        name: What it is of.
        values: One for each column.
        trials: How many of its trials were evaluated, of how many; verdicts of what was not.
    """

    name: str
    values: tuple[PaperValue, ...]
    trials: str


@dataclass(frozen=True)
class PaperTable:
    """One table.

    Attributes:
        title: With the evidence class.
        columns: Names.
        rows: In order.
        notes: Below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[PaperRow, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeenTrial:
    """What a table keeps of a trial; `figures` is by name."""

    case: str
    arm: Arm
    verdict: Verdict
    cause: str
    figures: dict[str, str]


def matched(trials: Iterable[SeenTrial]) -> str:
    """Model requests that were answered, of those that were recorded."""
    told = (
        f"{one.figures['requests']} of {one.figures['recorded requests']}"
        for one in trials
        if "requests" in one.figures and "recorded requests" in one.figures
    )
    return _different(told)


def values_of(trials: Iterable[SeenTrial], name: str) -> str:
    """Every value of a figure."""
    return _different(one.figures[name] for one in trials if name in one.figures)


def yes_or_no(trials: Iterable[SeenTrial], name: str) -> str:
    """Every value of a figure that is true or false."""
    words = {"True": "yes", "False": "no"}
    return _different(
        words.get(one.figures[name], one.figures[name]) for one in trials if name in one.figures
    )


def digests_of(trials: Iterable[SeenTrial], name: str) -> str:
    """Every value of a figure that is a digest, shortened."""
    return _different(one.figures[name][:HASH_CHARACTERS] for one in trials if name in one.figures)


def _different(values: Iterable[str]) -> str:
    """Each value that occurs, with how often when there are several."""
    counts = Counter(values)
    if not counts:
        return NOT_PUBLISHED
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} (in {count})" for value, count in counts.items())


def counted(trials: Sequence[SeenTrial]) -> str:
    """How many trials came to what they must, and the verdicts of the others."""
    good = sum(one.verdict in (Verdict.PASS, Verdict.UNSCORED) for one in trials)
    rest = Counter(one.verdict.value for one in trials)
    for verdict in (Verdict.PASS, Verdict.UNSCORED):
        rest.pop(verdict.value, None)
    told = [f"{good} of {len(trials)} as expected"] if good else []
    return ", ".join((*told, *(f"{count} {verdict}" for verdict, count in rest.items())))
