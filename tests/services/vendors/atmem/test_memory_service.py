"""MemoryService of the adapter over the wire, with a stand-in behind it."""

import grpc
import pytest

from memqual.v1 import memory_pb2
from tests.services.vendors.atmem.conftest import DEADLINE_SECONDS, Served, status_of
from tests.services.vendors.atmem.samples import observation, scope

ASSERTED = memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
PROCEDURE = memory_pb2.RECORD_KIND_PROCEDURE
AUTHORITATIVE = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE


def _write(served: Served, sent: memory_pb2.Observation) -> memory_pb2.Admission:
    request = memory_pb2.WriteRequest(observation=sent)
    return served.memory.Write(request, timeout=DEADLINE_SECONDS).admission


def _recall(
    served: Served, surface: memory_pb2.RecallSurface.ValueType, hits: int = 20
) -> list[memory_pb2.Hit]:
    request = memory_pb2.RecallRequest(scope=scope(), query="q", max_hits=hits, surface=surface)
    return list(served.memory.Recall(request, timeout=DEADLINE_SECONDS).hits)


def _procedures(served: Served) -> list[str]:
    request = memory_pb2.ListProceduresRequest(scope=scope())
    listed = served.memory.ListProcedures(request, timeout=DEADLINE_SECONDS).procedures
    return [one.record_id for one in listed]


def _review(
    served: Served, record_id: str, action: str, *, approve: bool = True
) -> memory_pb2.MemoryRecord:
    challenge = served.memory.RequestReview(
        memory_pb2.RequestReviewRequest(scope=scope(), record_ids=[record_id], action=action),
        timeout=DEADLINE_SECONDS,
    ).challenge
    decisions = memory_pb2.ReviewDecision
    request = memory_pb2.DecideReviewRequest(
        scope=scope(),
        challenge_id=challenge.challenge_id,
        decision=decisions.REVIEW_DECISION_APPROVE if approve else decisions.REVIEW_DECISION_REJECT,
        key_id=served.reviewer.key_id,
        signature=served.reviewer.sign(challenge, "approve" if approve else "reject"),
    )
    decided = served.memory.DecideReview(request, timeout=DEADLINE_SECONDS)
    return decided.records[0]


def test_what_the_user_says_is_recalled(served: Served) -> None:
    admitted = _write(served, observation())
    assert admitted.state == memory_pb2.RECORD_STATE_ACTIVE
    hits = _recall(served, AUTHORITATIVE)
    assert [hit.record_id for hit in hits] == [admitted.record_id]
    assert hits[0].authoritative


def test_what_nobody_vouches_for_is_evidence(served: Served) -> None:
    admitted = _write(served, observation(binding=ASSERTED))
    assert (admitted.state, list(admitted.taints)) == (
        memory_pb2.RECORD_STATE_QUARANTINED,
        ["UNTRUSTED_CONTENT"],
    )
    assert _recall(served, AUTHORITATIVE) == []
    shown = _recall(served, EVIDENCE)
    assert [(hit.record_id, hit.authoritative) for hit in shown] == [(admitted.record_id, False)]


def test_a_refused_text_leaves_no_record(served: Served) -> None:
    admitted = _write(served, observation("the secret is out"))
    assert (admitted.state, admitted.record_id) == (memory_pb2.RECORD_STATE_REJECTED, "")


def test_no_more_hits_than_wanted(served: Served) -> None:
    for number in range(3):
        _write(served, observation(f"Statement {number}."))
    assert len(_recall(served, AUTHORITATIVE, hits=2)) == 2
    assert len(_recall(served, EVIDENCE, hits=2)) == 2


def test_a_derivation_knows_its_ancestors(served: Served) -> None:
    ids = [_write(served, observation()).record_id]
    for number in range(2):
        request = memory_pb2.DeriveRequest(
            scope=scope(),
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=[ids[-1]],
            content=f"Summary {number}.",
            method="summary",
        )
        answer = served.memory.Derive(request, timeout=DEADLINE_SECONDS)
        ids.append(answer.admission.record_id)
    inspected = served.memory.Inspect(
        memory_pb2.InspectRequest(scope=scope(), record_id=ids[2]), timeout=DEADLINE_SECONDS
    ).record
    assert list(inspected.parent_ids) == [ids[1]]
    assert list(inspected.lineage) == [ids[1], ids[0]]


