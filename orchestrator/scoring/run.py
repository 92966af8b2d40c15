"""What all trials of a run amount to: its verdict, and rates with coverage beside them (DESIGN §7).

N/R and ERROR leave every denominator; a denominator of zero is N/A. Operations of one batch share
a crash: kills with a violation stand beside operations, and no confidence interval is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from orchestrator.model import (
    Cell,
    Frozen,
    NotRunSubtype,
    RunVerdict,
    Suite,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import VENDOR, ExpectedCells, PlannedPlaces
from orchestrator.scoring.cell_totals import CellSummary, CellTotals, Rate, rate_of
from orchestrator.scoring.controls import expectation
from orchestrator.scoring.counting import latest_records
from orchestrator.scoring.parity import Parity
from orchestrator.scoring.study_parity import StudyParity
from orchestrator.suites.continuity.families import EvidenceClass, case_of_cell
from orchestrator.suites.integrity.metrics import CategoryRow, IntegrityRate, IntegrityTotals
from orchestrator.suites.narrative.totals import NarrativeRow, NarrativeTotals, is_graded

__all__ = [
    "Aggregate",
    "CellSummary",
    "ControlMiss",
    "Rate",
    "Totals",
    "aggregate",
    "is_missed",
    "latest_records",
]


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
        narrative: The vendor's narrative cells, with checkpoints and questions.
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
    narrative: tuple[NarrativeRow, ...] = ()


class Totals:
    """Adds a run up, one trial at a time, in any order: nothing of a trial is kept but numbers.

    Args:
        expected: What was planned before the run.
    """

    def __init__(self, expected: ExpectedCells) -> None:
        self._expected = expected
        self._places = PlannedPlaces(expected)
        self._seen = [bytearray(len(group.sub_seeds)) for group in expected.groups]
        self._cells: dict[tuple[str, str], CellTotals] = {}
        self._misses: list[ControlMiss] = []
        self._parity = Parity()
        self._study = StudyParity()
        self._findings: Counter[str] = Counter()
        self._integrity = IntegrityTotals()
        self._narrative = NarrativeTotals()
        self._rates: dict[str, Counter[Verdict]] = {}
        self._uncertain = 0

    def add(self, trial: TrialRecord) -> None:
        """Add the record of a trial that counts; one that was not planned is passed over.

        Raises:
            ValueError: It says that it is of another subject or cell than was planned.
        """
        place = self._places.of(trial.trial_id)
        if place is None:
            return
        self._seen[place[0]][place[1]] = 1
        key = (trial.subject, trial.cell.cell_id)
        group = self._expected.groups[place[0]]
        if key != (group.subject, group.cell_id):
            raise ValueError(f"{trial.trial_id} says that it is of {key[0]}, {key[1]}")
        self._cells.setdefault(key, CellTotals()).add(trial)
        if trial.subject != VENDOR:
            self._uncertain += _unevaluated(trial)
            self._misses += _control_misses(trial)
            return
        self._parity.add(trial)
        self._study.add(trial)
        self._findings.update(trial.findings)
        self._integrity.add(trial)
        self._narrative.add(trial)
        whole = _whole(trial.cell)
        # A graded cell has no rate of PASS.
        named = bool(trial.cell.case) and not is_graded(trial.cell)
        for name in (whole, f"{whole}/{trial.cell.case}") if named else (whole,):
            self._rates.setdefault(name, Counter())[trial.verdict] += 1

    def result(self) -> Aggregate:
        """What everything that was added amounts to."""
        missing = tuple(self._missing())
        order = {key: at for at, key in enumerate(self._planned_cells())}
        cells = sorted(self._cells.items(), key=lambda item: order[item[0]])
        misses = tuple(
            sorted(self._misses, key=lambda miss: self._places.of(miss.trial_id) or (0, 0))
        )
        parity = self._parity.violations()
        vendor: Counter[Verdict] = Counter()
        for name, counts in self._rates.items():
            if "/" not in name:
                vendor += counts
        differing = self._study.violations()
        verdict, reasons = _verdict(vendor, self._uncertain, missing, misses, parity)
        if differing:
            verdict, reasons = RunVerdict.INVALID, (*differing, *reasons)
        cases = self._integrity.rows()
        return Aggregate(
            verdict=verdict,
            reasons=reasons,
            cells=tuple(totals.summary(subject, cell) for (subject, cell), totals in cells),
            missing=missing,
            control_misses=misses,
            parity=parity,
            findings=dict(sorted(self._findings.items())),
            rates={name: rate_of(self._rates[name]) for name in _in_order(self._rates)},
            integrity_rates=self._integrity.rates() if cases else (),
            integrity_cases=cases,
            narrative=self._narrative.rows(),
        )

    def _missing(self) -> Iterable[str]:
        for group, seen in zip(self._expected.groups, self._seen, strict=True):
            for at, there in enumerate(seen):
                if not there:
                    yield f"{group.prefix}{group.first_number + at}"

    def _planned_cells(self) -> Iterable[tuple[str, str]]:
        return dict.fromkeys((group.subject, group.cell_id) for group in self._expected.groups)


def aggregate(trials: Iterable[TrialRecord], expected: ExpectedCells) -> Aggregate:
    """Add a run's trials up.

    Args:
        trials: Every trial of the bundle in order. The last record of a trial id counts, except
            that a retry never turns FAIL into anything else.
        expected: What was planned before the run.
    """
    totals = Totals(expected)
    for trial in latest_records(trials).values():
        totals.add(trial)
    return totals.result()


def _whole(cell: Cell) -> str:
    """Name of the rate that a trial is counted in: its suite's, of one evidence class.

    Evidence classes are never summed together (DESIGN §7); the usual one is not named.
    """
    suite = cell.suite.value
    case = case_of_cell(cell) if cell.suite is Suite.CONTINUITY else None
    if case is None or case.evidence_class is EvidenceClass.EXTERNAL_HARNESS:
        return suite
    return f"{suite} ({case.evidence_class.value})"


def _in_order(names: Iterable[str]) -> list[str]:
    """Suites in their order, each followed by its cases, one evidence class after the other."""
    suites = [suite.value for suite in Suite]

    def key(name: str) -> tuple[int, str, str]:
        whole, _, case = name.partition("/")
        suite, _, evidence_class = whole.partition(" ")
        return suites.index(suite), evidence_class, case

    return sorted(names, key=key)


def _verdict(
    counts: Mapping[Verdict, int],
    uncertain: int,
    missing: Sequence[str],
    misses: Sequence[ControlMiss],
    parity: Sequence[str],
) -> tuple[RunVerdict, tuple[str, ...]]:
    failed, errors, not_run = (
        counts.get(one, 0) for one in (Verdict.FAIL, Verdict.ERROR, Verdict.NOT_RUN)
    )
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
    if failed or parity:
        if failed:
            reasons.append(f"{failed} trials failed")
        reasons += parity
        return RunVerdict.NOT_QUALIFIED, tuple(reasons)
    if errors or uncertain:
        if errors:
            reasons.append(f"{errors} trials could not be evaluated")
        if uncertain:
            reasons.append(f"{uncertain} control trials could not be evaluated")
        return RunVerdict.INCOMPLETE, tuple(reasons)
    if not_run:
        reasons.append(f"{not_run} scheduled trials are N/R")
        return RunVerdict.QUALIFIED_WITH_GAPS, tuple(reasons)
    return RunVerdict.QUALIFIED, ("every expected trial was evaluated and passed",)


def is_missed(trial: TrialRecord) -> bool:
    """Whether a control's trial did not come to what it must; never of the vendor's."""
    if trial.subject == VENDOR or _unevaluated(trial):
        return False
    if trial.subtype is NotRunSubtype.PLATFORM:
        return False
    return not expectation(trial.subject, trial.cell, trial.expiry).met_by(trial.verdict)


def _control_misses(trial: TrialRecord) -> Iterable[ControlMiss]:
    if is_missed(trial):
        wanted = expectation(trial.subject, trial.cell, trial.expiry)
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
