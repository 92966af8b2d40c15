"""What befalls a whole stack while a schedule is played: clocks and telemetry (DESIGN §5)."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import cast

from chaos.clock import read_offset_ns
from chaos.faults import ActiveFault
from chaos.receipts import TelemetryReceipt
from chaos.telemetry_faults import TelemetryAction, TelemetryFault
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.skewing import drifting, restart_behind
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS

__all__ = ["Clocks", "StackTelemetry", "distance_ns"]

_MEMORY = "memory"
_HOST = "agent"
_MINUTES_NS = 300 * NS
_DAY_NS = 86_400 * NS
_KEY_NS = LONG_RETENTION_SECONDS * NS
_ALMOST_NS = 2 * NS
_LATE_MS = 400
_RATE = 10.0
_DRIFT_SECONDS = 0.5


class Clocks:
    """The stack's clocks, as far as they were set."""

    def __init__(self, stage: Stage) -> None:
        """No clock of the stage has been set yet."""
        self._stage = stage
        self._set_ns: Counter[str] = Counter()
        self._most_ns = 0
        self._drift: tuple[AbstractContextManager[None], int, float] | None = None

    def jump(self, variant: str) -> None:
        """Set one once.

        Args:
            variant: How far, such as `lease_end`; for another clock than the memory's
                `service:how far`, where `agent` is the host that is active now.

        Raises:
            FaultNotPossible, ClockError, SilentClock: As `Stage.move_clock`.
        """
        service, _, how_far = variant.rpartition(":")
        service = service or _MEMORY
        if service == _HOST:
            service = self._stage.context.session.active.service
        by_ns = self._by_ns(how_far)
        self._stage.move_clock(service, by_ns)
        self._note(service, by_ns)

    def restart(self, how_far: str) -> None:
        """Kill the memory, set its clock while it is down, and start it again.

        Raises:
            FaultNotPossible, ClockError, SilentClock: As `Stage.move_clock`.
            StackError, ChaosError: It did not end, or is not healthy again.
        """
        by_ns = self._by_ns(how_far)
        restart_behind(self._stage, by_ns)
        self._note(_MEMORY, by_ns)

    def drift(self, rate: str) -> None:
        """From here on the memory's clock runs at another rate.

        Raises:
            FaultNotPossible, ClockError, SilentClock: As `Stage.move_clock`.
        """
        self.steady()
        folder = self._stage.context.stack.service(_MEMORY).clock_folder
        if folder is None:
            return
        drifting_now = drifting(self._stage, float(rate or _RATE), unproven=True)
        self._drift = (drifting_now, read_offset_ns(folder), time.monotonic())
        drifting_now.__enter__()

    def steady(self) -> None:
        """The memory's clock runs as all do, from where it has drifted to.

        Raises:
            ClockError, SilentClock: As `Stage.move_clock`.
        """
        if self._drift is None:
            return
        (drifting_now, offset_ns, began), self._drift = self._drift, None
        # A drift of a moment is none that anybody could measure.
        time.sleep(max(0.0, began + _DRIFT_SECONDS - time.monotonic()))
        drifting_now.__exit__(None, None, None)
        folder = self._stage.context.stack.service(_MEMORY).clock_folder
        if folder is not None:
            self._note(_MEMORY, read_offset_ns(folder) - offset_ns)

    def _note(self, service: str, by_ns: int) -> None:
        self._set_ns[service] += by_ns
        self._most_ns = max(self._most_ns, self._set_ns[_MEMORY])

    def put_right(self) -> None:
        """The memory's shows no less than it ever did, for the sake of its mark; others are right.

        Raises:
            FaultNotPossible, ClockError, SilentClock: As `Stage.move_clock`.
        """
        behind_ns = self._most_ns - self._set_ns.pop(_MEMORY, 0)
        if behind_ns:
            self._stage.move_clock(_MEMORY, behind_ns + NS)
        for service, set_ns in self._set_ns.items():
            if set_ns:
                self._stage.move_clock(service, -set_ns)

    def _by_ns(self, how_far: str) -> int:
        return distance_ns(how_far, self._stage.context.describe.limits.lease_seconds * NS)


def distance_ns(how_far: str, lease_ns: int) -> int:
    """By how much a clock is set.

    Args:
        how_far: A variant of Act.JUMP, without its service.
        lease_ns: The lease that the memory declares.
    """
    return {
        "": lease_ns + NS,
        "lease_end": lease_ns + NS,
        "lease_almost": max(NS, lease_ns - _ALMOST_NS),
        "half_lease": lease_ns // 2 + NS,
        "key_almost": _KEY_NS - lease_ns - lease_ns // 2,
        "minutes": _MINUTES_NS,
        "day": _DAY_NS,
        "back_second": -NS,
        "back_minutes": -_MINUTES_NS,
        "back_day": -_DAY_NS,
    }[how_far]


@dataclass
class StackTelemetry:
    """What all telemetry of the stack meets, one fault at a time.

    Attributes:
        stage: The batch.
    """

    stage: Stage
    _active: ActiveFault | None = field(default=None, init=False)
    _faults: int = field(default=0, init=False)

    def befall(self, fault: str) -> None:
        """Take the fault before away, and arm this one; empty: none.

        Raises:
            ChaosError: The interposer does not do it.
        """
        self.lift()
        if not fault:
            return
        self._faults += 1
        action = cast(TelemetryAction, fault)
        rule_id = f"xt{self._faults}-{self.stage.batch.batch_id}"
        delay_ms = _LATE_MS if fault in ("delay", "reorder") else 0
        self._active = TelemetryFault(self.stage.interposer, action, rule_id, delay_ms).inject(
            self.stage.context.stack.service("observer")
        )

    def lift(self) -> None:
        """Take the fault away, and keep its receipt where telemetry met it.

        A schedule decides where nothing is sent; a fault that nothing met is none.

        Raises:
            ChaosError: The interposer does not do it.
        """
        active, self._active = self._active, None
        if active is None:
            return
        receipt = active.lift()
        if isinstance(receipt, TelemetryReceipt) and receipt.events_affected:
            self.stage.keep(receipt)
