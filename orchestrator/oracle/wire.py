"""From messages on the wire to the oracle's frozen values; nothing else reads continuity_pb2."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError, Message

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.errors import ViewError
from orchestrator.oracle.forms import receipt_is_well_formed, spec_is_well_formed
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    Malformed,
    OperatorWord,
    PeekAsked,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    RenewAsked,
    Renewed,
    Request,
    ResolveAsked,
    Spec,
)
from services.common.canonical import JsonValue, digest_hex

__all__ = ["METHODS", "Asked", "challenge_issued", "read_answer", "read_request"]

_SERVICE: Final = "/memqual.v1.ContinuityService/"

METHODS: Final = frozenset(
    _SERVICE + name
    for name in (
        "Begin",
        "Peek",
        "RecordReceipt",
        "RecordQuery",
        "Renew",
        "RequestResolve",
        "Resolve",
    )
)
"""Full names of the methods that a view is made of."""

_REASON = re.compile(r"[a-z0-9][a-z0-9_.:/-]{0,63}")
_ID_BYTES = 128

_CAPABILITIES: Final = {
    common_pb2.EFFECT_CAPABILITY_NONE: Capability.NONE,
    common_pb2.EFFECT_CAPABILITY_QUERY: Capability.QUERY,
    common_pb2.EFFECT_CAPABILITY_IDEMPOTENT: Capability.IDEMPOTENT,
}
_PRESENCES: Final = {
    common_pb2.EFFECT_PRESENCE_PRESENT: Presence.PRESENT,
    common_pb2.EFFECT_PRESENCE_ABSENT_FINAL: Presence.ABSENT_FINAL,
    common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN: Presence.ABSENT_UNCERTAIN,
    common_pb2.EFFECT_PRESENCE_UNKNOWN: Presence.UNKNOWN,
}
_WORDS: Final = {
    continuity_pb2.OPERATOR_DECISION_HAPPENED: OperatorWord.HAPPENED,
    continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN: OperatorWord.DID_NOT_HAPPEN,
    continuity_pb2.OPERATOR_DECISION_ABANDON: OperatorWord.ABANDON,
}
_DISPOSITIONS: Final = {
    continuity_pb2.RECEIPT_DISPOSITION_COMPLETED: Disposition.COMPLETED,
    continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED: Disposition.ALREADY_RECORDED,
    continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY: Disposition.EVIDENCE_ONLY,
}
_OUTCOMES: Final = {
    continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED: "succeeded",
    continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR: "tool_error",
}
_KINDS: Final = {
    continuity_pb2.DECISION_KIND_EXECUTE: DecisionKind.EXECUTE,
    continuity_pb2.DECISION_KIND_WAIT: DecisionKind.WAIT,
    continuity_pb2.DECISION_KIND_QUERY: DecisionKind.QUERY,
    continuity_pb2.DECISION_KIND_REUSE: DecisionKind.REUSE,
    continuity_pb2.DECISION_KIND_CONFIRM: DecisionKind.CONFIRM,
    continuity_pb2.DECISION_KIND_REJECT: DecisionKind.REJECT,
}


@dataclass(frozen=True)
class Asked:
    """A request with the operation that it concerns.

    Attributes:
        operation_id: Empty when the request names a challenge instead.
        namespace: Likewise.
        challenge_id: Set for Resolve only.
        request: None for RequestResolve, which changes nothing.
    """

    operation_id: str
    challenge_id: str
    request: Request | None
    namespace: str = ""


def read_request(method: str, payload: bytes) -> Asked:
    """Reads a request of one of `METHODS`.

    Raises:
        ViewError: The evaluator's own host sent what cannot be read.
    """
    try:
        return _REQUESTS[method.removeprefix(_SERVICE)](payload)
    except (DecodeError, KeyError) as error:
        raise ViewError(f"a request of {method} cannot be read") from error


def read_answer(method: str, payload: bytes) -> Answer:
    """Reads an answer with status OK; what cannot be read is Malformed, never an exception."""
    try:
        return _ANSWERS[method.removeprefix(_SERVICE)](payload)
    except DecodeError:
        return Malformed("unreadable message")


def challenge_issued(payload: bytes) -> str:
    """The id of the challenge that a RequestResolve answer issued; empty when there is none."""
    try:
        return continuity_pb2.RequestResolveResponse.FromString(payload).challenge.challenge_id
    except DecodeError:
        return ""


def _begin(payload: bytes) -> Asked:
    message = continuity_pb2.BeginRequest.FromString(payload)
    request = BeginAsked(
        _spec(message.spec), message.incarnation_id, message.begin_id, _settled(message)
    )
    return Asked(message.spec.operation_id, "", request, message.spec.namespace)


def _peek(payload: bytes) -> Asked:
    message = continuity_pb2.PeekRequest.FromString(payload)
    request = PeekAsked(_spec(message.spec), message.incarnation_id, _settled(message))
    return Asked(message.spec.operation_id, "", request, message.spec.namespace)


def _settled(
    message: continuity_pb2.BeginRequest | continuity_pb2.PeekRequest,
) -> frozenset[str] | None:
    if not message.HasField("settled"):
        return None
    return frozenset(message.settled.operation_ids)


def _record_receipt(payload: bytes) -> Asked:
    message = continuity_pb2.RecordReceiptRequest.FromString(payload)
    request = ReceiptAsked(
        message.incarnation_id, message.attempt, message.lease_token, _receipt(message.receipt)
    )
    return Asked(message.operation_id, "", request, message.namespace)


def _record_query(payload: bytes) -> Asked:
    message = continuity_pb2.RecordQueryRequest.FromString(payload)
    request = QueryAsked(
        message.incarnation_id,
        message.attempt,
        message.query_ticket,
        _PRESENCES.get(message.presence),
        _receipt(message.receipt) if message.HasField("receipt") else None,
    )
    return Asked(message.operation_id, "", request, message.namespace)


def _renew(payload: bytes) -> Asked:
    message = continuity_pb2.RenewRequest.FromString(payload)
    request = RenewAsked(message.incarnation_id, message.attempt, message.lease_token)
    return Asked(message.operation_id, "", request, message.namespace)


def _request_resolve(payload: bytes) -> Asked:
    message = continuity_pb2.RequestResolveRequest.FromString(payload)
    return Asked(message.operation_id, "", None, message.namespace)


def _resolve(payload: bytes) -> Asked:
    message = continuity_pb2.ResolveRequest.FromString(payload)
    request = ResolveAsked(_WORDS.get(message.decision), _canonical(message.result_json))
    return Asked("", message.challenge_id, request)


_REQUESTS: Final[dict[str, Callable[[bytes], Asked]]] = {
    "Begin": _begin,
    "Peek": _peek,
    "RecordReceipt": _record_receipt,
    "RecordQuery": _record_query,
    "Renew": _renew,
    "RequestResolve": _request_resolve,
    "Resolve": _resolve,
}


def _spec(spec: continuity_pb2.OperationSpec) -> Spec:
    core: list[JsonValue] = [spec.tool, spec.destination, spec.arguments_digest, spec.capability]
    rest: list[JsonValue] = [
        spec.namespace,
        spec.workflow_id,
        spec.principal,
        spec.intent_digest,
        spec.idempotency_key,
        spec.retention_seconds,
    ]
    return Spec(
        core=digest_hex(core),
        rest=digest_hex(rest),
        capability=_CAPABILITIES[spec.capability],
        arguments_digest=spec.arguments_digest,
        has_key=bool(spec.idempotency_key),
        retention_ns=spec.retention_seconds * 1_000_000_000,
        well_formed=spec_is_well_formed(spec),
        intent=digest_hex([spec.namespace, spec.workflow_id, spec.intent_digest]),
        circle=digest_hex([spec.namespace, spec.workflow_id]),
    )


def _receipt(receipt: continuity_pb2.Receipt) -> ReceiptKey:
    return ReceiptKey(
        operation_id=receipt.operation_id,
        attempt=receipt.attempt,
        arguments_digest=receipt.arguments_digest,
        result=_canonical(receipt.result_json),
        result_digest=receipt.result_digest,
        effect_id=receipt.effect_id,
        outcome=_OUTCOMES.get(receipt.outcome, ""),
        well_formed=receipt_is_well_formed(receipt),
    )


def _canonical(text: str) -> str:
    """One spelling for equal JSON values; text that is no JSON stands for itself."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except ValueError:
        return text


