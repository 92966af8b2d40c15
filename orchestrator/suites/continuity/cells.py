"""Which continuity cells exist, and which a profile schedules (DESIGN §5 to §7).

The table is `cells.yaml`. A schedule follows from profile, requirement revision and seed alone:
what a vendor declares turns cells into N/R and never removes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    Frozen,
    Profile,
    Suite,
    TargetSet,
    WindowName,
)
from orchestrator.plan import TrialPlan

__all__ = [
    "CONTROL_OPERATIONS",
    "OPERATIONS_PER_KILL",
    "REQUIREMENT_REVISION",
    "PlannedCell",
    "TableCell",
    "cell_table",
    "rows_of",
    "select",
    "select_for_controls",
    "sub_seed",
    "trials_of",
]

REQUIREMENT_REVISION = "2026-11"
OPERATIONS_PER_KILL = 20
CONTROL_OPERATIONS = 5
_STANDARD_KILLS = 5
_SUB_SEED_BITS = 63
_BASIC_CAPABILITIES = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_FENCED,
    CapabilityVariant.IDEMPOTENT,
)


class TableCell(Frozen):
    """One cell of the table.

    Attributes:
        cell: Its coordinates.
        rows: Rows of DESIGN §6 that a correct memory passes through, in order.
    """

    cell: Cell
    rows: tuple[str, ...]


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


class _Entry(Frozen):
    windows: tuple[WindowName, ...]
    targets: tuple[TargetSet, ...]
    fates: tuple[Fate, ...]
    arms: tuple[Arm, ...]
    capabilities: str | tuple[CapabilityVariant, ...]
    expiry: str
    rows: tuple[str, ...]
    faults: tuple[FaultKind, ...] = (FaultKind.KILL,)

    def cells(self) -> Iterable[TableCell]:
        capabilities = (
            tuple(CapabilityVariant) if isinstance(self.capabilities, str) else self.capabilities
        )
        for window, target, fate, fault, arm, capability, expiry in product(
            self.windows,
            self.targets,
            self.fates,
            self.faults,
            self.arms,
            capabilities,
            _expiry_modes(self.expiry),
        ):
            cell = Cell(
                suite=Suite.CONTINUITY,
                arm=arm,
                window=window,
                capability=capability,
                target=target,
                fate=fate,
                fault=fault,
                expiry=expiry,
            )
            yield TableCell(cell=cell, rows=self.rows)


def _expiry_modes(name: str) -> tuple[ExpiryMode, ...]:
    if name == "ends":
        return (ExpiryMode.SKEWED, ExpiryMode.CONFIGURED, ExpiryMode.REAL)
    return (ExpiryMode(name),)


@cache
def cell_table() -> tuple[TableCell, ...]:
    """Every valid cell, in the order of the table.

    Raises:
        ValueError: The checked-in table names a cell twice, or a value that does not exist.
    """
    text = (Path(__file__).parent / "cells.yaml").read_text(encoding="utf-8")
    entries = TypeAdapter(tuple[_Entry, ...]).validate_python(yaml.safe_load(text))
    cells = tuple(cell for entry in entries for cell in entry.cells())
    seen: set[str] = set()
    for one in cells:
        if one.cell.cell_id in seen:
            raise ValueError(f"cells.yaml names {one.cell.cell_id} twice")
        seen.add(one.cell.cell_id)
    return cells


@cache
def rows_of(cell: Cell) -> tuple[str, ...]:
    """Rows that a correct memory passes through in a cell of the table.

    Raises:
        ValueError: There is no such cell.
    """
    for one in cell_table():
        if one.cell == cell:
            return one.rows
    raise ValueError(f"the table has no cell {cell.cell_id}")


def sub_seed(seed: int, cell: Cell, trial: int) -> int:
    """SHA-256 of (seed, suite, case, trial), 63 bits; the subject is no part of it (DESIGN §8)."""
    text = f"{seed}:{cell.suite.value}:{cell.cell_id}:{trial}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SUB_SEED_BITS)


def trials_of(planned: Iterable[PlannedCell], seed: int) -> tuple[TrialPlan, ...]:
    """Every trial of a schedule, cell by cell and kill by kill."""
    return tuple(
        TrialPlan(
            cell=one.cell,
            number=number,
            kill_number=number // one.operations_per_kill,
            sub_seed=sub_seed(seed, one.cell, number),
        )
        for one in planned
        for number in range(one.kills * one.operations_per_kill)
    )


def select(profile: Profile, seed: int) -> tuple[PlannedCell, ...]:
    """The vendor's continuity cells of a profile (DESIGN §7)."""
    match profile:
        case Profile.QUICK:
            return _quick()
        case Profile.STANDARD:
            cells = _pairwise(_automatic(cell_table()), seed)
            return tuple(_planned(one, _STANDARD_KILLS) for one in cells)
        case Profile.FULL:
            return tuple(_planned(one, _STANDARD_KILLS) for one in cell_table())
        case Profile.SELFTEST:
            return _selftest()
        case _:
            # The other axis's benchmark, and a study that its own suite schedules.
            return ()


