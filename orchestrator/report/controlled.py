"""What each control had to come to, and came to (DESIGN §9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.model import Cell, TrialRecord, Verdict
from orchestrator.report.text import counted
from orchestrator.report.wording import MARKS, Mark
from orchestrator.scoring.controls import expectation
from orchestrator.scoring.run import Aggregate

__all__ = ["ControlCell", "ControlView", "controls_of"]

_ABOUT = {
    "control:reference": "the reference memory: correct on purpose",
    "control:naive": "answers every Begin with a fresh EXECUTE",
    "control:null": "answers OK with an empty message, at once",
}
_MUST = {
    "must_pass": "must pass",
    "must_fail": "must fail",
    "not_offered": "must be N/R: offered to nobody",
    "may_pass": "may pass or fail; must be evaluated",
}


@dataclass(frozen=True)
class ControlCell:
    """One cell of one control."""

    cell_id: str
    must: str
    came_to: str
    mark: Mark
    word: str


@dataclass(frozen=True)
class ControlView:
    """One control.

    Attributes:
        summary: One line a kind of expectation, over all cells that have it.
        cells: Every cell.
        misses: Trials that did not come to what they must.
    """

    subject: str
    about: str
    summary: tuple[ControlCell, ...]
    cells: tuple[ControlCell, ...]
    misses: int


@dataclass
class _Count:
    must: str
    verdicts: dict[Verdict, int]
    misses: int = 0


def controls_of(trials: Iterable[TrialRecord], result: Aggregate) -> tuple[ControlView, ...]:
    """Arrange the trials of every control.

    Args:
        trials: All trials of the controls.
        result: Says which of them are misses.
    """
    missed = {miss.trial_id for miss in result.control_misses}
    subjects: dict[str, dict[str, _Count]] = {}
    for trial in trials:
        cells = subjects.setdefault(trial.subject, {})
        count = cells.setdefault(trial.cell.cell_id, _Count(_must(trial.subject, trial.cell), {}))
        count.verdicts[trial.verdict] = count.verdicts.get(trial.verdict, 0) + 1
        count.misses += trial.trial_id in missed
    return tuple(
        ControlView(
            subject=subject,
            about=_ABOUT.get(subject, ""),
            summary=_summary(cells.values()),
            cells=tuple(_look(cell_id, count) for cell_id, count in cells.items()),
            misses=sum(count.misses for count in cells.values()),
        )
        for subject, cells in subjects.items()
    )


def _must(subject: str, cell: Cell) -> str:
    try:
        return _MUST[expectation(subject, cell).value]
    except ValueError:
        return "unknown to this version"


def _summary(counts: Iterable[_Count]) -> tuple[ControlCell, ...]:
    sums: dict[str, _Count] = {}
    cells: dict[str, int] = {}
    for count in counts:
        sum_ = sums.setdefault(count.must, _Count(count.must, {}))
        cells[count.must] = cells.get(count.must, 0) + 1
        sum_.misses += count.misses
        for verdict, number in count.verdicts.items():
            sum_.verdicts[verdict] = sum_.verdicts.get(verdict, 0) + number
    return tuple(_look(counted(cells[must], "cell"), count) for must, count in sums.items())


def _look(name: str, count: _Count) -> ControlCell:
    came_to = ", ".join(
        f"{count.verdicts[verdict]} {verdict.value}"
        for verdict in Verdict
        if verdict in count.verdicts
    )
    if count.misses:
        verdict, word = Verdict.FAIL, f"no: {counted(count.misses, 'trial')}"
    elif count.verdicts.get(Verdict.ERROR):
        verdict, word = Verdict.ERROR, "not evaluated"
    elif set(count.verdicts) == {Verdict.NOT_RUN}:
        verdict, word = Verdict.NOT_RUN, "N/R"
    else:
        verdict, word = Verdict.PASS, "yes"
    return ControlCell(
        cell_id=name, must=count.must, came_to=came_to, mark=MARKS[verdict], word=word
    )
