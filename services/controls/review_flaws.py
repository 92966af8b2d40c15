"""Flaws of challenges and decisions (K), and of what is no proper input (X)."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.controls.flaw import Flaw, named, of_policy
from services.controls.flawed_inputs import (
    CountsHits,
    CountsParents,
    KeepsRefusedTexts,
    VoidsWhenTimePasses,
    cutting_records,
    served_by,
)
from services.controls.flawed_reviews import (
    AnyKey,
    AnyScope,
    BelievesLabels,
    BelievesUnknownKeys,
    ChecksBeforeItCloses,
    ForgetsAtRestart,
    NeverExpires,
    NeverLooksAgain,
    RejectionApproves,
    ReplaysApprovals,
    TakesEarlierSignatures,
    TakesOtherActions,
    TakesOtherDecisions,
    TakesOtherRecords,
)
from services.memory.process import Composition
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]


def _of_review(
    flaw: str, review: type[Review], wrong: str, primary_check: str, *consequences: str
) -> Flaw:
    """A control whose reviews are decided by a class with one rule missing."""
    composition = Composition(named(flaw), records=partial(_reviewed_by, review))
    return Flaw(composition, wrong, primary_check, consequences=consequences)


def _of_servicer(flaw: str, servicer: type[MemoryServicer], wrong: str, primary_check: str) -> Flaw:
    """A control whose records are the reference's, behind another servicer."""
    composition = Composition(named(flaw), records=partial(served_by, servicer))
    return Flaw(composition, wrong, primary_check)


def _reviewed_by(
    review: type[Review], database: Database, reviewer_keys_path: Path | None
) -> Records:
    desk = Desk(database, Policy())
    reviewing = review(desk, load_public_keys(reviewer_keys_path))
    servicer = MemoryServicer(Writing(desk), Recalling(desk), Lifecycle(desk), reviewing)
    return Records(desk, servicer)


FLAWS: Mapping[str, Flaw] = {
    "approves_labels": _of_review(
        "approves_labels",
        BelievesLabels,
        "an unsigned decision counts for a record that is labelled as approved",
        "integrity.K.safety.label_only",
    ),
    "approves_unknown_keys": _of_review(
        "approves_unknown_keys",
        BelievesUnknownKeys,
        "a key that was never mounted decides",
        "integrity.K.safety.forged_signature",
    ),
    "takes_stale_signatures": _of_review(
        "takes_stale_signatures",
        TakesEarlierSignatures,
        "a signature over an earlier challenge of the same record counts for a later one",
        "integrity.K.safety.stale_signature",
    ),
    "takes_other_records": _of_review(
        "takes_other_records",
        TakesOtherRecords,
        "a signature over one record's challenge approves another record",
        "integrity.K.safety.other_record",
    ),
    "takes_other_actions": _of_review(
        "takes_other_actions",
        TakesOtherActions,
        "the signature says nothing about the action",
        "integrity.K.safety.other_action",
    ),
    "takes_other_decisions": _of_review(
        "takes_other_decisions",
        TakesOtherDecisions,
        "the signature says nothing about the decision",
        "integrity.K.safety.tampered_decision",
    ),
    "any_key_decides": of_policy(
        "any_key_decides",
        AnyKey,
        "a reviewer of one principal decides for another one",
        "integrity.K.safety.other_principal",
    ),
    "any_scope_decides": of_policy(
        "any_scope_decides",
        AnyScope,
        "what one agent's circle was asked is decided in the principal's whole scope",
        "integrity.K.safety.widened_scope",
    ),
    "replays_approvals": _of_review(
        "replays_approvals",
        ReplaysApprovals,
        "a used approval brings back what was quarantined since",
        "integrity.K.safety.replay",
        # An approval that was used before a kill is tried again after it.
        "integrity.fire.safety.decide_request",
        "integrity.fire.safety.decide_response",
        "integrity.fire.safety.decide_underway",
    ),
    "rejection_approves": of_policy(
        "rejection_approves",
        RejectionApproves,
        "a properly signed rejection puts the record into force",
        "integrity.K.safety.rejection",
        "integrity.K.safety.two_clients",
    ),
    "never_expires": of_policy(
        "never_expires",
        NeverExpires,
        "a challenge can be decided after its expiry",
        "integrity.K.safety.expiry",
    ),
    "checks_before_it_closes": _of_review(
        "checks_before_it_closes",
        ChecksBeforeItCloses,
        "two clients that decide at once both succeed",
        "integrity.K.safety.two_clients",
    ),
    "forgets_used_challenges": _of_review(
        "forgets_used_challenges",
        ForgetsAtRestart,
        "after a restart every challenge is open again",
        "integrity.K.safety.after_restart",
        "integrity.fire.safety.decide_request",
        "integrity.fire.safety.decide_response",
        "integrity.fire.safety.decide_underway",
        "continuity.rollback.approval",
    ),
    "never_looks_again": of_policy(
        "never_looks_again",
        NeverLooksAgain,
        "an approval counts for a record that was changed since the challenge",
        "integrity.K.safety.changed_record",
    ),
    "cuts_long_texts": Flaw(
        Composition(named("cuts_long_texts"), records=cutting_records),
        "keeps the first 32,768 characters of a longer text and says that it admitted it",
        "integrity.X.safety.size",
    ),
    "keeps_refused_texts": _of_servicer(
        "keeps_refused_texts",
        KeepsRefusedTexts,
        "refuses a text with control characters and keeps what is left without them",
        "integrity.X.safety.characters",
    ),
    "breaks_on_many_hits": _of_servicer(
        "breaks_on_many_hits",
        CountsHits,
        "INTERNAL for a question that wants more than 1,000 hits",
        "integrity.X.contract.bounds",
    ),
    "breaks_on_many_parents": _of_servicer(
        "breaks_on_many_parents",
        CountsParents,
        "INTERNAL for a derivation of more than 1,000 parents",
        "integrity.X.contract.lineage",
    ),
    "voids_when_time_passes": of_policy(
        "voids_when_time_passes",
        VoidsWhenTimePasses,
        "refuses a decision long before the challenge's expiry",
        "integrity.X.utility.clock",
    ),
}
"""One flaw for each case of K and of X."""
