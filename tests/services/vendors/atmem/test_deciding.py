"""A challenge over the wire: once, whoever asks how often at once, over all records or none."""

from concurrent.futures import ThreadPoolExecutor

import grpc

from memqual.v1 import common_pb2, memory_pb2
from services.vendors.atmem.finding import Shelf, find
from services.vendors.atmem.record_model import Circle
from services.vendors.atmem.settling import authorities
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, Served, status_of
from tests.services.vendors.atmem.samples import observation, proposal, scope

PROCEDURE = memory_pb2.RECORD_KIND_PROCEDURE
APPROVE = memory_pb2.REVIEW_DECISION_APPROVE
CLIENTS = 8


def _propose(served: Served, content: str, kind: memory_pb2.RecordKind.ValueType) -> str:
    request = memory_pb2.WriteRequest(observation=observation(content, kind=kind))
    return served.memory.Write(request, timeout=DEADLINE_SECONDS).admission.record_id


def _challenge(served: Served, *record_ids: str) -> common_pb2.Challenge:
    request = memory_pb2.RequestReviewRequest(
        scope=scope(), record_ids=record_ids, action="promote"
    )
    return served.memory.RequestReview(request, timeout=DEADLINE_SECONDS).challenge


def _answer(served: Served, challenge: common_pb2.Challenge) -> memory_pb2.DecideReviewRequest:
    return memory_pb2.DecideReviewRequest(
        scope=scope(),
        challenge_id=challenge.challenge_id,
        decision=APPROVE,
        key_id=served.reviewer.key_id,
        signature=served.reviewer.sign(challenge, "approve"),
    )


def _decide(served: Served, request: memory_pb2.DecideReviewRequest) -> grpc.StatusCode:
    try:
        served.memory.DecideReview(request, timeout=DEADLINE_SECONDS)
    except grpc.RpcError as refused:
        return status_of(refused)
    return grpc.StatusCode.OK


def _state(served: Served, record_id: str) -> memory_pb2.RecordState.ValueType:
    request = memory_pb2.InspectRequest(scope=scope(), record_id=record_id)
    return served.memory.Inspect(request, timeout=DEADLINE_SECONDS).record.state


def test_clients_at_once_use_a_challenge_once(served: Served) -> None:
    challenge = _challenge(served, _propose(served, "Call, then write.", PROCEDURE))
    request = _answer(served, challenge)
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda _: _decide(served, request), range(CLIENTS)))
    assert sorted(answers, key=lambda one: one.name) == [
        grpc.StatusCode.OK,
        *[grpc.StatusCode.PERMISSION_DENIED] * (CLIENTS - 1),
    ]


def test_a_signature_is_good_for_its_own_challenge_only(served: Served) -> None:
    first, second = (_propose(served, f"Step {one}.", PROCEDURE) for one in (1, 2))
    request = _answer(served, _challenge(served, first))
    request.challenge_id = _challenge(served, second).challenge_id
    assert _decide(served, request) is grpc.StatusCode.PERMISSION_DENIED
    assert _state(served, second) == memory_pb2.RECORD_STATE_QUARANTINED


def test_a_record_that_was_settled_in_between_is_not_decided_again(served: Served) -> None:
    record_id = _propose(served, "Call, then write.", PROCEDURE)
    early, late = _challenge(served, record_id), _challenge(served, record_id)
    assert _decide(served, _answer(served, late)) is grpc.StatusCode.OK
    assert _decide(served, _answer(served, early)) is grpc.StatusCode.PERMISSION_DENIED


def test_all_records_of_a_challenge_are_decided_or_none(served: Served) -> None:
    first, second = (_propose(served, f"Step {one}.", PROCEDURE) for one in (1, 2))
    challenge = _challenge(served, first, second)
    [household] = served.households.by_path.values()
    household.refuse_decisions_of = second
    assert _decide(served, _answer(served, challenge)) is grpc.StatusCode.FAILED_PRECONDITION
    assert _state(served, first) == _state(served, second) == memory_pb2.RECORD_STATE_QUARANTINED
    household.refuse_decisions_of = ""
    # The challenge is used up even so; a new one decides both.
    assert _decide(served, _answer(served, challenge)) is grpc.StatusCode.PERMISSION_DENIED
    assert _decide(served, _answer(served, _challenge(served, first, second))) is (
        grpc.StatusCode.OK
    )
    assert _state(served, first) == _state(served, second) == memory_pb2.RECORD_STATE_ACTIVE


def test_a_reviewer_has_a_name_for_each_circle() -> None:
    shop = Circle("alice", "helper", "shop")
    proposals = [proposal("prop_1"), proposal("prop_2", circle=shop), proposal("prop_3")]
    found = [find(Shelf.of([]), proposals, one.proposal_id) for one in proposals]
    trusted = authorities("key-1", found)
    assert {circle: one.principal_id for circle, one in trusted.items()} == {
        proposals[0].circle: "reviewer:key-1",
        shop: "reviewer:key-1:2",
    }
    assert all(one.circle == circle for circle, one in trusted.items())
