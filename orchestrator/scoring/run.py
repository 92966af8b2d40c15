"""What all trials of a run amount to: its verdict, and rates with coverage beside them (DESIGN §7).

N/R and ERROR leave every denominator; a denominator of zero is N/A. Operations of one batch share
a crash: kills with a violation stand beside operations, and no confidence interval is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.model import (
    CheckOutcome,
    Frozen,
    NotRunSubtype,
    RunVerdict,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR, ExpectedCells
from orchestrator.scoring.controls import expectation
from orchestrator.scoring.parity import parity_violations
from orchestrator.suites.integrity.metrics import (
    CategoryRow,
    IntegrityRate,
    category_rows,
    integrity_rates,
)

__all__ = ["Aggregate", "CellSummary", "ControlMiss", "Rate", "aggregate", "latest_records"]


class Rate(Frozen):
    """A share of what was scored, with what was not.

    Attributes:
        numerator: Trials that count.
        denominator: Trials that were scored; 0 makes the rate N/A.
        not_run: Trials that are N/R.
        errors: Trials that could not be evaluated.
    """

    numerator: int
    denominator: int
    not_run: int
    errors: int

    @property
    def text(self) -> str:
        """`n/d`, or N/A; coverage where it is not whole."""
        told = f"{self.numerator}/{self.denominator}" if self.denominator else "N/A"
        left = self.not_run + self.errors
        whole = self.denominator + left
        return told if not left else f"{told} (coverage {self.denominator}/{whole})"


class CellSummary(Frozen):
    """One cell of one subject.

    Attributes:
        verdicts: Trials by verdict.
        kills: Batches of the cell.
        kills_with_violation: Batches with at least one FAIL.
        unsafe, needless: Decisions.
        extra_effects: Effects beyond the first, whoever is charged.
        lost_effects: Trials that were complete without an effect.
        wrong_effects: Trials with an effect of other arguments.
        hazards: Extra effects by account.
        boundary: Trials in which a bound of time allowed two answers.
    """

    subject: str
    cell_id: str
    verdicts: dict[str, int]
    kills: int
    kills_with_violation: int
    passed: Rate
    unsafe: int
    needless: int
    extra_effects: int
    lost_effects: int
    wrong_effects: int
    hazards: dict[str, int]
    boundary: int
    dispatches: int
    effects: int
    tool_errors: int


class ControlMiss(Frozen):
    """A control that was not caught, or a good one that was: the run proves nothing."""

    subject: str
    trial_id: str
    expected: str
    verdict: str
    cause: str


class Aggregate(Frozen):
    """aggregate.json.

    Attributes:
        verdict: The run's.
        reasons: Why, in words, most important first.
        cells: One entry for each subject and cell, in order of first sight.
        missing: Expected trials that the bundle does not hold.
        control_misses: Controls that did not come to what they must.
        parity: P5 violations, in words.
        findings: What is worth knowing of the vendor and no verdict, with how many trials show it.
        rates: Named rates over the vendor's trials.
        integrity_rates: The vendor's rates of the integrity axis: the benchmark's and those beyond
            it, with coverage; empty without integrity trials.
        integrity_cases: The vendor's integrity cases, safety and utility apart.
    """

    verdict: RunVerdict
    reasons: tuple[str, ...]
    cells: tuple[CellSummary, ...]
    missing: tuple[str, ...]
    control_misses: tuple[ControlMiss, ...]
    parity: tuple[str, ...]
    findings: dict[str, int]
    rates: dict[str, Rate]
    integrity_rates: tuple[IntegrityRate, ...]
    integrity_cases: tuple[CategoryRow, ...]


def aggregate(trials: Sequence[TrialRecord], expected: ExpectedCells) -> Aggregate:
    """Add a run's trials up.

    Args:
        trials: Every trial of the bundle in order. The last record of a trial id counts, except
            that a retry never turns FAIL into anything else.
        expected: What was planned before the run.
    """
    latest = latest_records(trials)
    missing = tuple(one.trial_id for one in expected.trials if one.trial_id not in latest)
    known = [latest[one.trial_id] for one in expected.trials if one.trial_id in latest]
    misses = tuple(_control_misses(known))
    vendor = [trial for trial in known if trial.subject == VENDOR]
    parity = tuple(parity_violations(vendor))
    verdict, reasons = _verdict(known, missing, misses, parity)
    cases = category_rows(vendor)
    return Aggregate(
        verdict=verdict,
        reasons=reasons,
        cells=tuple(_cells(known)),
        missing=missing,
        control_misses=misses,
        parity=parity,
        findings=dict(sorted(Counter(one for trial in vendor for one in trial.findings).items())),
        rates=_rates(vendor),
        integrity_rates=integrity_rates(vendor) if cases else (),
        integrity_cases=cases,
    )


def latest_records(trials: Iterable[TrialRecord]) -> dict[str, TrialRecord]:
    """The record of each trial that counts: its last one, or its first FAIL (DESIGN §7)."""
    latest: dict[str, TrialRecord] = {}
    for trial in trials:
        before = latest.get(trial.trial_id)
        if before is None or before.verdict is not Verdict.FAIL:
            latest[trial.trial_id] = trial
    return latest


def _verdict(
    known: Sequence[TrialRecord],
    missing: Sequence[str],
    misses: Sequence[ControlMiss],
    parity: Sequence[str],
) -> tuple[RunVerdict, tuple[str, ...]]:
    counts = Counter(trial.verdict for trial in known if trial.subject == VENDOR)
    uncertain = sum(_unevaluated(trial) for trial in known if trial.subject != VENDOR)
    reasons: list[str] = []
    if missing:
        reasons.append(f"{len(missing)} expected trials are missing, first {missing[0]}")
    if misses:
        first = misses[0]
        reasons.append(
            f"{len(misses)} control trials did not come to what they must, first "
            f"{first.trial_id}: {first.verdict}, expected {first.expected}"
        )
    if missing or misses:
        return RunVerdict.INVALID, tuple(reasons)
    if counts[Verdict.FAIL] or parity:
        if counts[Verdict.FAIL]:
            reasons.append(f"{counts[Verdict.FAIL]} trials failed")
        reasons += parity
        return RunVerdict.NOT_QUALIFIED, tuple(reasons)
    if counts[Verdict.ERROR] or uncertain:
        if counts[Verdict.ERROR]:
            reasons.append(f"{counts[Verdict.ERROR]} trials could not be evaluated")
        if uncertain:
            reasons.append(f"{uncertain} control trials could not be evaluated")
        return RunVerdict.INCOMPLETE, tuple(reasons)
    if counts[Verdict.NOT_RUN]:
        reasons.append(f"{counts[Verdict.NOT_RUN]} scheduled trials are N/R")
        return RunVerdict.QUALIFIED_WITH_GAPS, tuple(reasons)
    return RunVerdict.QUALIFIED, ("every expected trial was evaluated and passed",)


def _control_misses(trials: Iterable[TrialRecord]) -> Iterable[ControlMiss]:
    for trial in trials:
        if trial.subject == VENDOR:
            continue
        wanted = expectation(trial.subject, trial.cell)
        platform = trial.subtype is NotRunSubtype.PLATFORM
        if not platform and not _unevaluated(trial) and not wanted.met_by(trial.verdict):
            yield ControlMiss(
                subject=trial.subject,
                trial_id=trial.trial_id,
                expected=wanted.value,
                verdict=trial.verdict.value,
                cause=trial.cause,
            )


def _unevaluated(trial: TrialRecord) -> bool:
    """A control that could not be tried was neither caught nor missed."""
    return trial.verdict is Verdict.ERROR


def _cells(trials: Sequence[TrialRecord]) -> Iterable[CellSummary]:
    groups: dict[tuple[str, str], list[TrialRecord]] = {}
    for trial in trials:
        groups.setdefault((trial.subject, trial.cell.cell_id), []).append(trial)
    for (subject, cell_id), group in groups.items():
        failed = [trial for trial in group if trial.verdict is Verdict.FAIL]
        extra = [trial for trial in group if trial.effects > 1]
        yield CellSummary(
            subject=subject,
            cell_id=cell_id,
            verdicts=dict(sorted(Counter(trial.verdict.value for trial in group).items())),
            kills=len({trial.batch_id for trial in group}),
            kills_with_violation=len({trial.batch_id for trial in failed}),
            passed=_rate(group, Verdict.PASS),
            unsafe=sum(trial.unsafe_decisions for trial in group),
            needless=sum(trial.needless_decisions for trial in group),
            extra_effects=sum(trial.effects - 1 for trial in extra),
            lost_effects=_violations(group, "continuity.lost_effect"),
            wrong_effects=_violations(group, "continuity.wrong_effect"),
            hazards=dict(sorted(Counter(one.hazard for one in extra if one.hazard).items())),
            boundary=sum(trial.boundary for trial in group),
            dispatches=sum(trial.dispatches for trial in group),
            effects=sum(trial.effects for trial in group),
            tool_errors=sum(trial.tool_errors for trial in group),
        )


def _violations(trials: Iterable[TrialRecord], check_id: str) -> int:
    return sum(
        any(
            check.check_id == check_id and check.outcome is CheckOutcome.VIOLATED
            for check in trial.checks
        )
        for trial in trials
    )


def _rate(trials: Sequence[TrialRecord], counted: Verdict) -> Rate:
    counts: Mapping[Verdict, int] = Counter(trial.verdict for trial in trials)
    return Rate(
        numerator=counts.get(counted, 0),
        denominator=counts.get(Verdict.PASS, 0) + counts.get(Verdict.FAIL, 0),
        not_run=counts.get(Verdict.NOT_RUN, 0),
        errors=counts.get(Verdict.ERROR, 0),
    )


def _rates(vendor: Sequence[TrialRecord]) -> dict[str, Rate]:
    """The vendor's rate of PASS: continuity as a whole, integrity by category."""
    rates = {}
    for suite in Suite:
        of_suite = [trial for trial in vendor if trial.cell.suite is suite]
        if of_suite:
            rates[suite.value] = _rate(of_suite, Verdict.PASS)
        for case in sorted({trial.cell.case for trial in of_suite if trial.cell.case}):
            of_case = [trial for trial in of_suite if trial.cell.case == case]
            rates[f"{suite.value}/{case}"] = _rate(of_case, Verdict.PASS)
    return rates
