"""What was asked of the memory and what it answered, as frozen values (DESIGN §4).

Requests and answers of ContinuityService that concern one operation. Wire messages become these
exactly once, in `orchestrator.oracle.wire`; everything behind works on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

__all__ = [
    "Accepted",
    "Answer",
    "BeginAsked",
    "Capability",
    "DecisionKind",
    "DecisionTold",
    "Disposition",
    "Malformed",
    "OperatorWord",
    "PeekAsked",
    "Presence",
    "QueryAsked",
    "ReceiptAsked",
    "ReceiptKey",
    "Refused",
    "RenewAsked",
    "Renewed",
    "Request",
    "ResolveAsked",
    "Spec",
    "Unanswered",
]


class Capability(StrEnum):
    """What the destination allows after an uncertain dispatch, as the specification says it."""

    NONE = "none"
    QUERY = "query"
    IDEMPOTENT = "idempotent"


class DecisionKind(StrEnum):
    """The kinds of a decision."""

    EXECUTE = "EXECUTE"
    WAIT = "WAIT"
    QUERY = "QUERY"
    REUSE = "REUSE"
    CONFIRM = "CONFIRM"
    REJECT = "REJECT"


class Presence(StrEnum):
    """What the destination said about an effect, as the host recorded it."""

    PRESENT = "PRESENT"
    ABSENT_FINAL = "ABSENT_FINAL"
    ABSENT_UNCERTAIN = "ABSENT_UNCERTAIN"
    UNKNOWN = "UNKNOWN"


class OperatorWord(StrEnum):
    """What an operator decided about an operation."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did_not_happen"
    ABANDON = "abandon"


class Disposition(StrEnum):
    """What became of a receipt that was taken."""

    COMPLETED = "COMPLETED"
    ALREADY_RECORDED = "ALREADY_RECORDED"
    EVIDENCE_ONLY = "EVIDENCE_ONLY"


@dataclass(frozen=True)
class Spec:
    """The external action that a host asks about.

    Attributes:
        core: Digest over tool, destination, arguments digest and capability: a change of these is a
            REJECT.
        rest: Digest over every other bound field: a change of these may be a REJECT.
        capability: What the destination told the host.
        arguments_digest: What a receipt must carry.
        has_key: An idempotency key was given.
        retention_ns: How long the destination keeps the key, from the first grant.
        well_formed: Sizes are as the contract says, and the operation id is its identity's digest.
        intent: Digest over namespace, workflow and intent: equal for the same intent of one
            workflow.
        circle: Digest over namespace and workflow: operations of one circle are counted together.
    """

    core: str
    rest: str
    capability: Capability
    arguments_digest: str
    has_key: bool = False
    retention_ns: int = 0
    well_formed: bool = True
    intent: str = ""
    circle: str = ""


@dataclass(frozen=True)
class ReceiptKey:
    """Everything of a receipt that REUSE must give back.

    Attributes:
        operation_id: Operation that it belongs to.
        attempt: Attempt that was dispatched.
        arguments_digest: Digest of the arguments that were dispatched.
        result: Canonical form of the result.
        result_digest: Digest that the host gave.
        effect_id: The destination's id of the effect.
        outcome: "succeeded" or "tool_error"; empty when not set.
        well_formed: Sizes and the result's digest are as the contract says.
    """

    operation_id: str
    attempt: int
    arguments_digest: str
    result: str
    result_digest: str
    effect_id: str
    outcome: str
    well_formed: bool = field(default=True, compare=False)


@dataclass(frozen=True)
class BeginAsked:
    """A Begin request.

    Attributes:
        spec: What is asked for.
        incarnation_id: Who asks.
        begin_id: The call's id.
        settled: Operations whose results the host's checkpoint holds; None where it does not say.
    """

    spec: Spec
    incarnation_id: str
    begin_id: str
    settled: frozenset[str] | None = None


@dataclass(frozen=True)
class PeekAsked:
    """A Peek request: Begin's kind without a begin id."""

    spec: Spec
    incarnation_id: str
    settled: frozenset[str] | None = None


@dataclass(frozen=True)
class ReceiptAsked:
    """A RecordReceipt request."""

    incarnation_id: str
    attempt: int
    lease_token: str
    receipt: ReceiptKey


@dataclass(frozen=True)
class QueryAsked:
    """A RecordQuery request; `presence` is None when the field is not set to a known value."""

    incarnation_id: str
    attempt: int
    query_ticket: str
    presence: Presence | None
    receipt: ReceiptKey | None


@dataclass(frozen=True)
class RenewAsked:
    """A Renew request."""

    incarnation_id: str
    attempt: int
    lease_token: str


@dataclass(frozen=True)
class ResolveAsked:
    """A Resolve request whose challenge was issued for this operation."""

    word: OperatorWord | None
    result: str


Request = BeginAsked | PeekAsked | ReceiptAsked | QueryAsked | RenewAsked | ResolveAsked


@dataclass(frozen=True)
class DecisionTold:
    """A decision that the memory answered; fields that its kind does not have are empty or 0."""

    kind: DecisionKind
    reason: str = ""
    attempt: int = 0
    token: str = ""
    remaining_ms: int = 0
    granted_at_ns: int = 0
    key_deadline_ns: int = 0
    receipt: ReceiptKey | None = None


@dataclass(frozen=True)
class Accepted:
    """A recording that was acknowledged; receipts say what became of them."""

    disposition: Disposition | None = None


@dataclass(frozen=True)
class Renewed:
    """A lease that was extended."""

    remaining_ms: int


@dataclass(frozen=True)
class Refused:
    """A definite refusal: the contract says that nothing was changed."""

    status_code: int


@dataclass(frozen=True)
class Malformed:
    """An answer that is none: unreadable, empty, or without what its kind needs."""

    reason: str


@dataclass(frozen=True)
class Unanswered:
    """No answer was seen. The request may have been taken, or may not.

    Attributes:
        blamed: Nothing in the trace excuses it: the memory was up and did not answer.
    """

    status_code: int = 0
    blamed: bool = False


Answer = DecisionTold | Accepted | Renewed | Refused | Malformed | Unanswered