def select_for_controls(profile: Profile) -> tuple[PlannedCell, ...]:
    """A control's cells: the memory arm on each window and capability, five operations each."""
    if profile in (Profile.MIB, Profile.PAPER):
        return ()
    windows = _SELFTEST_WINDOWS if profile is Profile.SELFTEST else tuple(WindowName)
    return tuple(
        PlannedCell(cell=one.cell, rows=one.rows, kills=1, operations_per_kill=CONTROL_OPERATIONS)
        for one in _agent_kills(Arm.MEMORY, windows, _BASIC_CAPABILITIES)
    )


_SELFTEST_WINDOWS = (WindowName.IN_REQUEST, WindowName.AFTER_RECEIPT)


def _selftest() -> tuple[PlannedCell, ...]:
    return tuple(
        PlannedCell(cell=one.cell, rows=one.rows, kills=1, operations_per_kill=CONTROL_OPERATIONS)
        for one in _agent_kills(Arm.MEMORY, _SELFTEST_WINDOWS, _BASIC_CAPABILITIES)
    )


def _quick() -> tuple[PlannedCell, ...]:
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
    return tuple(_planned(one, 1) for one in chosen)


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


def _pairwise(cells: Sequence[TableCell], seed: int) -> list[TableCell]:
    """A small subset that covers every pair of coordinate values that occurs in `cells`.

    Every window with every capability comes three-wise with target: greedy, ties broken by a
    digest of the seed, so that one seed gives one schedule.
    """
    wanted = {pair for one in cells for pair in _pairs(one)}
    left = sorted(cells, key=lambda one: _rank(seed, one))
    chosen: list[TableCell] = []
    while wanted:
        best = max(left, key=lambda one: len(wanted & _pairs(one)))
        gained = wanted & _pairs(best)
        if not gained:
            break
        wanted -= gained
        chosen.append(best)
        left.remove(best)
    position = {one.cell.cell_id: at for at, one in enumerate(cells)}
    return sorted(chosen, key=lambda one: position[one.cell.cell_id])


@cache
def _pairs(one: TableCell) -> frozenset[tuple[str, ...]]:
    cell = one.cell
    values = (
        f"window={cell.window}",
        f"capability={cell.capability}",
        f"target={cell.target}",
        f"fate={cell.fate}",
        f"fault={cell.fault}",
        f"arm={cell.arm}",
        f"expiry={cell.expiry}",
    )
    # Targets, fates and faults meet pairwise within each window and capability.
    place = values[:2]
    within = {(*place, value) for value in values[2:]}
    return frozenset({*combinations(values, 2), *within})


def _rank(seed: int, one: TableCell) -> str:
    return hashlib.sha256(f"{seed}:pairwise:{one.cell.cell_id}".encode()).hexdigest()
