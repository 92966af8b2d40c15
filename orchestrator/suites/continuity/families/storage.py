"""The memory's volume and its starts: power, room, older copies, torn writes (DESIGN §6)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.stacks import StackVariant
from orchestrator.suites.continuity.families.model import (
    Account,
    End,
    FamilyCase,
    Need,
    Weight,
)

__all__ = ["CASES"]

_NONE = (CapabilityVariant.NONE,)


def _case(
    name: str,
    title: str,
    requirement_id: str,
    receipts: tuple[str, ...],
    *,
    capabilities: tuple[CapabilityVariant, ...] = _NONE,
    account: Account = Account.NOBODY,
    weight: Weight = Weight.STANDARD,
    operations: int = 6,
    needs: frozenset[Need] = frozenset(),
    expiry: ExpiryMode = ExpiryMode.NONE,
) -> FamilyCase:
    return FamilyCase(
        name=f"storage.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        target=TargetSet.MEMORY,
        expiry=expiry,
        needs=needs | {Need.FUSE},
        receipts=receipts,
        account=account,
        end=End.NO_HOST,
        weight=weight,
        operations=operations,
        stack=StackVariant.FAILING_STORAGE,
    )


CASES = (
    _case(
        "power_loss",
        "Power fails right after an acknowledgement; what was not synced is gone.",
        "MQ-C-75",
        ("power_loss:memory",),
        capabilities=(CapabilityVariant.NONE, CapabilityVariant.IDEMPOTENT),
    ),
    _case(
        "power_loss_renewal",
        "Power fails right after a renewal; the lease lasts until the end that was acknowledged.",
        "MQ-C-75",
        ("power_loss:memory", "clock:memory"),
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        operations=2,
        needs=frozenset({Need.MEMORY_CLOCK}),
    ),
    _case(
        "power_loss_answer",
        "Power fails right after the memory took a destination's answer: present, or never.",
        "MQ-C-75",
        ("power_loss:memory", "clock:memory"),
        capabilities=(CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED),
        operations=4,
        expiry=ExpiryMode.SKEWED,
    ),
    _case(
        "power_loss_word",
        "Power fails after a challenge, and after its word was taken; the word is said again.",
        "MQ-C-75",
        ("power_loss:memory", "clock:memory"),
        operations=4,
        needs=frozenset({Need.OPERATOR_WORD}),
        expiry=ExpiryMode.SKEWED,
    ),
    _case(
        "first_start_storm",
        "SIGKILL again and again, at operations all over the first start on an empty volume.",
        "MQ-C-76",
        ("storm:memory",),
        operations=2,
    ),
    _case(
        "recovery_storm",
        "SIGKILL again and again while a memory starts that had operations under way.",
        "MQ-C-76",
        ("storm:memory",),
    ),
    _case(
        "full_volume",
        "The volume's room ends within a commit, and comes back.",
        "MQ-C-77",
        ("full_volume:memory",),
    ),
    _case(
        "rolled_back",
        "The memory finds an older copy of its volume.",
        "MQ-C-78",
        ("volume_rollback:memory",),
        account=Account.VOLUME,
    ),
    _case(
        "torn_write",
        "The memory is killed within a write that nobody was told of, and half of it is there.",
        "MQ-C-79",
        ("torn_write:memory",),
        operations=8,
    ),
)
