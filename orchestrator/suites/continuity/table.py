"""The cell table: which continuity cells exist, and what a correct memory is asked in each.

The table is `cells.yaml`; what is not in it does not exist (DESIGN §5).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
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
    Suite,
    TargetSet,
    WindowName,
)

__all__ = ["TableCell", "cell_table", "needs_probe", "rows_of"]


class TableCell(Frozen):
    """One cell of the table.

    Attributes:
        cell: Its coordinates.
        rows: Rows of DESIGN §6 that whoever asks after the fault passes through, in order.
    """

    cell: Cell
    rows: tuple[str, ...]


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
            yield TableCell(cell=cell, rows=_rows(self.rows, expiry))


def _rows(rows: tuple[str, ...], way: ExpiryMode) -> tuple[str, ...]:
    """A short lease may be over before anybody asks: L and S are read where it is a long one."""
    if way is ExpiryMode.CONFIGURED:
        return tuple(row for row in rows if row not in ("L", "S"))
    return rows


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
def _rows_by_cell() -> dict[str, tuple[str, ...]]:
    return {one.cell.cell_id: one.rows for one in cell_table()}


def rows_of(cell: Cell, way: ExpiryMode | None = None) -> tuple[str, ...]:
    """Rows of DESIGN §6 that whoever asks after the fault passes through, in order.

    Args:
        cell: The cell.
        way: How the lease's end was really reached; None: as the cell says.

    Raises:
        ValueError: The table has no such cell.
    """
    try:
        return _rows(_rows_by_cell()[cell.cell_id], way or cell.expiry)
    except KeyError:
        raise ValueError(f"the table has no cell {cell.cell_id}") from None


def needs_probe(cell: Cell) -> bool:
    """Whether no host asks any more once the operation is complete, so that the evaluator must.

    Raises:
        ValueError: The table has no such cell.
    """
    unasked = not cell.target.kills_agent or cell.window is WindowName.AFTER_CHECKPOINT
    return unasked and rows_of(cell) == ("C",)
