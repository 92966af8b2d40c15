"""What each control had to come to, and came to (DESIGN §9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.model import TrialRecord, Verdict
from orchestrator.report.text import counted
from orchestrator.report.wording import MARKS, Mark
from orchestrator.scoring.controls import expectation
from orchestrator.scoring.run import Aggregate

__all__ = ["ControlCell", "ControlList", "ControlView"]

_ABOUT = {
    "control:reference": "the reference memory: correct on purpose",
    "control:naive": "answers every Begin with a fresh EXECUTE",
    "control:null": "answers OK with an empty message, at once",
}
_MUST = {
    "must_pass": "must pass",
    "must_fail": "must fail",
    "not_offered": "must be N/R: offered to nobody",
    "must_not_fail": "must not fail",
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


class ControlList:
    """Arranges the trials of every control, which are added one at a time."""

    def __init__(self) -> None:
        self._subjects: dict[str, dict[str, _Count]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of a control."""
        cells = self._subjects.setdefault(trial.subject, {})
        cell_id = trial.cell.cell_id
        if cell_id not in cells:
            cells[cell_id] = _Count(_must(trial), {})
        verdicts = cells[cell_id].verdicts
        verdicts[trial.verdict] = verdicts.get(trial.verdict, 0) + 1

    def result(self, result: Aggregate) -> tuple[ControlView, ...]:
        """The controls, in the order of the plan.

        Args:
            result: Says which of their trials are misses, and the order of cells.
        """
        for miss in result.control_misses:
            cell_id = miss.trial_id.removeprefix(f"{miss.subject}:").rpartition("#")[0]
            count = self._subjects.get(miss.subject, {}).get(cell_id)
            if count is not None:
                count.misses += 1
        order = {(one.subject, one.cell_id): at for at, one in enumerate(result.cells)}
        return tuple(
            ControlView(
                subject=subject,
                about=_ABOUT.get(subject, ""),
                summary=_summary(cells.values()),
                cells=tuple(
                    _look(cell_id, cells[cell_id])
                    for cell_id in sorted(cells, key=lambda one: order.get((subject, one), 0))
                ),
                misses=sum(count.misses for count in cells.values()),
            )
            for subject, cells in sorted(
                self._subjects.items(),
                key=lambda item: min(order.get((item[0], one), 0) for one in item[1]),
            )
        )


def _must(trial: TrialRecord) -> str:
    try:
        return _MUST[expectation(trial.subject, trial.cell, trial.expiry).value]
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
