"""Identity, receipts and limits, rule by rule (DESIGN §6)."""

from __future__ import annotations

from orchestrator.suites.continuity.families.model import End, FamilyCase

__all__ = ["CASES"]

CASES = (
    FamilyCase(
        name="identity.other_arguments",
        title="The same identity is asked about again with other arguments.",
        requirement_id="MQ-C-20",
        end=End.NO_HOST,
    ),
)
