"""The fresh-model pilot: agent and customer are an endpoint's models, on the study's graph.

Its trials are a class of evidence of their own and are never summed with replay (DESIGN §7, §8).
"""

from __future__ import annotations

from orchestrator.model import Arm, CapabilityVariant
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.families.model import (
    End,
    EvidenceClass,
    FamilyCase,
    Need,
    Weight,
)

__all__ = ["CASES"]

CASES = (
    FamilyCase(
        name="paper_pilot.fresh",
        title="Fresh models hold a held-out conversation without a fault.",
        requirement_id="MQ-C-88",
        capabilities=(CapabilityVariant.NONE,),
        arms=tuple(Arm),
        needs=frozenset({Need.MODEL_ENDPOINT}),
        end=End.OPEN,
        # As many writes as a conversation can ask for; each of them at most once (the judge's).
        effects_max=60,
        weight=Weight.PAPER,
        operations=2,
        batches=3,
        stack=StackVariant.FRESH_MODEL,
        evidence_class=EvidenceClass.FRESH_MODEL,
        own_workload=True,
    ),
)
