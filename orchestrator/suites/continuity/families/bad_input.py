"""What goes wrong around a memory that is right: a destination that is down, a damaged checkpoint.

Memories that answer badly are no cases: the oracle takes their answers for what they are in every
case, and tests run whole campaigns with them.
"""

from __future__ import annotations

from orchestrator.model import ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import End, FamilyCase, Weight

__all__ = ["CASES"]

CASES = (
    FamilyCase(
        name="bad_input.destination_down",
        title="The destination is down when work is taken up after a kill, and comes back.",
        requirement_id="MQ-C-81",
        target=TargetSet.AGENT,
        expiry=ExpiryMode.SKEWED,
        receipts=("kill:agent", "restart:destination", "clock:memory", "clock:memory"),
        weight=Weight.STANDARD,
        operations=10,
    ),
    FamilyCase(
        name="bad_input.checkpoint_cut",
        title="Half of the checkpoint files are cut in half between a kill and the takeover.",
        requirement_id="MQ-C-82",
        target=TargetSet.AGENT,
        expiry=ExpiryMode.SKEWED,
        receipts=("kill:agent", "checkpoint_cut", "clock:memory"),
        end=End.OPEN,
        weight=Weight.STANDARD,
        operations=10,
    ),
)
