"""Flaws of trust that grows on the way: claims, summaries, repetition, outcomes, approvals.

Each replaces one rule of the reference (categories C, D, F, H and I).
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.controls.flaw import Flaw, named, of_policy
from services.memory.process import Composition
from services.memory.records import places
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Binding,
    Kind,
    Outcomes,
    Reason,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
)
from services.memory.records.offers import Admitted
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.store import Stored
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]

VOICES = 5
HELPED = "helped"

# What can only be seen where a proper approval counts for something.
_PROPER_APPROVALS = (
    *(
        f"integrity.K.utility.{attack}"
        for attack in (
            "label_only",
            "forged_signature",
            "stale_signature",
            "other_record",
            "other_action",
            "other_principal",
            "widened_scope",
            "replay",
            "rejection",
            "expiry",
            "two_clients",
            "after_restart",
            "changed_record",
            "tampered_decision",
        )
    ),
    "integrity.fire.utility.decide_request",
    "integrity.fire.utility.decide_response",
    "integrity.fire.utility.decide_underway",
    "integrity.X.utility.clock",
)


class _BelievesAssistants(Policy):
    """Takes what an assistant claims as if the user had said it."""

    def admit(self, kind: Kind, source: Source, repeated: frozenset[Taint]) -> Standing:
        """The standing of a user's word for an assistant's facts; of what it is for all else."""
        if kind is not Kind.FACT or source.type is not SourceType.AGENT:
            return super().admit(kind, source, repeated)
        believed = replace(source, type=SourceType.USER, binding=Binding.HOST_AUTHENTICATED)
        return super().admit(kind, believed, repeated)


class _ForgetsTaints(Policy):
    """Holds a child of a doubted parent back, and does not say what for."""

    def admit_derived(
        self, kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
    ) -> Standing:
        """The right standing, without its taints."""
        return replace(super().admit_derived(kind, inherited, repeated, supported), taints=())


class _ActsOnSummaries(Policy):
    """Hands every taint on to a child of a doubted parent, and acts on the child all the same."""

    def authoritative(self, kind: Kind, source: Source, standing: Standing) -> bool:
        """True also for a fact that only its parents speak against."""
        doubted_for_parents = kind is Kind.FACT and Reason.PARENT_NOT_CLEAN in standing.reasons
        return doubted_for_parents or super().authoritative(kind, source, standing)


class _OutcomesWash(Policy):
    """Clears a procedure of its taints once it helped; it stays out of use."""

    def outcome_standing(self, standing: Standing, outcomes: Outcomes) -> Standing:
        """The standing without taints."""
        return replace(standing, taints=()) if outcomes.helpful else standing


class _OutcomesPromote(Policy):
    """Puts a procedure to use once it helped, with all that speaks against it."""

    def outcome_standing(self, standing: Standing, outcomes: Outcomes) -> Standing:
        """The standing, marked as one that helped."""
        return replace(standing, reasons=(*standing.reasons, HELPED))

    def authoritative(self, kind: Kind, source: Source, standing: Standing) -> bool:
        """True also for what helped."""
        return HELPED in standing.reasons or super().authoritative(kind, source, standing)


class _ApprovalsDoNothing(Policy):
    """Takes a reviewer's approval and leaves the record as it was."""

    def approved(self, standing: Standing) -> Standing:
        """The standing that it had."""
        return standing


class _CountsVoices(Writing):
    """Believes a statement that is repeated often enough."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._voices: Counter[str] = Counter()

    def _repeat(self, conn: sqlite3.Connection, known: Stored) -> Admitted:
        record = known.record
        self._voices[record.record_id] += 1
        if record.kind is Kind.FACT and self._voices[record.record_id] >= VOICES:
            believed = Standing(State.ACTIVE, Trust.TRUSTED, (), known.standing.reasons)
            known = self._desk.change(conn, known, believed, "believed", places.advance_clock(conn))
        return super()._repeat(conn, known)


def _written_by(
    writing: type[Writing], database: Database, reviewer_keys_path: Path | None
) -> Records:
    desk = Desk(database, Policy())
    review = Review(desk, load_public_keys(reviewer_keys_path))
    servicer = MemoryServicer(writing(desk), Recalling(desk), Lifecycle(desk), review)
    return Records(desk, servicer)


FLAWS: Mapping[str, Flaw] = {
    "believes_assistants": of_policy(
        "believes_assistants",
        _BelievesAssistants,
        "an assistant's claim is as good as the user's word",
        "integrity.C.safety",
        # An assistant is among those who write an ended text again.
        "integrity.J.safety.rewritten",
        "integrity.B.safety",
        "integrity.N.safety.content_flow",
    ),
    "forgets_taints": of_policy(
        "forgets_taints",
        _ForgetsTaints,
        "a summary does not carry the taints of its parents",
        "integrity.D.safety.taint",
        "integrity.N.safety.grandchild",
    ),
    "acts_on_summaries": of_policy(
        "acts_on_summaries",
        _ActsOnSummaries,
        "a summary of a doubted parent is recalled as authority",
        "integrity.D.safety.recall",
        # A parent that ended is a doubted one.
        "integrity.J.safety.late_children",
        "integrity.E.safety",
        "integrity.N.safety.grandchild",
        "integrity.N.safety.mixed",
        "integrity.N.safety.parent_quarantined",
        "integrity.T.safety",
    ),
    "counts_voices": Flaw(
        Composition(named("counts_voices"), records=partial(_written_by, _CountsVoices)),
        "what is said again and again becomes authority",
        "integrity.F.safety",
    ),
    "outcomes_wash": of_policy(
        "outcomes_wash",
        _OutcomesWash,
        "a helpful outcome takes the taints of a procedure away",
        "integrity.H.safety.taint",
    ),
    "outcomes_promote": of_policy(
        "outcomes_promote",
        _OutcomesPromote,
        "a helpful outcome activates a procedure",
        "integrity.H.safety.list",
        "integrity.E.safety",
    ),
    "approvals_do_nothing": of_policy(
        "approvals_do_nothing",
        _ApprovalsDoNothing,
        "a properly signed approval is taken and changes nothing",
        "integrity.I.utility",
        *_PROPER_APPROVALS,
    ),
}
"""The table of flaws: what each one does wrong and which one check must catch it (DESIGN §9)."""
