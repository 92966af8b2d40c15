"""Semantic rollback: a host that was set back to before a call (arXiv 2603.20625, two classes).

Action replay: it issues the same intent again, under a new identity. Authority resurrection: what a
person decided once, and what was used, is presented again.
"""

from __future__ import annotations

from orchestrator.model import CapabilityVariant, ExpiryMode, TargetSet
from orchestrator.suites.continuity.families.model import Account, End, FamilyCase, Need, Weight

__all__ = ["CASES", "NO_REVIEW"]

NO_REVIEW = "no_review"
"""Kind of the mark on a trial in which the memory has nothing to review."""

_NONE = (CapabilityVariant.NONE,)
_UNCERTAIN = (
    CapabilityVariant.NONE,
    CapabilityVariant.QUERY_UNFENCED,
    CapabilityVariant.IDEMPOTENT_EXPIRED,
)
_SOME = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)


def _replay(
    name: str,
    title: str,
    capabilities: tuple[CapabilityVariant, ...] = _SOME,
    **more: object,
) -> FamilyCase:
    """A hosted case; a second effect of an undeclared memory is the host's account."""
    case = FamilyCase(
        name=f"rollback.{name}",
        title=title,
        requirement_id="MQ-C-50",
        capabilities=capabilities,
        receipts=("checkpoint_restore:agent",),
        account=Account.HOST,
        operations=5,
    )
    return case.model_copy(update=more)


def _asked(name: str, title: str, requirement_id: str, *needs: Need) -> FamilyCase:
    """The evaluator in the place of a host that says what its past holds."""
    return FamilyCase(
        name=f"rollback.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=_SOME,
        expiry=ExpiryMode.SKEWED,
        needs=frozenset({Need.INTENT_MATCHING, *needs}),
        receipts=("clock:memory",),
        end=End.NO_HOST,
        operations=5,
    )


def _word(
    name: str, title: str, capabilities: tuple[CapabilityVariant, ...], **more: object
) -> FamilyCase:
    """An operator's word that is taken, and presented again after the restore."""
    case = _replay(
        name,
        title,
        capabilities,
        requirement_id="MQ-C-51",
        needs=frozenset({Need.OPERATOR_WORD}),
        expiry=ExpiryMode.SKEWED,
        target=TargetSet.MEMORY,
        receipts=("checkpoint_restore:agent", "clock:memory", "restart:memory"),
        end=End.OPEN,
    )
    return case.model_copy(update=more)


CASES = (
    _replay("complete", "Set back to before a call that is complete; the intent comes again."),
    _replay(
        "uncertain",
        "Set back while the call is under way; the intent comes again, and after the lease.",
        expiry=ExpiryMode.SKEWED,
        receipts=("checkpoint_restore:agent", "clock:memory"),
    ),
    _replay(
        "forked",
        "Forked to before a call that is complete, which its newer checkpoints hold.",
        receipts=("checkpoint_fork:agent",),
    ),
    _replay(
        "forked_uncertain",
        "Forked while the call is under way; the intent comes again, and after the lease.",
        expiry=ExpiryMode.SKEWED,
        receipts=("checkpoint_fork:agent", "clock:memory"),
        weight=Weight.FULL,
    ),
    _replay(
        "after_restart",
        "Set back, and the memory was killed meanwhile.",
        target=TargetSet.MEMORY,
        receipts=("checkpoint_restore:agent", "restart:memory"),
    ),
    _replay(
        "second_of_two",
        "The same call twice on purpose; set back to before the second.",
        effects_max=2,
    ),
    _replay(
        "second_obligation",
        "The same call twice on purpose, nothing set back: both are done.",
        requirement_id="MQ-C-52",
        receipts=(),
        account=Account.NOBODY,
        effects_max=2,
    ),
    _asked("intent", "One intent of two pasts at each stage; new ones are new.", "MQ-C-50"),
    _asked("obligations", "What the host's past holds is no other past.", "MQ-C-52"),
    _asked(
        "ruled_out",
        "The forked operation did not happen: the intent is free.",
        "MQ-C-52",
        Need.OPERATOR_WORD,
    ),
    _word(
        "resolution",
        "A word that was taken is presented again after the host was set back.",
        _UNCERTAIN,
    ),
    _word(
        "resolution_happened",
        "The same with the word that it happened, and its result.",
        # An unfenced query sees the effect before anybody is asked.
        (CapabilityVariant.NONE, CapabilityVariant.IDEMPOTENT_EXPIRED),
        weight=Weight.FULL,
    ),
    _word(
        "resolution_abandon",
        "The same with the word that the operation is given up.",
        _UNCERTAIN,
        weight=Weight.FULL,
    ),
    _replay(
        "approval",
        "An approval that was taken is presented again after the host was set back.",
        _NONE,
        requirement_id="MQ-C-51",
        needs=frozenset({Need.AUTHORITY_GATING}),
        target=TargetSet.MEMORY,
        receipts=("checkpoint_restore:agent", "restart:memory"),
        end=End.OPEN,
    ),
)
