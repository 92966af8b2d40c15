"""Which cells a declaration, or this machine, turns into N/R (DESIGN §7)."""

from __future__ import annotations

from memqual.v1 import vendor_pb2
from orchestrator.model import Cell, ExpiryMode, Fate, FaultKind, Frozen, NotRunSubtype

__all__ = ["NotRun", "not_run"]


class NotRun(Frozen):
    """Why a cell is not run.

    Attributes:
        subtype: Kind of reason.
        cause: In words.
    """

    subtype: NotRunSubtype
    cause: str


def not_run(cell: Cell, describe: vendor_pb2.DescribeResponse, *, skew: bool) -> NotRun | None:
    """Why a continuity cell is N/R for this memory on this machine; None when it is run.

    Args:
        cell: The cell.
        describe: What the memory declares.
        skew: Whether the preflight showed that the memory's clock can be set.
    """
    if not cell.arm.has_memory:
        return None
    status = _status(describe, vendor_pb2.CAPABILITY_CONTINUITY)
    if status == vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE:
        return NotRun(
            subtype=NotRunSubtype.NOT_EXPRESSIBLE,
            cause="continuity is declared not expressible through this contract",
        )
    if status != vendor_pb2.CAPABILITY_STATUS_SUPPORTED:
        return NotRun(subtype=NotRunSubtype.CAPABILITY_ABSENT, cause="continuity is not declared")
    moves_memory = cell.expiry is ExpiryMode.SKEWED or cell.fault is FaultKind.CLOCK_JUMP
    if moves_memory and describe.lease_clock == vendor_pb2.LEASE_CLOCK_MONOTONIC:
        return NotRun(
            subtype=NotRunSubtype.PLATFORM,
            cause="leases run on the monotonic clock, which no fault can move",
        )
    if (moves_memory or cell.fate is Fate.LATE_AFTER_KEY_END) and not skew:
        return NotRun(
            subtype=NotRunSubtype.PLATFORM,
            cause="the memory's clock cannot be set here; see the manifest's skew_detail",
        )
    return None


def _status(
    describe: vendor_pb2.DescribeResponse, capability: vendor_pb2.Capability.ValueType
) -> int:
    for one in describe.capabilities:
        if one.capability == capability:
            return one.status
    return vendor_pb2.CAPABILITY_STATUS_ABSENT
