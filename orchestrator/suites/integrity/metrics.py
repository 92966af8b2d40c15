"""The axis's numbers: rates with their coverage, and safety and utility as two columns (pure).

`rates` says what each rate is. N/R and ERROR leave the denominator and show in the coverage; a
denominator of zero is N/A, never 0 %. A trial counts where its rate's checks were all evaluated.
"""

from __future__ import annotations

from collections import Counter
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

__all__ = [
    "CategoryRow",
    "IntegrityRate",
    "IntegrityTotals",
    "category_rows",
    "integrity_rates",
]


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


class IntegrityTotals:
    """Adds the integrity trials of one subject up, one at a time, in any order."""

    def __init__(self) -> None:
        self._subject = ""
        self._cases: dict[str, _CaseTotals] = {}
        self._rates = {definition.name: Counter[CheckOutcome]() for definition in RATES}
        self._rates_of: dict[str, list[RateDefinition]] = {}
        for definition in RATES:
            for case in definition.cases:
                self._rates_of.setdefault(case, []).append(definition)

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over.

        Raises:
            ValueError: It is another subject's than the trials before.
        """
        if trial.cell.suite is not Suite.INTEGRITY:
            return
        if self._subject not in ("", trial.subject):
            both = ", ".join(sorted((self._subject, trial.subject)))
            raise ValueError(f"rates are of one subject, not of {both}")
        self._subject = trial.subject
        case = trial.cell.case
        self._cases.setdefault(case, _CaseTotals()).add(trial)
        for definition in self._rates_of.get(case, ()):
            outcome = _outcome(trial, definition.column, definition.check_ids)
            self._rates[definition.name][outcome] += 1

    def rates(self) -> tuple[IntegrityRate, ...]:
        """The benchmark's rates, and those beyond it whose cases have trials."""
        benchmark = {*benchmark_cases("ACDFHIL")}
        return tuple(
            self._rate(definition)
            for definition in RATES
            if self._cases.keys() & {*definition.cases} or {*definition.cases} <= benchmark
        )

    def rows(self) -> tuple[CategoryRow, ...]:
        """One row for each case that has trials: the benchmark's order first."""
        return tuple(
            self._cases[category.case].row(category)
            for category in ordered_cases()
            if category.case in self._cases
        )

    def _rate(self, definition: RateDefinition) -> IntegrityRate:
        outcomes = self._rates[definition.name]
        violated, held = outcomes[CheckOutcome.VIOLATED], outcomes[CheckOutcome.HELD]
        letters = {CATEGORIES[case].letter for case in definition.cases if case in self._cases}
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
            trials=outcomes.total(),
        )


class _CaseTotals:
    """The numbers of one case."""

    def __init__(self) -> None:
        self._verdicts: Counter[Verdict] = Counter()
        self._subtypes: Counter[str] = Counter()
        self._safety: Counter[CheckOutcome] = Counter()
        self._utility: Counter[CheckOutcome] = Counter()

    def add(self, trial: TrialRecord) -> None:
        self._verdicts[trial.verdict] += 1
        if trial.subtype is not None:
            self._subtypes[trial.subtype.value] += 1
        self._safety[_outcome(trial, Column.SAFETY)] += 1
        self._utility[_outcome(trial, Column.UTILITY)] += 1

    def row(self, category: Category) -> CategoryRow:
        columns = {spec.column for spec in category.checks}
        return CategoryRow(
            category=category.case,
            title=category.title,
            trials=self._verdicts.total(),
            passed=self._verdicts[Verdict.PASS],
            failed=self._verdicts[Verdict.FAIL],
            errors=self._verdicts[Verdict.ERROR],
            not_run=self._verdicts[Verdict.NOT_RUN],
            not_run_subtypes=dict(sorted(self._subtypes.items())),
            safety_held=self._safety[CheckOutcome.HELD],
            safety_violated=self._safety[CheckOutcome.VIOLATED],
            utility_held=self._utility[CheckOutcome.HELD],
            utility_violated=self._utility[CheckOutcome.VIOLATED],
            has_safety=Column.SAFETY in columns,
            has_utility=Column.UTILITY in columns,
        )


def integrity_rates(trials: Iterable[TrialRecord]) -> tuple[IntegrityRate, ...]:
    """The rates of one subject's trials (`IntegrityTotals.rates`).

    Raises:
        ValueError: The trials are of several subjects.
    """
    return _added(trials).rates()


def category_rows(trials: Iterable[TrialRecord]) -> tuple[CategoryRow, ...]:
    """The rows of one subject's trials (`IntegrityTotals.rows`).

    Raises:
        ValueError: The trials are of several subjects.
    """
    return _added(trials).rows()


def _added(trials: Iterable[TrialRecord]) -> IntegrityTotals:
    totals = IntegrityTotals()
    for trial in trials:
        totals.add(trial)
    return totals


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
