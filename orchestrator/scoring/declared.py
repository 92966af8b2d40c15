"""Which cells a declaration, or this machine, turns into N/R (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memqual.v1 import vendor_pb2
from orchestrator.model import Cell, ExpiryMode, Fate, FaultKind, Frozen, NotRunSubtype
from orchestrator.suites.continuity.families import Need, case_of_cell
from orchestrator.suites.continuity.lease_ends import SHORT_LEASE_SECONDS_MAX, lease_clock_moves

__all__ = ["NotRun", "not_run"]


class NotRun(Frozen):
    """Why a cell is not run.

    Attributes:
        subtype: Kind of reason.
        cause: In words.
    """

    subtype: NotRunSubtype
    cause: str


_CAPABILITIES = {
    Need.BEGIN_REPLAY: vendor_pb2.CAPABILITY_BEGIN_REPLAY,
    Need.DECISION_PEEK: vendor_pb2.CAPABILITY_DECISION_PEEK,
    Need.FINAL_ABSENCE: vendor_pb2.CAPABILITY_FINAL_ABSENCE,
    Need.INTENT_MATCHING: vendor_pb2.CAPABILITY_INTENT_MATCHING,
    Need.ROLLBACK_DETECTION: vendor_pb2.CAPABILITY_ROLLBACK_DETECTION,
    Need.AUTHORITY_GATING: vendor_pb2.CAPABILITY_AUTHORITY_GATING,
}


def not_run(
    cell: Cell,
    describe: vendor_pb2.DescribeResponse,
    *,
    skew: bool,
    unavailable: Mapping[str, str] = MappingProxyType({}),
) -> NotRun | None:
    """Why a continuity cell is N/R for this memory on this machine; None when it is run.

    Args:
        cell: The cell.
        describe: What the memory declares.
        skew: Whether the preflight showed that the memory's clock can be set.
        unavailable: What this machine lacks, by `Need`, with the reason.
    """
    case = case_of_cell(cell)
    needs = frozenset[Need]() if case is None else case.needs
    if not cell.arm.has_memory:
        return _lacking(frozenset(one for one in needs if one.of_platform), describe, unavailable)
    status = _status(describe, vendor_pb2.CAPABILITY_CONTINUITY)
    if status == vendor_pb2.CAPABILITY_STATUS_NOT_EXPRESSIBLE:
        return NotRun(
            subtype=NotRunSubtype.NOT_EXPRESSIBLE,
            cause="continuity is declared not expressible through this contract",
        )
    if status != vendor_pb2.CAPABILITY_STATUS_SUPPORTED:
        return NotRun(subtype=NotRunSubtype.CAPABILITY_ABSENT, cause="continuity is not declared")
    lacking = _lacking(needs, describe, unavailable)
    if lacking is not None:
        return lacking
    return _immovable(cell, needs, describe, skew=skew)


def _lacking(
    needs: frozenset[Need],
    describe: vendor_pb2.DescribeResponse,
    unavailable: Mapping[str, str],
) -> NotRun | None:
    """The first thing that a case needs and that machine or memory does not have."""
    for need in sorted(needs):
        if need.value in unavailable:
            return NotRun(subtype=NotRunSubtype.PLATFORM, cause=unavailable[need.value])
        capability = _CAPABILITIES.get(need)
        if capability is None:
            continue
        if _status(describe, capability) != vendor_pb2.CAPABILITY_STATUS_SUPPORTED:
            cause = f"{need.value} is not declared"
            return NotRun(subtype=NotRunSubtype.CAPABILITY_ABSENT, cause=cause)
    return None


def _immovable(
    cell: Cell, needs: frozenset[Need], describe: vendor_pb2.DescribeResponse, *, skew: bool
) -> NotRun | None:
    """Why a time that the cell is about cannot be reached where the lease clock cannot be set.

    A lease's end alone is waited out on a short lease; a memory that keeps to a long one has none.
    """
    if lease_clock_moves(describe, skew=skew):
        return None
    cause = "the memory's clock cannot be set here; see the manifest's skew_detail"
    if describe.lease_clock == vendor_pb2.LEASE_CLOCK_MONOTONIC:
        cause = "leases run on the monotonic clock, which no fault can move"
    sets_clock = cell.fault is FaultKind.CLOCK_JUMP or Need.MEMORY_CLOCK in needs
    if sets_clock or (cell.fate is Fate.LATE_AFTER_KEY_END and not skew):
        return NotRun(subtype=NotRunSubtype.PLATFORM, cause=cause)
    lease_seconds = describe.limits.lease_seconds
    if cell.expiry is ExpiryMode.SKEWED and lease_seconds > SHORT_LEASE_SECONDS_MAX:
        long = f"its lease of {lease_seconds} s is longer than the {SHORT_LEASE_SECONDS_MAX} s"
        return NotRun(
            subtype=NotRunSubtype.PLATFORM, cause=f"{cause}; {long} that are waited out instead"
        )
    return None


def _status(
    describe: vendor_pb2.DescribeResponse, capability: vendor_pb2.Capability.ValueType
) -> int:
    for one in describe.capabilities:
        if one.capability == capability:
            return one.status
    return vendor_pb2.CAPABILITY_STATUS_ABSENT
