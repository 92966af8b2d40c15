"""CONFIRM answered by the operator's signed word: what it does, and whose counts (DESIGN §4)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Need

__all__ = ["BEYOND_CLOCKS", "CASES"]

BEYOND_CLOCKS = "challenge_ends_beyond_clocks"
"""Kind of the mark on a trial whose challenge ends later than a clock can be set to."""

_NONE = (CapabilityVariant.NONE,)
_UNCERTAIN = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_UNFENCED,
    CapabilityVariant.IDEMPOTENT_EXPIRED,
)


def _case(
    name: str,
    title: str,
    requirement_id: str,
    capabilities: tuple[CapabilityVariant, ...] = _NONE,
    **more: object,
) -> FamilyCase:
    case = FamilyCase(
        name=f"resolve.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        expiry=ExpiryMode.SKEWED,
        needs=frozenset({Need.OPERATOR_WORD}),
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    )
    return case.model_copy(update=more)


CASES = (
    _case(
        "happened", "The operator found the effect: its result is reused.", "MQ-C-55", _UNCERTAIN
    ),
    _case("did_not_happen", "The operator found nothing: one new attempt.", "MQ-C-55", _UNCERTAIN),
    _case("abandon", "The operator gives the operation up.", "MQ-C-55", _UNCERTAIN),
    _case("wrong_key", "Keys that do not speak for the challenge's principal.", "MQ-C-56"),
    _case("forged", "Signatures that the named key did not make.", "MQ-C-56"),
    _case("changed", "A word, or a result, that is not the signed one.", "MQ-C-56"),
    _case("other_challenge", "Another operation's challenge, and none at all.", "MQ-C-56"),
    _case("used", "A challenge that was answered is answered again.", "MQ-C-57", _UNCERTAIN),
    _case("stale", "A challenge of an attempt that a later grant superseded.", "MQ-C-57"),
    _case("completed", "The operation was completed since the challenge.", "MQ-C-57"),
    _case(
        "expired",
        "A challenge has an end, however far, and is answered after it.",
        "MQ-C-57",
        needs=frozenset({Need.MEMORY_CLOCK, Need.OPERATOR_WORD}),
        own_stack=True,
    ),
    _case(
        "restart",
        "The memory is killed between challenge and answer, and after the answer.",
        "MQ-C-58",
        target=TargetSet.MEMORY,
        receipts=("clock:memory", "restart:memory", "restart:memory"),
    ),
    _case(
        "drained",
        "What was held is gone and the journal was read: the operator's word is true.",
        "MQ-C-59",
        end=End.OPEN,
    ),
    _case(
        "undrained",
        "An early word: the held dispatch arrives after it.",
        "MQ-C-59",
        account=Account.OPERATOR,
    ),
    _case(
        "false_answer",
        "A false word: the effect was there all along.",
        "MQ-C-59",
        account=Account.OPERATOR,
    ),
    _case(
        "hosted_absent",
        "The host is left for confirmation, nothing happened, and it goes on.",
        "MQ-C-59",
        (CapabilityVariant.NONE, CapabilityVariant.IDEMPOTENT_EXPIRED),
        end=End.RESOLVED,
    ),
    _case(
        "hosted_present",
        "The host is left for confirmation, the effect is there, and it goes on.",
        "MQ-C-59",
        (CapabilityVariant.NONE, CapabilityVariant.IDEMPOTENT_EXPIRED),
        end=End.RESOLVED,
    ),
)
