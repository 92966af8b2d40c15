"""The journal's records (DESIGN §10): effects are counted from these alone.

Every record has `event`, `wall_unix_ns` and `monotonic_ns`. 64-bit times are decimal strings, since
canonical JSON has no such integers. Records of a call have the same keys whatever the event:

    received        a well-formed Invoke arrived; its own sequence is its call_sequence
    applied         an effect, committed with this record
    replayed        answered from a retained key; effect_id names the first effect
    read            a read-only tool answered
    refused         nothing applied: refused_by "destination" (a status) or "tool" (a tool error)
    response_sent   the answer was handed to the transport; says nothing of its delivery

Each `received` has exactly one of applied, replayed, read, refused with its call_sequence, in the
same transaction, and at most one response_sent later. `queried` and `configured` stand alone.
"""

import enum
from dataclasses import dataclass

from services.common.canonical import JsonObject, JsonValue, sha256_hex
from services.destination.model import (
    Applied,
    Invocation,
    QueryAnswer,
    QueryQuestion,
    Read,
    Refused,
    ToolFailed,
    WorkflowRules,
)

__all__ = [
    "CallEvent",
    "Moment",
    "call_record",
    "configured_record",
    "outcome_record",
    "queried_record",
]


class CallEvent(enum.Enum):
    """Events of an Invoke; the value is the record's `event`."""

    RECEIVED = "received"
    APPLIED = "applied"
    REPLAYED = "replayed"
    READ = "read"
    REFUSED = "refused"
    RESPONSE_SENT = "response_sent"


@dataclass(frozen=True, slots=True)
class Moment:
    """The destination's clocks at a record: wall (Unix epoch) and monotonic, nanoseconds."""

    wall_unix_ns: int
    monotonic_ns: int


def _stamp(event: str, moment: Moment) -> dict[str, JsonValue]:
    return {
        "event": event,
        "wall_unix_ns": str(moment.wall_unix_ns),
        "monotonic_ns": str(moment.monotonic_ns),
    }


def call_record(
    event: CallEvent,
    call: Invocation,
    moment: Moment,
    *,
    call_sequence: int,
    effect_id: str = "",
    result_digest: str = "",
    refused_by: str = "",
    reason: str = "",
) -> JsonObject:
    """A record of an Invoke; `reason` is a Refusal's value or a tool error's code."""
    return {
        **_stamp(event.value, moment),
        "call_sequence": call_sequence,
        "workflow_id": call.workflow_id,
        "operation_id": call.operation_id,
        "attempt": call.attempt,
        "tool": call.tool,
        "arguments_digest": call.arguments_digest,
        "not_after_unix_ns": str(call.not_after_unix_ns),
        "idempotency_key": call.idempotency_key,
        "effect_id": effect_id,
        "result_digest": result_digest,
        "refused_by": refused_by,
        "reason": reason,
    }


def outcome_record(
    call: Invocation,
    outcome: Applied | Read | ToolFailed | Refused,
    moment: Moment,
    *,
    call_sequence: int,
) -> JsonObject:
    """The record of what became of an Invoke."""
    effect_id = result_digest = refused_by = reason = ""
    match outcome:
        case Applied():
            event = CallEvent.REPLAYED if outcome.replayed else CallEvent.APPLIED
            effect_id, result_digest = outcome.effect_id, _text_digest(outcome.result_json)
        case Read():
            event, result_digest = CallEvent.READ, _text_digest(outcome.result_json)
        case ToolFailed():
            event, refused_by, reason = CallEvent.REFUSED, "tool", outcome.code
        case Refused():
            event, refused_by, reason = CallEvent.REFUSED, "destination", outcome.reason.value
    return call_record(
        event,
        call,
        moment,
        call_sequence=call_sequence,
        effect_id=effect_id,
        result_digest=result_digest,
        refused_by=refused_by,
        reason=reason,
    )


def queried_record(
    question: QueryQuestion, answer: QueryAnswer | Refused, moment: Moment
) -> JsonObject:
    """A record of a QueryEffect: a presence, or "refused" with a reason."""
    presence, reason, effect = "refused", "", None
    if isinstance(answer, Refused):
        reason = answer.reason.value
    else:
        presence, effect = answer.presence.value, answer.effect
    return {
        **_stamp("queried", moment),
        "workflow_id": question.workflow_id,
        "operation_id": question.operation_id,
        "fence_attempt": question.fence_attempt,
        "presence": presence,
        "effect_id": effect.effect_id if effect else "",
        "result_digest": _text_digest(effect.result_json) if effect else "",
        "reason": reason,
    }


def _text_digest(text: str) -> str:
    return sha256_hex(text.encode("utf-8"))


def configured_record(rules: WorkflowRules, moment: Moment) -> JsonObject:
    """A record of a workflow's rules as the evaluator set them."""
    return {
        **_stamp("configured", moment),
        "workflow_id": rules.workflow_id,
        "capability": rules.capability.value,
        "fenced": rules.fenced,
        "visibility_delay_ms": rules.visibility_delay_ms,
        "retention_seconds": rules.retention_seconds,
        "guard": rules.guard,
        "one_apply_per_attempt": rules.one_apply_per_attempt,
        "enforce_not_after": rules.enforce_not_after,
    }
