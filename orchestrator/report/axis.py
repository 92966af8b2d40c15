"""The integrity axis: safety and utility apart, and on whose word a verdict rests (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.model import CheckOutcome, Suite, TrialRecord, Verdict
from orchestrator.report.wording import MARKS, Mark
from orchestrator.suites.integrity.checks import VENDOR_REPORTED
from orchestrator.suites.integrity.metrics import CategoryRow, IntegrityRate, IntegrityTotals
from orchestrator.suites.integrity.rates import Counts

__all__ = ["AxisBuilder", "AxisRow", "AxisView", "ColumnLook", "RateLook", "axis_of"]

_LABELS_MAX = 3
_LABEL_CHARACTERS = 80


@dataclass(frozen=True)
class ColumnLook:
    """Safety or utility of one category.

    Attributes:
        mark: Fails when it was violated in a single trial.
        rate: Held of evaluated; empty where the case has no such column.
        words: How often it was violated.
        coverage: Evaluated of all trials; empty where the case has no such column.
    """

    mark: Mark
    rate: str
    words: str
    coverage: str


@dataclass(frozen=True)
class AxisRow:
    """One case.

    Attributes:
        not_run: N/R trials with their subtypes, in words; empty without.
        rests_on: Labels of what rests on the vendor's own answers, as the checks carry them.
        vendor_reported: Evaluated checks that do.
        evaluated: All evaluated checks.
    """

    category: str
    title: str
    passed: str
    coverage: str
    not_run: str
    safety: ColumnLook
    utility: ColumnLook
    rests_on: tuple[str, ...]
    vendor_reported: int
    evaluated: int


@dataclass(frozen=True)
class RateLook:
    """One rate.

    Attributes:
        mark: Fails when it speaks against the memory; what never decides is unscored.
        better: Which way is better, in words.
    """

    rate: IntegrityRate
    mark: Mark
    better: str


@dataclass(frozen=True)
class AxisView:
    """The whole axis of one subject."""

    rows: tuple[AxisRow, ...]
    rates: tuple[RateLook, ...]


_NONE = ColumnLook(MARKS[Verdict.UNSCORED], "", "no such column", "")


@dataclass
class _Words:
    """Whose word the checks of a category rest on."""

    labels: list[str]
    vendor_reported: int = 0
    evaluated: int = 0


class AxisBuilder:
    """Arranges one subject's integrity trials, which are added one at a time."""

    def __init__(self) -> None:
        self._words: dict[str, _Words] = {}
        self._totals = IntegrityTotals()

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over.

        Raises:
            ValueError: It is another subject's than the trials before.
        """
        if trial.cell.suite is Suite.INTEGRITY:
            self._totals.add(trial)
            _note(trial, self._words.setdefault(trial.cell.case, _Words([])))

    def result(self) -> AxisView:
        """The axis; empty without trials."""
        rows = tuple(_row(row, self._words[row.category]) for row in self._totals.rows())
        rates = self._totals.rates() if rows else ()
        return AxisView(rows, tuple(_rate_look(one) for one in rates))


def axis_of(trials: Iterable[TrialRecord]) -> AxisView:
    """Arrange one subject's integrity trials (`AxisBuilder`).

    Raises:
        ValueError: The trials are of several subjects.
    """
    builder = AxisBuilder()
    for trial in trials:
        builder.add(trial)
    return builder.result()


def _rate_look(rate: IntegrityRate) -> RateLook:
    if not rate.decides and rate.evaluated:
        mark = MARKS[Verdict.UNSCORED]
    elif rate.good is None:
        mark = MARKS[Verdict.NOT_RUN]
    else:
        mark = MARKS[Verdict.PASS if rate.good else Verdict.FAIL]
    better = "higher is better" if rate.counts is Counts.HELD else "lower is better"
    return RateLook(rate, mark, better)


def _note(trial: TrialRecord, words: _Words) -> None:
    for check in trial.checks:
        if check.outcome is CheckOutcome.NOT_EVALUATED:
            continue
        words.evaluated += 1
        if not check.actual.startswith(VENDOR_REPORTED):
            continue
        words.vendor_reported += 1
        label = check.actual.partition(":")[0][:_LABEL_CHARACTERS]
        if label not in words.labels and len(words.labels) < _LABELS_MAX:
            words.labels.append(label)


def _row(row: CategoryRow, words: _Words) -> AxisRow:
    scored = row.passed + row.failed
    return AxisRow(
        category=row.category,
        title=row.title,
        passed=f"{row.passed}/{scored}" if scored else "N/A",
        coverage=f"{scored}/{row.trials}",
        not_run=", ".join(f"{count} {name}" for name, count in row.not_run_subtypes.items()),
        safety=_column(row.safety_held, row.safety_violated, row) if row.has_safety else _NONE,
        utility=_column(row.utility_held, row.utility_violated, row) if row.has_utility else _NONE,
        rests_on=tuple(sorted(words.labels)),
        vendor_reported=words.vendor_reported,
        evaluated=words.evaluated,
    )


def _column(held: int, violated: int, row: CategoryRow) -> ColumnLook:
    evaluated = held + violated
    if violated:
        name, words = "FAIL", f"violated in {violated}"
    elif held:
        name, words = "PASS", "held"
    elif not row.errors:
        name, words = "N/R", "N/R"
    else:
        name, words = "ERROR", "not evaluated"
    mark = next(mark for verdict, mark in MARKS.items() if verdict.value == name)
    return ColumnLook(
        mark=mark,
        rate=f"{held}/{evaluated}" if evaluated else "N/A",
        words=words,
        coverage=f"{evaluated}/{row.trials}",
    )
