"""What the reference memory keeps of a record, as frozen values (DESIGN §4)."""

import enum
from dataclasses import dataclass

__all__ = [
    "TAINT_ORDER",
    "Binding",
    "Kind",
    "Media",
    "Observation",
    "Outcome",
    "Outcomes",
    "Reason",
    "Record",
    "Scope",
    "Source",
    "SourceType",
    "Standing",
    "State",
    "Surface",
    "Taint",
    "Trust",
    "ordered",
    "severity",
]


class Kind(enum.StrEnum):
    """What a record is."""

    FACT = "fact"
    PROCEDURE = "procedure"
    EPISODE = "episode"


class SourceType(enum.StrEnum):
    """Where an observation came from. DERIVATION is this store's own mark of derived records."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    DOCUMENT = "document"
    RECEIPT = "receipt"
    DERIVATION = "derivation"


class Binding(enum.StrEnum):
    """Who vouches that an observation really came from its source."""

    CALLER_ASSERTED = "caller_asserted"
    HOST_AUTHENTICATED = "host_authenticated"
    VERIFIED = "verified"


class State(enum.StrEnum):
    """Where a record stands."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"


class Trust(enum.StrEnum):
    """The memory's own judgement of a record."""

    UNTRUSTED = "untrusted"
    TRUSTED = "trusted"
    REVIEWED = "reviewed"


class Surface(enum.StrEnum):
    """What Recall looks at."""

    AUTHORITATIVE = "authoritative"
    EVIDENCE = "evidence"


class Taint(enum.StrEnum):
    """An outstanding doubt about a record, in the published order, least restrictive first.

    Own doubts come from the source; the last four from an ancestor (declared, or found by content
    flow). A descendant carries every doubt of every ancestor until a reviewer takes it on himself.
    """

    AGENT_GENERATED = "agent_generated"
    """An agent's own claim, or words that a derivation added to its parents'."""
    TOOL_OUTPUT = "tool_output"
    """What a tool printed: it may quote anything."""
    UNVERIFIED_SOURCE = "unverified_source"
    """Only the caller says that it came from its source."""
    UNTRUSTED_SOURCE = "untrusted_source"
    """A page or a document: anybody may have written it."""
    TAINTED_PARENT = "tainted_parent"
    """Derived from a tainted or untrusted record."""
    INACTIVE_PARENT = "inactive_parent"
    """Derived from a record that is not active (quarantined, superseded, archived, rejected)."""
    FORGOTTEN_PARENT = "forgotten_parent"
    """Derived from a record that was forgotten since."""


TAINT_ORDER: tuple[Taint, ...] = tuple(Taint)
_POSITIONS = {taint: position for position, taint in enumerate(TAINT_ORDER)}


class Reason(enum.StrEnum):
    """Stable codes of why a record stands as it does."""

    TRUSTED_SOURCE = "trusted_source"
    SOURCE_NOT_TRUSTED = "source_not_trusted"
    PROCEDURE_NEEDS_REVIEW = "procedure_needs_review"
    PARENTS_TRUSTED = "parents_trusted"
    PARENT_NOT_CLEAN = "parent_not_clean"
    UNSUPPORTED_BY_PARENTS = "unsupported_by_parents"
    REPEATS_TAINTED_CONTENT = "repeats_tainted_content"
    REPEATS_KNOWN_CONTENT = "repeats_known_content"
    DUPLICATE = "duplicate"
    FORGOTTEN_CONTENT = "forgotten_content"
    SECRET = "secret"
    SECRET_IN_PARTS = "secret_in_parts"
    RECEIPT_NOT_PROVEN = "receipt_not_proven"
    RECEIPT_CONTRADICTED = "receipt_contradicted"
    SUPERSEDES = "supersedes"
    MAY_NOT_SUPERSEDE = "may_not_supersede"
    SAME_STATEMENT = "same_statement"
    ANCESTOR_QUARANTINED = "ancestor_quarantined"
    ANCESTOR_FORGOTTEN = "ancestor_forgotten"
    ANCESTOR_SUPERSEDED = "ancestor_superseded"
    ANCESTOR_ARCHIVED = "ancestor_archived"
    CONTENT_ERASED = "content_erased"
    FORGOTTEN = "forgotten"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    REVIEW_APPROVED = "review_approved"
    REVIEW_REJECTED = "review_rejected"


class Outcome(enum.StrEnum):
    """How a procedure did, by a caller's account."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What callers reported of a procedure; decides nothing.

    Attributes:
        helpful, harmful, neutral: how many reports of each, at most 2**53 - 1.
        utility_micros: sum of the reported utilities, in millionths, at most 2**53 - 1.
    """

    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    utility_micros: int = 0

    @property
    def total(self) -> int:
        """All reports."""
        return self.helpful + self.harmful + self.neutral


@dataclass(frozen=True, slots=True)
class Scope:
    """The circle that a record belongs to; an empty part means every one of the principal's.

    Each part has at most 128 bytes; namespace and principal are never empty.
    """

    namespace: str
    principal: str
    agent: str = ""
    workspace: str = ""
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an observation came from, who vouches for that, and the source's opaque id."""

    type: SourceType
    binding: Binding
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """An attached part: IANA media type and at most 65,536 bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Observation:
    """What a caller offers (checked): see memory.proto for units and limits."""

    scope: Scope
    kind: Kind
    content: str
    source: Source
    media: Media | None = None
    event_unix_ns: int = 0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """The memory's judgement of one record: what decides whether an agent may act on it.

    Attributes:
        taints: in the published order.
        reasons: stable codes, oldest first.
    """

    state: State
    trust: Trust
    taints: tuple[Taint, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A record as kept.

    Attributes:
        row: position in the store; later records have larger ones.
        record_id: opaque id, stable for ever.
        content: None once it is rejected, forgotten or erased.
        content_digest: SHA-256 of the content, "" without content.
        method: how a derivation was made; "" for observations.
        parent_ids: declared parents in the caller's order, then those found by content flow.
        superseded_by: id of the successor; "" unless SUPERSEDED.
        revision: raised by every change; a review is void when it moved.
    """

    row: int
    record_id: str
    scope: Scope
    kind: Kind
    content: str | None
    content_digest: str
    source: Source
    media: Media | None
    event_unix_ns: int
    labels: tuple[str, ...]
    method: str
    standing: Standing
    parent_ids: tuple[str, ...]
    superseded_by: str
    revision: int


def ordered(taints: frozenset[Taint] | set[Taint]) -> tuple[Taint, ...]:
    """Taints in the published order, each once."""
    return tuple(sorted(taints, key=_POSITIONS.__getitem__))


def severity(taints: tuple[Taint, ...]) -> int:
    """How restrictive the worst taint is: 0 for none, then 1 upwards in the published order."""
    return max((_POSITIONS[taint] + 1 for taint in taints), default=0)
