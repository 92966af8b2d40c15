"""Hands for cases in which clocks are wrong: one stands, drifts, restarts elsewhere (DESIGN §5).

Every movement leaves a receipt with the batch, and every movement of the memory's clock stands
between two of its readings in the trace, which the oracle judges by.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from chaos.clock import read_offset_ns, write_offset_ns
from chaos.drift import ClockDrift
from chaos.errors import FaultNotPossible
from chaos.receipts import ClockReading, ClockReceipt, DriftReceipt
from orchestrator.oracle.clockmap import DRIFT_BEGAN, DRIFT_MARK
from orchestrator.suites.continuity.clocks import ClockMark, mark_memory_clock
from orchestrator.suites.continuity.expiry import NS, read_clock
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.stage import Stage

__all__ = ["MINUTES_5", "ONE_DAY", "MemoryTime", "drifting", "restart_behind", "skewed"]

MINUTES_5 = 300
ONE_DAY = 86_400
"""Seconds."""


@dataclass
class MemoryTime:
    """Where the memory's clock stands, counted from the making of this: real time and jumps.

    Attributes:
        stage: The batch.
    """

    stage: Stage
    _began_ns: int = field(default_factory=time.monotonic_ns)
    _moved_ns: int = 0

    @property
    def lease_ns(self) -> int:
        """The lease that the memory declares."""
        return self.stage.context.describe.limits.lease_seconds * NS

    def now_ns(self) -> int:
        """The present moment."""
        return time.monotonic_ns() - self._began_ns + self._moved_ns

    def move(self, seconds: float) -> None:
        """Move the memory's clock; negative: backward. Raises as `Stage.move_clock`."""
        jump_ns = round(seconds * NS)
        self.stage.move_clock("memory", jump_ns)
        self._moved_ns += jump_ns

    def go_to(self, moment_ns: int) -> None:
        """Move the memory's clock to a moment. Raises as `Stage.move_clock`."""
        self.move((moment_ns - self.now_ns()) / NS)

    def note(self, jump_ns: int) -> None:
        """Take notice of a jump that somebody else made."""
        self._moved_ns += jump_ns


@contextmanager
def skewed(stage: Stage, service: str, seconds: float) -> Iterator[None]:
    """Another clock than the memory's stands wrong for a while, and is put back exactly.

    Raises:
        FaultNotPossible, ClockError: It cannot be set here.
    """
    jump_ns = round(seconds * NS)
    stage.move_clock(service, jump_ns)
    yield
    stage.move_clock(service, -jump_ns)


@contextmanager
def drifting(
    stage: Stage, rate: float, service: str = "memory", *, unproven: bool = False
) -> Iterator[None]:
    """A clock runs at another rate for a while.

    Args:
        stage: The batch.
        rate: Seconds of it in one second.
        service: Whose clock: `memory`, `destination`, or a host (`agent`, `standby`).
        unproven: A drift that its receipt does not prove is none; otherwise the trial lacks it.

    Raises:
        FaultNotPossible, ClockError: It cannot be set here.
        SilentClock: The memory does not answer Now.
    """
    _mark_drift(stage, service, DRIFT_BEGAN)
    fault = ClockDrift(rate, lambda: read_clock(stage.context, service))
    active = fault.inject(stage.context.stack.service(service))
    if service == "memory":
        stage.pauses.clock_is_free = False
    try:
        stage.mark_clock()
        yield
        stage.mark_clock()
    finally:
        receipt = active.lift()
        if not unproven or (isinstance(receipt, DriftReceipt) and receipt.drifted):
            stage.keep(receipt)
        if service == "memory":
            stage.pauses.clock_is_free = True
        _mark_drift(stage, service, "ended")


def _mark_drift(stage: Stage, service: str, step: str) -> None:
    """The oracle reads the memory's clock between these marks by the bounds of a drift."""
    if service != "memory":
        return
    if step == DRIFT_BEGAN:
        stage.mark_clock()
    stage.interposer.mark({"kind": DRIFT_MARK, "service": service, "step": step})
    if step != DRIFT_BEGAN:
        stage.mark_clock()


def restart_behind(stage: Stage, jump_ns: int) -> None:
    """Kill the memory and start it again with its clock moved while it was dead.

    Args:
        stage: The batch.
        jump_ns: By how much; negative: backward.

    Raises:
        FaultNotPossible, ClockError: Its clock cannot be set here.
        StackError, ChaosError: It did not end, or is not healthy again.
        SilentClock: It does not answer Now.
    """
    folder = stage.context.stack.service("memory").clock_folder
    if folder is None:
        raise FaultNotPossible("clock_jump", "the clock of memory cannot be set here")
    before = _marked(stage)
    kill_and_restart(
        stage, "memory", lambda: write_offset_ns(folder, read_offset_ns(folder) + jump_ns)
    )
    stage.keep(
        ClockReceipt(
            service="memory",
            asked_skew_ns=jump_ns,
            before=_by_interposer(before),
            after=_by_interposer(_marked(stage)),
        )
    )


def _marked(stage: Stage) -> ClockMark:
    return mark_memory_clock(stage.context.session, stage.interposer)


def _by_interposer(mark: ClockMark) -> ClockReading:
    # The two answers are of two lives, whose own monotonic clocks need not be one.
    middle_ns = (mark.asked_mono_ns + mark.answered_mono_ns) // 2
    return ClockReading(wall_unix_ns=mark.wall_unix_ns, monotonic_ns=middle_ns)
