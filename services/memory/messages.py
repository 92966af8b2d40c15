"""Between the contract's messages and the memory's values, with every format checked on the way in.

What comes in is refused with INVALID_ARGUMENT before any state is read, so a malformed call changes
nothing.
"""

import grpc

from memqual.v1 import common_pb2, continuity_pb2
from services.common.canonical import operation_id as digest_of_identity
from services.common.canonical import sha256_hex
from services.common.clock import NANOSECONDS_PER_MILLISECOND
from services.common.errors import ServiceError
from services.common.limits import (
    check_attempt,
    check_digest,
    check_id,
    check_json_object,
    check_optional_id,
)
from services.memory.answers import (
    Confirm,
    Decision,
    Disposition,
    Execute,
    Presence,
    Query,
    Reject,
    Reuse,
    Wait,
)
from services.memory.model import (
    Assurance,
    Capability,
    Operation,
    OperationBinding,
    Receipt,
    ReceiptOutcome,
)

__all__ = [
    "binding_from",
    "check_key",
    "decision_kind",
    "decision_message",
    "disposition_message",
    "operation_message",
    "presence_from",
    "receipt_from",
    "receipt_message",
    "remaining_ms",
    "settled_from",
]

SETTLED_MAX = 200

CAPABILITIES = {
    common_pb2.EFFECT_CAPABILITY_NONE: Capability.NONE,
    common_pb2.EFFECT_CAPABILITY_QUERY: Capability.QUERY,
    common_pb2.EFFECT_CAPABILITY_IDEMPOTENT: Capability.IDEMPOTENT,
}
CAPABILITY_VALUES = {capability: value for value, capability in CAPABILITIES.items()}
OUTCOMES = {
    continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED: ReceiptOutcome.SUCCEEDED,
    continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR: ReceiptOutcome.TOOL_ERROR,
}
OUTCOME_VALUES = {outcome: value for value, outcome in OUTCOMES.items()}
PRESENCES = {
    common_pb2.EFFECT_PRESENCE_PRESENT: Presence.PRESENT,
    common_pb2.EFFECT_PRESENCE_ABSENT_FINAL: Presence.ABSENT_FINAL,
    common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN: Presence.ABSENT_UNCERTAIN,
    common_pb2.EFFECT_PRESENCE_UNKNOWN: Presence.UNKNOWN,
}
DISPOSITION_VALUES = {
    Disposition.COMPLETED: continuity_pb2.RECEIPT_DISPOSITION_COMPLETED,
    Disposition.ALREADY_RECORDED: continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED,
    Disposition.EVIDENCE_ONLY: continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY,
}
KIND_VALUES: dict[type[Decision], continuity_pb2.DecisionKind.ValueType] = {
    Execute: continuity_pb2.DECISION_KIND_EXECUTE,
    Wait: continuity_pb2.DECISION_KIND_WAIT,
    Query: continuity_pb2.DECISION_KIND_QUERY,
    Reuse: continuity_pb2.DECISION_KIND_REUSE,
    Confirm: continuity_pb2.DECISION_KIND_CONFIRM,
    Reject: continuity_pb2.DECISION_KIND_REJECT,
}
# The contract has no word for an operator's assurance; what it cannot say stays unspecified.
ASSURANCE_VALUES = {
    Assurance.HOST_REPORTED: continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
    Assurance.OPERATOR_SIGNED: continuity_pb2.RECEIPT_ASSURANCE_UNSPECIFIED,
}


