"""Kill batches that benchmarks carry out: cells of the matrix with ids of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from orchestrator.campaign.options import DEFAULT_SEED
from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    Profile,
    TargetSet,
    WindowName,
)
from orchestrator.plan import VENDOR, Batch, Member
from orchestrator.suites.continuity.cells import cell_table, select, sub_seed

__all__ = ["CAPABILITIES", "batch_of", "crash_cells", "matrix_cells"]

CAPABILITIES = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_FENCED,
    CapabilityVariant.IDEMPOTENT,
)
_ID_CHARACTERS = 23


def crash_cells(
    windows: Sequence[WindowName], capabilities: Sequence[CapabilityVariant] = CAPABILITIES
) -> tuple[Cell, ...]:
    """Cells of the memory arm in which the agent alone dies and its message is lost."""
    return tuple(
        one.cell
        for one in cell_table()
        if one.cell.arm is Arm.MEMORY
        and one.cell.window in windows
        and one.cell.capability in capabilities
        and one.cell.target is TargetSet.AGENT
        and one.cell.fate is Fate.DROP
        and one.cell.fault is FaultKind.KILL
        and one.cell.expiry in (ExpiryMode.NONE, ExpiryMode.SKEWED)
    )


def matrix_cells(count: int) -> tuple[Cell, ...]:
    """A sample of the standard profile's window table, evenly spread over its order.

    Cells whose operations crash one by one, or that want a stack with another lease, or that no
    memory decides, are left out: they measure something else.
    """
    sampled = [
        one.cell
        for one in select(Profile.STANDARD, DEFAULT_SEED)
        if one.cell.window is not None
        and one.operations_per_kill > 1
        and one.cell.arm.has_memory
        and one.cell.expiry is not ExpiryMode.CONFIGURED
    ]
    return tuple(sampled[at * len(sampled) // count] for at in range(count))


def batch_of(cell: Cell, label: str, number: int, operations: int) -> Batch:
    """One kill with so many operations.

    Args:
        cell: All its operations' cell.
        label: Tells batches of one cell on one stack, or in one folder, apart.
        number: The same, within the label.
        operations: How many, 1..1,000.
    """
    name = f"{label}:{cell.cell_id}!{number}"
    members = tuple(
        Member(
            trial_id=f"{name}#{at}",
            cell=cell,
            sub_seed=sub_seed(DEFAULT_SEED, cell, number * operations + at),
            workflow_id="w" + _digest(f"{name}#{at}"),
        )
        for at in range(operations)
    )
    return Batch(batch_id="b" + _digest(name), subject=VENDOR, kill_number=number, members=members)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_CHARACTERS]
