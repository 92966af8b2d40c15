import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from memqual.v1 import memory_pb2
from services.common.challenges import signing_bytes
from services.memory.records import servicer
from tests.services.memory.records.grpc_rig import (
    APPROVE,
    CONTENT_BYTES,
    DEADLINE_SECONDS,
    FACT,
    FACT_KIND,
    SCOPE,
    WEB,
    Stub,
    observation,
    recall,
    refused,
    write,
)
from tests.services.memory.records.rig import PRIVATE, REVIEWER


def test_the_life_of_a_record(stub: Stub, scope: memory_pb2.Scope) -> None:
    admitted = write(
        stub,
        observation(
            scope,
            labels=["travel"],
            event_unix_ns=7,
            media=memory_pb2.MediaPart(media_type="image/png", data=b"\x89PNG"),
        ),
    )
    assert admitted.state == memory_pb2.RECORD_STATE_ACTIVE
    assert admitted.trust == memory_pb2.TRUST_TRUSTED
    (hit,) = recall(stub, scope, "Which seat does Alice prefer?")
    assert (hit.record_id, hit.content, hit.authoritative) == (admitted.record_id, FACT, True)
    assert hit.state == memory_pb2.RECORD_STATE_ACTIVE
    inspect = memory_pb2.InspectRequest(scope=scope, record_id=admitted.record_id)
    record = stub.Inspect(inspect, timeout=DEADLINE_SECONDS).record
    assert record.observation == observation(
        scope,
        labels=["travel"],
        event_unix_ns=7,
        media=memory_pb2.MediaPart(media_type="image/png", data=b"\x89PNG"),
    )
    derived = stub.Derive(
        memory_pb2.DeriveRequest(
            scope=scope,
            kind=FACT_KIND,
            parent_ids=[admitted.record_id],
            content=f"Summary: {FACT}",
            method="summary",
        ),
        timeout=DEADLINE_SECONDS,
    ).admission
    child = stub.Inspect(
        memory_pb2.InspectRequest(scope=scope, record_id=derived.record_id),
        timeout=DEADLINE_SECONDS,
    ).record
    assert list(child.lineage) == [admitted.record_id]
    assert not child.observation.HasField("source")
    changed = stub.Quarantine(
        memory_pb2.QuarantineRequest(scope=scope, record_id=admitted.record_id, reason="test"),
        timeout=DEADLINE_SECONDS,
    ).record_ids
    assert list(changed) == [admitted.record_id, derived.record_id]
    assert recall(stub, scope, "window seat") == []
    forgotten = stub.Forget(
        memory_pb2.ForgetRequest(scope=scope, record_id=admitted.record_id),
        timeout=DEADLINE_SECONDS,
    ).record_ids
    assert list(forgotten) == [admitted.record_id, derived.record_id]
    assert recall(stub, scope, "window seat", memory_pb2.RECALL_SURFACE_EVIDENCE) == []
    tombstone = stub.Inspect(inspect, timeout=DEADLINE_SECONDS).record
    assert tombstone.state == memory_pb2.RECORD_STATE_FORGOTTEN
    assert (tombstone.observation.content, tombstone.content_digest) == ("", "")


