"""ContinuityService as a caller sees it: statuses, content, and what survives a restart."""

import threading
from collections.abc import Callable

import grpc
import pytest

from memqual.v1 import common_pb2, continuity_pb2
from services.memory.model import Capability
from tests.services.memory.samples import (
    LEASE_NS,
    SECOND_NS,
    START_NS,
    receipt_message,
    spec,
)
from tests.services.memory.serving import DEADLINE_SECONDS, Serve, Served

INVALID = grpc.StatusCode.INVALID_ARGUMENT


def status_of(call: Callable[[], object]) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    code: grpc.StatusCode = caught.value.code()
    return code


def kind(decision: continuity_pb2.Decision) -> str | None:
    return decision.WhichOneof("kind")


def record_query(
    served: Served,
    asked: continuity_pb2.OperationSpec,
    question: continuity_pb2.Query,
    presence: common_pb2.EffectPresence.ValueType,
    receipt: continuity_pb2.Receipt | None = None,
) -> continuity_pb2.RecordQueryResponse:
    request = continuity_pb2.RecordQueryRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-2",
        attempt=question.attempt,
        query_ticket=question.query_ticket,
        presence=presence,
        receipt=receipt,
    )
    return served.continuity.RecordQuery(request, timeout=DEADLINE_SECONDS)


def test_a_grant_tells_all_that_the_host_needs(served: Served) -> None:
    asked = spec(Capability.IDEMPOTENT, retention_seconds=600)
    decision = served.begin(asked)
    granted = decision.execute
    assert decision.reason_code == "first_grant"
    assert granted.attempt == 1
    assert 1 <= len(granted.lease_token) <= 128
    assert granted.remaining_lease_ms == 120_000
    assert granted.granted_at_ns == START_NS
    assert granted.key_deadline_ns == START_NS + 600 * SECOND_NS


def test_tokens_are_not_guessable_from_each_other(served: Served) -> None:
    tokens = {served.begin(spec(call=f"call-{n}")).execute.lease_token for n in range(20)}
    assert len(tokens) == 20


def test_the_whole_life_of_a_queried_operation(serve: Serve) -> None:
    served = serve()
    asked = spec(Capability.QUERY)
    served.begin(asked)
    assert kind(served.begin(asked, "life-2")) == "wait"
    served.clock.now_ns += LEASE_NS
    question = served.begin(asked, "life-2").query
    assert served.begin(asked, "life-3").query == question
    record_query(served, asked, question, common_pb2.EFFECT_PRESENCE_ABSENT_FINAL)
    served = serve()
    second = served.begin(asked, "life-3").execute
    assert second.attempt == 2
    served = serve()
    taken = receipt_message(asked, 2)
    response = served.record(asked, second, taken, "life-3")
    assert response.disposition == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    served = serve()
    assert served.begin(asked, "life-4").reuse.receipt == taken
    record = served.continuity.GetOperation(
        continuity_pb2.GetOperationRequest(
            namespace=asked.namespace, operation_id=asked.operation_id
        ),
        timeout=DEADLINE_SECONDS,
    ).operation
    assert record == continuity_pb2.OperationRecord(
        spec=asked,
        state=continuity_pb2.OPERATION_STATE_COMPLETED,
        attempt=2,
        receipt=taken,
    )


def test_presence_completes_with_the_destinations_result(served: Served) -> None:
    asked = spec(Capability.QUERY)
    served.begin(asked)
    served.clock.now_ns += LEASE_NS
    question = served.begin(asked, "life-2").query
    found = receipt_message(asked, 1)
    record_query(served, asked, question, common_pb2.EFFECT_PRESENCE_PRESENT, found)
    assert served.begin(asked, "life-3").reuse.receipt == found


def test_a_mark_is_durable_and_a_peek_does_not_move_it(serve: Serve) -> None:
    served = serve()
    asked = spec(Capability.IDEMPOTENT)
    peek = continuity_pb2.PeekRequest(spec=asked, incarnation_id="life-2")
    served.begin(asked)
    served.clock.now_ns += 10 * LEASE_NS
    answer = served.continuity.Peek(peek, timeout=DEADLINE_SECONDS)
    assert answer.kind == continuity_pb2.DECISION_KIND_EXECUTE
    # Had the peek moved the mark, or granted, this would not be a live lease with all its time.
    served.clock.now_ns = START_NS
    assert served.begin(asked, "life-2").wait.remaining_ms == 120_000
    served.clock.now_ns += 10 * LEASE_NS
    other = served.begin(spec(call="call-2"))
    assert kind(other) == "execute"
    served = serve()
    served.clock.now_ns = START_NS
    behind = served.begin(asked, "life-2")
    assert (kind(behind), behind.reason_code) == ("wait", "clock_behind_mark")
    answer = served.continuity.Peek(peek, timeout=DEADLINE_SECONDS)
    assert answer.kind == continuity_pb2.DECISION_KIND_WAIT