def _begin_answer(payload: bytes) -> Answer:
    decision = continuity_pb2.BeginResponse.FromString(payload).decision
    kind = decision.WhichOneof("kind")
    if kind is None:
        return Malformed("a decision without a kind")
    if _REASON.fullmatch(decision.reason_code) is None:
        return Malformed("a decision without a lower-case reason code of 1..64 bytes")
    reader = _DECISIONS.get(kind)
    if reader is None:
        return DecisionTold(DecisionKind(kind.upper()), decision.reason_code)
    return reader(decision)


def _execute(decision: continuity_pb2.Decision) -> Answer:
    told = decision.execute
    if told.attempt == 0 or not _is_secret(told.lease_token):
        return Malformed("EXECUTE without an attempt from 1 and a lease token of 1..128 bytes")
    return DecisionTold(
        DecisionKind.EXECUTE,
        decision.reason_code,
        attempt=told.attempt,
        token=told.lease_token,
        remaining_ms=told.remaining_lease_ms,
        granted_at_ns=told.granted_at_ns,
        key_deadline_ns=told.key_deadline_ns,
    )


def _wait(decision: continuity_pb2.Decision) -> Answer:
    return DecisionTold(
        DecisionKind.WAIT, decision.reason_code, remaining_ms=decision.wait.remaining_ms
    )


