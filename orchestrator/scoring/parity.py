"""P5: what telemetry sees, or does not see, changes no decision (DESIGN §6).

Trials of one number in cells that differ in arm (memory, both) or in a telemetry fault alone are
compared: their decision histories must be equal.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.model import Arm, Cell, FaultKind, TrialRecord, Verdict

__all__ = ["parity_violations"]

_TELEMETRY = (FaultKind.KILL, FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN)


def parity_violations(trials: Iterable[TrialRecord]) -> Iterable[str]:
    """Every pair of trials whose histories differ and must not, in words."""
    first: dict[tuple[str, str, str], TrialRecord] = {}
    for trial in trials:
        cell = trial.cell
        comparable = (
            cell.window is not None
            and cell.arm in (Arm.MEMORY, Arm.BOTH)
            and cell.fault in _TELEMETRY
            and trial.verdict is Verdict.PASS
            and not trial.boundary
        )
        if not comparable:
            continue
        number = trial.trial_id.rpartition("#")[2]
        key = (trial.subject, _without_telemetry(cell).cell_id, number)
        other = first.setdefault(key, trial)
        if other.decisions != trial.decisions:
            yield (
                f"P5: {trial.trial_id} decided {list(trial.decisions)}, "
                f"{other.trial_id} decided {list(other.decisions)}"
            )


def _without_telemetry(cell: Cell) -> Cell:
    return cell.model_copy(update={"arm": Arm.MEMORY, "fault": FaultKind.KILL})
