"""What the reference memory keeps of one operation, and what it is asked about it (DESIGN §4).

Frozen values only: `services.memory.decisions` and `services.memory.recordings` turn one into the
next; `services.memory.store` reads and writes them. Times are nanoseconds of the lease clock (the
wall clock) unless named otherwise.
"""

import dataclasses
import enum
from dataclasses import dataclass

__all__ = [
    "DEFAULT_LEASE_SECONDS",
    "NANOSECONDS_PER_SECOND",
    "Assurance",
    "AttemptRecord",
    "Capability",
    "Change",
    "LeaseClock",
    "Operation",
    "OperationBinding",
    "Policy",
    "Question",
    "Reason",
    "Receipt",
    "ReceiptOutcome",
]

NANOSECONDS_PER_SECOND = 1_000_000_000
DEFAULT_LEASE_SECONDS = 120


class Capability(enum.Enum):
    """What the destination lets a caller do after an uncertain dispatch (DESIGN §6's columns)."""

    NONE = "none"
    QUERY = "query"
    IDEMPOTENT = "idempotent"


class ReceiptOutcome(enum.Enum):
    """What the destination answered, definitely."""

    SUCCEEDED = "succeeded"
    TOOL_ERROR = "tool_error"


class Assurance(enum.Enum):
    """Who vouches for a receipt."""

    HOST_REPORTED = "host_reported"
    OPERATOR_SIGNED = "operator_signed"


class Change(enum.Enum):
    """What a revision of an operation did; the audit surface names it."""

    BOUND = "bound"
    GRANTED = "granted"
    RENEWED = "renewed"
    ASKED = "asked"
    FOUND_ABSENT = "found_absent"
    LEFT_UNCERTAIN = "left_uncertain"
    COMPLETED_BY_RECEIPT = "completed_by_receipt"
    COMPLETED_BY_QUERY = "completed_by_query"
    COMPLETED_BY_OPERATOR = "completed_by_operator"
    KEPT_AS_EVIDENCE = "kept_as_evidence"
    CHALLENGED = "challenged"
    RELEASED_BY_OPERATOR = "released_by_operator"
    ABANDONED_BY_OPERATOR = "abandoned_by_operator"


class Reason(enum.Enum):
    """Why a decision is what it is: the stable code of continuity.proto's Decision."""

    FIRST_GRANT = "first_grant"
    LEASE_LIVE = "lease_live"
    COMPLETE = "complete"
    EXPIRED_CANNOT_TELL = "expired_cannot_tell"
    EXPIRED_ASK_DESTINATION = "expired_ask_destination"
    ABSENT_FINAL = "absent_final"
    ABSENCE_UNCERTAIN = "absence_uncertain"
    KEY_COVERS_LEASE = "key_covers_lease"
    KEY_ENDS_TOO_SOON = "key_ends_too_soon"
    CLOCK_BEHIND_MARK = "clock_behind_mark"
    INTENT_UNCERTAIN = "intent_uncertain"
    INTENT_COMPLETE = "intent_complete"
    OPERATOR_DID_NOT_HAPPEN = "operator_did_not_happen"
    OPERATOR_ABANDONED = "operator_abandoned"
    ARGUMENTS_MISMATCH = "arguments_mismatch"
    TOOL_MISMATCH = "tool_mismatch"
    DESTINATION_MISMATCH = "destination_mismatch"
    CAPABILITY_MISMATCH = "capability_mismatch"
    KEY_MISMATCH = "key_mismatch"
    RETENTION_MISMATCH = "retention_mismatch"
    PRINCIPAL_MISMATCH = "principal_mismatch"
    WORKFLOW_MISMATCH = "workflow_mismatch"
    INTENT_MISMATCH = "intent_mismatch"
    NAMESPACE_MISMATCH = "namespace_mismatch"


@dataclass(frozen=True, slots=True)
class Policy:
    """The bounds that the memory declares (VendorService.Describe, Limits).

    Attributes:
        lease_seconds: length of a fresh lease and of one renewal.
        max_renewals: renewals that one attempt may take.
        max_operations_per_workflow: operations that one workflow may hold.
        max_attempts: attempts that one operation may take.
        max_revisions: revisions that one operation may take; what completes it is exempt, since a
            limit must not hide what happened.
        max_uncertain_queries: answers ABSENT_UNCERTAIN on one attempt after which only a person can
            tell.
        key_margin_seconds: margin kept before a key's end.
    """

    lease_seconds: int = DEFAULT_LEASE_SECONDS
    max_renewals: int = 10
    max_operations_per_workflow: int = 200
    max_attempts: int = 100
    max_revisions: int = 2_000
    max_uncertain_queries: int = 3
    key_margin_seconds: int = 0

    @property
    def lease_ns(self) -> int:
        """Length of a fresh lease, nanoseconds."""
        return self.lease_seconds * NANOSECONDS_PER_SECOND

    @property
    def key_margin_ns(self) -> int:
        """Margin kept before a key's end, nanoseconds."""
        return self.key_margin_seconds * NANOSECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class LeaseClock:
    """The wall clock as read for one call, and the highest reading that any call made durable.

    Attributes:
        now_ns: the reading.
        mark_ns: the high-water mark; 0 before the first call.
    """

    now_ns: int
    mark_ns: int

    @property
    def behind(self) -> bool:
        """True when the clock stands before its mark: elapsed time cannot be told."""
        return self.now_ns < self.mark_ns

    @property
    def effective_ns(self) -> int:
        """The lease clock: never before the mark, so leases and keys never become younger."""
        return max(self.now_ns, self.mark_ns)


