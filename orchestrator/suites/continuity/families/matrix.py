"""What destinations may do that no window shows: refuse a key, show an effect late (DESIGN §6)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode
from orchestrator.suites.continuity.families.model import End, FamilyCase, Need

__all__ = ["CASES"]

CASES = (
    FamilyCase(
        name="matrix.key_reused",
        title="A host uses an operation's key again for a call with other arguments; the "
        "destination refuses it, and the key's own operation goes on.",
        requirement_id="MQ-C-95",
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        own_workload=True,
    ),
    FamilyCase(
        name="matrix.visible_later",
        title="An unfenced query sees nothing of an effect that is there, and sees it later.",
        requirement_id="MQ-C-95",
        capabilities=(CapabilityVariant.QUERY_UNFENCED,),
        expiry=ExpiryMode.SKEWED,
        needs=frozenset({Need.OTHER_CLOCKS}),
        receipts=("clock:memory", "clock:destination"),
        end=End.NO_HOST,
    ),
)
