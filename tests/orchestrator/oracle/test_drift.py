"""A clock that drifts: every offset that it takes is within the map, and leases follow it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import vendor_pb2
from orchestrator.oracle.clockmap import (
    DRIFT_BEGAN,
    DRIFT_MARK,
    ClockMap,
    ClockReading,
    readings_from_trace,
)
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import CallJudgement, Classification
from orchestrator.oracle.messages import (
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Spec,
)
from orchestrator.oracle.view import Call, OperationView
from tests.orchestrator.oracle.tracing import SECOND, Trace

WALL = vendor_pb2.LEASE_CLOCK_WALL
MONOTONIC = vendor_pb2.LEASE_CLOCK_MONOTONIC
LEASE = DeclaredMemory().lease_ns
PLAIN = Spec("core", "rest", Capability.NONE, "arguments", False, 0)
WAIT = DecisionTold(DecisionKind.WAIT, "live", remaining_ms=1_000)
CONFIRM = DecisionTold(DecisionKind.CONFIRM, "expired")


def drifting(rate: float, *at_ns: int) -> list[ClockReading]:
    """Readings of a clock that drifts from the first of these instants to the last."""
    origin = at_ns[0]
    return [
        ClockReading(at, at, origin + round((at - origin) * rate), drifts=at != at_ns[-1])
        for at in at_ns
    ]


@given(
    st.floats(0.01, 100.0),
    st.lists(st.integers(1, 10**10), min_size=1, max_size=5),
    st.floats(0, 1),
)
def test_every_offset_on_the_way_is_within_a_segment_of_its_time(
    rate: float, gaps: list[int], part: float
) -> None:
    times = [0]
    for gap in gaps:
        times.append(times[-1] + gap)
    clock = ClockMap.from_readings(drifting(rate, *times))
    at = round(times[-1] * part)
    offset = round(at * rate) - at
    assert any(
        one.first_ns <= at <= one.last_ns and one.low_ns - 1 <= offset <= one.high_ns + 1
        for one in clock.segments
    )


def test_what_was_before_a_drift_ends_with_it_and_what_is_after_does_not_begin_before() -> None:
    clock = ClockMap.from_readings(drifting(3.0, 10 * SECOND, 12 * SECOND))
    before, way, after = clock.segments
    assert (before.last_ns, after.first_ns) == (10 * SECOND, 12 * SECOND)
    assert (way.low_ns, way.high_ns, way.peak_ns) == (0, 4 * SECOND, None)


def test_marks_tell_which_readings_a_drift_follows() -> None:
    trace = Trace()
    trace.mark_clock()
    for step in (DRIFT_BEGAN, "ended"):
        text = json.dumps({"kind": DRIFT_MARK, "service": "memory", "step": step})
        trace.put("MARK", mark_json=text)
        trace.mark_clock()
    readings = readings_from_trace(trace.records, WALL)
    assert [one.drifts for one in readings] == [True, True, False]
    assert not any(one.drifts for one in readings_from_trace(trace.records, MONOTONIC))


def asked(at_ns: int, answer: Answer, clock: ClockMap) -> CallJudgement:
    """The judgement of a second life's Begin after a grant at 0."""
    grant = DecisionTold(
        DecisionKind.EXECUTE, "first", attempt=1, token="t", remaining_ms=LEASE // 10**6
    )
    calls = (
        Call(1, 1, "agent", BeginAsked(PLAIN, "life-1", "b1"), grant, 0, 1),
        Call(2, 2, "agent", BeginAsked(PLAIN, "life-2", "b2"), answer, at_ns, at_ns + 1),
    )
    return judge_operation(OperationView("one", calls), clock, DeclaredMemory()).calls[-1]


@pytest.mark.parametrize(("answer", "allowed"), [(WAIT, False), (CONFIRM, True)])
def test_a_fast_clock_ends_a_lease_sooner(answer: Answer, allowed: bool) -> None:
    clock = ClockMap.from_readings(drifting(40.0, SECOND, 5 * SECOND, 6 * SECOND))
    judged = asked(5 * SECOND + 1, answer, clock)
    assert judged.violates is not allowed


@pytest.mark.parametrize(("answer", "allowed"), [(WAIT, True), (CONFIRM, False)])
def test_a_slow_clock_keeps_a_lease_alive(answer: Answer, allowed: bool) -> None:
    # By a clock that kept its pace the lease would be over.
    clock = ClockMap.from_readings(drifting(0.5, SECOND, 150 * SECOND, 151 * SECOND))
    judged = asked(150 * SECOND + 1, answer, clock)
    assert judged.violates is not allowed
    if allowed:
        assert judged.classification is Classification.OK
