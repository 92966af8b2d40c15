"""A wall clock that runs too fast or too slow (DESIGN §5).

libfaketime's own rate counts from the start of a process, so that to set it makes a jump of unknown
length. A drift is made here of many small steps instead: the timestamp file is replaced every few
milliseconds, and its offset grows (or shrinks) evenly.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from chaos.clock import read_offset_ns, write_offset_ns
from chaos.errors import ChaosError, ClockError, FaultNotPossible
from chaos.faults import ActiveFault, Availability, clock_availability
from chaos.receipts import ClockReading, DriftReceipt
from chaos.targets import Target

__all__ = ["ClockDrift"]

STEP_SECONDS = 0.005
DRIFT_SECONDS_MAX = 120.0
JOIN_SECONDS = 10.0
RATE_MAX = 1_000.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ClockDrift:
    """Lets a target's wall clock run at another rate until it is lifted; time then goes on at 1.

    Attributes:
        rate: seconds of its clock in one second; above 0, at most 1,000, and not 1.
        read_now: asks the target for its clocks.
    """

    rate: float
    read_now: Callable[[], ClockReading]

    @property
    def name(self) -> str:
        """Name of the fault."""
        return "clock_drift"

    def available(self, target: Target) -> Availability:
        """A target without a clock folder runs on the host's clock."""
        return clock_availability(target)

    def inject(self, target: Target) -> ActiveFault:
        """Begins to drift, from what the clock is set to already.

        Raises:
            FaultNotPossible: no clock folder, or no such rate.
            ClockError: the file cannot be written.
        """
        if not 0 < self.rate <= RATE_MAX or self.rate == 1:
            raise FaultNotPossible(self.name, f"a clock cannot drift at rate {self.rate}")
        folder = target.clock_folder
        if folder is None:
            raise FaultNotPossible(self.name, self.available(target).reason)
        before = self.read_now()
        return _Drifting(target.name, self, before, _Steps(folder, self.rate))


@dataclass(slots=True)
class _Steps:
    """The thread that moves the offset on, from its making on."""

    folder: Path
    rate: float
    error: ChaosError | None = None
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        base_ns, began_ns = read_offset_ns(self.folder), time.monotonic_ns()
        self._thread = threading.Thread(
            target=self._run, args=(base_ns, began_ns), name="clock-drift", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Stop drifting.

        Raises:
            ClockError: a step could not be made, or the drift was never ended in time.
        """
        self._ended.set()
        self._thread.join(JOIN_SECONDS)
        if self._thread.is_alive():
            raise ClockError("the drift of a clock did not end")
        if self.error is not None:
            raise self.error

    def _run(self, base_ns: int, began_ns: int) -> None:
        try:
            while not self._ended.wait(STEP_SECONDS):
                passed_ns = time.monotonic_ns() - began_ns
                if passed_ns > DRIFT_SECONDS_MAX * 1e9:
                    raise ClockError(f"a drift was not ended within {DRIFT_SECONDS_MAX:.0f} s")
                write_offset_ns(self.folder, base_ns + round(passed_ns * (self.rate - 1)))
        except ChaosError as error:
            self.error = error


@dataclass(frozen=True, slots=True)
class _Drifting:
    service: str
    fault: ClockDrift
    before: ClockReading
    steps: _Steps

    def lift(self) -> DriftReceipt:
        self.steps.end()
        receipt = DriftReceipt(
            service=self.service,
            asked_rate=self.fault.rate,
            before=self.before,
            after=self.fault.read_now(),
        )
        _log.info(
            "clock_drifted",
            service=self.service,
            asked=self.fault.rate,
            measured=receipt.measured_rate,
        )
        return receipt