def test_peek_equals_begin_and_binds_nothing(served: Served) -> None:
    asked = spec(Capability.QUERY)
    peek = continuity_pb2.PeekRequest(spec=asked, incarnation_id="life-2")

    def peeked() -> continuity_pb2.DecisionKind.ValueType:
        return served.continuity.Peek(peek, timeout=DEADLINE_SECONDS).kind

    assert peeked() == continuity_pb2.DECISION_KIND_EXECUTE
    get = continuity_pb2.GetOperationRequest(
        namespace=asked.namespace, operation_id=asked.operation_id
    )
    assert (
        status_of(lambda: served.continuity.GetOperation(get, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.NOT_FOUND
    )
    served.begin(asked)
    assert peeked() == continuity_pb2.DECISION_KIND_WAIT
    served.clock.now_ns += LEASE_NS
    assert peeked() == continuity_pb2.DECISION_KIND_QUERY
    question = served.begin(asked, "life-2").query
    record_query(
        served,
        asked,
        question,
        common_pb2.EFFECT_PRESENCE_PRESENT,
        receipt_message(asked, 1),
    )
    assert peeked() == continuity_pb2.DECISION_KIND_REUSE
    peek.spec.tool = "other"
    assert peeked() == continuity_pb2.DECISION_KIND_REJECT


def change_spec(name: str, value: object) -> continuity_pb2.OperationSpec:
    asked = spec(Capability.IDEMPOTENT)
    target = asked.identity if name.startswith("identity.") else asked
    setattr(target, name.removeprefix("identity."), value)
    return asked


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("operation_id", ""),
        ("operation_id", "0" * 64),
        ("operation_id", "A" * 64),
        ("identity.thread_id", "another"),
        ("identity.deployment", ""),
        ("namespace", ""),
        ("namespace", "n" * 129),
        ("namespace", "ü" * 65),
        ("workflow_id", ""),
        ("principal", ""),
        ("tool", ""),
        ("destination", ""),
        ("intent_digest", "x"),
        ("arguments_digest", "0" * 63),
        ("capability", common_pb2.EFFECT_CAPABILITY_UNSPECIFIED),
        ("capability", 99),
        ("idempotency_key", ""),
        ("idempotency_key", "k" * 129),
        ("capability", common_pb2.EFFECT_CAPABILITY_NONE),
    ],
)
def test_a_malformed_specification_is_refused(served: Served, name: str, value: object) -> None:
    assert status_of(lambda: served.begin(change_spec(name, value))) is INVALID
    listed = served.continuity.ListOperations(
        continuity_pb2.ListOperationsRequest(namespace="space", workflow_id="workflow-1"),
        timeout=DEADLINE_SECONDS,
    )
    assert not listed.operations


def test_an_empty_begin_is_refused(served: Served) -> None:
    empty = continuity_pb2.BeginRequest()
    assert status_of(lambda: served.continuity.Begin(empty, timeout=DEADLINE_SECONDS)) is INVALID
    assert status_of(lambda: served.begin(spec(), "")) is INVALID
    assert status_of(lambda: served.begin(spec(), call="")) is INVALID


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("result_json", "not json"),
        ("result_json", '{"b":1,"a":1}'),
        ("result_json", "[]"),
        ("result_digest", "0" * 64),
        ("arguments_digest", ""),
        ("operation_id", "x"),
        ("outcome", continuity_pb2.RECEIPT_OUTCOME_UNSPECIFIED),
        ("outcome", continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR),
        ("assurance", continuity_pb2.RECEIPT_ASSURANCE_UNSPECIFIED),
        ("effect_id", "e" * 129),
        ("attempt", 2**63),
    ],
)
def test_a_malformed_receipt_is_refused_and_frees_no_lease(
    served: Served, name: str, value: object
) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    taken = receipt_message(asked, 1)
    setattr(taken, name, value)
    assert status_of(lambda: served.record(asked, granted, taken)) is INVALID
    assert kind(served.begin(asked, "life-2")) == "wait"


