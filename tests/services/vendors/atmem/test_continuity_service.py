"""ContinuityService of the adapter over the wire, with a stand-in behind it."""

from collections.abc import Callable
from unittest.mock import MagicMock

import grpc
import pytest

from memqual.v1 import common_pb2, continuity_pb2
from services.vendors.atmem.continuity import ContinuityServicer
from services.vendors.atmem.vaults import Vaults
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, Served, status_of
from tests.services.vendors.atmem.samples import receipt, spec

QUERY = common_pb2.EFFECT_CAPABILITY_QUERY


def _record(
    served: Served,
    asked: continuity_pb2.OperationSpec,
    granted: continuity_pb2.Execute,
    **changes: object,
) -> continuity_pb2.ReceiptDisposition.ValueType:
    fields: dict[str, object] = {
        "namespace": asked.namespace,
        "operation_id": asked.operation_id,
        "incarnation_id": "life-1",
        "attempt": granted.attempt,
        "lease_token": granted.lease_token,
        "receipt": receipt(asked, attempt=granted.attempt),
        **changes,
    }
    request = continuity_pb2.RecordReceiptRequest(**fields)  # type: ignore[arg-type]  # by name
    return served.continuity.RecordReceipt(request, timeout=DEADLINE_SECONDS).disposition


def _query(
    served: Served,
    asked: continuity_pb2.OperationSpec,
    question: continuity_pb2.Query,
    presence: common_pb2.EffectPresence.ValueType,
) -> None:
    present = presence == common_pb2.EFFECT_PRESENCE_PRESENT
    request = continuity_pb2.RecordQueryRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=question.attempt,
        query_ticket=question.query_ticket,
        presence=presence,
        receipt=receipt(asked) if present else None,
    )
    served.continuity.RecordQuery(request, timeout=DEADLINE_SECONDS)


