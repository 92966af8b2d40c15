"""Which of the three ways leads to a lease's end on a machine and for a memory (DESIGN §5).

A cell names the way by which it is usually reached. Where the memory's lease clock cannot be set,
a `skewed` cell is carried out the `configured` way: on a stack with a short lease, which is waited
out. The evidence says which way was taken. What needs another time than a lease's end stays N/R.
"""

from __future__ import annotations

from memqual.v1 import vendor_pb2
from orchestrator.model import Cell, ExpiryMode

__all__ = [
    "SHORT_LEASE_SECONDS_MAX",
    "lease_clock_moves",
    "way_to_lease_end",
]

SHORT_LEASE_SECONDS_MAX = 10
"""Longest lease that is waited out in place of a jump: a thousand batches wait for theirs."""


def lease_clock_moves(describe: vendor_pb2.DescribeResponse, *, skew: bool) -> bool:
    """Whether the clock that a memory's leases run on can be set.

    Args:
        describe: What the memory declares.
        skew: Whether the preflight showed that its wall clock can be set.
    """
    return skew and describe.lease_clock != vendor_pb2.LEASE_CLOCK_MONOTONIC


def way_to_lease_end(cell: Cell, *, moves: bool) -> ExpiryMode:
    """How the end of the leases of a cell is really reached.

    Args:
        cell: The cell.
        moves: Whether the memory's lease clock can be set.
    """
    if cell.expiry is ExpiryMode.SKEWED and not moves:
        return ExpiryMode.CONFIGURED
    return cell.expiry
