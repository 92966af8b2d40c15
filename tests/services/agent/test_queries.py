"""After an uncertain dispatch whose lease has ended, by capability (DESIGN §6)."""

import grpc
import pytest

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2
from services.agent.calls import DECISIONS_A_WAKE_UP
from tests.services.agent.fakes import World
from tests.services.agent.governed import (
    COMPLETED,
    IDEMPOTENT,
    PARKED,
    QUERY,
    UNAVAILABLE,
    expired_after_lost_answer,
    invokes,
    queries,
)
from tests.services.agent.hosts import HostClient


def test_query_present_completes_without_a_dispatch(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    found = expired_after_lost_answer(around, host, applied=True)
    assert (found.state, found.operations[0].last_decision) == (
        COMPLETED,
        continuity_pb2.DECISION_KIND_REUSE,
    )
    assert len(invokes(around)) == 1
    recorded = queries(around)[0]
    assert (recorded.attempt, recorded.presence, recorded.receipt.attempt) == (
        1,
        common_pb2.EFFECT_PRESENCE_PRESENT,
        1,
    )
    assert recorded.receipt.result_json == around.destination.effects_of("w")[0].result_json


def test_query_absent_for_good_dispatches_the_next_attempt(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    found = expired_after_lost_answer(around, host, applied=False)
    assert (found.state, found.operations[0].attempt) == (COMPLETED, 2)
    assert [request.attempt for request in invokes(around)] == [1, 2]
    assert around.destination.fences == {found.operations[0].operation_id: 1}
    assert not queries(around)[0].HasField("receipt")


def test_query_without_an_end_parks_after_a_bounded_number_of_decisions(
    around: World, host: HostClient
) -> None:
    around.destination.capability = QUERY
    around.destination.fenced = False
    found = expired_after_lost_answer(around, host, applied=False)
    assert (found.state, found.wait_remaining_ms, found.operations[0].last_decision) == (
        PARKED,
        0,
        continuity_pb2.DECISION_KIND_QUERY,
    )
    assert [query.presence for query in queries(around)] == [
        common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
    ] * DECISIONS_A_WAKE_UP
    assert len(invokes(around)) == 1


@pytest.mark.parametrize("codes", [[UNAVAILABLE] * 4, [grpc.StatusCode.FAILED_PRECONDITION]])
def test_a_destination_that_cannot_be_asked_is_unknown(
    around: World, host: HostClient, codes: list[grpc.StatusCode]
) -> None:
    around.destination.capability = QUERY
    around.destination.before["QueryEffect"].extend(codes)
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == COMPLETED
    assert [query.presence for query in queries(around)] == [
        common_pb2.EFFECT_PRESENCE_UNKNOWN,
        common_pb2.EFFECT_PRESENCE_PRESENT,
    ]


def test_a_query_that_cannot_be_recorded_is_asked_about(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    around.memory.before["RecordQuery"].append(grpc.StatusCode.PERMISSION_DENIED)
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == COMPLETED
    assert len(queries(around)) == 2


def test_idempotent_dispatches_again_under_the_same_key(around: World, host: HostClient) -> None:
    around.destination.capability = IDEMPOTENT
    found = expired_after_lost_answer(around, host, applied=True)
    assert (found.state, found.operations[0].attempt) == (COMPLETED, 2)
    assert [request.idempotency_key for request in invokes(around)] == [
        found.operations[0].operation_id
    ] * 2
    assert len(around.destination.effects_of("w")) == 1


def test_without_a_capability_an_expired_lease_needs_confirmation(
    around: World, host: HostClient
) -> None:
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
    assert len(invokes(around)) == 1
