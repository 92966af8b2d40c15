"""What did not pass, in full: causes, checks, decisions, counts and the command to repeat it.

A run of 45,000 trials can fail in all of them. A cell shows a few of its trials and names the next;
what is shown in full has a budget in bytes, and what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from markupsafe import escape

from orchestrator.model import Check, CheckOutcome, ExpiryMode, Suite, TrialRecord, Verdict
from orchestrator.report.text import visible
from orchestrator.report.wording import MARKS, Mark, injection, replay_command
from orchestrator.scoring.checks import requirements

__all__ = ["CellFailures", "CheckView", "FailureList", "TrialView", "failures_of"]

SHOWN_PER_CELL = 3
NAMED_PER_CELL = 100
CHECKS_PER_TRIAL = 10
DECISIONS_PER_TRIAL = 40
TEXT_CHARACTERS = 600
BUDGET_BYTES = 2_000_000
_OVERHEAD_BYTES = 4_000


@dataclass(frozen=True)
class CheckView:
    """One assertion that did not hold, or could not be evaluated."""

    check_id: str
    requirement: str
    outcome: str
    expected: str
    actual: str


@dataclass(frozen=True)
class TrialView:
    """One trial that did not pass.

    Attributes:
        counts: Name and number, in the order in which they are read.
        checks: At most CHECKS_PER_TRIAL, violated ones first.
        checks_left_out: How many more there are.
        findings: What is worth knowing and no verdict.
        decisions: The memory's decisions in order, at most DECISIONS_PER_TRIAL.
        decisions_left_out: How many more there are.
        evidence: Files of the bundle that the verdict follows from.
    """

    trial_id: str
    cause: str
    counts: tuple[tuple[str, str], ...]
    checks: tuple[CheckView, ...]
    checks_left_out: int
    findings: tuple[str, ...]
    decisions: tuple[str, ...]
    decisions_left_out: int
    evidence: str
    replay: str


@dataclass(frozen=True)
class CellFailures:
    """One subject's trials of one cell with one verdict that is no PASS.

    Attributes:
        of: All trials of the cell.
        count: Trials with the verdict.
        shown: The first of them, in full.
        named: Ids of the next ones.
        left_out: How many are neither shown nor named.
    """

    subject: str
    cell_id: str
    injection: str
    mark: Mark
    of: int
    count: int
    unsafe: int
    extra_effects: int
    shown: tuple[TrialView, ...]
    named: tuple[str, ...]
    left_out: int


class FailureList:
    """The cells that have trials with a verdict; trials are added one at a time.

    Args:
        run_id: For the commands that repeat a trial.
        verdict: FAIL or ERROR.
    """

    def __init__(self, run_id: str, verdict: Verdict) -> None:
        self._run_id = run_id
        self._verdict = verdict
        self._groups: dict[tuple[str, str], _Group] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of any subject; one cell of two subjects is two groups."""
        group = self._groups.setdefault((trial.subject, trial.cell.cell_id), _Group())
        group.size += 1
        if trial.verdict is self._verdict:
            group.add(trial)

    def result(self) -> tuple[CellFailures, ...]:
        """The cells; those with unsafe decisions and extra effects first."""
        ordered = sorted(
            (group for group in self._groups.values() if group.count),
            key=lambda group: not group.grave,
        )
        found = []
        left_bytes = BUDGET_BYTES
        for group in ordered:
            shown: list[TrialView] = []
            for trial in group.first:
                view = _view(self._run_id, trial)
                left_bytes -= _bytes_of(view)
                if left_bytes < 0:
                    break
                shown.append(view)
            found.append(group.told(shown))
        return tuple(found)


def failures_of(
    run_id: str, trials: Iterable[TrialRecord], verdict: Verdict
) -> tuple[CellFailures, ...]:
    """The cells that have trials with a verdict (`FailureList`)."""
    failures = FailureList(run_id, verdict)
    for trial in trials:
        failures.add(trial)
    return failures.result()


