"""P5: what telemetry sees, or does not see, changes no decision (DESIGN §6).

Trials of one number in cells that differ in arm (memory, both) or in a telemetry fault alone are
compared: their decision histories must be equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.model import Arm, Cell, FaultKind, TrialRecord, Verdict

__all__ = ["Parity", "parity_violations"]

_TELEMETRY = (FaultKind.KILL, FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN)


@dataclass(frozen=True)
class _Told:
    trial_id: str
    decisions: tuple[str, ...]


class Parity:
    """Compares trials that are given one by one.

    Of a trial only its decisions are kept; trials with the same ones share them, so that a million
    trials take little room.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], _Told] = {}
        self._decisions: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._violations: list[str] = []

    def add(self, trial: TrialRecord) -> None:
        """Compare a trial with the first one that it must be equal to."""
        if not _comparable(trial):
            return
        number = trial.trial_id.rpartition("#")[2]
        key = (trial.subject, _without_telemetry(trial.cell).cell_id, number)
        decisions = self._decisions.setdefault(trial.decisions, trial.decisions)
        other = self._first.setdefault(key, _Told(trial.trial_id, decisions))
        if other.decisions != decisions:
            self._violations.append(
                f"P5: {trial.trial_id} decided {list(decisions)}, "
                f"{other.trial_id} decided {list(other.decisions)}"
            )

    def violations(self) -> tuple[str, ...]:
        """Every pair of trials whose histories differ and must not, in words, sorted."""
        return tuple(sorted(self._violations))


def parity_violations(trials: Iterable[TrialRecord]) -> tuple[str, ...]:
    """Every pair of trials whose histories differ and must not, in words."""
    parity = Parity()
    for trial in trials:
        parity.add(trial)
    return parity.violations()


def _comparable(trial: TrialRecord) -> bool:
    cell = trial.cell
    return (
        cell.window is not None
        and cell.arm in (Arm.MEMORY, Arm.BOTH)
        and cell.fault in _TELEMETRY
        and trial.verdict is Verdict.PASS
        and not trial.boundary
    )


def _without_telemetry(cell: Cell) -> Cell:
    return cell.model_copy(update={"arm": Arm.MEMORY, "fault": FaultKind.KILL})
