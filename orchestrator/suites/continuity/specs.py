"""Operations that the evaluator asks about itself, built as a host builds them (DESIGN §4)."""

from __future__ import annotations

import hashlib

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.model import CapabilityVariant
from orchestrator.plan import Member
from orchestrator.suites.continuity.workload import (
    DEPLOYMENT,
    LONG_RETENTION_SECONDS,
    PRINCIPAL,
    ToolArguments,
    arguments_of,
    short_retention_seconds,
)
from services.common.canonical import (
    JsonValue,
    canonical_json,
    digest_hex,
    operation_id,
    parse_canonical_object,
    sha256_hex,
)

__all__ = ["DESTINATION", "receipt_for", "spec_of", "tool_error_receipt"]

DESTINATION = "memqual-destination"
_ID_CHARACTERS = 32

_CAPABILITIES = {
    CapabilityVariant.NONE: common_pb2.EFFECT_CAPABILITY_NONE,
    CapabilityVariant.QUERY_FENCED: common_pb2.EFFECT_CAPABILITY_QUERY,
    CapabilityVariant.QUERY_UNFENCED: common_pb2.EFFECT_CAPABILITY_QUERY,
    CapabilityVariant.IDEMPOTENT: common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
    CapabilityVariant.IDEMPOTENT_EXPIRED: common_pb2.EFFECT_CAPABILITY_IDEMPOTENT,
}


def spec_of(
    member: Member, call: str = "0", wanted: ToolArguments | None = None
) -> continuity_pb2.OperationSpec:
    """The specification of one operation of a trial's workflow; equal for equal arguments.

    Args:
        member: The trial; its workload is the operation's tool and arguments.
        call: Names the operation within the workflow: another call is another message and another
            tool call with the same intent.
        wanted: The operation's tool and arguments; None: the trial's.
    """
    wanted = wanted or arguments_of(member)
    identity = continuity_pb2.OperationIdentity(
        deployment=DEPLOYMENT,
        thread_id=member.workflow_id,
        message_id="msg-" + _derived(member, call, "message"),
        tool_call_id="call-" + _derived(member, call, "call"),
    )
    intent: dict[str, JsonValue] = {
        "tool": wanted.tool,
        "destination": DESTINATION,
        "arguments": parse_canonical_object(wanted.arguments_json),
        "principal": PRINCIPAL,
    }
    capability = member.cell.capability or CapabilityVariant.NONE
    key = operation_id(identity)
    spec = continuity_pb2.OperationSpec(
        operation_id=key,
        identity=identity,
        namespace=member.workflow_id,
        workflow_id=member.workflow_id,
        principal=PRINCIPAL,
        tool=wanted.tool,
        destination=DESTINATION,
        intent_digest=digest_hex(intent),
        arguments_digest=sha256_hex(wanted.arguments_json.encode()),
        capability=_CAPABILITIES[capability],
    )
    if capability in (CapabilityVariant.IDEMPOTENT, CapabilityVariant.IDEMPOTENT_EXPIRED):
        spec.idempotency_key = key
        short = capability is CapabilityVariant.IDEMPOTENT_EXPIRED
        spec.retention_seconds = (
            short_retention_seconds(member) if short else LONG_RETENTION_SECONDS
        )
    return spec


def receipt_for(
    spec: continuity_pb2.OperationSpec, attempt: int, result: str = "done"
) -> continuity_pb2.Receipt:
    """A well-formed receipt of one attempt, as a host would report it.

    Args:
        spec: The operation.
        attempt: The attempt that it is of.
        result: Told within the result; another text is another receipt.
    """
    result_json = canonical_json({"value": {"result": result}}).decode()
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=attempt,
        arguments_digest=spec.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        effect_id=f"effect-{spec.operation_id[:16]}-{attempt}",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )


def tool_error_receipt(
    spec: continuity_pb2.OperationSpec, attempt: int, code: str = "refused"
) -> continuity_pb2.Receipt:
    """A well-formed receipt of a tool's own refusal."""
    result_json = canonical_json({"code": code, "message": "the tool refused"}).decode()
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=attempt,
        arguments_digest=spec.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR,
    )


def _derived(member: Member, call: str, part: str) -> str:
    text = f"evaluator:{member.sub_seed}:{member.workflow_id}:{call}:{part}"
    return hashlib.sha256(text.encode()).hexdigest()[:_ID_CHARACTERS]
