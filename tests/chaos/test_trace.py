"""The trace: order, digests, bounds, marks, following."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.errors import InterposerError, NotInTime, TraceLost
from chaos.interposer.limits import TRACE_PAYLOAD_BYTES_MAX, TRACE_RECORD_BYTES
from chaos.interposer.trace import TraceGap, TraceRing
from memqual.v1 import interposer_pb2 as pb
from tests.chaos.harness import WAIT_SECONDS, Rig


def test_records_of_a_call_have_payload_digest_and_metadata(rig: Rig) -> None:
    rig.call(b"x").result()
    records = list(rig.client.trace())
    assert [record.sequence for record in records] == [1, 2, 3, 4]
    assert {record.call_id for record in records} == {1}
    assert {record.method for record in records} == {"/memqual.v1.ContinuityService/Begin"}
    assert [record.phase.value for record in records] == [
        "REQUEST",
        "REQUEST",
        "RESPONSE",
        "RESPONSE",
    ]
    assert [record.payload for record in records] == [b"x", b"", b"answer to x", b""]
    assert [record.payload_digest for record in records] == [
        hashlib.sha256(b"x").hexdigest(),
        "",
        hashlib.sha256(b"answer to x").hexdigest(),
        "",
    ]
    assert records[0].metadata == {
        "memqual-run": "r1",
        "memqual-workflow": "w1",
        "memqual-operation": "op-w1",
        "memqual-attempt": "1",
    }
    times = [record.monotonic_ns for record in records]
    assert times == sorted(times)


def test_mark_and_reading_from_a_sequence(rig: Rig) -> None:
    first = rig.client.mark({"step": "frozen", "b": 1})
    second = rig.client.mark({"step": "killed"})
    assert (first.sequence, second.sequence) == (1, 2)
    assert first.monotonic_ns < second.monotonic_ns
    records = list(rig.client.trace())
    assert records[0].mark_json == '{"b":1,"step":"frozen"}'
    assert [record.sequence for record in rig.client.trace(2)] == [2]
    assert list(rig.client.trace(3)) == []
    statistics = rig.client.statistics()
    assert (statistics.trace_first_sequence, statistics.trace_head_sequence) == (1, 2)


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a":"' + "x" * 65_536 + '"}'])
def test_mark_must_be_a_bounded_json_object(rig: Rig, text: str) -> None:
    with pytest.raises(InterposerError, match="INVALID_ARGUMENT"):
        rig.client._call("Mark", rig.client._stub.Mark, pb.MarkRequest(mark_json=text))


def test_following_sees_what_comes_later(rig: Rig) -> None:
    rig.client.mark({"n": 0})
    seen = []
    for record in rig.client.trace(follow=True, timeout_seconds=WAIT_SECONDS):
        seen.append(json.loads(record.mark_json)["n"])
        if len(seen) == 10:
            break
        rig.client.mark({"n": len(seen)})
    assert seen == list(range(10))


def test_following_ends_with_its_time(rig: Rig) -> None:
    with pytest.raises(NotInTime):
        next(rig.client.trace(follow=True, timeout_seconds=0.1))


def test_waiting_times_are_bounded(rig: Rig) -> None:
    with pytest.raises(InterposerError, match="at most 60000"):
        rig.client.await_eof("agent", timeout_seconds=60.001)


def test_ring_gives_up_the_oldest_and_says_so() -> None:
    ring = TraceRing(records_max=3)
    for number in range(5):
        ring.add(pb.TRACE_KIND_MARK, mark_json=str(number))
    assert (ring.first_sequence, ring.head_sequence) == (3, 5)
    assert [ring.get(sequence).mark_json for sequence in (3, 4, 5)] == ["2", "3", "4"]
    with pytest.raises(TraceGap, match="begins at 3; 2 was given up"):
        ring.get(2)


def test_trace_that_was_given_up_is_an_error(rig: Rig) -> None:
    rig.running._state.trace._records_max = 2
    for number in range(4):
        rig.client.mark({"n": number})
    with pytest.raises(TraceLost, match="begins at 3"):
        list(rig.client.trace())
    assert [record.sequence for record in rig.client.trace(3)] == [3, 4]


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=3_000)), max_size=60),
    st.integers(1, 20),
    st.integers(1_000, 20_000),
)
def test_ring_keeps_the_longest_tail_within_both_bounds(
    payloads: list[bytes | None], records_max: int, bytes_max: int
) -> None:
    ring = TraceRing(records_max=records_max, bytes_max=bytes_max)
    for payload in payloads:
        ring.add(pb.TRACE_KIND_REQUEST_RECEIVED, payload=payload)
    kept: list[bytes | None] = []
    for payload in reversed(payloads):
        candidate = [payload, *kept]
        cost = sum(TRACE_RECORD_BYTES + len(one or b"") for one in candidate)
        if len(candidate) > records_max or cost > bytes_max:
            break
        kept = candidate
    assert ring.head_sequence == len(payloads)
    assert ring.first_sequence == len(payloads) - len(kept) + 1
    found = [
        ring.get(sequence).payload
        for sequence in range(ring.first_sequence, ring.head_sequence + 1)
    ]
    assert found == kept


def test_long_payload_is_cut_and_its_digest_is_of_the_whole() -> None:
    whole = b"a" * (TRACE_PAYLOAD_BYTES_MAX + 1)
    record = TraceRing().add(pb.TRACE_KIND_REQUEST_RECEIVED, payload=whole).to_proto()
    assert len(record.payload) == TRACE_PAYLOAD_BYTES_MAX
    assert record.payload_digest == hashlib.sha256(whole).hexdigest()
