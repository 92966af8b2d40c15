"""The published acceptance of the installed product: a document is published once (DESIGN §5).

The services run from a wheel that knows neither the checkout nor the testbed. The host is killed
with the receipt durable and before its checkpoint, and after the effect and before the receipt.
"""

from __future__ import annotations

from orchestrator.model import Arm, CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.families.model import EvidenceClass, FamilyCase, Weight

__all__ = ["CASES", "PATHS"]

PATHS = {
    "paper_acceptance.receipt_durable": ("execute", "reuse"),
    "paper_acceptance.effect_unreported": ("execute", "query", "reuse"),
}
"""Decisions of each case in order, waits left out."""

_INSTALLED = FamilyCase(
    name="",
    title="",
    requirement_id="MQ-C-87",
    capabilities=(CapabilityVariant.QUERY_FENCED,),
    arms=(Arm.BOTH,),
    target=TargetSet.AGENT,
    receipts=("installed", "kill:agent"),
    weight=Weight.PAPER,
    operations=5,
    stack=StackVariant.INSTALLED,
    evidence_class=EvidenceClass.INSTALLED_PRODUCT,
    own_workload=True,
)

CASES = (
    _INSTALLED.model_copy(
        update={
            "name": "paper_acceptance.receipt_durable",
            "title": "The host dies with the receipt durable and before its checkpoint.",
        }
    ),
    _INSTALLED.model_copy(
        update={
            "name": "paper_acceptance.effect_unreported",
            "title": "The host dies after the effect and before the receipt.",
            "expiry": ExpiryMode.SKEWED,
            "receipts": ("installed", "kill:agent", "clock:memory"),
        }
    ),
)