def test_statuses_of_receipts_are_the_contracts(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    good = receipt_message(asked, 1)
    forged = continuity_pb2.Execute(attempt=1, lease_token="forged")
    later = continuity_pb2.Execute(attempt=2, lease_token=granted.lease_token)
    other = receipt_message(asked, 1)
    other.arguments_digest = "e" * 64
    unknown = spec(call="unknown")
    denied, failed = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION
    assert status_of(lambda: served.record(asked, forged, good)) is denied
    assert status_of(lambda: served.record(asked, granted, good, "life-2")) is denied
    assert status_of(lambda: served.record(asked, later, receipt_message(asked, 2))) is failed
    assert status_of(lambda: served.record(asked, granted, other)) is failed
    assert (
        status_of(lambda: served.record(unknown, granted, receipt_message(unknown, 1)))
        is grpc.StatusCode.NOT_FOUND
    )
    assert kind(served.begin(asked, "life-2")) == "wait"
    assert (
        served.record(asked, granted, good).disposition
        == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    )
    assert (
        served.record(asked, granted, good).disposition
        == continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
    )
    second = receipt_message(asked, 1, result_json="{}")
    assert status_of(lambda: served.record(asked, granted, second)) is failed


@pytest.mark.parametrize(
    ("presence", "with_receipt", "outcome"),
    [
        (common_pb2.EFFECT_PRESENCE_UNSPECIFIED, False, None),
        (common_pb2.EFFECT_PRESENCE_PRESENT, False, None),
        (common_pb2.EFFECT_PRESENCE_ABSENT_FINAL, True, None),
        (
            common_pb2.EFFECT_PRESENCE_PRESENT,
            True,
            continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR,
        ),
    ],
)
def test_a_malformed_answer_is_refused(
    served: Served,
    presence: common_pb2.EffectPresence.ValueType,
    with_receipt: bool,
    outcome: continuity_pb2.ReceiptOutcome.ValueType | None,
) -> None:
    asked = spec(Capability.QUERY)
    served.begin(asked)
    served.clock.now_ns += LEASE_NS
    question = served.begin(asked, "life-2").query
    found = receipt_message(asked, 1) if with_receipt else None
    if found is not None and outcome is not None:
        found.outcome = outcome
        found.effect_id = ""
    assert status_of(lambda: record_query(served, asked, question, presence, found)) is INVALID
    assert served.begin(asked, "life-2").query == question


def test_a_namespace_neither_sees_nor_repeats_anothers_operation(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    elsewhere = spec(namespace="elsewhere")
    decision = served.begin(elsewhere, "life-2")
    assert (kind(decision), decision.reason_code) == ("reject", "namespace_mismatch")
    get = continuity_pb2.GetOperationRequest(namespace="elsewhere", operation_id=asked.operation_id)
    assert (
        status_of(lambda: served.continuity.GetOperation(get, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.NOT_FOUND
    )
    assert (
        status_of(lambda: served.record(elsewhere, granted, receipt_message(asked, 1)))
        is grpc.StatusCode.NOT_FOUND
    )


def state_of(
    served: Served, asked: continuity_pb2.OperationSpec
) -> continuity_pb2.OperationState.ValueType:
    request = continuity_pb2.GetOperationRequest(
        namespace=asked.namespace, operation_id=asked.operation_id
    )
    return served.continuity.GetOperation(request, timeout=DEADLINE_SECONDS).operation.state


def test_an_operation_is_bound_before_it_is_granted_when_a_key_has_to_wait(
    served: Served,
) -> None:
    served.begin(spec(call="earlier"))
    served.clock.now_ns -= SECOND_NS
    asked = spec(Capability.IDEMPOTENT)
    decision = served.begin(asked)
    assert (decision.wait.remaining_ms, decision.reason_code) == (1_000, "clock_behind_mark")
    assert state_of(served, asked) == continuity_pb2.OPERATION_STATE_NEW
    served.clock.now_ns += SECOND_NS
    assert served.begin(asked).execute.attempt == 1
    assert state_of(served, asked) == continuity_pb2.OPERATION_STATE_GRANTED


def test_statuses_of_answers_are_the_contracts(served: Served) -> None:
    asked = spec(Capability.QUERY)
    absent = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
    served.begin(asked)
    served.clock.now_ns += LEASE_NS
    question = served.begin(asked, "life-2").query
    forged = continuity_pb2.Query(attempt=1, query_ticket="forged")
    later = continuity_pb2.Query(attempt=2, query_ticket=question.query_ticket)
    denied, failed = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION
    assert status_of(lambda: record_query(served, asked, forged, absent)) is denied
    assert status_of(lambda: record_query(served, asked, later, absent)) is failed
    unknown = spec(call="unknown")
    assert (
        status_of(lambda: record_query(served, unknown, question, absent))
        is grpc.StatusCode.NOT_FOUND
    )
    for _ in range(2):
        record_query(served, asked, question, common_pb2.EFFECT_PRESENCE_UNKNOWN)
    assert served.begin(asked, "life-2").query == question


def test_evidence_of_a_superseded_attempt_is_kept(serve: Serve) -> None:
    served = serve()
    asked = spec(Capability.IDEMPOTENT)
    first = served.begin(asked).execute
    served.clock.now_ns += LEASE_NS
    second = served.begin(asked, "life-2").execute
    late = receipt_message(asked, 1)
    assert (
        served.record(asked, first, late).disposition
        == continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
    )
    served = serve()
    assert (
        served.record(asked, first, late).disposition
        == continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
    )
    assert kind(served.begin(asked, "life-3")) == "wait"
    assert (
        served.record(asked, second, receipt_message(asked, 2), "life-2").disposition
        == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    )


def test_renew_over_the_wire(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    request = continuity_pb2.RenewRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=1,
        lease_token=granted.lease_token,
    )
    served.clock.now_ns += 60 * SECOND_NS
    response = served.continuity.Renew(request, timeout=DEADLINE_SECONDS)
    assert (response.remaining_lease_ms, response.remaining_renewals) == (120_000, 9)
    served.clock.now_ns += LEASE_NS
    assert (
        status_of(lambda: served.continuity.Renew(request, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.FAILED_PRECONDITION
    )
    request.lease_token = "forged"
    assert (
        status_of(lambda: served.continuity.Renew(request, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.PERMISSION_DENIED
    )


def test_a_workflow_holds_two_hundred_operations_listed_in_order(served: Served) -> None:
    specs = [spec(call=f"call-{n}") for n in range(200)]
    for asked in specs:
        served.begin(asked)
    assert (
        status_of(lambda: served.begin(spec(call="one-more"))) is grpc.StatusCode.RESOURCE_EXHAUSTED
    )
    assert kind(served.begin(spec(call="elsewhere", workflow="workflow-2"))) == "execute"
    assert kind(served.begin(specs[0], "life-2")) == "wait"
    listed = served.continuity.ListOperations(
        continuity_pb2.ListOperationsRequest(namespace="space", workflow_id="workflow-1"),
        timeout=DEADLINE_SECONDS,
    )
    assert [record.spec for record in listed.operations] == specs


def test_a_list_too_large_for_one_answer_says_so(served: Served) -> None:
    result = '{"text":"' + "x" * 65_000 + '"}'
    for n in range(65):
        asked = spec(call=f"call-{n}")
        granted = served.begin(asked).execute
        served.record(asked, granted, receipt_message(asked, 1, result_json=result))
    request = continuity_pb2.ListOperationsRequest(namespace="space", workflow_id="workflow-1")
    assert (
        status_of(lambda: served.continuity.ListOperations(request, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.RESOURCE_EXHAUSTED
    )


@pytest.mark.parametrize("same_begin_id", [False, True])
def test_twenty_callers_of_one_operation_get_one_live_lease(
    served: Served, same_begin_id: bool
) -> None:
    asked = spec()
    together = threading.Barrier(20)
    decisions: list[continuity_pb2.Decision] = []

    def call(number: int) -> None:
        together.wait(DEADLINE_SECONDS)
        begin_id = "same" if same_begin_id else f"begin-{number}"
        decisions.append(served.begin(asked, "life-1", begin_id))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * DEADLINE_SECONDS)
    kinds = sorted(str(kind(decision)) for decision in decisions)
    granted = {
        (decision.execute.attempt, decision.execute.lease_token)
        for decision in decisions
        if decision.HasField("execute")
    }
    assert kinds == ["execute"] * 20 if same_begin_id else ["execute", *["wait"] * 19]
    assert len(granted) == 1
