"""The numbers of one cell of one subject, and rates with coverage beside them (DESIGN §7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from orchestrator.model import CheckOutcome, Frozen, TrialRecord, Verdict

__all__ = ["CellSummary", "CellTotals", "Rate", "rate_of"]


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
        extra_effects: Effects beyond those rightly there, whoever is charged.
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


class CellTotals:
    """The numbers of one cell of one subject while its trials are added."""

    def __init__(self) -> None:
        self._verdicts: Counter[Verdict] = Counter()
        self._sums: Counter[str] = Counter()
        self._hazards: Counter[str] = Counter()
        self._kills: dict[str, bool] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of the cell."""
        self._verdicts[trial.verdict] += 1
        failed = trial.verdict is Verdict.FAIL
        self._kills[trial.batch_id] = self._kills.get(trial.batch_id, False) or failed
        if trial.extra_effects and trial.hazard:
            self._hazards[trial.hazard] += 1
        self._sums.update(
            unsafe=trial.unsafe_decisions,
            needless=trial.needless_decisions,
            extra_effects=trial.extra_effects,
            lost_effects=_violates(trial, "continuity.lost_effect"),
            wrong_effects=_violates(trial, "continuity.wrong_effect"),
            boundary=trial.boundary,
            dispatches=trial.dispatches,
            effects=trial.effects,
            tool_errors=trial.tool_errors,
        )

    def summary(self, subject: str, cell_id: str) -> CellSummary:
        """What was added."""
        verdicts = {verdict.value: count for verdict, count in self._verdicts.items()}
        return CellSummary(
            subject=subject,
            cell_id=cell_id,
            verdicts=dict(sorted(verdicts.items())),
            kills=len(self._kills),
            kills_with_violation=sum(self._kills.values()),
            passed=rate_of(self._verdicts),
            hazards=dict(sorted(self._hazards.items())),
            **dict(self._sums),
        )


def _violates(trial: TrialRecord, check_id: str) -> bool:
    return any(
        check.check_id == check_id and check.outcome is CheckOutcome.VIOLATED
        for check in trial.checks
    )


def rate_of(counts: Mapping[Verdict, int]) -> Rate:
    """The rate of PASS."""
    return Rate(
        numerator=counts.get(Verdict.PASS, 0),
        denominator=counts.get(Verdict.PASS, 0) + counts.get(Verdict.FAIL, 0),
        not_run=counts.get(Verdict.NOT_RUN, 0),
        errors=counts.get(Verdict.ERROR, 0),
    )
