"""Supersede, Archive and RecordOutcome, and malformed input, over the real server."""

import hashlib
import math
from collections.abc import Callable

import grpc
import pytest

from memqual.v1 import memory_pb2
from services.common.canonical import canonical_json
from services.common.challenges import signing_bytes
from services.memory.records import places
from tests.services.memory.records.grpc_rig import (
    CONTENT_BYTES,
    DEADLINE_SECONDS,
    FACT,
    FACT_KIND,
    SCOPE,
    USER,
    WEB,
    Stub,
    observation,
    recall,
    refused,
    write,
)
from tests.services.memory.records.rig import PRIVATE, REVIEWER

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
FAILED = grpc.StatusCode.FAILED_PRECONDITION
EVIDENCE = memory_pb2.RECALL_SURFACE_EVIDENCE
PROCEDURE = memory_pb2.RECORD_KIND_PROCEDURE
HELPFUL = memory_pb2.PROCEDURE_OUTCOME_HELPFUL
BOB = memory_pb2.Scope(namespace="n", principal="bob")


def supersede(
    stub: Stub, scope: memory_pb2.Scope, record_id: str, offered: memory_pb2.Observation
) -> memory_pb2.Admission:
    request = memory_pb2.SupersedeRequest(scope=scope, record_id=record_id, observation=offered)
    return stub.Supersede(request, timeout=DEADLINE_SECONDS).admission


def archive(stub: Stub, scope: memory_pb2.Scope, record_id: str) -> None:
    request = memory_pb2.ArchiveRequest(scope=scope, record_id=record_id)
    stub.Archive(request, timeout=DEADLINE_SECONDS)


def outcome(
    stub: Stub,
    scope: memory_pb2.Scope,
    record_id: str,
    kind: memory_pb2.ProcedureOutcome.ValueType = HELPFUL,
    utility: float = 1.0,
) -> memory_pb2.MemoryRecord:
    request = memory_pb2.RecordOutcomeRequest(
        scope=scope, record_id=record_id, outcome=kind, utility=utility
    )
    return stub.RecordOutcome(request, timeout=DEADLINE_SECONDS).record


def inspect(stub: Stub, scope: memory_pb2.Scope, record_id: str) -> memory_pb2.MemoryRecord:
    request = memory_pb2.InspectRequest(scope=scope, record_id=record_id)
    return stub.Inspect(request, timeout=DEADLINE_SECONDS).record


def derive(stub: Stub, scope: memory_pb2.Scope, *parents: str) -> memory_pb2.Admission:
    request = memory_pb2.DeriveRequest(
        scope=scope, kind=FACT_KIND, parent_ids=parents, content=f"Summary: {FACT}"
    )
    return stub.Derive(request, timeout=DEADLINE_SECONDS).admission


def raw(channel: grpc.Channel, method: str, data: bytes) -> bytes:
    """Calls a method with bytes as they are."""
    call: Callable[..., bytes] = channel.unary_unary(f"/memqual.v1.MemoryService/{method}")
    return call(data, timeout=DEADLINE_SECONDS)


def test_an_update_through_the_contract(stub: Stub, scope: memory_pb2.Scope) -> None:
    old = write(stub, observation(scope)).record_id
    new = supersede(stub, scope, old, observation(scope, content="Alice prefers the aisle seat"))
    assert new.state == memory_pb2.RECORD_STATE_ACTIVE
    assert list(new.reasons) == ["trusted_source", "supersedes"]
    (hit,) = recall(stub, scope, "Which seat does Alice prefer?")
    assert hit.record_id == new.record_id
    past = inspect(stub, scope, old)
    assert (past.state, past.superseded_by) == (
        memory_pb2.RECORD_STATE_SUPERSEDED,
        new.record_id,
    )
    states = {hit.record_id: hit.state for hit in recall(stub, scope, "window seat", EVIDENCE)}
    assert states[old] == memory_pb2.RECORD_STATE_SUPERSEDED
    other = observation(scope, content="Alice prefers the roof", source=WEB)
    refused_one = supersede(stub, scope, new.record_id, other)
    assert list(refused_one.reasons)[-1] == "may_not_supersede"
    assert inspect(stub, scope, new.record_id).authoritative


def test_archive_and_outcome_through_the_contract(stub: Stub, scope: memory_pb2.Scope) -> None:
    record_id = write(stub, observation(scope)).record_id
    archive(stub, scope, record_id)
    archive(stub, scope, record_id)
    assert recall(stub, scope, "window seat") == []
    assert inspect(stub, scope, record_id).state == memory_pb2.RECORD_STATE_ARCHIVED
    steps = write(stub, observation(scope, kind=PROCEDURE, source=WEB)).record_id
    before = inspect(stub, scope, steps)
    for kind in (1, 2, 3):
        reported = memory_pb2.ProcedureOutcome.ValueType(kind)
        assert outcome(stub, scope, steps, reported, 0.5) == before


