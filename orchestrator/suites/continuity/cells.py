"""Which continuity cells a profile schedules, and with what seeds (DESIGN §5 to §7).

A schedule follows from profile, requirement revision and seed alone: what a vendor declares turns
cells into N/R and never removes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    Frozen,
    Profile,
    TargetSet,
    WindowName,
)
from orchestrator.plan import TrialPlan
from orchestrator.suites.continuity.covering import covering
from orchestrator.suites.continuity.families import CASES, Weight, case_of_cell
from orchestrator.suites.continuity.paper.planned import in_study_order
from orchestrator.suites.continuity.table import TableCell, cell_table, needs_probe, rows_of

__all__ = [
    "CONTROL_OPERATIONS",
    "OPERATIONS_PER_KILL",
    "REQUIREMENT_REVISION",
    "PlannedCell",
    "TableCell",
    "case_of",
    "cell_table",
    "needs_probe",
    "rows_of",
    "select",
    "select_for_controls",
    "sub_seed",
    "trials_of",
]

REQUIREMENT_REVISION = "2027-04"
OPERATIONS_PER_KILL = 20
CONTROL_OPERATIONS = 5
SURVEY_OPERATIONS = 2
_STANDARD_KILLS = 5
_FULL_KILLS = 5
_SUB_SEED_BITS = 63
_BASIC_CAPABILITIES = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_FENCED,
    CapabilityVariant.IDEMPOTENT,
)


class PlannedCell(Frozen):
    """One scheduled cell.

    Attributes:
        cell: Its coordinates.
        rows: As in the table.
        kills: Batches of this cell.
        operations_per_kill: Trials of each batch.
    """

    cell: Cell
    rows: tuple[str, ...]
    kills: int
    operations_per_kill: int

    def at_most(self, operations: int) -> PlannedCell:
        """The same cell with one batch of so many operations at most."""
        operations = min(operations, self.operations_per_kill)
        return self.model_copy(update={"kills": 1, "operations_per_kill": operations})


def case_of(cell: Cell) -> str:
    """What of a cell its sub-seeds depend on.

    Cells that differ in telemetry alone (arm, observer, its faults) get the same operations, so
    that their histories can be compared (DESIGN §6, P5).
    """
    case = case_of_cell(cell)
    if case is not None:
        return case.base_of(cell).cell_id
    jumped = cell.fault is FaultKind.CLOCK_JUMP
    fault = FaultKind.CLOCK_JUMP if jumped else FaultKind.KILL
    return cell.model_copy(update={"arm": Arm.MEMORY, "fault": fault}).cell_id


def sub_seed(seed: int, cell: Cell, trial: int) -> int:
    """SHA-256 of (seed, suite, case, trial), 63 bits; the subject is no part of it (DESIGN §8)."""
    text = f"{seed}:{cell.suite.value}:{case_of(cell)}:{trial}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SUB_SEED_BITS)


def trials_of(planned: Iterable[PlannedCell], seed: int) -> tuple[TrialPlan, ...]:
    """Every trial of a schedule, cell by cell and kill by kill; a study's in its own order."""
    trials = (
        TrialPlan(
            cell=one.cell,
            number=number,
            kill_number=number // one.operations_per_kill,
            sub_seed=sub_seed(seed, one.cell, number),
        )
        for one in planned
        for number in range(one.kills * one.operations_per_kill)
    )
    return in_study_order(trials, seed)


def select(profile: Profile, seed: int) -> tuple[PlannedCell, ...]:
    """The vendor's continuity cells of a profile (DESIGN §7)."""
    windows: tuple[PlannedCell, ...]
    weights: tuple[Weight, ...]
    match profile:
        case Profile.QUICK:
            windows, weights = tuple(_planned(one, 1) for one in _quick()), (Weight.QUICK,)
        case Profile.SURVEY | Profile.STANDARD:
            windows = tuple(_planned(one, _STANDARD_KILLS) for one in _standard(seed))
            weights = (Weight.QUICK, Weight.STANDARD)
        case Profile.FULL:
            windows = tuple(_planned(one, _FULL_KILLS) for one in cell_table())
            weights = tuple(Weight)
        case Profile.SELFTEST:
            windows, weights = _selftest(), ()
        case Profile.PAPER:
            windows, weights = (), (Weight.PAPER,)
        case _:
            # The other axes' benchmarks.
            windows, weights = (), ()
    cells = (*windows, *_cases(*weights))
    if profile is Profile.SURVEY:
        return tuple(one.at_most(SURVEY_OPERATIONS) for one in cells)
    return cells


