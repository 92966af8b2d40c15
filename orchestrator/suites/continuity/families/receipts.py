"""Receipts and answers to queries, rule by rule: what binds, what completes (DESIGN §4, §6)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode
from orchestrator.suites.continuity.families.model import End, FamilyCase, Need

__all__ = ["CASES", "PAUSES_MAX", "QUESTIONS_MAX"]

QUESTIONS_MAX = 50
"""Uncertain answers that are told, at most; a memory that declares more is asked no further."""

PAUSES_MAX = 5
"""Pauses in a row that a memory is given before the next question."""

_ANY = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)
_QUERY = (CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED)
_KEYED = (CapabilityVariant.IDEMPOTENT,)


def _live(name: str, title: str, requirement_id: str) -> FamilyCase:
    """While the lease lives."""
    return FamilyCase(
        name=f"receipts.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=_ANY,
        end=End.NO_HOST,
        operations=5,
    )


def _expired(
    name: str,
    title: str,
    requirement_id: str,
    capabilities: tuple[CapabilityVariant, ...],
    *needs: Need,
) -> FamilyCase:
    """After the lease's end."""
    return FamilyCase(
        name=f"receipts.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        expiry=ExpiryMode.SKEWED,
        needs=frozenset(needs),
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    )


CASES = (
    _live("forged", "A receipt under a lease token that was never given.", "MQ-C-30"),
    _live("other_life", "A receipt under the right token, of another incarnation.", "MQ-C-30"),
    _live("foreign", "Another operation's receipt, and another operation's lease.", "MQ-C-30"),
    _live("wrong_attempt", "A receipt of an attempt that was never granted.", "MQ-C-30"),
    _live("other_arguments", "A receipt of a dispatch with other arguments.", "MQ-C-30"),
    _live("wrong_digest", "A receipt whose result is not the digest's.", "MQ-C-31"),
    _live("oversize", "Results of 65,537 bytes, and of 65,536.", "MQ-C-31"),
    _live("repeat", "A receipt is reported again.", "MQ-C-32"),
    _live("other_result", "Another receipt comes after completion; the first stays.", "MQ-C-32"),
    _live("tool_error", "A tool's own refusal completes, too.", "MQ-C-32"),
    _expired("late", "A receipt after the lease's end, not superseded.", "MQ-C-33", _ANY),
    _expired("superseded", "A superseded attempt's receipt is evidence only.", "MQ-C-33", _KEYED),
    _expired("wrong_ticket", "A query's answer under a wrong ticket.", "MQ-C-34", _QUERY),
    _expired("query_attempt", "A query's answer for another attempt.", "MQ-C-34", _QUERY),
    _expired("query_foreign", "PRESENT with another operation's receipt.", "MQ-C-34", _QUERY),
    _expired("unknown", "UNKNOWN changes nothing.", "MQ-C-34", _QUERY),
    _expired(
        "old_absence",
        "ABSENT_FINAL for an attempt that was superseded licenses nothing.",
        "MQ-C-34",
        (CapabilityVariant.QUERY_FENCED,),
        Need.FINAL_ABSENCE,
    ).model_copy(update={"receipts": ("clock:memory", "clock:memory")}),
    _expired("present", "PRESENT completes, whatever was said before.", "MQ-C-34", _QUERY),
    _expired(
        "uncertain", "ABSENT_UNCERTAIN licenses nothing and ends in CONFIRM.", "MQ-C-34", _QUERY
    ),
)