@dataclass(frozen=True, slots=True)
class OperationBinding:
    """The external action as it was first asked for; every later question must equal it.

    The fields are those of continuity.proto's OperationSpec.
    """

    namespace: str
    operation_id: str
    deployment: str
    thread_id: str
    checkpoint_namespace: str
    message_id: str
    tool_call_id: str
    workflow_id: str
    principal: str
    tool: str
    destination: str
    intent_digest: str
    arguments_digest: str
    capability: Capability
    idempotency_key: str
    retention_seconds: int

    @property
    def retention_ns(self) -> int:
        """How long the destination keeps the key, nanoseconds."""
        return self.retention_seconds * NANOSECONDS_PER_SECOND


@dataclass(frozen=True, slots=True)
class Receipt:
    """A definite answer of the destination for one attempt (continuity.proto, Receipt)."""

    operation_id: str
    attempt: int
    arguments_digest: str
    result_json: str
    result_digest: str
    effect_id: str
    outcome: ReceiptOutcome
    assurance: Assurance

    def same_answer(self, other: "Receipt") -> bool:
        """True when both tell the same, whatever attempt they name."""
        return dataclasses.replace(self, attempt=other.attempt) == other


@dataclass(frozen=True, slots=True)
class Question:
    """One QUERY that was answered with a ticket.

    Attributes:
        ticket: secret that RecordQuery must bring.
        left_uncertain: the destination answered ABSENT_UNCERTAIN; a repeat does not count twice.
    """

    ticket: str
    left_uncertain: bool = False


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One grant and what was learned of it. Only the next grant supersedes it.

    Attributes:
        attempt: epoch, from 1.
        incarnation_id: the process that was told EXECUTE.
        begin_id: its call; a transport retry repeats it.
        lease_token: secret of the lease.
        reason: why it was granted; a replay tells the same.
        granted_at_ns: lease clock at the grant.
        lease_ends_at_ns: the lease is live before this time.
        renewals: renewals taken.
        questions: QUERY answers given, in order; only the last may be open.
        absent_final: the destination fenced this attempt and every one before.
        released: an operator signed that it did not happen.
        evidence: a receipt that came after the attempt was superseded.
    """

    attempt: int
    incarnation_id: str
    begin_id: str
    lease_token: str
    reason: Reason
    granted_at_ns: int
    lease_ends_at_ns: int
    renewals: int = 0
    questions: tuple[Question, ...] = ()
    absent_final: bool = False
    released: bool = False
    evidence: Receipt | None = None

    @property
    def uncertain_answers(self) -> int:
        """How many questions ended in ABSENT_UNCERTAIN."""
        return sum(question.left_uncertain for question in self.questions)

    @property
    def open_question(self) -> Question | None:
        """The question that has no answer yet, or None."""
        if self.questions and not self.questions[-1].left_uncertain:
            return self.questions[-1]
        return None

    def has_ticket(self, ticket: str) -> bool:
        """True when one of this attempt's questions carries the ticket."""
        return any(question.ticket == ticket for question in self.questions)


@dataclass(frozen=True, slots=True)
class Operation:
    """All that the memory keeps of one operation.

    Attributes:
        binding: what was asked for first.
        revision: number of changes so far.
        attempts: every grant, in order; attempts[n] is attempt n + 1.
        key_deadline_ns: wall-clock time at which the key stops protecting; 0 without a key or a
            grant.
        abandoned: an operator signed that nobody will try again.
        receipt: set when complete.
    """

    binding: OperationBinding
    revision: int = 0
    attempts: tuple[AttemptRecord, ...] = ()
    key_deadline_ns: int = 0
    abandoned: bool = False
    receipt: Receipt | None = None

    @property
    def latest(self) -> AttemptRecord | None:
        """The attempt that no grant has superseded, or None."""
        return self.attempts[-1] if self.attempts else None

    def granted(self, attempt: int) -> AttemptRecord | None:
        """The record of an attempt, or None when it was never granted."""
        return self.attempts[attempt - 1] if 1 <= attempt <= len(self.attempts) else None

    def revised(self, record: AttemptRecord) -> "Operation":
        """The next revision, with one attempt's record put in place or appended."""
        kept = self.attempts[: record.attempt - 1]
        later = self.attempts[record.attempt :]
        return dataclasses.replace(
            self, revision=self.revision + 1, attempts=(*kept, record, *later)
        )

    def completed(self, receipt: Receipt) -> "Operation":
        """The next revision, complete with a receipt."""
        return dataclasses.replace(self, revision=self.revision + 1, receipt=receipt)