def test_an_unknown_parent_is_not_found(served: Served) -> None:
    request = memory_pb2.DeriveRequest(
        scope=scope(), kind=memory_pb2.RECORD_KIND_FACT, parent_ids=["rec_9"], content="x"
    )
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.Derive(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.NOT_FOUND


def test_a_procedure_is_active_after_its_review_under_the_same_id(served: Served) -> None:
    given = _write(served, observation("Call, then write.", kind=PROCEDURE))
    assert given.state == memory_pb2.RECORD_STATE_QUARANTINED
    assert _procedures(served) == []
    decided = _review(served, given.record_id, "promote")
    assert (decided.record_id, decided.state) == (given.record_id, memory_pb2.RECORD_STATE_ACTIVE)
    assert _procedures(served) == [given.record_id]


def test_a_rejected_procedure_stays_inactive(served: Served) -> None:
    given = _write(served, observation("Call, then write.", kind=PROCEDURE))
    decided = _review(served, given.record_id, "promote", approve=False)
    assert decided.state == memory_pb2.RECORD_STATE_REJECTED
    assert _procedures(served) == []


def test_a_quarantined_fact_is_promoted_or_purged(served: Served) -> None:
    for approve, state in (
        (True, memory_pb2.RECORD_STATE_ACTIVE),
        (False, memory_pb2.RECORD_STATE_FORGOTTEN),
    ):
        given = _write(served, observation(f"Perhaps {approve}.", binding=ASSERTED))
        assert _review(served, given.record_id, "promote", approve=approve).state == state


def test_an_excluded_record_is_released(served: Served) -> None:
    given = _write(served, observation())
    request = memory_pb2.QuarantineRequest(scope=scope(), record_id=given.record_id, reason="r")
    changed = served.memory.Quarantine(request, timeout=DEADLINE_SECONDS).record_ids
    assert list(changed) == [given.record_id]
    assert _recall(served, AUTHORITATIVE) == []
    kept = _review(served, given.record_id, "release", approve=False)
    assert kept.state == memory_pb2.RECORD_STATE_QUARANTINED
    released = _review(served, given.record_id, "release")
    assert released.state == memory_pb2.RECORD_STATE_ACTIVE


def test_a_decision_counts_once(served: Served) -> None:
    given = _write(served, observation("Call, then write.", kind=PROCEDURE))
    _review(served, given.record_id, "promote")
    with pytest.raises(grpc.RpcError) as refused:
        _review(served, given.record_id, "promote")
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_a_forgotten_record_is_gone_from_every_surface(served: Served) -> None:
    given = _write(served, observation())
    request = memory_pb2.ForgetRequest(scope=scope(), record_id=given.record_id)
    changed = served.memory.Forget(request, timeout=DEADLINE_SECONDS).record_ids
    assert list(changed) == [given.record_id]
    assert _recall(served, AUTHORITATIVE) == _recall(served, EVIDENCE) == []
    shown = served.memory.Inspect(
        memory_pb2.InspectRequest(scope=scope(), record_id=given.record_id),
        timeout=DEADLINE_SECONDS,
    ).record
    assert shown.state == memory_pb2.RECORD_STATE_FORGOTTEN


def test_a_pending_procedure_cannot_be_forgotten(served: Served) -> None:
    given = _write(served, observation("Call, then write.", kind=PROCEDURE))
    request = memory_pb2.ForgetRequest(scope=scope(), record_id=given.record_id)
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.Forget(request, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION


def test_reading_an_unknown_namespace_makes_nothing(served: Served) -> None:
    assert _recall(served, AUTHORITATIVE) == []
    assert _procedures(served) == []
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.Inspect(
            memory_pb2.InspectRequest(scope=scope(), record_id="rec_1"), timeout=DEADLINE_SECONDS
        )
    assert status_of(refused.value) is grpc.StatusCode.NOT_FOUND
    assert served.households.by_path == {}


@pytest.mark.parametrize(
    "request_",
    [
        memory_pb2.RecallRequest(scope=scope(), query=" ", max_hits=1, surface=AUTHORITATIVE),
        memory_pb2.RecallRequest(scope=scope(), query="q", max_hits=0, surface=AUTHORITATIVE),
        memory_pb2.RecallRequest(scope=scope(), query="q", max_hits=1_001, surface=EVIDENCE),
        memory_pb2.RecallRequest(scope=scope(), query="q", max_hits=1),
        memory_pb2.RecallRequest(query="q", max_hits=1, surface=AUTHORITATIVE),
    ],
)
def test_a_malformed_question_is_refused(
    served: Served, request_: memory_pb2.RecallRequest
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        served.memory.Recall(request_, timeout=DEADLINE_SECONDS)
    assert status_of(refused.value) is grpc.StatusCode.INVALID_ARGUMENT
