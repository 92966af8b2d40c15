"""The reference memory's judgement: who is trusted, what is doubted, what an agent may act on.

Pure: every rule is one small method of `Policy`, so that a flawed control overrides exactly one and
everything else stays right (DESIGN §4, §9). What the rules are, in one paragraph:

Trust comes from the source's type and binding only, never from labels, wording or repetition.
Users and receipts that the host authenticated (or that were verified) are trusted; a receipt that
this memory's own operations contradict is the caller's word, and "verified" wants their proof.
Everything else, and every user or receipt that only the caller vouches for, is kept as quarantined
evidence with a taint; a binding proves where a page or a tool's output came from, not that it is
true. Procedures act only when an authenticated user gave them or a reviewer signed them. Episodes
are evidence; a trusted receipt's episode, and what a reviewer signed, speaks with authority.
Derived content inherits every doubt of its parents and may add no words of its own; content that
repeats a doubted text inherits its doubts as if it had named it as a parent, unless an
authenticated user says it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from services.memory.records.model import (
    Binding,
    Kind,
    Reason,
    Record,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
    ordered,
)
from services.memory.records.policy_receipts import ReceiptRules
from services.memory.records.policy_replace import REASONS_MAX, ReplaceRules, appended
from services.memory.records.policy_review import ReviewRules
from services.memory.records.secret_parts import find_joined
from services.memory.records.secret_scan import find_secrets
from services.memory.records.text import NEUTRAL_STEMS

__all__ = ["EARLIER_TEXTS_MAX", "REASONS_MAX", "Policy"]

# Half of a question's weight, or a record is no answer: rarer words weigh more, unknown ones most.
COVERAGE_MIN = 0.5
EARLIER_TEXTS_MAX = 16

_OWN_TAINTS = {
    SourceType.AGENT: Taint.AGENT_GENERATED,
    SourceType.TOOL: Taint.TOOL_OUTPUT,
    SourceType.WEB: Taint.UNTRUSTED_SOURCE,
    SourceType.DOCUMENT: Taint.UNTRUSTED_SOURCE,
}


class Policy(ReviewRules, ReplaceRules, ReceiptRules):
    """All rules of the reference memory; those of a topic of its own are in its bases."""

    # So many of a principal's last texts are looked at for the other part of a secret.
    earlier_texts_max: int = EARLIER_TEXTS_MAX

    # Sources

    def vouched(self, source: Source) -> bool:
        """True when somebody other than the caller says that it came from its source."""
        return source.binding in (Binding.HOST_AUTHENTICATED, Binding.VERIFIED)

    def trusts(self, source: Source) -> bool:
        """True for sources whose word counts by itself."""
        return source.type in (SourceType.USER, SourceType.RECEIPT) and self.vouched(source)

    def attests(self, source: Source) -> bool:
        """True when saying something makes it the source's own statement, wherever it was before.

        Also: whether it may say anew what was forgotten, quarantined, superseded or archived.
        """
        return source.type is SourceType.USER and self.vouched(source)

    def source_taints(self, source: Source) -> frozenset[Taint]:
        """Doubts that come with a source."""
        taints = {_OWN_TAINTS[source.type]} if source.type in _OWN_TAINTS else set()
        if not self.vouched(source) and source.type in (SourceType.USER, SourceType.RECEIPT):
            taints.add(Taint.UNVERIFIED_SOURCE)
        return frozenset(taints)

    def secret_kinds(self, text: str) -> tuple[str, ...]:
        """Kinds of secrets in a text that must not be stored; empty lets it pass."""
        return find_secrets(text)

    def split_secret_kinds(self, text: str, earlier: Sequence[str]) -> tuple[str, ...]:
        """Kinds of secrets that a text completes; empty lets it pass.

        Args:
            text: what is offered; no secret by itself.
            earlier: the principal's last kept texts, latest first.
        """
        return find_joined(text, earlier, self.secret_kinds)

    # Admission

    def admit(self, kind: Kind, source: Source, repeated: frozenset[Taint]) -> Standing:
        """Standing of a new observation.

        Args:
            kind: what it claims to be.
            source: where it came from.
            repeated: doubts of the kept records whose text it repeats.
        """
        inherited = frozenset[Taint]() if self.attests(source) else repeated
        taints = self.source_taints(source) | inherited
        causes = (
            (not self.trusts(source), Reason.SOURCE_NOT_TRUSTED),
            (bool(inherited), Reason.REPEATS_TAINTED_CONTENT),
        )
        reasons = [reason for holds, reason in causes if holds]
        if reasons:
            return _standing(State.QUARANTINED, Trust.UNTRUSTED, taints, reasons)
        if kind is Kind.PROCEDURE and not self.attests(source):
            needs_review = [Reason.PROCEDURE_NEEDS_REVIEW]
            return _standing(State.QUARANTINED, Trust.TRUSTED, taints, needs_review)
        return _standing(State.ACTIVE, Trust.TRUSTED, taints, [Reason.TRUSTED_SOURCE])

    def admit_derived(
        self, kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
    ) -> Standing:
        """Standing of a new derivation.

        Args:
            kind: what it claims to be.
            inherited: doubts that come from the declared parents.
            repeated: doubts of other kept records whose text it repeats.
            supported: False when it says what no parent says.
        """
        taints = inherited | repeated | (frozenset() if supported else {Taint.AGENT_GENERATED})
        causes = (
            (bool(inherited), Reason.PARENT_NOT_CLEAN),
            (bool(repeated), Reason.REPEATS_TAINTED_CONTENT),
            (not supported, Reason.UNSUPPORTED_BY_PARENTS),
        )
        reasons = [reason for holds, reason in causes if holds]
        if taints:
            return _standing(State.QUARANTINED, Trust.UNTRUSTED, taints, reasons)
        if kind is Kind.PROCEDURE:
            needs_review = [Reason.PROCEDURE_NEEDS_REVIEW]
            return _standing(State.QUARANTINED, Trust.TRUSTED, taints, needs_review)
        return _standing(State.ACTIVE, Trust.TRUSTED, taints, [Reason.PARENTS_TRUSTED])

    def inherited_taints(self, parent: Standing) -> frozenset[Taint]:
        """Doubts that a child takes from one parent: all of its own, and the parent's state."""
        taints = set(parent.taints)
        if parent.taints or parent.trust is Trust.UNTRUSTED:
            taints.add(Taint.TAINTED_PARENT)
        if parent.state is State.FORGOTTEN:
            taints.add(Taint.FORGOTTEN_PARENT)
        elif parent.state is not State.ACTIVE:
            taints.add(Taint.INACTIVE_PARENT)
        return frozenset(taints)

    def supported(self, child: Iterable[str], parents: frozenset[str]) -> bool:
        """True when every word of a derivation stands in a parent, or only binds words together.

        Words are stems in `text.claims`' form. What a model adds of its own is its own claim.
        """
        return all(word in parents or word in NEUTRAL_STEMS for word in child)

    # Authority

    def clean(self, standing: Standing) -> bool:
        """True when nothing speaks against a record: its text vouches for what repeats it."""
        return (
            standing.state is State.ACTIVE
            and standing.trust is not Trust.UNTRUSTED
            and not standing.taints
        )

    def authoritative(self, kind: Kind, source: Source, standing: Standing) -> bool:
        """True when an agent may act on a record: the authoritative surface, and nothing else."""
        if not self.clean(standing):
            return False
        reviewed = standing.trust is Trust.REVIEWED
        return kind is not Kind.EPISODE or source.type is SourceType.RECEIPT or reviewed

    def doubted_by_all(self, standing: Standing) -> bool:
        """True when what speaks against a record's words holds in every principal's circle.

        What one principal replaced or put out of use is no doubt in what another one says.
        """
        out_of_use = standing.state in (State.SUPERSEDED, State.ARCHIVED)
        return not out_of_use or bool(standing.taints) or standing.trust is Trust.UNTRUSTED

    def kept(self, standing: Standing) -> bool:
        """True when a record belongs on the evidence surface, marked as what it is."""
        return standing.state not in (State.REJECTED, State.FORGOTTEN)

    # Recall

    def visible_circles(self, scope: Scope) -> tuple[Scope, ...]:
        """The circles that a caller sees: his own, and those shared by leaving a part empty."""
        return tuple(
            Scope(scope.namespace, scope.principal, agent, workspace, purpose)
            for agent in dict.fromkeys(("", scope.agent))
            for workspace in dict.fromkeys(("", scope.workspace))
            for purpose in dict.fromkeys(("", scope.purpose))
        )

    def answers(self, coverage: float) -> bool:
        """True when a record shares enough of a question (0.0..1.0 of its weight)."""
        return coverage >= COVERAGE_MIN

    # Lifecycle

    def quarantined(self, standing: Standing, reason: str) -> Standing:
        """Standing of a record that is taken out of authority by name; history stays history."""
        past = standing.state is State.SUPERSEDED
        return replace(
            standing,
            state=State.SUPERSEDED if past else State.QUARANTINED,
            reasons=appended(standing.reasons, reason or Reason.QUARANTINED),
        )

    def under(self, parent: Standing, standing: Standing, reason: Reason) -> Standing:
        """Standing of a child after its ancestor's changed: every doubt of it arrives."""
        taints = ordered({*standing.taints, *self.inherited_taints(parent)})
        state = State.QUARANTINED if standing.state is State.ACTIVE else standing.state
        if taints == standing.taints and state is standing.state:
            return standing
        reasons = appended(standing.reasons, reason)
        return replace(standing, state=state, taints=taints, reasons=reasons)

    def forgotten(self, standing: Standing) -> Standing:
        """Standing of a tombstone."""
        reasons = appended(standing.reasons, Reason.FORGOTTEN)
        return replace(standing, state=State.FORGOTTEN, reasons=reasons)

    def gone(self, record: Record) -> bool:
        """True for a record whose content was removed for good: nothing can be made out of it."""
        return record.content is None and record.standing.state is not State.REJECTED

    def carries(
        self, child: frozenset[str], forgotten: frozenset[str], others: frozenset[str]
    ) -> bool:
        """True when a descendant holds what a forgotten record said and has it from nowhere else.

        Args:
            child: the descendant's words, and its runs of words (`carrying.traits`).
            forgotten: the forgotten record's.
            others: those of the descendant's other, kept ancestors.
        """
        return bool((child & forgotten) - others - NEUTRAL_STEMS)


def _standing(
    state: State, trust: Trust, taints: Iterable[Taint], reasons: Iterable[Reason]
) -> Standing:
    return Standing(state, trust, ordered(frozenset(taints)), tuple(reasons))
