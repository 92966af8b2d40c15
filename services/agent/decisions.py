"""Reads a memory's answer to Begin and refuses what is no decision (DESIGN §4, §9).

Pure: the same answer always reads the same. The host acts on nothing but what this module returns.
"""

from dataclasses import dataclass
from typing import TypeAlias

from memqual.v1 import continuity_pb2
from services.common.canonical import sha256_hex
from services.common.limits import ATTEMPT_MAX, ID_BYTES, JSON_BYTES

__all__ = [
    "Confirmation",
    "Decision",
    "Grant",
    "MalformedDecision",
    "Query",
    "Rejection",
    "Reuse",
    "Waiting",
    "read_decision",
]

# A century: far beyond any lease, and its nanoseconds still fit into 64 bits beside any clock.
LEASE_MAX_MS = 100 * 366 * 86_400 * 1_000


class MalformedDecision(Exception):
    """The answer is no decision; says which part is missing or wrong, never its content."""


@dataclass(frozen=True, slots=True)
class Grant:
    """EXECUTE: dispatch once.

    Attributes:
        attempt: epoch of the dispatch, from 1.
        lease_token: secret of the lease.
        remaining_lease_ms: milliseconds left at the answer.
    """

    attempt: int
    lease_token: str
    remaining_lease_ms: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """WAIT: ask again later. `remaining_ms` is a hint in milliseconds."""

    remaining_ms: int


@dataclass(frozen=True, slots=True)
class Query:
    """QUERY: ask the destination, fenced at `attempt`, under the secret `ticket`."""

    attempt: int
    ticket: str


@dataclass(frozen=True, slots=True)
class Reuse:
    """REUSE: the operation is complete with this receipt, whose digests were checked."""

    receipt: continuity_pb2.Receipt


@dataclass(frozen=True, slots=True)
class Confirmation:
    """CONFIRM: only a person can tell."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """REJECT: the specification contradicts what is bound."""


Decision: TypeAlias = Grant | Waiting | Query | Reuse | Confirmation | Rejection


def read_decision(
    response: continuity_pb2.BeginResponse, spec: continuity_pb2.OperationSpec
) -> Decision:
    """What the memory decided about `spec`.

    Raises:
        MalformedDecision: no kind, an unknown one, or one without what it must carry.
    """
    decision = response.decision
    kind = decision.WhichOneof("kind")
    match kind:
        case "execute":
            return _grant(decision.execute)
        case "wait":
            return Waiting(remaining_ms=decision.wait.remaining_ms)
        case "query":
            _check_attempt("query", decision.query.attempt)
            _check_secret("query ticket", decision.query.query_ticket)
            return Query(attempt=decision.query.attempt, ticket=decision.query.query_ticket)
        case "reuse":
            return _reuse(decision.reuse, spec)
        case "confirm":
            return Confirmation()
        case "reject":
            return Rejection()
        case None:
            raise MalformedDecision("no kind of decision")


def _grant(execute: continuity_pb2.Execute) -> Grant:
    _check_attempt("execute", execute.attempt)
    _check_secret("lease token", execute.lease_token)
    if execute.remaining_lease_ms > LEASE_MAX_MS:
        raise MalformedDecision("execute with a lease of more than a century")
    return Grant(
        attempt=execute.attempt,
        lease_token=execute.lease_token,
        remaining_lease_ms=execute.remaining_lease_ms,
    )


def _reuse(reuse: continuity_pb2.Reuse, spec: continuity_pb2.OperationSpec) -> Reuse:
    if not reuse.HasField("receipt"):
        raise MalformedDecision("reuse without a receipt")
    receipt = reuse.receipt
    # A memory that matches intents hands over another operation's: of the same arguments, below.
    if not 0 < len(receipt.operation_id.encode()) <= ID_BYTES:
        raise MalformedDecision("reuse with a receipt of no operation")
    if receipt.arguments_digest != spec.arguments_digest:
        raise MalformedDecision("reuse with a receipt of other arguments")
    if len(receipt.result_json.encode()) > JSON_BYTES:
        raise MalformedDecision(f"reuse with a result of more than {JSON_BYTES} bytes")
    if receipt.result_digest != sha256_hex(receipt.result_json.encode()):
        raise MalformedDecision("reuse with a result that does not match its digest")
    return Reuse(receipt=receipt)


def _check_attempt(kind: str, attempt: int) -> None:
    if not 1 <= attempt <= ATTEMPT_MAX:
        raise MalformedDecision(f"{kind} without a valid attempt")


def _check_secret(name: str, secret: str) -> None:
    if not secret:
        raise MalformedDecision(f"no {name}")
    if len(secret.encode()) > ID_BYTES:
        raise MalformedDecision(f"{name} of more than {ID_BYTES} bytes")