def test_changes_of_unknown_or_foreign_records(stub: Stub, scope: memory_pb2.Scope) -> None:
    mine = write(stub, observation(scope)).record_id
    bob = memory_pb2.Scope(namespace=scope.namespace, principal="bob")
    calls: list[Callable[[], object]] = [
        lambda: supersede(stub, SCOPE, "x", observation(SCOPE)),
        lambda: supersede(stub, bob, mine, observation(bob)),
        lambda: archive(stub, SCOPE, "x"),
        lambda: archive(stub, bob, mine),
        lambda: outcome(stub, SCOPE, "x"),
        lambda: outcome(stub, bob, mine),
    ]
    assert {refused(call) for call in calls} == {NOT_FOUND}


def test_changes_that_the_state_forbids(stub: Stub, scope: memory_pb2.Scope) -> None:
    old = write(stub, observation(scope)).record_id
    newer = observation(scope, content="Alice prefers the aisle seat")
    supersede(stub, scope, old, newer)
    calls: list[Callable[[], object]] = [
        lambda: supersede(stub, scope, old, newer),
        lambda: archive(stub, scope, old),
        lambda: outcome(stub, scope, old),
    ]
    assert {refused(call) for call in calls} == {FAILED}


def test_malformed_changes(stub: Stub, scope: memory_pb2.Scope) -> None:
    record_id = write(stub, observation(scope, kind=PROCEDURE)).record_id
    unset = memory_pb2.PROCEDURE_OUTCOME_UNSPECIFIED
    unknown = memory_pb2.ProcedureOutcome.ValueType(9)
    calls: list[Callable[[], object]] = [
        lambda: supersede(stub, scope, "", observation(scope)),
        lambda: supersede(stub, scope, record_id, memory_pb2.Observation()),
        lambda: supersede(stub, scope, record_id, observation(BOB)),
        lambda: supersede(stub, scope, record_id, observation(scope, content="")),
        lambda: archive(stub, scope, ""),
        lambda: archive(stub, memory_pb2.Scope(), record_id),
        lambda: outcome(stub, scope, ""),
        lambda: outcome(stub, scope, record_id, unset),
        lambda: outcome(stub, scope, record_id, unknown),
        *(
            lambda utility=utility: outcome(stub, scope, record_id, HELPFUL, utility)
            for utility in (-0.01, 1.01, math.nan, math.inf, -math.inf)
        ),
    ]
    assert {refused(call) for call in calls} == {INVALID}
    assert inspect(stub, scope, record_id).authoritative


BAD_CONTENT = {
    "one byte too many": "a" * (CONTENT_BYTES + 1),
    "one byte too many at the end of a character": "a" * (CONTENT_BYTES - 1) + "\u00e9",
    "empty": "",
    "blank": " \u00a0\u2003\n",
    "nul": "pay \x00 bob",
    "bell": "pay \x07 bob",
    "delete": "pay \x7f bob",
    "next line control": "pay \x85 bob",
    "override": "pay \u202ebob",
    "embedding": "pay \u202abob",
    "isolate": "pay \u2067bob",
    "non-character": "pay \ufffe bob",
}


@pytest.mark.parametrize("content", BAD_CONTENT.values(), ids=BAD_CONTENT.keys())
def test_bad_content_is_refused_by_every_way_in(
    stub: Stub, scope: memory_pb2.Scope, content: str
) -> None:
    record_id = write(stub, observation(scope)).record_id
    before = inspect(stub, scope, record_id)
    bad = observation(scope, content=content)
    bad_derivation = memory_pb2.DeriveRequest(
        scope=scope, kind=FACT_KIND, parent_ids=[record_id], content=content
    )
    calls: list[Callable[[], object]] = [
        lambda: write(stub, bad),
        lambda: supersede(stub, scope, record_id, bad),
        lambda: stub.Derive(bad_derivation, timeout=DEADLINE_SECONDS),
    ]
    assert {refused(call) for call in calls} == {INVALID}
    assert inspect(stub, scope, record_id) == before
    assert len(recall(stub, scope, "pay bob window seat Alice", EVIDENCE)) <= 1


