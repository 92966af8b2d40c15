"""A short exploration with the run's own seeds (DESIGN §5, §8)."""

from __future__ import annotations

from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Need, Weight

__all__ = ["CASES", "SEEDED"]

SEEDED = "explore.seeded"

CASES = (
    FamilyCase(
        name=SEEDED,
        title="A random schedule of faults and attacks, drawn from the trial's seed.",
        requirement_id="MQ-C-90",
        needs=frozenset({Need.MEMORY_CLOCK}),
        # The schedule plays hosts that lie and dispatch twice: what comes of it is theirs.
        account=Account.HOST,
        end=End.NO_HOST,
        weight=Weight.FULL,
        operations=10,
    ),
)
