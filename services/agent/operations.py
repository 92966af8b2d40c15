"""Builds what the host tells memory and destination of one operation, and reads what they answer.

Pure functions (DESIGN §4). Digests are over RFC 8785 canonical JSON.
"""

import json
from dataclasses import dataclass

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2
from services.agent.state import PendingCall, StoredResult
from services.common.canonical import (
    JsonValue,
    canonical_json,
    digest_hex,
    parse_canonical_object,
    sha256_hex,
)
from services.common.limits import ID_BYTES, JSON_BYTES

__all__ = [
    "DefiniteAnswer",
    "answer_of_invoke",
    "answer_of_query",
    "answer_of_receipt",
    "not_after_unix_ns",
    "operation_spec",
    "receipt_of",
    "stored_result",
]

NANOSECONDS_PER_MILLISECOND = 1_000_000
UNNAMED_TOOL_ERROR = "unnamed"


@dataclass(frozen=True, slots=True)
class DefiniteAnswer:
    """What the destination answered, definitely.

    Attributes:
        attempt: attempt that it answers; 0 in the arms without a memory.
        result_json: canonical JSON object; of a refusal: its code and message.
        effect_id: the destination's id of the effect; empty on a refusal and for a read.
        tool_error_code: code of the tool's own refusal; empty without one.
        receipt_of: operation that the memory's receipt names; empty for the destination's answer.
    """

    attempt: int
    result_json: str
    effect_id: str
    tool_error_code: str
    receipt_of: str = ""

    @property
    def result_digest(self) -> str:
        """SHA-256 of the result's JSON."""
        return sha256_hex(self.result_json.encode())


def operation_spec(
    workflow: agent_pb2.Workflow,
    call: PendingCall,
    tool: destination_pb2.DescribeToolResponse,
) -> continuity_pb2.OperationSpec:
    """The operation as it is to be dispatched, with what the destination told, unchanged."""
    arguments = parse_canonical_object(call.arguments_json)
    intent: dict[str, JsonValue] = {
        "tool": call.tool,
        "destination": tool.destination,
        "arguments": arguments,
        "principal": workflow.principal,
    }
    idempotent = tool.capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
    return continuity_pb2.OperationSpec(
        operation_id=call.operation_id,
        identity=call.identity,
        namespace=workflow.namespace,
        workflow_id=workflow.workflow_id,
        principal=workflow.principal,
        tool=call.tool,
        destination=tool.destination,
        intent_digest=digest_hex(intent),
        arguments_digest=sha256_hex(call.arguments_json.encode()),
        capability=tool.capability,
        idempotency_key=call.operation_id if idempotent else "",
        retention_seconds=tool.retention_seconds if idempotent else 0,
    )


def not_after_unix_ns(tool: destination_pb2.DescribeToolResponse, remaining_lease_ms: int) -> int:
    """When the dispatch must no longer apply, on the destination's own clock.

    The destination's clock was read before the memory was asked, so the bound is never later than
    the lease's end.
    """
    return tool.now_unix_ns + remaining_lease_ms * NANOSECONDS_PER_MILLISECOND


def answer_of_invoke(
    response: destination_pb2.InvokeResponse, attempt: int
) -> DefiniteAnswer | None:
    """The definite answer in a response, or None when there is none in it."""
    if response.HasField("tool_error"):
        error = response.tool_error
        body: dict[str, JsonValue] = {"code": error.code, "message": error.message}
        return DefiniteAnswer(
            attempt=attempt,
            result_json=canonical_json(body).decode(),
            effect_id="",
            tool_error_code=error.code or UNNAMED_TOOL_ERROR,
        )
    if response.HasField("result"):
        return _answer_of_result(response.result, attempt)
    return None


def answer_of_query(
    response: destination_pb2.QueryEffectResponse, attempt: int
) -> DefiniteAnswer | None:
    """The result that comes with PRESENT, or None when there is none."""
    if response.presence != common_pb2.EFFECT_PRESENCE_PRESENT or not response.HasField("result"):
        return None
    return _answer_of_result(response.result, attempt)


def answer_of_receipt(receipt: continuity_pb2.Receipt) -> DefiniteAnswer:
    """What a receipt that the memory handed back says."""
    refused = receipt.outcome == continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
    return DefiniteAnswer(
        attempt=receipt.attempt,
        result_json=receipt.result_json,
        effect_id=receipt.effect_id,
        tool_error_code=_error_code(receipt.result_json) if refused else "",
        receipt_of=receipt.operation_id,
    )


def receipt_of(
    spec: continuity_pb2.OperationSpec, answer: DefiniteAnswer
) -> continuity_pb2.Receipt:
    """The receipt of a definite answer, as this host reports it."""
    refused = bool(answer.tool_error_code)
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=answer.attempt,
        arguments_digest=spec.arguments_digest,
        result_json=answer.result_json,
        result_digest=answer.result_digest,
        effect_id=answer.effect_id,
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=(
            continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
            if refused
            else continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED
        ),
    )


def stored_result(call: PendingCall, answer: DefiniteAnswer) -> StoredResult:
    """What the checkpoint keeps of an answer."""
    return StoredResult(
        operation_id=call.operation_id,
        message_id=call.identity.message_id,
        tool_call_id=call.identity.tool_call_id,
        tool=call.tool,
        attempt=answer.attempt,
        result_digest=answer.result_digest,
        effect_id=answer.effect_id,
        tool_error_code=answer.tool_error_code,
        handed_over_from="" if answer.receipt_of == call.operation_id else answer.receipt_of,
    )


def _answer_of_result(result: destination_pb2.ToolResult, attempt: int) -> DefiniteAnswer | None:
    # A result that breaks the contract is not taken for a result: what happened stays uncertain.
    if len(result.result_json.encode()) > JSON_BYTES or len(result.effect_id.encode()) > ID_BYTES:
        return None
    try:
        parse_canonical_object(result.result_json)
    except ValueError:
        return None
    return DefiniteAnswer(
        attempt=attempt,
        result_json=result.result_json,
        effect_id=result.effect_id,
        tool_error_code="",
    )


def _error_code(result_json: str) -> str:
    try:
        body = json.loads(result_json)
    except (ValueError, RecursionError):
        return UNNAMED_TOOL_ERROR
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, str) and code else UNNAMED_TOOL_ERROR