def select_for_controls(profile: Profile) -> tuple[PlannedCell, ...]:
    """A control's cells: the memory arm on each window and capability, five operations each."""
    if profile in (Profile.MIB, Profile.ATANT):
        return ()
    # A study has one window: controls show there that a wrong memory would be seen.
    few = {Profile.SELFTEST: _SELFTEST_WINDOWS, Profile.PAPER: (WindowName.AFTER_COMMIT,)}
    windows = few.get(profile, tuple(WindowName))
    basic = profile in (Profile.SELFTEST, Profile.QUICK, Profile.SURVEY, Profile.PAPER)
    capabilities = _BASIC_CAPABILITIES if basic else tuple(CapabilityVariant)
    return tuple(
        PlannedCell(cell=one.cell, rows=one.rows, kills=1, operations_per_kill=CONTROL_OPERATIONS)
        for one in _agent_kills(Arm.MEMORY, windows, capabilities)
    )


def _cases(*weights: Weight) -> tuple[PlannedCell, ...]:
    """The families' cells of these weights, in the order of the registry, a batch each."""
    return tuple(
        PlannedCell(cell=cell, rows=(), kills=case.batches, operations_per_kill=case.operations)
        for case in CASES.values()
        if case.weight in weights
        for cell in case.cells()
    )


_SELFTEST_WINDOWS = (WindowName.IN_REQUEST, WindowName.AFTER_RECEIPT)


def _selftest() -> tuple[PlannedCell, ...]:
    return tuple(
        PlannedCell(cell=one.cell, rows=one.rows, kills=1, operations_per_kill=CONTROL_OPERATIONS)
        for one in _agent_kills(Arm.MEMORY, _SELFTEST_WINDOWS, _BASIC_CAPABILITIES)
    )


def _standard(seed: int) -> tuple[TableCell, ...]:
    """Every window with every capability, and every pair of values that occurs at all."""
    everywhere = _agent_kills(Arm.MEMORY, tuple(WindowName), tuple(CapabilityVariant))
    return covering(_automatic(cell_table()), (*_quick(), *everywhere), seed)


def _quick() -> list[TableCell]:
    windows = tuple(WindowName)
    chosen = list(_agent_kills(Arm.MEMORY, windows, _BASIC_CAPABILITIES))
    for at, window in enumerate(windows):
        capability = _BASIC_CAPABILITIES[at % len(_BASIC_CAPABILITIES)]
        chosen.append(_first(window, TargetSet.MEMORY, capability))
        chosen.append(_first(window, TargetSet.AGENT_MEMORY, capability))
    for fault in (FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN):
        chosen += _agent_kills(
            Arm.BOTH, (WindowName.AFTER_COMMIT,), (CapabilityVariant.QUERY_FENCED,), fault
        )
    for arm in (Arm.BASELINE, Arm.OBSERVER):
        chosen += _agent_kills(
            arm, (WindowName.IN_REQUEST, WindowName.AFTER_COMMIT), (CapabilityVariant.NONE,)
        )
    return chosen


def _agent_kills(
    arm: Arm,
    windows: Sequence[WindowName],
    capabilities: Sequence[CapabilityVariant],
    fault: FaultKind = FaultKind.KILL,
) -> list[TableCell]:
    """Cells in which the agent alone dies and its message is lost, window by window."""
    found = [
        one
        for one in cell_table()
        if one.cell.arm is arm
        and one.cell.window in windows
        and one.cell.capability in capabilities
        and one.cell.target is TargetSet.AGENT
        and one.cell.fate is Fate.DROP
        and one.cell.fault is fault
        and one.cell.expiry in (ExpiryMode.NONE, ExpiryMode.SKEWED)
    ]
    order = {window: at for at, window in enumerate(WindowName)}
    return sorted(found, key=lambda one: order[one.cell.window or WindowName.BEFORE_INTENT])


def _first(window: WindowName, target: TargetSet, capability: CapabilityVariant) -> TableCell:
    """The first cell of the table with these coordinates, in the memory arm."""
    return next(
        one
        for one in cell_table()
        if one.cell.arm is Arm.MEMORY
        and one.cell.window is window
        and one.cell.target is target
        and one.cell.capability is capability
        and one.cell.fault is FaultKind.KILL
    )


def _planned(one: TableCell, kills: int) -> PlannedCell:
    # Of a memory that dies alone only the last acknowledged commit is at risk (DESIGN §5).
    operations = 1 if one.cell.target is TargetSet.MEMORY else OPERATIONS_PER_KILL
    return PlannedCell(cell=one.cell, rows=one.rows, kills=kills, operations_per_kill=operations)


def _automatic(cells: Sequence[TableCell]) -> list[TableCell]:
    """Cells that a lane can run without waiting out a real lease."""
    return [one for one in cells if one.cell.expiry is not ExpiryMode.REAL]
