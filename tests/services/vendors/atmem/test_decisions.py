"""What each answer of atmem's begin is in the contract."""

import grpc
import pytest

from memqual.v1 import common_pb2
from services.common.errors import ServiceError
from services.vendors.atmem.decisions import decide, paused, rejected, remaining_ms
from services.vendors.atmem.model import NativeBegin
from services.vendors.atmem.receipts import native_receipt
from tests.services.vendors.atmem.samples import NOW_SECONDS, native_operation, receipt, spec

NS = 1_000_000_000
TOKEN = "token"


def _granted(action: str = "execute", started_seconds: float = NOW_SECONDS) -> NativeBegin:
    return NativeBegin(action, "authorized_attempt", TOKEN, started_seconds + 120)


def _blocked(reason: str) -> NativeBegin:
    return NativeBegin("blocked", reason)


def test_a_first_grant_is_attempt_one() -> None:
    decision = decide(native_operation(spec()), _granted(), NOW_SECONDS + 0.25)
    assert decision.WhichOneof("kind") == "execute"
    assert decision.reason_code == "authorized_attempt"
    execute = decision.execute
    assert (execute.attempt, execute.lease_token) == (1, TOKEN)
    assert execute.remaining_lease_ms == 119_750
    assert execute.granted_at_ns == int(NOW_SECONDS) * NS
    assert execute.key_deadline_ns == 0


def test_questions_are_no_attempts_of_the_contract() -> None:
    keyed = spec(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT)
    before = native_operation(keyed, "execute", "query", "execute")
    assert decide(before, _granted(), NOW_SECONDS).execute.attempt == 3


def test_a_key_counts_from_the_first_grant() -> None:
    keyed = spec(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, retention_seconds=3_600)
    first = decide(native_operation(keyed), _granted(), NOW_SECONDS)
    assert first.execute.key_deadline_ns == (int(NOW_SECONDS) + 3_600) * NS
    later = NOW_SECONDS + 500
    again = decide(native_operation(keyed, "execute"), _granted(started_seconds=later), later)
    assert again.execute.key_deadline_ns == first.execute.key_deadline_ns
    assert again.execute.granted_at_ns == (int(NOW_SECONDS) + 500) * NS


def test_a_question_names_the_attempt_that_was_dispatched() -> None:
    before = native_operation(spec(common_pb2.EFFECT_CAPABILITY_QUERY), "execute", "query")
    decision = decide(before, _granted("query"), NOW_SECONDS)
    assert decision.WhichOneof("kind") == "query"
    assert (decision.query.attempt, decision.query.query_ticket) == (1, TOKEN)


def test_a_saved_receipt_is_given_back() -> None:
    asked = spec()
    before = native_operation(asked, "execute", status="completed")
    saved = native_receipt(receipt(asked), before)
    answer = NativeBegin("completed", "saved_receipt", receipt={**saved, "assurance": "x"})
    decision = decide(before, answer, NOW_SECONDS)
    assert decision.reuse.receipt == receipt(asked)
    assert decision.reason_code == "saved_receipt"


@pytest.mark.parametrize(("after_seconds", "left_ms"), [(20.0, 100_000), (500.0, 0)])
def test_a_live_lease_is_waited_for(after_seconds: float, left_ms: int) -> None:
    before = native_operation(spec(), "execute")
    decision = decide(before, _blocked("attempt_in_progress"), NOW_SECONDS + after_seconds)
    assert decision.WhichOneof("kind") == "wait"
    assert decision.wait.remaining_ms == left_ms
    assert decision.reason_code == "attempt_in_progress"


@pytest.mark.parametrize(
    "reason", ["needs_confirmation", "idempotency_window_expired", "abandoned"]
)
def test_what_only_a_person_can_tell_is_confirmed(reason: str) -> None:
    decision = decide(native_operation(spec(), "execute"), _blocked(reason), NOW_SECONDS)
    assert decision.WhichOneof("kind") == "confirm"
    assert decision.reason_code == reason


def test_questions_that_used_up_the_attempts_end_in_confirm() -> None:
    asked = spec(common_pb2.EFFECT_CAPABILITY_QUERY)
    before = native_operation(asked, "execute", *["query"] * 99)
    decision = decide(before, _blocked("attempt_limit_reached"), NOW_SECONDS)
    assert decision.WhichOneof("kind") == "confirm"


def test_executions_that_used_up_the_attempts_are_the_declared_limit() -> None:
    asked = spec(common_pb2.EFFECT_CAPABILITY_IDEMPOTENT)
    before = native_operation(asked, *["execute"] * 100)
    with pytest.raises(ServiceError) as refused:
        decide(before, _blocked("attempt_limit_reached"), NOW_SECONDS)
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (_blocked("workflow_revision_limit_reached"), grpc.StatusCode.RESOURCE_EXHAUSTED),
        (
            _blocked("workflow_disabled_or_capture_unavailable"),
            grpc.StatusCode.FAILED_PRECONDITION,
        ),
        (_blocked("earlier_work_unfinished"), grpc.StatusCode.FAILED_PRECONDITION),
        (NativeBegin("completed", "saved_receipt"), grpc.StatusCode.FAILED_PRECONDITION),
        (NativeBegin("dance", "because"), grpc.StatusCode.FAILED_PRECONDITION),
    ],
)
def test_what_is_no_decision_is_a_status(answer: NativeBegin, code: grpc.StatusCode) -> None:
    with pytest.raises(ServiceError) as refused:
        decide(native_operation(spec(), "execute"), answer, NOW_SECONDS)
    assert refused.value.code is code


def test_a_changed_definition_is_rejected() -> None:
    decision = rejected()
    assert decision.WhichOneof("kind") == "reject"
    assert decision.reason_code == "workflow_key_conflicts_with_existing_definition"


def test_a_clock_behind_its_mark_is_waited_for() -> None:
    before = native_operation(spec(), "execute", clock_high_water_seconds=NOW_SECONDS + 3_600)
    decision = paused(before, NOW_SECONDS)
    assert decision.WhichOneof("kind") == "wait"
    assert decision.wait.remaining_ms == 3_600_000
    assert decision.reason_code == "controller_clock_moved_backwards"


def test_time_left_is_never_negative() -> None:
    assert remaining_ms(1.0, 2.0) == 0
    assert remaining_ms(2.0, 1.9995) == 0
