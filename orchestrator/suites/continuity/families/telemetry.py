"""Faults of telemetry, which nothing may depend on (DESIGN §5, §6: P5).

The cases of the parity group play the same operations, each met by a reset connection at one of
its messages, with everything that can happen to telemetry: their histories must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from chaos.telemetry_faults import TelemetryAction
from orchestrator.model import Arm, CapabilityVariant, ExpiryMode
from orchestrator.suites.continuity.families.model import End, FamilyCase, Weight

__all__ = [
    "CASES",
    "COUNTED_MARK",
    "DISTURBANCES",
    "KEPT_MARK",
    "PHASE_MARK",
    "RESET_CASE",
    "Disturbance",
]

COUNTED_MARK = "telemetry-counted"
"""Kind of the marks that tell how much the host could not send, before and after."""
KEPT_MARK = "telemetry-kept"
"""Kind of the mark that tells what the observer kept of the evaluator's own events."""
PHASE_MARK = "telemetry-phase"
"""Kind of the marks between the parts of `telemetry.waiting`: undisturbed, slow, undisturbed."""

RESET_CASE = "network.reset"
"""What happens to the operations themselves in every case of the parity group."""

_GROUP = "telemetry"
_BASIC = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)
_OPERATIONS = 6

Trouble: TypeAlias = Literal["", "observer_down"] | TelemetryAction


@dataclass(frozen=True)
class Disturbance:
    """What happens to telemetry.

    Attributes:
        trouble: The fault; empty for none.
        delay_ms: For how long a message is kept, at most.
        prices: The evaluator reports usage and prices itself: unknown, wrong and malformed ones.
    """

    trouble: Trouble = ""
    delay_ms: int = 0
    prices: bool = False


DISTURBANCES: Mapping[str, Disturbance] = MappingProxyType(
    {
        "telemetry.none": Disturbance(),
        "telemetry.drop": Disturbance("drop"),
        "telemetry.delay": Disturbance("delay", 500),
        "telemetry.duplicate": Disturbance("duplicate"),
        "telemetry.reorder": Disturbance("reorder", 500),
        "telemetry.slow": Disturbance("slow"),
        "telemetry.errors": Disturbance("errors"),
        "telemetry.observer_down": Disturbance("observer_down"),
        "telemetry.prices": Disturbance(prices=True),
    }
)

_TITLES: Mapping[Trouble, str] = {
    "": "nothing happens to telemetry",
    "drop": "every event is lost",
    "delay": "every event is late",
    "duplicate": "every event comes twice",
    "reorder": "events overtake each other",
    "slow": "the observer keeps its answers",
    "errors": "the observer answers errors",
    "observer_down": "the observer is killed",
}


def _grouped(name: str, disturbance: Disturbance) -> FamilyCase:
    told = "wrong, unknown and malformed prices" if disturbance.prices else ""
    return FamilyCase(
        name=name,
        title=f"Resets meet the operations while {told or _TITLES[disturbance.trouble]}.",
        requirement_id="MQ-C-69" if disturbance.prices else "MQ-C-65",
        capabilities=_BASIC,
        arms=(Arm.BOTH,) if disturbance != Disturbance() else (Arm.MEMORY, Arm.BOTH),
        expiry=ExpiryMode.SKEWED,
        receipts=(
            "network",
            "clock:memory",
            *(("telemetry",) if disturbance.trouble else ()),
        ),
        operations=_OPERATIONS,
        parity_group=_GROUP,
    )


CASES = (
    *(_grouped(name, disturbance) for name, disturbance in DISTURBANCES.items()),
    FamilyCase(
        name="telemetry.content",
        title="What the memory is told in receipts and answers is looked for in its telemetry.",
        requirement_id="MQ-C-66",
        capabilities=(CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED),
        end=End.NO_HOST,
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        weight=Weight.QUICK,
        operations=_OPERATIONS,
    ),
    FamilyCase(
        name="telemetry.waiting",
        title="The memory answers while the observer keeps its own answers back.",
        requirement_id="MQ-C-68",
        capabilities=(CapabilityVariant.NONE,),
        end=End.NO_HOST,
        weight=Weight.QUICK,
        operations=_OPERATIONS,
    ),
)
