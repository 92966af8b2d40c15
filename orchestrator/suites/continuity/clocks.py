"""Readings of the memory's clock, put into the trace so that oracle and receipts can use them.

A mark holds what `VendorService.Now` answered, between two readings of the interposer's monotonic
clock: the answer was made at some moment between the two (DESIGN §5, §6).
"""

from __future__ import annotations

import grpc

from chaos.client import InterposerClient
from memqual.v1 import vendor_pb2
from orchestrator.errors import StackError
from orchestrator.model import Frozen
from orchestrator.session import Session

__all__ = ["ClockMark", "mark_memory_clock"]


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


def mark_memory_clock(session: Session, interposer: InterposerClient) -> ClockMark:
    """Read the memory's clocks and keep the reading in the trace.

    Raises:
        StackError: The memory does not answer Now.
    """
    asked = interposer.statistics().monotonic_ns
    try:
        answer = session.memory.vendor.Now(vendor_pb2.NowRequest())
    except grpc.RpcError as error:
        raise StackError(
            f"The memory does not answer VendorService.Now: {error.code().name}.",
            next_step="See the memory's log in the run folder; every memory must serve Now.",
        ) from error
    answered = interposer.statistics().monotonic_ns
    reading = ClockMark(
        wall_unix_ns=answer.clock.wall_unix_ns,
        monotonic_ns=answer.clock.monotonic_ns,
        asked_mono_ns=asked,
        answered_mono_ns=answered,
    )
    interposer.mark({"kind": "memory_clock", "service": "memory", **_as_text(reading)})
    return reading


def _as_text(mark: ClockMark) -> dict[str, str]:
    # Nanoseconds do not fit RFC 8785's numbers (doubles); they travel as decimal strings.
    return {name: str(value) for name, value in mark.model_dump().items()}