def test_an_operation_goes_from_grant_to_reuse(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    assert granted.attempt == 1
    disposition = _record(served, asked, granted)
    assert disposition == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    assert served.begin(asked, life="life-2").reuse.receipt == receipt(asked)
    again = _record(served, asked, granted)
    assert again == continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED


def test_a_repeated_begin_is_told_to_wait(served: Served) -> None:
    asked = spec()
    served.begin(asked, call="b1")
    assert served.begin(asked, call="b1").reason_code == "attempt_in_progress"
    assert served.begin(asked, call="b2").reason_code == "attempt_in_progress"
    assert served.begin(asked, call="b2").wait.remaining_ms == 120_000


def test_a_begin_that_comes_again_after_its_lease_is_decided_afresh(served: Served) -> None:
    kinds = {}
    for number, capability in enumerate((1, 2, 3)):
        asked = spec(common_pb2.EffectCapability.ValueType(capability), call=f"call-{number}")
        served.begin(asked, call="b1")
        served.clock.now_seconds += 121
        kinds[capability] = served.begin(asked, call="b1").WhichOneof("kind")
    assert kinds == {1: "confirm", 2: "query", 3: "execute"}


def test_a_renewal_behind_the_mark_is_refused_for_good(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    served.vaults.refuse_next = "controller clock moved backwards; recovery paused"
    request = continuity_pb2.RenewRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=granted.attempt,
        lease_token=granted.lease_token,
    )
    with pytest.raises(grpc.RpcError) as refused:
        served.continuity.Renew(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_an_expired_lease_is_confirmed_asked_or_granted_again(served: Served) -> None:
    kinds = {}
    for number, capability in enumerate((1, 2, 3)):
        asked = spec(common_pb2.EffectCapability.ValueType(capability), call=f"call-{number}")
        served.begin(asked)
        served.clock.now_seconds += 121
        kinds[capability] = served.begin(asked, call="b2").WhichOneof("kind")
    assert kinds == {1: "confirm", 2: "query", 3: "execute"}


def test_a_question_completes_or_is_asked_again(served: Served) -> None:
    asked = spec(QUERY)
    served.begin(asked)
    served.clock.now_seconds += 121
    question = served.begin(asked, call="b2").query
    _query(served, asked, question, common_pb2.EFFECT_PRESENCE_ABSENT_FINAL)
    again = served.begin(asked, call="b3").query
    assert (again.attempt, again.query_ticket != question.query_ticket) == (1, True)
    _query(served, asked, again, common_pb2.EFFECT_PRESENCE_PRESENT)
    _query(served, asked, again, common_pb2.EFFECT_PRESENCE_PRESENT)
    assert served.begin(asked, call="b4").reuse.receipt == receipt(asked)


def test_an_answer_to_an_old_question_is_refused(served: Served) -> None:
    asked = spec(QUERY)
    served.begin(asked)
    served.clock.now_seconds += 121
    question = served.begin(asked, call="b2").query
    _query(served, asked, question, common_pb2.EFFECT_PRESENCE_UNKNOWN)
    with pytest.raises(grpc.RpcError) as refused:
        _query(served, asked, question, common_pb2.EFFECT_PRESENCE_UNKNOWN)
    assert status_of(refused.value) is grpc.StatusCode.PERMISSION_DENIED


def test_a_receipt_after_a_question_completes_nothing(served: Served) -> None:
    asked = spec(QUERY)
    granted = served.begin(asked).execute
    served.clock.now_seconds += 121
    served.begin(asked, call="b2")
    kept = _record(served, asked, granted)
    assert kept == continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY


def test_a_changed_specification_is_rejected(served: Served) -> None:
    asked, changed = spec(), spec()
    changed.arguments_digest = "0" * 64
    served.begin(asked)
    assert served.begin(changed).WhichOneof("kind") == "reject"


def test_a_clock_behind_its_mark_is_waited_for(served: Served) -> None:
    asked = spec()
    served.begin(asked)
    served.vaults.refuse_next = "controller clock moved backwards"
    assert served.begin(asked, call="b2").reason_code == "controller_clock_moved_backwards"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("controller clock moved backwards; recovery paused", grpc.StatusCode.UNAVAILABLE),
        ("receipt exceeds 64 KiB", grpc.StatusCode.RESOURCE_EXHAUSTED),
    ],
)
def test_a_receipt_that_atmem_refuses_is_a_status(
    served: Served, words: str, code: grpc.StatusCode
) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    served.vaults.refuse_next = words
    with pytest.raises(grpc.RpcError) as refused:
        _record(served, asked, granted)
    assert status_of(refused.value) is code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"lease_token": "another"}, grpc.StatusCode.PERMISSION_DENIED),
        ({"incarnation_id": "life-9"}, grpc.StatusCode.PERMISSION_DENIED),
        ({"lease_token": ""}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"attempt": 2}, grpc.StatusCode.INVALID_ARGUMENT),
        (
            {"attempt": 2, "receipt": receipt(spec(), attempt=2)},
            grpc.StatusCode.FAILED_PRECONDITION,
        ),
        ({"operation_id": "0" * 64}, grpc.StatusCode.INVALID_ARGUMENT),
        ({"receipt": receipt(spec(call="call-2"))}, grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_a_receipt_that_is_not_this_ones_is_refused(
    served: Served, changes: dict[str, object], code: grpc.StatusCode
) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    with pytest.raises(grpc.RpcError) as refused:
        _record(served, asked, granted, **changes)
    assert status_of(refused.value) is code
    assert _record(served, asked, granted) == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED


def _without_capability(asked: continuity_pb2.OperationSpec) -> None:
    asked.capability = common_pb2.EFFECT_CAPABILITY_UNSPECIFIED


def _without_tool(asked: continuity_pb2.OperationSpec) -> None:
    asked.tool = ""


def _of_another_identity(asked: continuity_pb2.OperationSpec) -> None:
    asked.identity.thread_id = "another"


@pytest.mark.parametrize("spoil", [_without_capability, _without_tool, _of_another_identity])
def test_a_malformed_begin_reaches_no_vault(
    served: Served, spoil: Callable[[continuity_pb2.OperationSpec], None]
) -> None:
    asked = spec()
    spoil(asked)
    with pytest.raises(grpc.RpcError) as refused:
        served.begin(asked)
    assert status_of(refused.value) is grpc.StatusCode.INVALID_ARGUMENT
    assert served.vaults.by_folder == {}


def test_renewals_are_counted_down(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    request = continuity_pb2.RenewRequest(
        namespace=asked.namespace,
        operation_id=asked.operation_id,
        incarnation_id="life-1",
        attempt=1,
        lease_token=granted.lease_token,
    )
    served.clock.now_seconds += 60
    left = [
        served.continuity.Renew(request, timeout=DEADLINE_SECONDS).remaining_renewals
        for _ in range(3)
    ]
    assert left == [9, 8, 7]
    request.lease_token = "another"
    with pytest.raises(grpc.RpcError) as refused:
        served.continuity.Renew(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_what_is_kept_can_be_read_in_order(served: Served) -> None:
    first, second, other = spec(), spec(call="call-2"), spec(call="call-3", workflow="workflow-2")
    for asked in (first, second, other):
        served.begin(asked)
    listed = served.continuity.ListOperations(
        continuity_pb2.ListOperationsRequest(namespace="space", workflow_id="workflow-1"),
        timeout=DEADLINE_SECONDS,
    ).operations
    assert [one.spec for one in listed] == [first, second]
    assert {one.state for one in listed} == {continuity_pb2.OPERATION_STATE_GRANTED}


def test_an_operation_is_found_again_after_a_restart(served: Served) -> None:
    asked = spec()
    granted = served.begin(asked).execute
    restarted = ContinuityServicer(Vaults(served.folder), served.vaults.open, served.clock.read)
    request = continuity_pb2.GetOperationRequest(
        namespace=asked.namespace, operation_id=asked.operation_id
    )
    context = MagicMock(spec=grpc.ServicerContext)
    for looks in (1, 1):
        found = restarted.GetOperation(request, context).operation
        assert (found.spec, found.attempt, served.vaults.looks) == (asked, 1, looks)
    assert _record(served, asked, granted) == continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    done = restarted.GetOperation(request, context).operation
    assert done.state == continuity_pb2.OPERATION_STATE_COMPLETED
    assert done.receipt == receipt(asked)


@pytest.mark.parametrize("namespace", ["space", "elsewhere"])
def test_an_unknown_operation_is_not_found_and_makes_no_vault(
    served: Served, namespace: str
) -> None:
    served.begin(spec())
    request = continuity_pb2.GetOperationRequest(namespace=namespace, operation_id="0" * 64)
    with pytest.raises(grpc.RpcError) as refused:
        served.continuity.GetOperation(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.NOT_FOUND
    assert len(served.vaults.by_folder) == 1
    listed = served.continuity.ListOperations(
        continuity_pb2.ListOperationsRequest(namespace="elsewhere", workflow_id="w"),
        timeout=DEADLINE_SECONDS,
    )
    assert list(listed.operations) == []


def test_what_atmem_has_no_concept_for_is_unimplemented(served: Served) -> None:
    asked = spec()
    calls = [
        (served.continuity.Peek, continuity_pb2.PeekRequest(spec=asked, incarnation_id="life-1")),
        (served.continuity.RequestResolve, continuity_pb2.RequestResolveRequest()),
        (served.continuity.Resolve, continuity_pb2.ResolveRequest()),
    ]
    for method, request in calls:
        with pytest.raises(grpc.RpcError) as refused:
            method(request, timeout=DEADLINE_SECONDS)  # type: ignore[operator]  # each its own
        assert status_of(refused.value) is grpc.StatusCode.UNIMPLEMENTED