def _query(decision: continuity_pb2.Decision) -> Answer:
    told = decision.query
    if told.attempt == 0 or not _is_secret(told.query_ticket):
        return Malformed("QUERY without an attempt from 1 and a query ticket of 1..128 bytes")
    return DecisionTold(
        DecisionKind.QUERY, decision.reason_code, attempt=told.attempt, token=told.query_ticket
    )


def _reuse(decision: continuity_pb2.Decision) -> Answer:
    if not decision.reuse.HasField("receipt"):
        return Malformed("REUSE without a receipt")
    return DecisionTold(
        DecisionKind.REUSE,
        decision.reason_code,
        attempt=decision.reuse.receipt.attempt,
        receipt=_receipt(decision.reuse.receipt),
    )


_DECISIONS: Final[dict[str, Callable[[continuity_pb2.Decision], Answer]]] = {
    "execute": _execute,
    "wait": _wait,
    "query": _query,
    "reuse": _reuse,
}


def _is_secret(text: str) -> bool:
    return 0 < len(text.encode()) <= _ID_BYTES


def _peek_answer(payload: bytes) -> Answer:
    message = continuity_pb2.PeekResponse.FromString(payload)
    kind = _KINDS.get(message.kind)
    if kind is None:
        return Malformed("a peek without a kind")
    return DecisionTold(kind, message.reason_code)


def _receipt_answer(payload: bytes) -> Answer:
    message = continuity_pb2.RecordReceiptResponse.FromString(payload)
    disposition = _DISPOSITIONS.get(message.disposition)
    if disposition is None:
        return Malformed("a receipt's answer without a disposition")
    return Accepted(disposition)


def _renew_answer(payload: bytes) -> Answer:
    return Renewed(continuity_pb2.RenewResponse.FromString(payload).remaining_lease_ms)


def _acknowledged(kind: type[Message]) -> Callable[[bytes], Answer]:
    def read(payload: bytes) -> Answer:
        kind.FromString(payload)
        return Accepted()

    return read


_ANSWERS: Final[dict[str, Callable[[bytes], Answer]]] = {
    "Begin": _begin_answer,
    "Peek": _peek_answer,
    "RecordReceipt": _receipt_answer,
    "RecordQuery": _acknowledged(continuity_pb2.RecordQueryResponse),
    "Renew": _renew_answer,
    "Resolve": _acknowledged(continuity_pb2.ResolveResponse),
}