@dataclass
class _Group:
    """What is kept of one cell of one subject.

    Attributes:
        size: All of its trials.
        count: Those with the verdict.
        first: The first of them.
        numbers: Numbers of the next ones, and of those that are shown.
    """

    size: int = 0
    count: int = 0
    unsafe: int = 0
    extra_effects: int = 0
    first: list[TrialRecord] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    @property
    def grave(self) -> bool:
        """Whether a second effect happened, or was licensed."""
        return bool(self.unsafe or self.extra_effects)

    def add(self, trial: TrialRecord) -> None:
        """Count a trial with the verdict."""
        self.count += 1
        self.unsafe += trial.unsafe_decisions
        self.extra_effects += trial.extra_effects
        if len(self.first) < SHOWN_PER_CELL:
            self.first.append(trial)
        if len(self.numbers) < SHOWN_PER_CELL + NAMED_PER_CELL:
            self.numbers.append("#" + trial.trial_id.rpartition("#")[2])

    def told(self, shown: Sequence[TrialView]) -> CellFailures:
        """The group, with those of its trials that there is room for."""
        trial = self.first[0]
        return CellFailures(
            subject=trial.subject,
            cell_id=trial.cell.cell_id,
            injection=injection(trial.cell),
            mark=MARKS[trial.verdict],
            of=self.size,
            count=self.count,
            unsafe=self.unsafe,
            extra_effects=self.extra_effects,
            shown=tuple(shown),
            named=tuple(self.numbers[len(shown) :][:NAMED_PER_CELL]),
            left_out=max(0, self.count - len(shown) - NAMED_PER_CELL),
        )


def _view(run_id: str, trial: TrialRecord) -> TrialView:
    bad = [check for check in trial.checks if check.outcome is not CheckOutcome.HELD]
    bad.sort(key=lambda check: check.outcome is not CheckOutcome.VIOLATED)
    continuity = trial.cell.suite is Suite.CONTINUITY
    folder = "batches, traces, journals" if continuity else trial.cell.suite.value
    return TrialView(
        trial_id=trial.trial_id,
        cause=visible(trial.cause, 2 * TEXT_CHARACTERS) or "no cause was kept",
        counts=_counts(trial) if continuity else (),
        checks=tuple(_check(check) for check in bad[:CHECKS_PER_TRIAL]),
        checks_left_out=max(0, len(bad) - CHECKS_PER_TRIAL),
        findings=tuple(visible(one, 160) for one in trial.findings[:CHECKS_PER_TRIAL]),
        decisions=tuple(visible(one, 160) for one in trial.decisions[:DECISIONS_PER_TRIAL]),
        decisions_left_out=max(0, len(trial.decisions) - DECISIONS_PER_TRIAL),
        evidence=f"{trial.batch_id} in {folder}",
        replay=replay_command(run_id, trial.trial_id),
    )


def _counts(trial: TrialRecord) -> tuple[tuple[str, str], ...]:
    """Dispatches, effects and native tool errors are three numbers (DESIGN §6)."""
    told = [
        ("dispatches", str(trial.dispatches)),
        ("effects", str(trial.effects)),
        ("native tool errors", str(trial.tool_errors)),
        ("unsafe decisions", str(trial.unsafe_decisions)),
        ("needless decisions", str(trial.needless_decisions)),
    ]
    if trial.hazard:
        told.append(("extra effect goes to the account", trial.hazard))
    if trial.expiry not in (ExpiryMode.NONE, trial.cell.expiry):
        told.append(("lease's end", f"reached {trial.expiry.value}: no clock could be set"))
    if trial.boundary:
        told.append(("boundary", "a bound of time allowed two answers"))
    if trial.resolution_ms is not None:
        told.append(("time to resolution", f"{trial.resolution_ms / 1000:.2f} s"))
    return tuple(told)


def _check(check: Check) -> CheckView:
    row = requirements().get(check.requirement_id)
    told = f"{check.requirement_id} ({check.paper_property})"
    return CheckView(
        check_id=check.check_id,
        requirement=visible(f"{told}: {row.text}" if row else told),
        outcome=check.outcome.value.replace("_", " "),
        expected=visible(check.expected, TEXT_CHARACTERS),
        actual=visible(check.actual, TEXT_CHARACTERS),
    )


def _bytes_of(view: TrialView) -> int:
    """About what a trial takes in the page, markup included."""
    texts = [view.trial_id, view.cause, view.evidence, view.replay, *view.findings, *view.decisions]
    for check in view.checks:
        texts += [str(getattr(check, one.name)) for one in fields(check)]
    return _OVERHEAD_BYTES + sum(len(str(escape(text)).encode()) for text in texts)
