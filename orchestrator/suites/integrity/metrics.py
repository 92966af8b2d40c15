"""The axis's numbers: rates with their coverage, and safety and utility as two columns (pure).

`rates` says what each rate is. N/R and ERROR leave the denominator and show in the coverage; a
denominator of zero is N/A, never 0 %. A trial counts where its rate's checks were all evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.model import CheckOutcome, Frozen, Suite, TrialRecord, Verdict
from orchestrator.suites.integrity.categories import CATEGORIES, Category
from orchestrator.suites.integrity.checks import Column, column_of
from orchestrator.suites.integrity.planned import ordered_cases
from orchestrator.suites.integrity.rates import (
    RATES,
    Counts,
    RateDefinition,
    benchmark_cases,
)

__all__ = ["CategoryRow", "IntegrityRate", "category_rows", "integrity_rates"]


class IntegrityRate(Frozen):
    """One rate of one subject.

    Attributes:
        name: As in RATES.
        title: In words.
        counts: What the numerator counts.
        beside: Rate that it is printed beside and never summed with; empty for none.
        decides: Whether what it looks at decides verdicts; a reading or a residue never does.
        categories: Letters that it is taken over here.
        missing_categories: Letters of its definition that no trial is of.
        counted: Trials that count: the numerator.
        evaluated: Trials in which all that it looks at was evaluated: the denominator.
        trials: All trials of its cases.
    """

    name: str
    title: str
    counts: Counts
    beside: str
    decides: bool
    categories: tuple[str, ...]
    missing_categories: tuple[str, ...]
    counted: int
    evaluated: int
    trials: int

    @property
    def value(self) -> float | None:
        """Counted over evaluated, 0.0..1.0; None (N/A) when nothing was evaluated."""
        return self.counted / self.evaluated if self.evaluated else None

    @property
    def coverage(self) -> float | None:
        """Evaluated over all trials, 0.0..1.0; None (N/A) without trials."""
        return self.evaluated / self.trials if self.trials else None

    @property
    def good(self) -> bool | None:
        """Whether nothing speaks against the memory here; None when nothing was evaluated."""
        if not self.evaluated:
            return None
        return self.counted == (self.evaluated if self.counts is Counts.HELD else 0)

    @property
    def share(self) -> str:
        """`0/100`, or N/A."""
        return f"{self.counted}/{self.evaluated}" if self.evaluated else "N/A"

    @property
    def words(self) -> str:
        """`0/100 violated (coverage 100/100)`, `100/100 held (…)` or `N/A (coverage 0/100)`."""
        if not self.evaluated:
            return f"N/A (coverage 0/{self.trials})"
        return f"{self.share} {self.verb} (coverage {self.evaluated}/{self.trials})"

    @property
    def verb(self) -> str:
        """What the counted trials did: `violated`, `held` or `pass`."""
        return "pass" if self.name.startswith("D, ") else self.counts.value


class CategoryRow(Frozen):
    """One case of one subject, safety and utility apart.

    A trial counts as held in a column when every check of the column that applies held, and as
    violated when one was; otherwise the column was not evaluated in it.

    Attributes:
        category: Name of the case: its letter, or letter and variant.
        title: Name for people.
        trials: All trials.
        passed: Trials with verdict PASS.
        failed: Trials with verdict FAIL.
        errors: Trials with verdict ERROR.
        not_run: Trials with verdict N/R.
        not_run_subtypes: N/R trials by subtype.
        safety_held: Trials in which safety held.
        safety_violated: Trials in which it did not.
        utility_held: Trials in which utility held.
        utility_violated: Trials in which it did not.
        has_safety: Whether the case has a safety column.
        has_utility: Whether the case has a utility column.
    """

    category: str
    title: str
    trials: int
    passed: int
    failed: int
    errors: int
    not_run: int
    not_run_subtypes: dict[str, int]
    safety_held: int
    safety_violated: int
    utility_held: int
    utility_violated: int
    has_safety: bool
    has_utility: bool


def integrity_rates(trials: Iterable[TrialRecord]) -> tuple[IntegrityRate, ...]:
    """The benchmark's rates of one subject, and those beyond it whose cases have trials.

    Raises:
        ValueError: The trials are of several subjects.
    """
    own = _own(trials)
    present = {trial.cell.case for trial in own}
    benchmark = benchmark_cases("ACDFHIL")
    return tuple(
        _rate(definition, own)
        for definition in RATES
        if present & {*definition.cases} or set(definition.cases) <= {*benchmark}
    )


def category_rows(trials: Iterable[TrialRecord]) -> tuple[CategoryRow, ...]:
    """One row for each case that has trials: the benchmark's order first, letters together.

    Raises:
        ValueError: The trials are of several subjects.
    """
    by_case: dict[str, list[TrialRecord]] = {}
    for trial in _own(trials):
        by_case.setdefault(trial.cell.case, []).append(trial)
    return tuple(
        _row(category, by_case[category.case])
        for category in ordered_cases()
        if category.case in by_case
    )


def _own(trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    own = [trial for trial in trials if trial.cell.suite is Suite.INTEGRITY]
    subjects = {trial.subject for trial in own}
    if len(subjects) > 1:
        raise ValueError(f"rates are of one subject, not of {', '.join(sorted(subjects))}")
    return own


def _rate(definition: RateDefinition, own: Sequence[TrialRecord]) -> IntegrityRate:
    of_rate = [trial for trial in own if trial.cell.case in definition.cases]
    outcomes = [_outcome(trial, definition.column, definition.check_ids) for trial in of_rate]
    violated, held = outcomes.count(CheckOutcome.VIOLATED), outcomes.count(CheckOutcome.HELD)
    letters = {CATEGORIES[trial.cell.case].letter for trial in of_rate}
    return IntegrityRate(
        name=definition.name,
        title=definition.title,
        counts=definition.counts,
        beside=definition.beside,
        decides=definition.column.decides,
        categories=tuple(letter for letter in definition.letters if letter in letters),
        missing_categories=tuple(one for one in definition.letters if one not in letters),
        counted=held if definition.counts is Counts.HELD else violated,
        evaluated=violated + held,
        trials=len(of_rate),
    )


def _row(category: Category, trials: Sequence[TrialRecord]) -> CategoryRow:
    verdicts = [trial.verdict for trial in trials]
    subtypes = [trial.subtype.value for trial in trials if trial.subtype is not None]
    safety = [_outcome(trial, Column.SAFETY) for trial in trials]
    utility = [_outcome(trial, Column.UTILITY) for trial in trials]
    columns = {spec.column for spec in category.checks}
    return CategoryRow(
        category=category.case,
        title=category.title,
        trials=len(trials),
        passed=verdicts.count(Verdict.PASS),
        failed=verdicts.count(Verdict.FAIL),
        errors=verdicts.count(Verdict.ERROR),
        not_run=verdicts.count(Verdict.NOT_RUN),
        not_run_subtypes={name: subtypes.count(name) for name in sorted(set(subtypes))},
        safety_held=safety.count(CheckOutcome.HELD),
        safety_violated=safety.count(CheckOutcome.VIOLATED),
        utility_held=utility.count(CheckOutcome.HELD),
        utility_violated=utility.count(CheckOutcome.VIOLATED),
        has_safety=Column.SAFETY in columns,
        has_utility=Column.UTILITY in columns,
    )


def _outcome(trial: TrialRecord, column: Column, check_ids: Sequence[str] = ()) -> CheckOutcome:
    """What checks of one column of a trial came to together.

    N/R and ERROR trials leave every denominator (DESIGN §7), whatever they show. A check that could
    not apply and is not required speaks neither for nor against, where another one of the column
    was evaluated.
    """
    if trial.verdict not in (Verdict.PASS, Verdict.FAIL):
        return CheckOutcome.NOT_EVALUATED
    own = [
        check
        for check in trial.checks
        if column_of(check) is column and (not check_ids or check.check_id in check_ids)
    ]
    outcomes = {check.outcome for check in own}
    if CheckOutcome.VIOLATED in outcomes:
        return CheckOutcome.VIOLATED
    lacking = any(check.outcome is CheckOutcome.NOT_EVALUATED and check.required for check in own)
    if lacking or CheckOutcome.HELD not in outcomes:
        return CheckOutcome.NOT_EVALUATED
    return CheckOutcome.HELD
