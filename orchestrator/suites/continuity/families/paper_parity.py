"""No-fault parity: one recorded conversation in four arms comes to one trajectory (DESIGN §10)."""

from __future__ import annotations

from orchestrator.model import Arm, CapabilityVariant
from orchestrator.suites.continuity.families.model import EvidenceClass, FamilyCase, Need, Weight

__all__ = ["CASES"]

_PARITY = FamilyCase(
    name="",
    title="",
    requirement_id="MQ-C-85",
    capabilities=(CapabilityVariant.NONE,),
    arms=tuple(Arm),
    weight=Weight.PAPER,
    operations=1,
    evidence_class=EvidenceClass.RECORDED_RESPONSE,
    own_workload=True,
)

CASES = (
    _PARITY.model_copy(
        update={
            "name": "paper_parity.recorded",
            "title": "A recorded conversation is played without a fault.",
            "batches": 6,
        }
    ),
    _PARITY.model_copy(
        update={
            "name": "paper_parity.published_hash",
            "title": "The published task's calls alone leave the published state.",
            "needs": frozenset({Need.TAU2_STORE}),
        }
    ),
)
