"""Receipts of the contract as atmem takes them, and what its answer to one means (pure).

atmem completes a call by one kind of receipt: confirmed_succeeded, with its own id of the call, an
effect id and a result. Anything else is kept as an outcome that nobody knows. What the contract's
receipt has beside that is kept next to it, so that REUSE gives the receipt back as it came.
"""

import json
from collections.abc import Mapping
from typing import Final

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import JsonObject, JsonValue, canonical_json
from services.common.errors import ServiceError
from services.vendors.atmem.model import NativeAttempt, NativeOperation, NativeOutcome
from services.vendors.atmem.model import OperationStatus as Status

__all__ = [
    "answered",
    "disposition_of",
    "execution_of",
    "native_receipt",
    "question_of",
    "receipt_message",
    "same_receipt",
]

CONFIRMED: Final = "confirmed_succeeded"
UNKNOWN: Final = "unknown"

_OUTCOMES: Final = {
    continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED: CONFIRMED,
    # No word of atmem's: it takes the effect for unknown.
    continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR: "tool_error",
}
_OUTCOME_VALUES: Final = {name: value for value, name in _OUTCOMES.items()}
_PRESENCES: Final = {
    common_pb2.EFFECT_PRESENCE_ABSENT_FINAL: "destination_says_absent_for_good",
    common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN: "destination_shows_no_effect",
    common_pb2.EFFECT_PRESENCE_UNKNOWN: "destination_could_not_be_asked",
}


def native_receipt(receipt: continuity_pb2.Receipt, operation: NativeOperation) -> JsonObject:
    """A receipt as atmem takes it.

    Raises:
        KeyError: no outcome is set.
    """
    return {
        "outcome": _OUTCOMES[receipt.outcome],
        "operation_id": operation.operation_id,
        "effect_id": receipt.effect_id,
        "result": json.loads(receipt.result_json),
        "contract": {
            "operation_id": receipt.operation_id,
            "attempt": receipt.attempt,
            "arguments_digest": receipt.arguments_digest,
            "result_digest": receipt.result_digest,
        },
    }


def answered(
    presence: common_pb2.EffectPresence.ValueType,
    receipt: continuity_pb2.Receipt | None,
    operation: NativeOperation,
) -> JsonObject:
    """What QueryEffect answered, as the receipt of atmem's query attempt.

    Raises:
        KeyError: PRESENT without a receipt, or no presence.
    """
    if receipt is not None:
        return native_receipt(receipt, operation)
    return {"outcome": UNKNOWN, "reason": _PRESENCES[presence]}


def receipt_message(native: Mapping[str, JsonValue]) -> continuity_pb2.Receipt:
    """A receipt that atmem kept, as it came.

    Raises:
        ServiceError: FAILED_PRECONDITION: it is not one of this adapter's.
    """
    contract = native.get("contract")
    result = native.get("result")
    outcome = _OUTCOME_VALUES.get(str(native.get("outcome")))
    if not isinstance(contract, Mapping) or outcome is None:
        raise ServiceError(
            grpc.StatusCode.FAILED_PRECONDITION, "the saved receipt was not made by this adapter"
        )
    attempt = contract.get("attempt")
    return continuity_pb2.Receipt(
        operation_id=str(contract.get("operation_id", "")),
        attempt=attempt if isinstance(attempt, int) else 0,
        arguments_digest=str(contract.get("arguments_digest", "")),
        result_json=canonical_json(result).decode(),
        result_digest=str(contract.get("result_digest", "")),
        effect_id=str(native.get("effect_id", "")),
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=outcome,
    )


def execution_of(operation: NativeOperation, attempt: int) -> NativeAttempt:
    """The attempt of atmem behind the contract's attempt of that number.

    Raises:
        ServiceError: FAILED_PRECONDITION: no such attempt was granted.
    """
    executions = operation.executions
    if not 1 <= attempt <= len(executions):
        raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "no such attempt was granted")
    return executions[attempt - 1]


def question_of(operation: NativeOperation, attempt: int) -> NativeAttempt:
    """The latest query attempt of atmem, which asks about the contract's attempt of that number.

    Raises:
        ServiceError: FAILED_PRECONDITION: nothing was asked, or not about the latest attempt.
    """
    questions = [one for one in operation.attempts if one.mode == "query"]
    if not questions or attempt != len(operation.executions):
        raise ServiceError(
            grpc.StatusCode.FAILED_PRECONDITION, "no question was asked about this attempt"
        )
    return questions[-1]


def disposition_of(
    before: NativeOperation, outcome: NativeOutcome, sent: JsonObject, attempt: NativeAttempt
) -> continuity_pb2.ReceiptDisposition.ValueType:
    """What became of a receipt.

    atmem says only that it took one, or that the lease is stale; it keeps a stale one as evidence
    whatever is wrong with it. The rest is read from what it showed right before.

    Raises:
        ServiceError: PERMISSION_DENIED: stale, and neither a repeat nor of a superseded attempt:
            token or life are wrong.
    """
    if outcome.accepted:
        if outcome.status is Status.COMPLETED:
            return continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
        return continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    if before.status is Status.COMPLETED:
        if same_receipt(before.receipt, sent):
            return continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
        return continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    if attempt != before.attempts[-1]:
        return continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    raise ServiceError(
        grpc.StatusCode.PERMISSION_DENIED, "atmem: stale lease (its token or life is another)"
    )


def same_receipt(saved: Mapping[str, JsonValue] | None, sent: JsonObject) -> bool:
    """Whether a receipt is the one that completed the call; atmem adds how sure it is."""
    if saved is None:
        return False
    kept = {name: value for name, value in saved.items() if name != "assurance"}
    return canonical_json(kept) == canonical_json(sent)
