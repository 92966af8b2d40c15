"""Attempts that wake up late: dispatches, receipts, renewals, answers, questions (DESIGN §5)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode
from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Need, Weight

__all__ = ["CASES"]

_ALL = tuple(CapabilityVariant)
_OPERATIONS = 10


def _host(
    name: str,
    title: str,
    *,
    stopped: bool = True,
    moves_destination: bool = False,
    capabilities: tuple[CapabilityVariant, ...] = _ALL,
    account: Account = Account.NOBODY,
    requirement_id: str = "MQ-C-40",
    weight: Weight = Weight.STANDARD,
) -> FamilyCase:
    """A host falls behind with its attempt, and wakes up when another is done with it."""
    needs = frozenset({Need.OTHER_CLOCKS}) if moves_destination else frozenset[Need]()
    receipts: tuple[str, ...] = ("clock:memory",)
    receipts += ("suspend:agent",) if stopped else ()
    receipts += ("clock:destination",) if moves_destination else ()
    return FamilyCase(
        name=f"zombie.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        expiry=ExpiryMode.SKEWED,
        needs=needs,
        receipts=receipts,
        account=account,
        weight=weight,
        operations=_OPERATIONS,
    )


def _evaluator(
    name: str,
    title: str,
    requirement_id: str,
    capabilities: tuple[CapabilityVariant, ...] = _ALL,
    jumps: int = 1,
) -> FamilyCase:
    """The evaluator plays the life that falls behind, and its heir."""
    return FamilyCase(
        name=f"zombie.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        expiry=ExpiryMode.SKEWED,
        receipts=("clock:memory",) * jumps,
        end=End.NO_HOST,
        operations=_OPERATIONS,
    )


def _copy(name: str, title: str, account: Account) -> FamilyCase:
    """The network delivers a copy of a dispatch when everything is over."""
    return FamilyCase(
        name=f"zombie.{name}",
        title=title,
        requirement_id="MQ-C-44",
        account=account,
        operations=_OPERATIONS,
    )


CASES = (
    _host(
        "stopped_after_lease", "A host is stopped with its grant on the way, and dispatches late."
    ),
    _host(
        "stopped_in_request", "A host is stopped with its dispatch on the way, which comes late."
    ),
    _host(
        "stopped_after_commit",
        "A host is stopped with the destination's answer on the way, and reports it late.",
        requirement_id="MQ-C-41",
        weight=Weight.FULL,
    ),
    _host(
        "hanging_grant", "A grant hangs while its host lives.", stopped=False, weight=Weight.FULL
    ),
    _host(
        "hanging_dispatch", "A dispatch hangs in the network while its host lives.", stopped=False
    ),
    _host(
        "hanging_answer",
        "The destination's answer hangs in the network while its host lives.",
        stopped=False,
        requirement_id="MQ-C-41",
        weight=Weight.FULL,
    ),
    _host(
        "hanging_receipt",
        "A receipt hangs in the network while its host lives.",
        stopped=False,
        requirement_id="MQ-C-41",
    ),
    _host(
        "past_deadline",
        "A stopped host's dispatch comes after its deadline, which the destination enforces.",
        moves_destination=True,
        requirement_id="MQ-C-44",
    ),
    _host(
        "past_key",
        "A stopped host's dispatch comes after its key's end.",
        moves_destination=True,
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        account=Account.NETWORK,
        requirement_id="MQ-C-44",
    ),
    _host(
        "past_key_and_deadline",
        "The same with a destination that enforces deadlines.",
        moves_destination=True,
        capabilities=(CapabilityVariant.IDEMPOTENT,),
        requirement_id="MQ-C-44",
    ),
    _copy("late_copy", "The network delivers a dispatch once more.", Account.NETWORK),
    _copy(
        "late_copy_refused",
        "The same with a destination that applies an attempt once.",
        Account.NOBODY,
    ),
    _evaluator("late_receipt", "A receipt of a superseded attempt comes late.", "MQ-C-41"),
    _evaluator(
        "late_renewal",
        "An expired, then superseded attempt asks for more time.",
        "MQ-C-42",
        jumps=2,
    ),
    _evaluator(
        "late_answer",
        "The answer to a question that was asked before the next grant comes late.",
        "MQ-C-43",
        (CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED),
    ),
    _evaluator(
        "late_question",
        "A begin id is asked again after its lease, its successor's grant and completion.",
        "MQ-C-43",
    ),
)
