"""Two to sixteen agents on the same operation: one live lease at a time (DESIGN §6)."""

from __future__ import annotations

from orchestrator.model import ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import End, FamilyCase, Weight

__all__ = ["AGENTS", "CASES"]

AGENTS = {
    "concurrency.agents_2": 2,
    "concurrency.agents_4": 4,
    "concurrency.agents_8": 8,
    "concurrency.agents_16": 16,
    "concurrency.memory_killed": 4,
    "concurrency.holder_silent": 8,
}
"""How many agents ask about each operation of a case."""

_OPERATIONS = 5

CASES = (
    *(
        FamilyCase(
            name=f"concurrency.agents_{agents}",
            title=f"{agents} agents begin the same operation at once, each by the protocol.",
            requirement_id="MQ-C-70",
            end=End.NO_HOST,
            weight=Weight.FULL if agents == 4 else Weight.STANDARD,
            operations=_OPERATIONS,
        )
        for agents in (2, 4, 8, 16)
    ),
    FamilyCase(
        name="concurrency.memory_killed",
        title="Four agents work on the same operation while the memory dies and comes back.",
        requirement_id="MQ-C-70",
        target=TargetSet.MEMORY,
        receipts=("restart:memory",),
        end=End.NO_HOST,
        operations=_OPERATIONS,
    ),
    FamilyCase(
        name="concurrency.holder_silent",
        title="The one that was granted goes silent, and the lease ends while the others ask.",
        requirement_id="MQ-C-70",
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=_OPERATIONS,
    ),
    FamilyCase(
        name="concurrency.two_hosts",
        title="Agent and standby resume the same workflow at once.",
        requirement_id="MQ-C-70",
        end=End.RESOLVED,
        operations=_OPERATIONS,
    ),
)
