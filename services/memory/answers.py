"""What the memory is asked and what it answers, as frozen values (continuity.proto, DESIGN §4).

Calls go into the rules (`decisions`, `recordings`), steps and refusals come out. A step carries the
next state of the operation, which has to be durable before the answer is sent.
"""

import enum
from dataclasses import dataclass
from typing import TypeAlias

from services.memory.model import Change, Operation, OperationBinding, Reason, Receipt

__all__ = [
    "BeginCall",
    "BeginStep",
    "Confirm",
    "Decision",
    "Disposition",
    "Execute",
    "OperatorWord",
    "Presence",
    "Query",
    "QueryCall",
    "ReceiptCall",
    "RecordStep",
    "Refusal",
    "Refused",
    "Reject",
    "RenewCall",
    "RenewStep",
    "ResolveCall",
    "Reuse",
    "Wait",
]


@dataclass(frozen=True, slots=True)
class Execute:
    """Dispatch now, once. Fields as in continuity.proto; `remaining_ns` in nanoseconds."""

    attempt: int
    lease_token: str
    remaining_ns: int
    granted_at_ns: int
    key_deadline_ns: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again after `remaining_ns` nanoseconds (a hint)."""

    remaining_ns: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Query:
    """Ask the destination, fencing at `attempt`, and bring the ticket with its answer."""

    attempt: int
    ticket: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Reuse:
    """Complete: use the receipt."""

    receipt: Receipt
    reason: Reason


@dataclass(frozen=True, slots=True)
class Confirm:
    """Only a person can tell."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Reject:
    """The specification contradicts what is bound."""

    reason: Reason


Decision: TypeAlias = Execute | Wait | Query | Reuse | Confirm | Reject


class Refusal(enum.Enum):
    """Why a call gets a status in place of an answer; a refused call changes nothing."""

    MALFORMED = "malformed"
    LIMIT = "limit"
    STATE = "state"
    AUTHORITY = "authority"


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that is answered by a status; `diagnosis` names the cause and the next step."""

    refusal: Refusal
    diagnosis: str


@dataclass(frozen=True, slots=True)
class BeginCall:
    """One Begin or Peek.

    Attributes:
        binding: what is asked for.
        incarnation_id: the asking process's life.
        begin_id: the call's id; None for a Peek, which no grant can equal.
        fresh_secret: becomes the lease token or the query ticket, if one is minted.
        workflow_operations: operations that the workflow holds so far.
        forked: operations of the same workflow and intent that the host's own past lacks, in order
            of first sight.
    """

    binding: OperationBinding
    incarnation_id: str
    begin_id: str | None
    fresh_secret: str
    workflow_operations: int
    forked: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class BeginStep:
    """A decision and what has to be kept before it is told; no change: nothing to keep."""

    decision: Decision
    operation: Operation
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class RenewCall:
    """One Renew of a lease."""

    incarnation_id: str
    attempt: int
    lease_token: str


@dataclass(frozen=True, slots=True)
class RenewStep:
    """An extended lease, to be kept before it is told."""

    operation: Operation
    change: Change
    remaining_ns: int
    remaining_renewals: int


@dataclass(frozen=True, slots=True)
class ReceiptCall:
    """One RecordReceipt."""

    incarnation_id: str
    attempt: int
    lease_token: str
    receipt: Receipt


class Presence(enum.Enum):
    """What the destination's QueryEffect answered (common.proto, EffectPresence)."""

    PRESENT = "present"
    ABSENT_FINAL = "absent_final"
    ABSENT_UNCERTAIN = "absent_uncertain"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class QueryCall:
    """One RecordQuery; `receipt` is set with PRESENT and only with it."""

    attempt: int
    query_ticket: str
    presence: Presence
    receipt: Receipt | None = None


class OperatorWord(enum.Enum):
    """What an operator signed (continuity.proto, OperatorDecision)."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"
    ABANDON = "abandon"


@dataclass(frozen=True, slots=True)
class ResolveCall:
    """One Resolve whose signature holds.

    Attributes:
        attempt: the latest attempt when the challenge was issued.
        word: the decision.
        receipt: the result as a receipt of that attempt; with HAPPENED and only with it.
    """

    attempt: int
    word: OperatorWord
    receipt: Receipt | None = None


class Disposition(enum.Enum):
    """What became of a receipt that was taken."""

    COMPLETED = "completed"
    ALREADY_RECORDED = "already_recorded"
    EVIDENCE_ONLY = "evidence_only"


@dataclass(frozen=True, slots=True)
class RecordStep:
    """An accepted recording; no change: it was known already, or tells nothing."""

    operation: Operation
    disposition: Disposition | None = None
    change: Change | None = None
