"""Interrupted exchange: the host dies after the sixth tool committed, before its response.

Each with the tools' own preconditions and without, and with the end of the lease reached in each
of its three ways (DESIGN §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.model import Arm, CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import EvidenceClass, FamilyCase, Need, Weight

__all__ = ["CASES", "GUARDED"]

_WAYS = (ExpiryMode.SKEWED, ExpiryMode.CONFIGURED, ExpiryMode.REAL)
# A real lease lasts two minutes: it is waited for once, by several trials together.
_BATCHES = MappingProxyType({ExpiryMode.SKEWED: 5, ExpiryMode.CONFIGURED: 3, ExpiryMode.REAL: 1})
_OPERATIONS = MappingProxyType({ExpiryMode.SKEWED: 1, ExpiryMode.CONFIGURED: 1, ExpiryMode.REAL: 3})


def _case(guard: bool, way: ExpiryMode) -> FamilyCase:
    words = "under its own precondition" if guard else "without its own precondition"
    return FamilyCase(
        name=f"paper_interrupted.{'guarded' if guard else 'unguarded'}_{way.value}",
        title=f"The host dies after an exchange {words} committed; lease's end {way.value}.",
        requirement_id="MQ-C-86",
        capabilities=(CapabilityVariant.NONE,),
        arms=tuple(Arm),
        target=TargetSet.AGENT,
        expiry=way,
        # The study is of three ways; one that cannot be gone is no other.
        needs=frozenset({Need.MEMORY_CLOCK} if way is ExpiryMode.SKEWED else ()),
        receipts=("kill:agent",),
        weight=Weight.PAPER,
        operations=_OPERATIONS[way],
        evidence_class=EvidenceClass.RECORDED_RESPONSE,
        batches=_BATCHES[way],
        own_workload=True,
    )


CASES = tuple(_case(guard, way) for guard in (True, False) for way in _WAYS)

GUARDED: Mapping[str, bool] = MappingProxyType(
    {case.name: ".guarded_" in case.name for case in CASES}
)
"""Whether the tools' own preconditions hold in a case."""
