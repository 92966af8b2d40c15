"""The memory's clock from marks and from Now calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import vendor_pb2
from orchestrator.oracle.clockmap import (
    ClockMap,
    ClockReading,
    ClockSegment,
    readings_from_trace,
)
from orchestrator.oracle.errors import ViewError
from orchestrator.oracle.zone import UNBOUNDED
from tests.orchestrator.oracle.tracing import MILLISECOND, SECOND, WALL_OFFSET, Trace, now_response

WALL = vendor_pb2.LEASE_CLOCK_WALL
MONOTONIC = vendor_pb2.LEASE_CLOCK_MONOTONIC


def test_readings_that_agree_make_one_segment() -> None:
    readings = [ClockReading(0, 2, 101), ClockReading(10, 14, 112)]
    assert ClockMap.from_readings(readings).segments == (
        ClockSegment(-UNBOUNDED, UNBOUNDED, 99, 101),
    )


def test_a_late_answer_does_not_loosen_what_another_reading_says() -> None:
    slow = ClockReading(0, 1_000_000, 500_000)
    quick = ClockReading(2_000_000, 2_000_002, 2_000_001)
    (segment,) = ClockMap.from_readings([slow, quick]).segments
    assert (segment.low_ns, segment.high_ns) == (-1_001, 1_001)


def test_readings_that_agree_by_slewing_alone_bound_the_offset_between_them() -> None:
    readings = [ClockReading(0, 0, 0), ClockReading(1_000, 1_000, 1_003_000)]
    (segment,) = ClockMap.from_readings(readings).segments
    assert (segment.low_ns, segment.high_ns) == (0, 1_002_000)


def test_a_jump_makes_two_segments_that_overlap_between_the_readings() -> None:
    readings = [ClockReading(0, 2, 1), ClockReading(SECOND, SECOND + 4, 9 * SECOND)]
    assert ClockMap.from_readings(readings).segments == (
        ClockSegment(-UNBOUNDED, SECOND + 3, -1, 1),
        ClockSegment(1, UNBOUNDED, 8 * SECOND - 4, 8 * SECOND),
    )


def test_readings_may_come_in_any_order() -> None:
    readings = [ClockReading(SECOND, SECOND + 4, 9 * SECOND), ClockReading(0, 2, 1)]
    assert ClockMap.from_readings(readings) == ClockMap.from_readings(reversed(readings))


def test_three_segments_keep_their_order() -> None:
    readings = [
        ClockReading(0, 0, 0),
        ClockReading(SECOND, SECOND, 5 * SECOND),
        ClockReading(2 * SECOND, 2 * SECOND, 2 * SECOND),
    ]
    clock = ClockMap.from_readings(readings)
    assert [segment.low_ns for segment in clock.segments] == [0, 4 * SECOND, 0]
    assert clock.jumps_back


def test_a_clock_that_only_jumps_forward_does_not_jump_back() -> None:
    readings = [ClockReading(0, 0, 0), ClockReading(SECOND, SECOND, 5 * SECOND)]
    assert not ClockMap.from_readings(readings).jumps_back


def test_slewing_is_no_jump() -> None:
    readings = [ClockReading(0, 0, 0), ClockReading(100 * SECOND, 100 * SECOND, 100_040_000_000)]
    assert len(ClockMap.from_readings(readings).segments) == 1


def test_no_reading_is_no_map() -> None:
    with pytest.raises(ViewError, match="never read"):
        ClockMap.from_readings([])


def test_a_reading_cannot_be_answered_before_it_was_asked() -> None:
    with pytest.raises(ViewError, match="before it was asked"):
        ClockMap.from_readings([ClockReading(2, 1, 0)])


@given(
    st.integers(-(10**18), 10**18),
    st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**7)), min_size=1, max_size=6),
    st.data(),
)
def test_the_true_offset_is_always_within_the_bounds(
    offset: int, times: list[tuple[int, int]], data: st.DataObject
) -> None:
    readings = []
    for asked, took in times:
        at = data.draw(st.integers(asked, asked + took))
        readings.append(ClockReading(asked, asked + took, at + offset))
    segments = ClockMap.from_readings(readings).segments
    assert len(segments) == 1
    assert segments[0].low_ns <= offset <= segments[0].high_ns


def test_marks_are_read_on_the_declared_clock() -> None:
    trace = Trace(now=0)
    trace.mark_clock(took=2)
    assert readings_from_trace(trace.records, WALL) == (ClockReading(0, 2, WALL_OFFSET + 1),)
    assert readings_from_trace(trace.records, MONOTONIC) == (ClockReading(0, 2, 1),)


def test_marks_of_other_kinds_and_services_are_passed_over() -> None:
    trace = Trace()
    trace.put("MARK", mark_json=json.dumps({"kind": "injection", "step": "killed"}))
    trace.put("MARK", mark_json=json.dumps({"kind": "memory_clock", "service": "destination"}))
    assert readings_from_trace(trace.records, WALL) == ()


@pytest.mark.parametrize(
    "text", ["no json", json.dumps({"kind": "memory_clock", "service": "memory"})]
)
def test_a_mark_that_cannot_be_read_is_an_error(text: str) -> None:
    trace = Trace()
    trace.put("MARK", mark_json=text)
    with pytest.raises(ViewError, match="no readable mark"):
        readings_from_trace(trace.records, WALL)


def test_without_marks_the_now_calls_are_read() -> None:
    trace = Trace(now=0)
    method = "/memqual.v1.VendorService/Now"
    request = vendor_pb2.NowRequest()
    trace.called(method, request, now_response(50, 60), source="orchestrator")
    trace.called(method, request, None, status=14, source="orchestrator")
    trace.called(method, request, now_response(1, 2), source="orchestrator", target="destination")
    assert readings_from_trace(trace.records, WALL) == (ClockReading(0, 2 * MILLISECOND, 50),)
    assert readings_from_trace(trace.records, MONOTONIC) == (ClockReading(0, 2 * MILLISECOND, 60),)
