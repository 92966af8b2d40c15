"""Records as atmem shows them, as frozen values, and what the servicer asks of a household."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, Self

__all__ = [
    "FACT_CHARACTERS_MAX",
    "RECALL_LIMIT_MAX",
    "RECALL_MIN_SCORE",
    "Admission",
    "Capture",
    "Circle",
    "HouseholdPort",
    "Offer",
    "Proposal",
    "Ranked",
    "Record",
    "ReviewerAuthority",
]

# The longest fact, and the longest answer, that atmem's contracts allow.
FACT_CHARACTERS_MAX = 2_000
RECALL_LIMIT_MAX = 100

# From which score on atmem itself puts a record before an agent (Memory.build_recall_block):
# below it, trust and recency alone would nominate what has no word of the question.
RECALL_MIN_SCORE = 0.3


@dataclass(frozen=True, slots=True)
class Circle:
    """atmem's authority scope.

    Attributes:
        subject_id: on whose behalf.
        agent_id: agent.
        workspace_id: workspace.
        any_workspace: the caller named none: recall then looks at every workspace.
    """

    subject_id: str
    agent_id: str
    workspace_id: str
    any_workspace: bool = True

    def shows(self, other: "Circle") -> bool:
        """Whether a record of another circle of this subject is in sight from here.

        The rule of atmem's own scoped recall: the workspace decides, and what has none is in all.
        """
        return self.any_workspace or other.workspace_id in ("", self.workspace_id)


@dataclass(frozen=True, slots=True)
class Capture:
    """A message as atmem captures it before anything is proposed out of it.

    Attributes:
        circle: whose it is.
        source_id: atmem's id of this message.
        host_message_id: the contract's id of the source; may be empty.
        idempotency_key: equal for equal messages of one source.
        message: the text.
        source_type: user_message, agent_message, tool_output, website or document.
        assurance: caller_asserted or host_authenticated.
    """

    circle: Circle
    source_id: str
    host_message_id: str
    idempotency_key: str
    message: str
    source_type: str
    assurance: str

    @property
    def of_authenticated_user(self) -> bool:
        """Whether the host says that the user said it: what atmem takes without a review."""
        return self.source_type == "user_message" and self.assurance == "host_authenticated"


@dataclass(frozen=True, slots=True)
class Offer:
    """What is proposed out of one captured message: the message itself, word for word.

    Attributes:
        capture: the message.
        memory_class: durable_fact, procedure or episode.
        parents: atmem's ids of the records that it was made of; facts only.
        replaces: atmem's id of the record that it replaces; empty when it replaces none.
    """

    capture: Capture
    memory_class: str
    parents: tuple[str, ...] = ()
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Admission:
    """What atmem decided about a fact.

    Attributes:
        decision: active, quarantined, duplicate, conflict, rejected or invalid.
        reasons: atmem's reason codes.
        record_id: the record that it made or found; empty without one.
    """

    decision: str
    reasons: tuple[str, ...]
    record_id: str


@dataclass(frozen=True, slots=True)
class Record:
    """One row of atmem's canonical memory.

    Attributes:
        record_id: atmem's id.
        circle: whose it is.
        content: the text; empty when forgotten.
        status: active, quarantined, superseded or tombstoned.
        excluded: taken out of recall (retrieval exclusion).
        archived: atmem's lifecycle service has it as archived, which its recall does not look at.
        trust_tier: trusted_user, user_confirmed, untrusted_content or another.
        source_type: as in Capture, or external_content.
        memory_class: of an extraction proposal; empty for a fact.
        proposal_id: the proposal that it came from.
        taints: atmem's taint labels.
        source_ids: atmem's ids of the captured messages.
        parents: atmem's ids of the records that it was made of.
        superseded_by: atmem's id of the record that replaced it; empty before.
    """

    record_id: str
    circle: Circle
    content: str
    status: str
    excluded: bool
    archived: bool
    trust_tier: str
    source_type: str
    memory_class: str
    proposal_id: str
    taints: tuple[str, ...]
    source_ids: tuple[str, ...]
    parents: tuple[str, ...]
    superseded_by: str

    @property
    def usable(self) -> bool:
        """Whether atmem's recall may return it."""
        return self.status == "active" and not self.excluded


@dataclass(frozen=True, slots=True)
class Proposal:
    """One extraction proposal: a procedure, an episode, or what replaces a record.

    Attributes:
        proposal_id: its id, given by this adapter.
        circle: whose it is.
        memory_class: procedure, episode or durable_fact.
        content: the text; empty when atmem did not keep it.
        review_state: pending_review, committed, rejected, noop or stale.
        reasons: atmem's reason codes.
        record_ids: the records that it became.
        source_ids: atmem's ids of the captured messages.
    """

    proposal_id: str
    circle: Circle
    memory_class: str
    content: str
    review_state: str
    reasons: tuple[str, ...]
    record_ids: tuple[str, ...]
    source_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record with the score that atmem gave it for a question."""

    record_id: str
    score: float


@dataclass(frozen=True, slots=True)
class ReviewerAuthority:
    """A reviewer whom the deployment trusts, as atmem is configured with one.

    Attributes:
        principal_id: who.
        circle: the one scope in which atmem takes this reviewer's decisions.
    """

    principal_id: str
    circle: Circle


class HouseholdPort(Protocol):
    """One namespace's household, open. Every call is durable before it returns.

    Every call raises NativeRefusal where atmem raises an exception of its own.
    """

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...

    def offer_fact(self, offer: Offer) -> Admission:
        """Captures a message and proposes it as a fact."""

    def offer_for_review(self, offer: Offer, proposal_id: str) -> Proposal:
        """Captures a message and proposes it in its class, or in place of a record."""

    def recall(self, circle: Circle, query: str, limit: int) -> tuple[Ranked, ...]:
        """What atmem would put before an agent, best first."""

    def rank(self, query: str, subject_id: str, record_ids: Sequence[str]) -> tuple[Ranked, ...]:
        """The named records by atmem's own ranking, whatever their status."""

    def records(self, subject_id: str) -> tuple[Record, ...]:
        """All records of a subject, inactive ones included."""

    def proposals(self, subject_id: str) -> tuple[Proposal, ...]:
        """All extraction proposals of a subject, oldest first, at most 1,000."""

    def exclude(self, subject_id: str, record_id: str, *, excluded: bool, reason: str) -> None:
        """Takes an active record out of recall, or back in."""

    def forget(self, subject_id: str, record_id: str) -> tuple[str, ...]:
        """Purges a record; returns the ids that were purged."""

    def archive(self, subject_id: str, record_id: str) -> None:
        """Has the lifecycle service archive an active or superseded record."""

    def note_outcome(self, subject_id: str, record_id: str, outcome: str, utility: float) -> None:
        """Writes into the audit log how something did; nothing else changes."""

    def together(self) -> AbstractContextManager[None]:
        """A block whose changes are kept all together, or not at all when it fails."""

    def promote(self, subject_id: str, record_id: str, actor: str) -> None:
        """Makes a quarantined record active."""

    def reject(self, subject_id: str, record_id: str, actor: str) -> None:
        """Purges a quarantined record."""

    def decide(self, proposal: Proposal, *, approve: bool, reviewer: str) -> None:
        """Settles a pending proposal; a procedure with an authorization that atmem issues."""
