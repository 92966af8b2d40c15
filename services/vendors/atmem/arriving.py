"""Formats of what arrives, before atmem is asked: malformed is INVALID_ARGUMENT (DESIGN §4)."""

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import operation_id as digest_of_identity
from services.common.canonical import sha256_hex
from services.common.errors import ServiceError
from services.common.limits import (
    check_attempt,
    check_digest,
    check_id,
    check_json_object,
    check_optional_id,
)
from services.vendors.atmem.definitions import known_capability

__all__ = [
    "check_begin",
    "check_key",
    "check_list_operations",
    "check_record_query",
    "check_record_receipt",
    "check_renew",
]


def _malformed(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_key(namespace: str, operation_id: str) -> None:
    """The two ids that name an operation."""
    check_id("namespace", namespace)
    check_digest("operation_id", operation_id)


def check_begin(request: continuity_pb2.BeginRequest) -> None:
    """A Begin whose specification can be bound."""
    spec, identity = request.spec, request.spec.identity
    check_key(spec.namespace, spec.operation_id)
    if digest_of_identity(identity) != spec.operation_id:
        raise _malformed("operation_id is not the digest of identity; send the digest")
    for name in ("deployment", "thread_id", "message_id", "tool_call_id"):
        check_id(f"identity.{name}", getattr(identity, name))
    check_optional_id("identity.checkpoint_namespace", identity.checkpoint_namespace)
    for name in ("workflow_id", "principal", "tool", "destination"):
        check_id(name, getattr(spec, name))
    check_digest("intent_digest", spec.intent_digest)
    check_digest("arguments_digest", spec.arguments_digest)
    check_optional_id("idempotency_key", spec.idempotency_key)
    if not known_capability(spec.capability):
        raise _malformed("capability is not set; send NONE, QUERY or IDEMPOTENT")
    check_id("incarnation_id", request.incarnation_id)
    check_id("begin_id", request.begin_id)


def check_renew(request: continuity_pb2.RenewRequest) -> None:
    """A Renew that names an operation and a lease."""
    check_key(request.namespace, request.operation_id)
    check_id("incarnation_id", request.incarnation_id)
    check_attempt("attempt", request.attempt)
    check_id("lease_token", request.lease_token)


def check_record_receipt(request: continuity_pb2.RecordReceiptRequest) -> None:
    """A RecordReceipt that does not contradict itself."""
    check_key(request.namespace, request.operation_id)
    check_id("incarnation_id", request.incarnation_id)
    check_attempt("attempt", request.attempt)
    check_id("lease_token", request.lease_token)
    _check_receipt(request.receipt, request.operation_id, request.attempt)


def check_record_query(request: continuity_pb2.RecordQueryRequest) -> None:
    """A RecordQuery whose receipt goes with PRESENT and only with it."""
    check_key(request.namespace, request.operation_id)
    check_id("incarnation_id", request.incarnation_id)
    check_attempt("attempt", request.attempt)
    check_id("query_ticket", request.query_ticket)
    known = common_pb2.EffectPresence.values()
    if request.presence not in known or not request.presence:
        raise _malformed("presence is not set; send what QueryEffect answered, or UNKNOWN")
    present = request.presence == common_pb2.EFFECT_PRESENCE_PRESENT
    if present != request.HasField("receipt"):
        raise _malformed("a receipt goes with PRESENT, and only with it")
    if present:
        _check_receipt(request.receipt, request.operation_id, request.attempt)
        if request.receipt.outcome != continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED:
            raise _malformed("receipt.outcome is no effect; PRESENT goes with SUCCEEDED")


def check_list_operations(request: continuity_pb2.ListOperationsRequest) -> None:
    """A ListOperations that names a workflow."""
    check_id("namespace", request.namespace)
    check_id("workflow_id", request.workflow_id)


def _check_receipt(receipt: continuity_pb2.Receipt, operation_id: str, attempt: int) -> None:
    check_digest("receipt.operation_id", receipt.operation_id)
    if (receipt.operation_id, receipt.attempt) != (operation_id, attempt):
        raise _malformed("the receipt names another operation or attempt than its request")
    check_digest("receipt.arguments_digest", receipt.arguments_digest)
    check_json_object("receipt.result_json", receipt.result_json)
    if sha256_hex(receipt.result_json.encode()) != receipt.result_digest:
        raise _malformed("receipt.result_digest is not the digest of result_json; send the digest")
    check_optional_id("receipt.effect_id", receipt.effect_id)
    outcomes = continuity_pb2.ReceiptOutcome.values()
    if receipt.outcome not in outcomes or not receipt.outcome:
        raise _malformed("receipt.outcome is not set; send SUCCEEDED or TOOL_ERROR")
