"""What the four-arm study published, as far as DESIGN §10 and the contract of this axis state it.

Shown beside our values and never mixed with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestrator.model import Arm, Frozen
from orchestrator.suites.continuity.paper.cassette import TAU2_TASK, all_tasks

__all__ = [
    "ACCEPTANCE",
    "INTERRUPTED",
    "PARITY",
    "PUBLISHED_FINAL_HASH",
    "PUBLISHED_REDISPATCHING_ARMS",
    "PublishedAcceptance",
    "PublishedInterruption",
    "PublishedParity",
]

PUBLISHED_FINAL_HASH = "06bb132b5ea03a83611bb23c52608af9802b10fa8d430df5c982fcc88b34fb83"
PUBLISHED_REDISPATCHING_ARMS = 2
"""R_dispatch: arms with a new invocation after the restart."""


class PublishedParity(Frozen):
    """One arm without a fault.

    Attributes:
        requests, matched: Model requests, and those that the recording answered.
        calls: Tool calls.
        operations: Governed operations.
        final_hash: State hash of the whole store, compact form.
    """

    requests: int = 18
    matched: int = 18
    calls: int = 6
    operations: int
    final_hash: str = PUBLISHED_FINAL_HASH


class PublishedInterruption(Frozen):
    """One arm after the interrupted exchange, under the tool's own precondition."""

    calls: int
    effects: int
    errors: int
    end: str


class PublishedAcceptance(Frozen):
    """One case of the installed acceptance."""

    decisions: str
    end: str = "completed"
    effects: int = 1


PARITY: Mapping[Arm, PublishedParity] = MappingProxyType(
    {arm: PublishedParity(operations=6 if arm.has_memory else 0) for arm in Arm}
)

INTERRUPTED: Mapping[Arm, PublishedInterruption] = MappingProxyType(
    {
        arm: PublishedInterruption(calls=0, effects=0, errors=0, end="needs_confirmation")
        if arm.has_memory
        else PublishedInterruption(calls=1, effects=0, errors=1, end="not stated")
        for arm in Arm
    }
)

ACCEPTANCE: Mapping[str, PublishedAcceptance] = MappingProxyType(
    {
        "paper_acceptance.receipt_durable": PublishedAcceptance(decisions="execute"),
        "paper_acceptance.effect_unreported": PublishedAcceptance(decisions="execute, query"),
    }
)

# The recorded task is the published one only while its final state is.
if all_tasks()[TAU2_TASK].final_compact != PUBLISHED_FINAL_HASH:
    raise ValueError("tasks.yaml was recorded with another final state than the published one")
