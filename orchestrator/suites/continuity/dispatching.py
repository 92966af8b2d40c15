"""The evaluator at the destination in a host's place: dispatches and questions (DESIGN §4).

Calls pass the interposer with the ids that tell them apart. What was not answered is None: the
effect may be there or not, as for every host.
"""

from __future__ import annotations

import grpc

from memqual.v1 import common_pb2, continuity_pb2, destination_pb2
from orchestrator.plan import Member
from orchestrator.session import CALL_SECONDS, Session
from orchestrator.suites.continuity.workload import arguments_of
from services.common.canonical import canonical_json, sha256_hex

__all__ = ["Found", "ask_destination", "dispatch", "receipt_of_result"]

Found = tuple[common_pb2.EffectPresence.ValueType, continuity_pb2.Receipt | None]
"""What a question came to: UNKNOWN when the destination did not answer."""


def dispatch(
    session: Session,
    member: Member,
    spec: continuity_pb2.OperationSpec,
    attempt: int,
    seconds: float = CALL_SECONDS,
) -> continuity_pb2.Receipt | None:
    """Call the tool once, under one attempt.

    Returns:
        The receipt of a definite answer, a tool's own refusal included; None of any other.
    """
    wanted = arguments_of(member)
    request = destination_pb2.InvokeRequest(
        workflow_id=spec.workflow_id,
        operation_id=spec.operation_id,
        attempt=attempt,
        tool=wanted.tool,
        arguments_json=wanted.arguments_json,
        idempotency_key=spec.idempotency_key,
    )
    destination = session.destination_for(spec.workflow_id, spec.operation_id, attempt)
    try:
        answer = destination.Invoke(request, timeout=seconds)
    except grpc.RpcError:
        return None
    if answer.HasField("tool_error"):
        told = {"code": answer.tool_error.code, "message": answer.tool_error.message}
        return _receipt(spec, attempt, canonical_json(dict(told)).decode(), "", refused=True)
    return receipt_of_result(spec, attempt, answer.result)


def ask_destination(
    session: Session,
    spec: continuity_pb2.OperationSpec,
    attempt: int,
    seconds: float = CALL_SECONDS,
) -> Found:
    """Ask whether the effect is there, fencing at an attempt."""
    request = destination_pb2.QueryEffectRequest(
        workflow_id=spec.workflow_id, operation_id=spec.operation_id, fence_attempt=attempt
    )
    destination = session.destination_for(spec.workflow_id, spec.operation_id, attempt)
    try:
        answer = destination.QueryEffect(request, timeout=seconds)
    except grpc.RpcError:
        return common_pb2.EFFECT_PRESENCE_UNKNOWN, None
    if answer.presence == common_pb2.EFFECT_PRESENCE_PRESENT:
        return answer.presence, receipt_of_result(spec, attempt, answer.result)
    return answer.presence, None


def receipt_of_result(
    spec: continuity_pb2.OperationSpec, attempt: int, result: destination_pb2.ToolResult
) -> continuity_pb2.Receipt:
    """The receipt that a host makes of a tool's result."""
    return _receipt(spec, attempt, result.result_json, result.effect_id, refused=False)


def _receipt(
    spec: continuity_pb2.OperationSpec,
    attempt: int,
    result_json: str,
    effect_id: str,
    *,
    refused: bool,
) -> continuity_pb2.Receipt:
    outcome = (
        continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR
        if refused
        else continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED
    )
    return continuity_pb2.Receipt(
        operation_id=spec.operation_id,
        attempt=attempt,
        arguments_digest=spec.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        effect_id=effect_id,
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=outcome,
    )
