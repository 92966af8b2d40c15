"""atmem's answer to `begin` as the contract's decision (pure).

| atmem                                                      | contract |
|------------------------------------------------------------|----------|
| execute / authorized_attempt                               | EXECUTE  |
| query / authorized_attempt                                 | QUERY    |
| completed / saved_receipt                                  | REUSE    |
| blocked / attempt_in_progress                              | WAIT     |
| blocked / needs_confirmation, idempotency_window_expired,  | CONFIRM  |
|   abandoned, attempt_limit_reached (by questions)          |          |
| blocked / attempt_limit_reached (by executions), any other | a status |
| refused: workflow key conflicts with existing definition   | REJECT   |
| refused: controller clock moved backwards                  | WAIT     |
"""

from typing import Final

import grpc

from memqual.v1 import continuity_pb2
from services.common.clock import NANOSECONDS_PER_SECOND
from services.common.errors import ServiceError
from services.vendors.atmem.definitions import capability_of
from services.vendors.atmem.model import (
    ATTEMPTS_MAX,
    LEASE_SECONDS,
    NativeBegin,
    NativeOperation,
)
from services.vendors.atmem.receipts import receipt_message
from services.vendors.atmem.refusals import CLOCK_BEHIND, KEY_CONFLICT, reason_code

__all__ = ["decide", "paused", "rejected", "remaining_ms"]

_WAITS: Final = frozenset({"attempt_in_progress"})
_CONFIRMS: Final = frozenset({"needs_confirmation", "idempotency_window_expired", "abandoned"})
_ATTEMPTS_USED_UP: Final = "attempt_limit_reached"
_STATUSES: Final = {
    "workflow_revision_limit_reached": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "workflow_disabled_or_capture_unavailable": grpc.StatusCode.FAILED_PRECONDITION,
}
_MILLISECONDS: Final = 1_000


def decide(
    before: NativeOperation, answer: NativeBegin, now_seconds: float
) -> continuity_pb2.Decision:
    """The decision that atmem's answer is.

    Args:
        before: the call as it stood right before `begin`.
        answer: what `begin` answered.
        now_seconds: atmem's clock at the answer, seconds since the Unix epoch.

    Raises:
        ServiceError: RESOURCE_EXHAUSTED or FAILED_PRECONDITION: atmem blocks for a cause that is no
            decision.
    """
    decision = continuity_pb2.Decision(reason_code=answer.reason)
    match answer.action:
        case "execute":
            decision.execute.CopyFrom(_execute(before, answer, now_seconds))
        case "query":
            decision.query.attempt = len(before.executions)
            decision.query.query_ticket = answer.lease_token
        case "completed":
            if answer.receipt is None:
                raise _not_a_decision("completed without its receipt")
            decision.reuse.receipt.CopyFrom(receipt_message(answer.receipt))
        case "blocked":
            _block(decision, before, now_seconds)
        case _:
            raise _not_a_decision("an action that this adapter does not know")
    return decision


def rejected() -> continuity_pb2.Decision:
    """What atmem's refusal of a changed definition is."""
    decision = continuity_pb2.Decision(reason_code=reason_code(KEY_CONFLICT))
    decision.reject.SetInParent()
    return decision


def paused(before: NativeOperation, now_seconds: float) -> continuity_pb2.Decision:
    """What atmem's refusal under a clock behind its mark is: ask again when it has caught up."""
    decision = continuity_pb2.Decision(reason_code=reason_code(CLOCK_BEHIND))
    decision.wait.CopyFrom(
        continuity_pb2.Wait(remaining_ms=remaining_ms(before.clock_high_water_seconds, now_seconds))
    )
    return decision


def remaining_ms(until_seconds: float, now_seconds: float) -> int:
    """Whole milliseconds left, never negative."""
    return max(0, int((until_seconds - now_seconds) * _MILLISECONDS))


def _execute(
    before: NativeOperation, answer: NativeBegin, now_seconds: float
) -> continuity_pb2.Execute:
    granted_seconds = answer.lease_until_seconds - LEASE_SECONDS
    first = before.first_dispatch_seconds
    key_deadline_seconds = 0.0
    if capability_of(before.definition) == "idempotent":
        start = granted_seconds if first is None else first
        key_deadline_seconds = start + _number(before, "retention_seconds")
    return continuity_pb2.Execute(
        attempt=len(before.executions) + 1,
        lease_token=answer.lease_token,
        remaining_lease_ms=remaining_ms(answer.lease_until_seconds, now_seconds),
        granted_at_ns=_nanoseconds(granted_seconds),
        key_deadline_ns=_nanoseconds(key_deadline_seconds),
    )


def _block(decision: continuity_pb2.Decision, before: NativeOperation, now_seconds: float) -> None:
    reason = decision.reason_code
    if reason in _WAITS:
        left_ms = remaining_ms(before.lease_until_seconds, now_seconds)
        # Set as a whole: a wait of nothing is still a wait.
        decision.wait.CopyFrom(continuity_pb2.Wait(remaining_ms=left_ms))
    elif reason in _CONFIRMS:
        decision.confirm.SetInParent()
    elif reason == _ATTEMPTS_USED_UP and len(before.executions) < ATTEMPTS_MAX:
        # Questions take attempts, too: when they used up the number, only a person can tell.
        decision.confirm.SetInParent()
    else:
        code = _STATUSES.get(reason, grpc.StatusCode.FAILED_PRECONDITION)
        if reason == _ATTEMPTS_USED_UP:
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
        raise ServiceError(code, f"atmem blocks: {reason}")


def _number(operation: NativeOperation, name: str) -> float:
    value = operation.definition.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _nanoseconds(seconds: float) -> int:
    return round(seconds * NANOSECONDS_PER_SECOND)


def _not_a_decision(what: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.FAILED_PRECONDITION, f"atmem answered {what}")