def _malformed(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def check_key(namespace: str, operation_id: str) -> None:
    """The two ids that name an operation."""
    check_id("namespace", namespace)
    check_digest("operation_id", operation_id)


def binding_from(spec: continuity_pb2.OperationSpec) -> OperationBinding:
    """The binding that a specification asks for.

    Raises:
        ServiceError: INVALID_ARGUMENT: a field is malformed, or the operation id is not the digest
            of the identity.
    """
    identity = spec.identity
    check_key(spec.namespace, spec.operation_id)
    if digest_of_identity(identity) != spec.operation_id:
        raise _malformed("operation_id is not the digest of identity; send the digest")
    capability = CAPABILITIES.get(spec.capability)
    if capability is None:
        raise _malformed("capability is not set; send NONE, QUERY or IDEMPOTENT")
    return OperationBinding(
        namespace=spec.namespace,
        operation_id=spec.operation_id,
        deployment=check_id("identity.deployment", identity.deployment),
        thread_id=check_id("identity.thread_id", identity.thread_id),
        checkpoint_namespace=check_optional_id(
            "identity.checkpoint_namespace", identity.checkpoint_namespace
        ),
        message_id=check_id("identity.message_id", identity.message_id),
        tool_call_id=check_id("identity.tool_call_id", identity.tool_call_id),
        workflow_id=check_id("workflow_id", spec.workflow_id),
        principal=check_id("principal", spec.principal),
        tool=check_id("tool", spec.tool),
        destination=check_id("destination", spec.destination),
        intent_digest=check_digest("intent_digest", spec.intent_digest),
        arguments_digest=check_digest("arguments_digest", spec.arguments_digest),
        capability=capability,
        idempotency_key=check_optional_id("idempotency_key", spec.idempotency_key),
        retention_seconds=spec.retention_seconds,
    )


def settled_from(
    request: continuity_pb2.BeginRequest | continuity_pb2.PeekRequest,
) -> frozenset[str] | None:
    """Operations whose results the host holds; None where it does not say, or maybe not all.

    Raises:
        ServiceError: INVALID_ARGUMENT: more than 200, or one of them is no digest.
    """
    if not request.HasField("settled"):
        return None
    told = request.settled.operation_ids
    if len(told) > SETTLED_MAX:
        raise _malformed(f"settled names {len(told)} operations; send the latest {SETTLED_MAX}")
    settled = frozenset(check_digest("settled.operation_ids", one) for one in told)
    return None if len(told) == SETTLED_MAX else settled


def receipt_from(receipt: continuity_pb2.Receipt) -> Receipt:
    """The receipt that a message holds.

    Raises:
        ServiceError: INVALID_ARGUMENT: a field is malformed, the result's digest is not its own, or
            a tool error names an effect.
    """
    check_digest("receipt.operation_id", receipt.operation_id)
    check_attempt("receipt.attempt", receipt.attempt)
    check_digest("receipt.arguments_digest", receipt.arguments_digest)
    check_json_object("receipt.result_json", receipt.result_json)
    if sha256_hex(receipt.result_json.encode()) != receipt.result_digest:
        raise _malformed("receipt.result_digest is not the digest of result_json; send the digest")
    check_optional_id("receipt.effect_id", receipt.effect_id)
    outcome = OUTCOMES.get(receipt.outcome)
    if outcome is None:
        raise _malformed("receipt.outcome is not set; send SUCCEEDED or TOOL_ERROR")
    if outcome is ReceiptOutcome.TOOL_ERROR and receipt.effect_id:
        raise _malformed("receipt.effect_id is set on a tool error, which has no effect")
    if receipt.assurance != continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED:
        raise _malformed("receipt.assurance is not set; send HOST_REPORTED")
    return Receipt(
        operation_id=receipt.operation_id,
        attempt=receipt.attempt,
        arguments_digest=receipt.arguments_digest,
        result_json=receipt.result_json,
        result_digest=receipt.result_digest,
        effect_id=receipt.effect_id,
        outcome=outcome,
        assurance=Assurance.HOST_REPORTED,
    )


def presence_from(
    request: continuity_pb2.RecordQueryRequest,
) -> tuple[Presence, Receipt | None]:
    """What QueryEffect answered, and the receipt that comes with PRESENT and only with it.

    Raises:
        ServiceError: INVALID_ARGUMENT: no presence, a receipt missing, malformed or out of place,
            or a tool error, which is no presence of an effect.
    """
    presence = PRESENCES.get(request.presence)
    if presence is None:
        raise _malformed("presence is not set; send what QueryEffect answered, or UNKNOWN")
    if presence is not Presence.PRESENT:
        if request.HasField("receipt"):
            raise _malformed("receipt goes with PRESENT only; leave it unset")
        return presence, None
    if not request.HasField("receipt"):
        raise _malformed("PRESENT comes without its receipt; send the destination's result")
    receipt = receipt_from(request.receipt)
    if receipt.outcome is not ReceiptOutcome.SUCCEEDED:
        raise _malformed("receipt.outcome is no effect; PRESENT goes with SUCCEEDED")
    return presence, receipt


def receipt_message(receipt: Receipt) -> continuity_pb2.Receipt:
    """A kept receipt, as it came."""
    return continuity_pb2.Receipt(
        operation_id=receipt.operation_id,
        attempt=receipt.attempt,
        arguments_digest=receipt.arguments_digest,
        result_json=receipt.result_json,
        result_digest=receipt.result_digest,
        effect_id=receipt.effect_id,
        assurance=ASSURANCE_VALUES[receipt.assurance],
        outcome=OUTCOME_VALUES[receipt.outcome],
    )


def remaining_ms(remaining_ns: int) -> int:
    """Whole milliseconds left, never negative and never more than there are."""
    return max(0, remaining_ns // NANOSECONDS_PER_MILLISECOND)


def decision_kind(decision: Decision) -> continuity_pb2.DecisionKind.ValueType:
    """A decision's kind without its content."""
    return KIND_VALUES[type(decision)]


def decision_message(decision: Decision) -> continuity_pb2.Decision:
    """A decision with its content."""
    message = continuity_pb2.Decision(reason_code=decision.reason.value)
    match decision:
        case Execute():
            message.execute.attempt = decision.attempt
            message.execute.lease_token = decision.lease_token
            message.execute.remaining_lease_ms = remaining_ms(decision.remaining_ns)
            message.execute.granted_at_ns = decision.granted_at_ns
            message.execute.key_deadline_ns = decision.key_deadline_ns
        case Wait():
            # Set as a whole: a wait of nothing is still a wait.
            message.wait.CopyFrom(
                continuity_pb2.Wait(remaining_ms=remaining_ms(decision.remaining_ns))
            )
        case Query():
            message.query.attempt = decision.attempt
            message.query.query_ticket = decision.ticket
        case Reuse():
            message.reuse.receipt.CopyFrom(receipt_message(decision.receipt))
        case Confirm():
            message.confirm.SetInParent()
        case Reject():
            message.reject.SetInParent()
    return message


def disposition_message(
    disposition: Disposition,
) -> continuity_pb2.ReceiptDisposition.ValueType:
    """What became of a receipt."""
    return DISPOSITION_VALUES[disposition]


def operation_message(operation: Operation) -> continuity_pb2.OperationRecord:
    """What is kept of an operation, without tokens."""
    binding = operation.binding
    message = continuity_pb2.OperationRecord(
        spec=continuity_pb2.OperationSpec(
            operation_id=binding.operation_id,
            identity=continuity_pb2.OperationIdentity(
                deployment=binding.deployment,
                thread_id=binding.thread_id,
                checkpoint_namespace=binding.checkpoint_namespace,
                message_id=binding.message_id,
                tool_call_id=binding.tool_call_id,
            ),
            namespace=binding.namespace,
            workflow_id=binding.workflow_id,
            principal=binding.principal,
            tool=binding.tool,
            destination=binding.destination,
            intent_digest=binding.intent_digest,
            arguments_digest=binding.arguments_digest,
            capability=CAPABILITY_VALUES[binding.capability],
            idempotency_key=binding.idempotency_key,
            retention_seconds=binding.retention_seconds,
        ),
        state=_state(operation),
        attempt=len(operation.attempts),
    )
    if operation.receipt is not None:
        message.receipt.CopyFrom(receipt_message(operation.receipt))
    return message


def _state(operation: Operation) -> continuity_pb2.OperationState.ValueType:
    if operation.receipt is not None:
        return continuity_pb2.OPERATION_STATE_COMPLETED
    if operation.abandoned:
        return continuity_pb2.OPERATION_STATE_ABANDONED
    if operation.attempts:
        return continuity_pb2.OPERATION_STATE_GRANTED
    return continuity_pb2.OPERATION_STATE_NEW
