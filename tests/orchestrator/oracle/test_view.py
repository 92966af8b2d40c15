"""What the interposer's trace shows of the memory's edge becomes calls, and nothing else does."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.errors import ViewError
from orchestrator.oracle.messages import (
    BeginAsked,
    DecisionKind,
    DecisionTold,
    Malformed,
    OperatorWord,
    Refused,
    ResolveAsked,
    Unanswered,
)
from orchestrator.oracle.view import PATIENCE_NS, Call, Outage, build_views
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    MILLISECOND,
    SECOND,
    Trace,
    begin,
    confirm,
    spec,
    wait,
)

BEGIN = CONTINUITY + "Begin"
UNAVAILABLE, DEADLINE_EXCEEDED, INTERNAL, NOT_FOUND = 14, 4, 13, 5
RESOURCE_EXHAUSTED = 8


def only_call(trace: Trace, *outages: Outage) -> Call:
    (view,) = build_views(trace.records, outages)
    (call,) = view.calls
    return call


def test_an_answered_call() -> None:
    trace = Trace(now=100)
    trace.called(BEGIN, begin(), confirm(), source="standby")
    call = only_call(trace)
    assert isinstance(call.request, BeginAsked)
    assert call.answer == DecisionTold(DecisionKind.CONFIRM, "expired")
    assert (call.source, call.forwarded_ns, call.last_ns) == ("standby", 100, 100 + 2 * MILLISECOND)
    assert call.answered


def test_operations_are_kept_apart_in_order_of_first_sight() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(spec("two")), confirm())
    trace.called(BEGIN, begin(spec("one")), confirm())
    trace.called(BEGIN, begin(spec("two"), begin_id="b2"), wait())
    views = build_views(trace.records)
    assert [(view.operation_id, len(view.calls)) for view in views] == [("two", 2), ("one", 1)]


def test_a_request_that_was_never_forwarded_is_not_in_the_view() -> None:
    trace = Trace()
    opened = trace.opened(BEGIN, begin())
    trace.on_call("HELD", opened)
    trace.on_call("DROPPED", opened)
    assert build_views(trace.records) == ()


def test_other_edges_and_services_are_not_in_the_view() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), confirm(), target="destination")
    trace.called("/memqual.v1.VendorService/Now", begin(), confirm())
    trace.called(CONTINUITY + "GetOperation", begin(), confirm())
    assert build_views(trace.records) == ()


def test_a_forwarded_request_without_an_answer_is_open_for_ever() -> None:
    trace = Trace(now=5)
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    call = only_call(trace)
    assert call.answer == Unanswered()
    assert (call.forwarded_ns, call.last_ns) == (5, None)
    assert not call.answered


def test_silence_longer_than_the_hosts_patience_is_blamed() -> None:
    trace = Trace(now=0)
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.now = PATIENCE_NS
    trace.put("MARK", mark_json="{}")
    assert only_call(trace).answer == Unanswered(blamed=True)


@pytest.mark.parametrize("status", [DEADLINE_EXCEEDED, INTERNAL, UNAVAILABLE])
def test_an_indefinite_status_of_a_healthy_memory_is_blamed(status: int) -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), None, status=status)
    call = only_call(trace)
    assert call.answer == Unanswered(status, blamed=True)
    assert call.last_ns is None


def test_a_definite_status_is_a_refusal() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), None, status=NOT_FOUND)
    assert only_call(trace).answer == Refused(NOT_FOUND)


def test_a_memory_without_room_that_is_killed_in_the_end_gave_no_answer() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), None, status=RESOURCE_EXHAUSTED)
    call = only_call(trace)
    assert call.answer == Refused(RESOURCE_EXHAUSTED)
    began_ns = call.forwarded_ns - 1
    outage = Outage(began_ns, trace.now + 1, trace.now + 2, trace.now + 3)
    call = only_call(trace, outage)
    # It may have been taken until the memory was dead, or never.
    assert call.answer == Unanswered(RESOURCE_EXHAUSTED, blamed=False)
    assert call.last_ns == outage.dead_ns


def test_an_upstream_failure_without_a_status_is_no_answer() -> None:
    trace = Trace()
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.on_call("UPSTREAM_FAILED", opened)
    assert only_call(trace).answer == Unanswered(blamed=True)


def test_unavailable_is_forgiven_where_a_repeat_was_answered() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE)
    trace.called(BEGIN, begin(), confirm())
    (view,) = build_views(trace.records)
    assert view.calls[0].answer == Unanswered(UNAVAILABLE)


def test_unavailable_is_not_forgiven_where_another_request_was_answered() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE)
    trace.called(BEGIN, begin(begin_id="b2"), confirm())
    (view,) = build_views(trace.records)
    assert view.calls[0].answer == Unanswered(UNAVAILABLE, blamed=True)


def test_a_kill_bounds_and_excuses_the_calls_before_it() -> None:
    trace = Trace(now=10)
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE)
    call = only_call(trace, Outage(began_ns=20, dead_ns=30, restarted_ns=40, healthy_ns=50))
    assert call.answer == Unanswered(UNAVAILABLE)
    assert (call.forwarded_ns, call.last_ns) == (10, 30)


def test_a_call_into_a_dead_memory_is_not_in_the_view() -> None:
    trace = Trace(now=35)
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE, took=1)
    assert build_views(trace.records, [Outage(20, 30, 40, 50)]) == ()
    assert build_views(trace.records, [Outage(20, 30)]) == ()


def test_a_call_that_outlives_the_outage_may_be_taken_after_the_restart() -> None:
    trace = Trace(now=35)
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE, took=100)
    call = only_call(trace, Outage(20, 30, 40, 50))
    assert call.answer == Unanswered(UNAVAILABLE)
    assert (call.forwarded_ns, call.last_ns) == (40, None)


def test_a_call_long_after_the_outage_is_blamed_again() -> None:
    trace = Trace(now=SECOND)
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE)
    call = only_call(trace, Outage(20, 30, 40, 50))
    assert call.answer == Unanswered(UNAVAILABLE, blamed=True)
    assert (call.forwarded_ns, call.last_ns) == (SECOND, None)


def test_the_second_kill_bounds_what_came_after_the_first() -> None:
    trace = Trace(now=60)
    trace.called(BEGIN, begin(), None, status=UNAVAILABLE)
    call = only_call(trace, Outage(70, 80, 90, 95), Outage(20, 30, 40, 50))
    assert (call.forwarded_ns, call.last_ns) == (60, 80)


def test_a_duplicate_is_two_calls_in_either_order() -> None:
    trace = Trace(now=10)
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.now = 20
    trace.forwarded(opened)
    trace.now = 30
    trace.answered(opened, confirm())
    trace.now = 40
    trace.answered(opened, wait())
    (view,) = build_views(trace.records)
    assert [(call.forwarded_ns, call.last_ns) for call in view.calls] == [(10, 30), (10, 40)]
    assert [call.call_id for call in view.calls] == [1, 1]


def test_a_duplicate_with_one_answer_leaves_the_other_copy_open() -> None:
    trace = Trace(now=10)
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.forwarded(opened)
    trace.now = 30
    trace.answered(opened, confirm())
    (view,) = build_views(trace.records)
    assert sorted((call.answered, call.last_ns) for call in view.calls if call.answered) == [
        (True, 30)
    ]
    assert [call.answer for call in view.calls if not call.answered] == [Unanswered()]


def test_records_out_of_order_are_an_error() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), confirm())
    with pytest.raises(ViewError, match="out of order"):
        build_views(trace.records[::-1])


def test_a_forwarded_request_whose_content_is_missing_is_an_error() -> None:
    trace = Trace()
    trace.called(BEGIN, begin(), confirm())
    with pytest.raises(ViewError, match="no content"):
        build_views(trace.records[1:])


def test_a_request_that_cannot_be_read_is_an_error() -> None:
    trace = Trace()
    unspecified = common_pb2.EFFECT_CAPABILITY_UNSPECIFIED
    trace.called(BEGIN, begin(spec(capability=unspecified)), confirm())
    with pytest.raises(ViewError, match="cannot be read"):
        build_views(trace.records)


def test_an_answer_that_cannot_be_read_is_malformed() -> None:
    trace = Trace()
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.on_call("RESPONSE_RECEIVED", opened, payload=b"\xff\xff")
    assert only_call(trace).answer == Malformed("unreadable message")


def test_an_answer_that_is_too_long_is_malformed() -> None:
    trace = Trace()
    opened = trace.opened(BEGIN, begin())
    trace.forwarded(opened)
    trace.on_call("UPSTREAM_FAILED", opened, status_code=8)
    assert only_call(trace).answer == Malformed("longer than a message may be")


def test_a_resolve_belongs_to_the_operation_of_its_challenge() -> None:
    trace = Trace()
    asked = continuity_pb2.RequestResolveRequest(operation_id="op")
    issued = continuity_pb2.RequestResolveResponse(
        challenge=common_pb2.Challenge(challenge_id="c1")
    )
    word = continuity_pb2.ResolveRequest(
        challenge_id="c1", decision=continuity_pb2.OPERATOR_DECISION_DID_NOT_HAPPEN
    )
    stray = continuity_pb2.ResolveRequest(challenge_id="c2")
    trace.called(CONTINUITY + "RequestResolve", asked, issued, source="orchestrator")
    unreadable = trace.opened(CONTINUITY + "RequestResolve", asked)
    trace.forwarded(unreadable)
    trace.on_call("RESPONSE_RECEIVED", unreadable, payload=b"\xff")
    done = continuity_pb2.ResolveResponse()
    trace.called(CONTINUITY + "Resolve", word, done, source="orchestrator")
    trace.called(CONTINUITY + "Resolve", stray, done, source="orchestrator")
    call = only_call(trace)
    assert call.request == ResolveAsked(OperatorWord.DID_NOT_HAPPEN, "")
