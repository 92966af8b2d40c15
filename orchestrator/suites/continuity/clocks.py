"""Readings of the memory's clock, put into the trace so that oracle and receipts can use them.

A mark holds what `VendorService.Now` answered, between two readings of the interposer's monotonic
clock: the answer was made at some moment between the two (DESIGN §5, §6).
"""

from __future__ import annotations

import grpc

from chaos.client import InterposerClient
from chaos.errors import ChaosError
from memqual.v1 import common_pb2, vendor_pb2
from orchestrator.model import Frozen
from orchestrator.runtimes.base import Stack
from orchestrator.session import Session
from orchestrator.suites.continuity.families.model import Need

__all__ = [
    "ClockMark",
    "SilentClock",
    "lacking_clocks",
    "mark_memory_clock",
    "read_memory_clock",
]

_OTHERS = ("agent", "standby", "destination")


class SilentClock(ChaosError):
    """The memory does not answer Now, so that nothing can be said of its leases.

    Attributes:
        reason: What came in place of an answer.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the memory does not answer VendorService.Now: {reason}")
        self.reason = reason


class ClockMark(Frozen):
    """One reading of the memory's clocks.

    Attributes:
        wall_unix_ns: The memory's wall clock.
        monotonic_ns: The memory's monotonic clock.
        asked_mono_ns: Interposer's monotonic clock before the question.
        answered_mono_ns: The same after the answer.
    """

    wall_unix_ns: int
    monotonic_ns: int
    asked_mono_ns: int
    answered_mono_ns: int


def lacking_clocks(stack: Stack) -> dict[str, str]:
    """Why a case cannot have another clock than the memory's wrong on a stack, by `Need`."""
    fixed = [name for name in _OTHERS if stack.service(name).clock_folder is None]
    if not fixed:
        return {}
    return {Need.OTHER_CLOCKS.value: f"the clocks of {', '.join(fixed)} cannot be set here"}


def mark_memory_clock(session: Session, interposer: InterposerClient) -> ClockMark:
    """Read the memory's clocks and keep the reading in the trace.

    Raises:
        SilentClock: The memory does not answer Now.
    """
    asked = interposer.statistics().monotonic_ns
    clock = read_memory_clock(session)
    answered = interposer.statistics().monotonic_ns
    reading = ClockMark(
        wall_unix_ns=clock.wall_unix_ns,
        monotonic_ns=clock.monotonic_ns,
        asked_mono_ns=asked,
        answered_mono_ns=answered,
    )
    interposer.mark({"kind": "memory_clock", "service": "memory", **_as_text(reading)})
    return reading


def read_memory_clock(session: Session) -> common_pb2.ClockReading:
    """What the memory says its clocks show.

    Raises:
        SilentClock: It does not answer.
    """
    try:
        return session.memory.vendor.Now(vendor_pb2.NowRequest()).clock
    except grpc.RpcError as error:
        raise SilentClock(f"{error.code().name}: {error.details()}") from error


def _as_text(mark: ClockMark) -> dict[str, str]:
    # Nanoseconds do not fit RFC 8785's numbers (doubles); they travel as decimal strings.
    return {name: str(value) for name, value in mark.model_dump().items()}
