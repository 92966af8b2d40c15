"""What befalls a whole stack while a schedule is played: clocks and telemetry (DESIGN §5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import cast

from chaos.faults import ActiveFault
from chaos.receipts import TelemetryReceipt
from chaos.telemetry_faults import TelemetryAction, TelemetryFault
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.stage import Stage

__all__ = ["Clocks", "StackTelemetry"]

_MEMORY = "memory"
_HOST = "agent"
_MINUTES_NS = 300 * NS
_DAY_NS = 86_400 * NS
_ALMOST_NS = 2 * NS
_LATE_MS = 400


class Clocks:
    """The stack's clocks, as far as they were set."""

    def __init__(self, stage: Stage) -> None:
        """No clock of the stage has been set yet."""
        self._stage = stage
        self._set_ns: Counter[str] = Counter()
        self._most_ns = 0

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
        lease_ns = self._stage.context.describe.limits.lease_seconds * NS
        return {
            "": lease_ns + NS,
            "lease_end": lease_ns + NS,
            "lease_almost": max(NS, lease_ns - _ALMOST_NS),
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
