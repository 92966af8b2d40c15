"""How much of a schedule is crashes: counted from the plan, before anything is run (DESIGN §11)."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.model import Frozen, Profile, TargetSet
from orchestrator.plan import CONTROLS
from orchestrator.suites.continuity.cells import PlannedCell, select, select_for_controls
from orchestrator.suites.continuity.families import case_of_cell

__all__ = ["Census", "census", "crashes"]

_DEATHS = frozenset({"kill", "restart"})


class Census(Frozen):
    """What a profile schedules on the continuity axis, controls included.

    Attributes:
        cells: Cells of the vendor.
        batches: Batches of the vendor: one stack's pieces of work.
        kills: Those of them in which a service dies.
        trials: Trials of vendor and controls.
        crash_trials: Those of them in which a service dies.
    """

    cells: int
    batches: int
    kills: int
    trials: int
    crash_trials: int


def census(profile: Profile, seed: int) -> Census:
    """Count a profile's schedule; the subject is no part of it."""
    vendors = select(profile, seed)
    controls = select_for_controls(profile)
    dying = [one for one in vendors if crashes(one)]
    dying_controls = [one for one in controls if crashes(one)]
    return Census(
        cells=len(vendors),
        batches=sum(one.kills for one in vendors),
        kills=sum(one.kills for one in dying),
        trials=_trials(vendors) + len(CONTROLS) * _trials(controls),
        crash_trials=_trials(dying) + len(CONTROLS) * _trials(dying_controls),
    )


def crashes(planned: PlannedCell) -> bool:
    """Whether a service is killed in a cell: its target, or a death that its case must prove."""
    case = case_of_cell(planned.cell)
    proven = () if case is None else case.receipts
    return planned.cell.target is not TargetSet.NONE or any(
        name.partition(":")[0] in _DEATHS for name in proven
    )


def _trials(planned: Iterable[PlannedCell]) -> int:
    return sum(one.kills * one.operations_per_kill for one in planned)
