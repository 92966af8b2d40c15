"""Proof that leases ended by the passing of time, where no clock was moved (DESIGN §5)."""

from __future__ import annotations

from typing import Literal

from chaos.receipt_base import FaultReceipt

__all__ = ["LeaseWaitReceipt"]

_NS = 1_000_000_000


class LeaseWaitReceipt(FaultReceipt):
    """Proof that a lease's length went by on the memory's own lease clock.

    Attributes:
        service: exact name.
        lease_clock: which of the memory's clocks was read.
        lease_seconds: the lease that the memory declares.
        before_ns: that clock when the wait began.
        after_ns: the same when it was over.
        began_monotonic_ns: when the wait began, on the interposer's clock; what was asked before
            has been answered by then.
        ended_monotonic_ns: when it was over; what is asked later is later.
    """

    kind: Literal["lease_wait"] = "lease_wait"
    service: str
    lease_clock: Literal["wall", "monotonic"]
    lease_seconds: int
    before_ns: int
    after_ns: int
    began_monotonic_ns: int
    ended_monotonic_ns: int

    def missing(self) -> list[str]:
        """Names of the proofs that are lacking."""
        lacking = super().missing()
        passed_ns = self.after_ns - self.before_ns
        if passed_ns <= self.lease_seconds * _NS:
            lacking.append(
                f"lease: {passed_ns} ns of a lease of {self.lease_seconds} s went by on the "
                f"memory's {self.lease_clock} clock"
            )
        if self.ended_monotonic_ns <= self.began_monotonic_ns:
            lacking.append("lease: that the wait ended after it began")
        return lacking