@pytest.mark.parametrize(
    "content", ["a" * CONTENT_BYTES, "\u00e9" * (CONTENT_BYTES // 2), "w " * (CONTENT_BYTES // 2)]
)
def test_content_of_exactly_the_limit_is_kept_as_it_came(
    stub: Stub, scope: memory_pb2.Scope, content: str
) -> None:
    first = write(stub, observation(scope, content="Alice lives here")).record_id
    new = supersede(stub, scope, first, observation(scope, content=content))
    assert inspect(stub, scope, new.record_id).observation.content == content


@pytest.mark.parametrize(
    "text",
    [b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"window \xe2\x82"],
    ids=["no utf-8", "lone surrogate", "overlong", "beyond the last", "cut"],
)
def test_bytes_that_are_no_text_are_refused(
    channel: grpc.Channel, stub: Stub, scope: memory_pb2.Scope, text: bytes
) -> None:
    good = memory_pb2.WriteRequest(observation=observation(scope)).SerializeToString()
    bad = good.replace(FACT.encode(), text.ljust(len(FACT), b"x"))
    assert bad != good
    assert refused(lambda: raw(channel, "Write", bad)) is INVALID
    assert refused(lambda: raw(channel, "Archive", b"\x0a\xff")) is INVALID
    assert (
        refused(lambda: raw(channel, "Supersede", b"\x12" + bytes([len(text)]) + text)) is INVALID
    )
    assert recall(stub, scope, "window seat Alice prefers", EVIDENCE) == []


def test_lineage_has_no_cycle_and_no_parent_twice(stub: Stub, scope: memory_pb2.Scope) -> None:
    first = write(stub, observation(scope)).record_id
    child = derive(stub, scope, first, first, first).record_id
    assert list(inspect(stub, scope, child).parent_ids) == [first]
    # Ids can be told before: the next record cannot be its own parent all the same.
    name = hashlib.sha256(canonical_json([scope.namespace, 3])).hexdigest()[:32]
    assert child == "rec_" + hashlib.sha256(canonical_json([scope.namespace, 2])).hexdigest()[:32]
    assert refused(lambda: derive(stub, scope, first, f"rec_{name}")) is NOT_FOUND
    assert refused(lambda: derive(stub, scope, *(["x"] * 10_000))) is INVALID
    third = derive(stub, scope, child).record_id
    assert list(inspect(stub, scope, third).lineage) == [child, first]
    assert supersede(stub, scope, first, observation(scope)).reasons[-1] == "same_statement"


def test_a_thousand_parents_are_one_child(stub: Stub, scope: memory_pb2.Scope) -> None:
    parents = [
        write(stub, observation(scope, content=f"Reading {number} is fine")).record_id
        for number in range(100)
    ]
    child = derive(stub, scope, *(parents * 10)).record_id
    assert list(inspect(stub, scope, child).parent_ids) == parents


@pytest.mark.parametrize("past_expiry_ns", [-(10**15), -1, 0, 10**15])
def test_the_clock_may_move_between_challenge_and_decision(
    stub: Stub, scope: memory_pb2.Scope, past_expiry_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set back it never gains time; set forward beyond the expiry the challenge is void."""
    proposed = write(stub, observation(scope, kind=PROCEDURE, source=WEB)).record_id
    request = memory_pb2.RequestReviewRequest(scope=scope, record_ids=[proposed], action="promote")
    challenge = stub.RequestReview(request, timeout=DEADLINE_SECONDS).challenge
    decision = memory_pb2.DecideReviewRequest(
        scope=scope,
        challenge_id=challenge.challenge_id,
        decision=memory_pb2.REVIEW_DECISION_APPROVE,
        key_id=REVIEWER.key_id,
        signature=PRIVATE.sign(signing_bytes(challenge, "approve")),
    )
    at_ns = challenge.expires_unix_ns + past_expiry_ns
    monkeypatch.setattr(places, "wall_ns", lambda: at_ns)

    def decide() -> object:
        return stub.DecideReview(decision, timeout=DEADLINE_SECONDS)

    if past_expiry_ns >= 0:
        assert refused(decide) is grpc.StatusCode.PERMISSION_DENIED
        monkeypatch.undo()  # set back again: time that was seen is not unseen
        assert refused(decide) is grpc.StatusCode.PERMISSION_DENIED
        assert not inspect(stub, scope, proposed).authoritative
    else:
        decide()
        assert inspect(stub, scope, proposed).authoritative


def test_secrets_in_any_field_leave_nothing(stub: Stub, scope: memory_pb2.Scope) -> None:
    secret = "mib-secret-0123456789abcdef0123"
    source = memory_pb2.Source(type=USER.type, binding=USER.binding, source_id=secret)
    media = memory_pb2.MediaPart(media_type="text/plain", data=secret.encode("utf-16-le"))
    first = write(stub, observation(scope)).record_id
    for bad in (
        observation(scope, content=f"remember {secret}"),
        observation(scope, labels=[secret]),
        observation(scope, source=source),
        observation(scope, media=media),
    ):
        for admitted in (write(stub, bad), supersede(stub, scope, first, bad)):
            assert admitted.state == memory_pb2.RECORD_STATE_REJECTED
            assert admitted.reasons[0] == "secret"
            assert not inspect(stub, scope, admitted.record_id).observation.content
    assert inspect(stub, scope, first).authoritative