def test_a_review_through_the_contract(stub: Stub, scope: memory_pb2.Scope) -> None:
    proposed = write(
        stub,
        observation(scope, kind=memory_pb2.RECORD_KIND_PROCEDURE, source=WEB, labels=["admin"]),
    )
    assert proposed.state == memory_pb2.RECORD_STATE_QUARANTINED
    listing = memory_pb2.ListProceduresRequest(scope=scope)
    assert not stub.ListProcedures(listing, timeout=DEADLINE_SECONDS).procedures
    challenge = stub.RequestReview(
        memory_pb2.RequestReviewRequest(
            scope=scope, record_ids=[proposed.record_id], action="promote"
        ),
        timeout=DEADLINE_SECONDS,
    ).challenge
    decision = memory_pb2.DecideReviewRequest(
        scope=scope,
        challenge_id=challenge.challenge_id,
        decision=APPROVE,
        key_id=REVIEWER.key_id,
        signature=b"label: reviewer",
    )
    assert (
        refused(lambda: stub.DecideReview(decision, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.PERMISSION_DENIED
    )
    decision.signature = PRIVATE.sign(signing_bytes(challenge, "approve"))
    (record,) = stub.DecideReview(decision, timeout=DEADLINE_SECONDS).records
    assert record.trust == memory_pb2.TRUST_REVIEWED
    (listed,) = stub.ListProcedures(listing, timeout=DEADLINE_SECONDS).procedures
    assert listed == record
    assert (
        refused(lambda: stub.DecideReview(decision, timeout=DEADLINE_SECONDS))
        is grpc.StatusCode.PERMISSION_DENIED
    )


BAD_OBSERVATIONS = {
    "empty content": {"content": ""},
    "blank content": {"content": " \n\t "},
    "content over the limit": {"content": "a" * (CONTENT_BYTES + 1)},
    "characters over the limit in bytes": {"content": "\u00e9" * (CONTENT_BYTES // 2 + 1)},
    "control character": {"content": "pay\x00bob"},
    "escape sequence": {"content": "pay \x1b[31mbob"},
    "text turned around": {"content": "pay \u202ebob"},
    "isolate": {"content": "pay \u2066bob"},
    "non-character": {"content": "pay \uffff bob"},
    "no kind": {"kind": memory_pb2.RECORD_KIND_UNSPECIFIED},
    "unknown kind": {"kind": 99},
    "no source": {"source": memory_pb2.Source()},
    "no binding": {"source": memory_pb2.Source(type=memory_pb2.SOURCE_TYPE_USER)},
    "source id too long": {
        "source": memory_pb2.Source(
            type=memory_pb2.SOURCE_TYPE_USER,
            binding=memory_pb2.SOURCE_BINDING_VERIFIED,
            source_id="s" * 129,
        ),
    },
    "label too long": {"labels": ["l" * 129]},
    "label with a line end": {"labels": ["a\nb"]},
    "too many labels": {"labels": ["l"] * 33},
    "negative time": {"event_unix_ns": -1},
    "empty media": {"media": memory_pb2.MediaPart(media_type="image/png")},
    "media without a type": {"media": memory_pb2.MediaPart(data=b"x")},
    "media over the limit": {
        "media": memory_pb2.MediaPart(media_type="image/png", data=b"x" * (CONTENT_BYTES + 1))
    },
}
BAD_SCOPES = {
    "nothing": memory_pb2.Scope(),
    "no namespace": memory_pb2.Scope(principal="alice"),
    "no principal": memory_pb2.Scope(namespace="n"),
    "long namespace": memory_pb2.Scope(namespace="n" * 129, principal="alice"),
    "long purpose": memory_pb2.Scope(namespace="n", principal="alice", purpose="p" * 129),
    "control in principal": memory_pb2.Scope(namespace="n", principal="ali\x07ce"),
    "tab in agent": memory_pb2.Scope(namespace="n", principal="alice", agent="a\tb"),
}


@pytest.mark.parametrize("changes", BAD_OBSERVATIONS.values(), ids=BAD_OBSERVATIONS.keys())
def test_a_malformed_observation_changes_nothing(
    stub: Stub, scope: memory_pb2.Scope, changes: dict[str, Any]
) -> None:
    offered = observation(scope, **changes)
    assert refused(lambda: write(stub, offered)) is grpc.StatusCode.INVALID_ARGUMENT
    evidence = memory_pb2.RECALL_SURFACE_EVIDENCE
    assert recall(stub, scope, "pay bob window seat", evidence) == []


@pytest.mark.parametrize("bad", BAD_SCOPES.values(), ids=BAD_SCOPES.keys())
def test_a_malformed_scope_is_refused_everywhere(stub: Stub, bad: memory_pb2.Scope) -> None:
    calls: list[Callable[[], object]] = [
        lambda: write(stub, observation(bad)),
        lambda: recall(stub, bad, "window"),
        lambda: stub.Derive(
            memory_pb2.DeriveRequest(scope=bad, kind=FACT_KIND, parent_ids=["x"], content=FACT),
            timeout=5,
        ),
        lambda: stub.Inspect(memory_pb2.InspectRequest(scope=bad, record_id="x"), timeout=5),
        lambda: stub.ListProcedures(memory_pb2.ListProceduresRequest(scope=bad), timeout=5),
        lambda: stub.Quarantine(memory_pb2.QuarantineRequest(scope=bad, record_id="x"), timeout=5),
        lambda: stub.Forget(memory_pb2.ForgetRequest(scope=bad, record_id="x"), timeout=5),
        lambda: stub.RequestReview(
            memory_pb2.RequestReviewRequest(scope=bad, record_ids=["x"], action="promote"),
            timeout=5,
        ),
        lambda: stub.DecideReview(
            memory_pb2.DecideReviewRequest(scope=bad, challenge_id="x", decision=APPROVE),
            timeout=5,
        ),
    ]
    assert {refused(call) for call in calls} == {grpc.StatusCode.INVALID_ARGUMENT}


def test_malformed_arguments_are_refused(stub: Stub) -> None:
    def derive(count: int) -> object:
        request = memory_pb2.DeriveRequest(
            scope=SCOPE,
            kind=FACT_KIND,
            parent_ids=[f"rec_{n}" for n in range(count)],
            content=FACT,
        )
        return stub.Derive(request, timeout=DEADLINE_SECONDS)

    def review(action: str, *ids: str) -> object:
        request = memory_pb2.RequestReviewRequest(scope=SCOPE, record_ids=ids, action=action)
        return stub.RequestReview(request, timeout=DEADLINE_SECONDS)

    authoritative = memory_pb2.RECALL_SURFACE_AUTHORITATIVE
    calls: list[Callable[[], object]] = [
        lambda: derive(0),
        lambda: derive(1_001),
        lambda: derive(10_000),
        lambda: recall(stub, SCOPE, ""),
        lambda: recall(stub, SCOPE, "  "),
        lambda: recall(stub, SCOPE, "q" * 4_097),
        lambda: recall(stub, SCOPE, "q\x00"),
        lambda: recall(stub, SCOPE, "q", memory_pb2.RECALL_SURFACE_UNSPECIFIED),
        lambda: recall(stub, SCOPE, "q", authoritative, 0),
        lambda: recall(stub, SCOPE, "q", authoritative, 1_001),
        lambda: review("promote"),
        lambda: review("grant", "rec_1"),
        lambda: review("promote", "rec_1", "rec_1"),
        lambda: review("promote", *(f"rec_{n}" for n in range(101))),
        lambda: stub.DecideReview(
            memory_pb2.DecideReviewRequest(scope=SCOPE, challenge_id="x"), timeout=5
        ),
        lambda: stub.Inspect(memory_pb2.InspectRequest(scope=SCOPE), timeout=5),
        lambda: stub.Quarantine(
            memory_pb2.QuarantineRequest(scope=SCOPE, record_id="x", reason="some free text"),
            timeout=5,
        ),
    ]
    assert {refused(call) for call in calls} == {grpc.StatusCode.INVALID_ARGUMENT}


def test_unknown_records_are_not_found(stub: Stub) -> None:
    calls: list[Callable[[], object]] = [
        lambda: stub.Inspect(memory_pb2.InspectRequest(scope=SCOPE, record_id="x"), timeout=5),
        lambda: stub.Quarantine(
            memory_pb2.QuarantineRequest(scope=SCOPE, record_id="x"), timeout=5
        ),
        lambda: stub.Forget(memory_pb2.ForgetRequest(scope=SCOPE, record_id="x"), timeout=5),
        lambda: stub.Derive(
            memory_pb2.DeriveRequest(scope=SCOPE, kind=FACT_KIND, parent_ids=["x"], content=FACT),
            timeout=5,
        ),
        lambda: stub.RequestReview(
            memory_pb2.RequestReviewRequest(scope=SCOPE, record_ids=["x"], action="promote"),
            timeout=5,
        ),
    ]
    assert {refused(call) for call in calls} == {grpc.StatusCode.NOT_FOUND}


@pytest.mark.parametrize(
    "content",
    [
        "a" * CONTENT_BYTES,
        "w\u0456nd\u043ew seat for \u0391lice",
        "\u202a".join(["left"]) + "\u200f mark \u200d joiner",
        "\U0001f600 emoji only?",
        "line one\nline two\tand a tab",
    ],
    ids=["largest", "homoglyphs", "marks", "emoji", "lines"],
)
def test_unusual_content_is_stored_as_it_came(
    stub: Stub, scope: memory_pb2.Scope, content: str
) -> None:
    admitted = write(stub, observation(scope, content=content))
    inspect = memory_pb2.InspectRequest(scope=scope, record_id=admitted.record_id)
    record = stub.Inspect(inspect, timeout=DEADLINE_SECONDS).record
    assert record.observation.content == content


def test_answers_fit_into_a_message(
    stub: Stub, scope: memory_pb2.Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        write(stub, observation(scope, content=f"window seat {number}"))
        procedure = memory_pb2.RECORD_KIND_PROCEDURE
        write(stub, observation(scope, content=f"valve {number}", kind=procedure))
    (largest, *_) = recall(stub, scope, "window seat", max_hits=1)
    monkeypatch.setattr(servicer, "ANSWER_BYTES", 5 * largest.ByteSize())
    assert len(recall(stub, scope, "window seat", max_hits=1_000)) == 5
    listing = memory_pb2.ListProceduresRequest(scope=scope)
    procedures = stub.ListProcedures(listing, timeout=DEADLINE_SECONDS).procedures
    assert 0 < len(procedures) < 8


def test_many_words_do_not_stall_the_store(stub: Stub, scope: memory_pb2.Scope) -> None:
    # The largest content with the most words there can be: bounded work, an answer in time.
    content = " ".join(f"w{number:x}" for number in range(11_000))[:CONTENT_BYTES]
    write(stub, observation(scope, content=content, source=WEB))
    started = time.monotonic()
    again = write(stub, observation(scope, content=content[::-1]))
    assert again.record_id
    assert time.monotonic() - started < DEADLINE_SECONDS
