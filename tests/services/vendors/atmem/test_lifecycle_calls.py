"""Supersede, Archive and RecordOutcome over the wire, with a stand-in behind them."""

import math

import grpc
import pytest

from memqual.v1 import memory_pb2
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, Served, status_of
from tests.services.vendors.atmem.samples import observation, scope

ASSERTED = memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
HELPFUL = memory_pb2.PROCEDURE_OUTCOME_HELPFUL
PROCEDURE = memory_pb2.RECORD_KIND_PROCEDURE


def _write(served: Served, sent: memory_pb2.Observation) -> str:
    request = memory_pb2.WriteRequest(observation=sent)
    return served.memory.Write(request, timeout=DEADLINE_SECONDS).admission.record_id


def _inspect(served: Served, record_id: str) -> memory_pb2.MemoryRecord:
    request = memory_pb2.InspectRequest(scope=scope(), record_id=record_id)
    return served.memory.Inspect(request, timeout=DEADLINE_SECONDS).record


def _supersede(
    served: Served, record_id: str, sent: memory_pb2.Observation
) -> memory_pb2.Admission:
    request = memory_pb2.SupersedeRequest(scope=scope(), record_id=record_id, observation=sent)
    return served.memory.Supersede(request, timeout=DEADLINE_SECONDS).admission


def _archive(served: Served, record_id: str) -> None:
    request = memory_pb2.ArchiveRequest(scope=scope(), record_id=record_id)
    served.memory.Archive(request, timeout=DEADLINE_SECONDS)


def test_the_authenticated_user_replaces_and_history_stays(served: Served) -> None:
    old = _write(served, observation("Opens at nine."))
    new = _supersede(served, old, observation("Opens at ten."))
    assert (new.state, new.trust) == (memory_pb2.RECORD_STATE_ACTIVE, memory_pb2.TRUST_TRUSTED)
    shown = _inspect(served, old)
    assert (shown.state, shown.superseded_by, shown.observation.content) == (
        memory_pb2.RECORD_STATE_SUPERSEDED,
        new.record_id,
        "Opens at nine.",
    )


@pytest.mark.parametrize(
    "sent",
    [
        observation("Opens at ten.", source_type=memory_pb2.SOURCE_TYPE_WEB),
        observation("Opens at ten.", source_type=memory_pb2.SOURCE_TYPE_AGENT),
        observation("Opens at ten.", binding=ASSERTED),
    ],
)
def test_anybody_else_waits_for_a_review(served: Served, sent: memory_pb2.Observation) -> None:
    old = _write(served, observation("Opens at nine."))
    assert _supersede(served, old, sent).state == memory_pb2.RECORD_STATE_QUARANTINED
    assert _inspect(served, old).state == memory_pb2.RECORD_STATE_ACTIVE


def test_a_replacement_is_a_parent_under_its_own_id(served: Served) -> None:
    new = _supersede(served, _write(served, observation("Nine.")), observation("Ten."))
    request = memory_pb2.DeriveRequest(
        scope=scope(),
        kind=memory_pb2.RECORD_KIND_FACT,
        parent_ids=[new.record_id],
        content="A summary.",
        method="summary",
    )
    child = served.memory.Derive(request, timeout=DEADLINE_SECONDS).admission.record_id
    assert list(_inspect(served, child).parent_ids) == [new.record_id]


def test_a_pending_proposal_is_no_parent_and_is_not_replaced(served: Served) -> None:
    pending = _write(served, observation("Call, then write.", kind=PROCEDURE))
    request = memory_pb2.DeriveRequest(
        scope=scope(), kind=memory_pb2.RECORD_KIND_FACT, parent_ids=[pending], content="x"
    )
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.Derive(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION
    with pytest.raises(grpc.RpcError) as refused:
        _supersede(served, pending, observation("Write, then call.", kind=PROCEDURE))
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_a_record_is_replaced_within_its_circle(served: Served) -> None:
    old = _write(served, observation("Nine."))
    sent = observation("Ten.")
    sent.scope.workspace = "elsewhere"
    with pytest.raises(grpc.RpcError) as refused:
        _supersede(served, old, sent)
    assert status_of(refused.value) is grpc.StatusCode.INVALID_ARGUMENT


def test_an_archived_record_is_kept_and_told_as_such(served: Served) -> None:
    kept = _write(served, observation("Nine."))
    _archive(served, kept)
    assert _inspect(served, kept).state == memory_pb2.RECORD_STATE_ARCHIVED
    with pytest.raises(grpc.RpcError) as refused:
        _archive(served, kept)
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_an_outcome_is_noted_and_changes_nothing(served: Served) -> None:
    given = _write(served, observation("Call, then write.", kind=PROCEDURE))
    before = _inspect(served, given)
    request = memory_pb2.RecordOutcomeRequest(
        scope=scope(), record_id=given, outcome=HELPFUL, utility=1.0
    )
    assert served.memory.RecordOutcome(request, timeout=DEADLINE_SECONDS).record == before
    [household] = served.households.by_path.values()
    assert household.outcomes == [("alice", given, "helpful", 1.0)]


@pytest.mark.parametrize(
    ("outcome", "utility"), [(0, 1.0), (9, 1.0), (1, -0.1), (1, 1.1), (1, math.nan)]
)
def test_a_malformed_outcome_is_refused(served: Served, outcome: int, utility: float) -> None:
    request = memory_pb2.RecordOutcomeRequest(scope=scope(), record_id="rec_1", utility=utility)
    request.outcome = outcome  # type: ignore[assignment]  # numbers that are no known outcome
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.RecordOutcome(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.INVALID_ARGUMENT


def test_what_is_nowhere_is_neither_archived_nor_judged(served: Served) -> None:
    calls = [
        (served.memory.Archive, memory_pb2.ArchiveRequest(scope=scope(), record_id="rec_9")),
        (
            served.memory.RecordOutcome,
            memory_pb2.RecordOutcomeRequest(scope=scope(), record_id="rec_9", outcome=HELPFUL),
        ),
        (
            served.memory.Supersede,
            memory_pb2.SupersedeRequest(
                scope=scope(), record_id="rec_9", observation=observation("Ten.")
            ),
        ),
    ]
    for method, request in calls:
        with pytest.raises(grpc.RpcError) as refused:
            method(request, timeout=DEADLINE_SECONDS)  # type: ignore[operator]  # each its own
        assert status_of(refused.value) is grpc.StatusCode.NOT_FOUND
    assert served.households.by_path == {}
