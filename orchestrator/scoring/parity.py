"""P5: what telemetry sees, or does not see, changes no decision (DESIGN §6).

Trials of one number in cells that differ in arm (memory, both) or in a telemetry fault alone are
compared: their decision histories must be equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from orchestrator.model import Arm, Cell, FaultKind, Suite, TrialRecord, Verdict
from orchestrator.suites.continuity.families import case_of_cell

__all__ = ["Parity", "parity_violations"]

_T = TypeVar("_T")

_TELEMETRY = (FaultKind.NONE, FaultKind.KILL, FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN)


class Parity:
    """Compares trials that are given one by one, in any order.

    Of a trial only two small numbers are kept, so that a million of them take little room: which
    cell it is of, and which history it had.
    """

    def __init__(self) -> None:
        self._cells = _Numbered[str]()
        self._histories = _Numbered[tuple[str, ...]]()
        self._first: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
        self._shared: dict[tuple[int, int], tuple[int, int]] = {}
        self._others: dict[tuple[str, str, int], set[tuple[int, int]]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Compare a trial with those that it must be equal to."""
        if not _comparable(trial):
            return
        base = (trial.subject, _without_telemetry(trial.cell).cell_id)
        number = int(trial.trial_id.rpartition("#")[2])
        told = (self._cells.of(trial.cell.cell_id), self._histories.of(trial.decisions))
        told = self._shared.setdefault(told, told)
        first = self._first.setdefault(base, {}).setdefault(number, told)
        if first[1] != told[1]:
            self._others.setdefault((*base, number), {first}).add(told)

    def violations(self) -> tuple[str, ...]:
        """Trials whose histories differ and must not, in words; the same whatever the order."""
        return tuple(
            self._words(subject, number, told)
            for (subject, _, number), told in sorted(self._others.items())
        )

    def _words(self, subject: str, number: int, told: Iterable[tuple[int, int]]) -> str:
        by_cell = sorted((self._cells.at(cell), self._histories.at(at)) for cell, at in told)
        decided = "; ".join(
            f"{subject}:{cell_id}#{number} decided {list(history)}" for cell_id, history in by_cell
        )
        return f"P5: {decided}"


class _Numbered(Generic[_T]):
    """Values by number, each once."""

    def __init__(self) -> None:
        self._numbers: dict[_T, int] = {}
        self._values: list[_T] = []

    def of(self, value: _T) -> int:
        if value not in self._numbers:
            self._numbers[value] = len(self._values)
            self._values.append(value)
        return self._numbers[value]

    def at(self, number: int) -> _T:
        return self._values[number]


def parity_violations(trials: Iterable[TrialRecord]) -> tuple[str, ...]:
    """Every pair of trials whose histories differ and must not, in words."""
    parity = Parity()
    for trial in trials:
        parity.add(trial)
    return parity.violations()


def _comparable(trial: TrialRecord) -> bool:
    cell = trial.cell
    case = case_of_cell(cell) if cell.suite is Suite.CONTINUITY else None
    return (
        (cell.window is not None if case is None else bool(case.parity_group))
        and cell.arm in (Arm.MEMORY, Arm.BOTH)
        and cell.fault in _TELEMETRY
        and trial.verdict is Verdict.PASS
        and not trial.boundary
    )


def _without_telemetry(cell: Cell) -> Cell:
    case = case_of_cell(cell)
    if case is not None:
        return case.base_of(cell)
    return cell.model_copy(update={"arm": Arm.MEMORY, "fault": FaultKind.KILL})
