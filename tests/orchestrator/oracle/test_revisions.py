"""A limit on revisions: what every design counts binds, what some count excuses."""

import pytest

from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.oracle.clockmap import ClockMap, readings_from_trace
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.revisions import Revisions
from orchestrator.oracle.view import build_views
from tests.orchestrator.oracle import tracing
from tests.orchestrator.oracle.plots import KEYED
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import CONTINUITY

FULL = 8  # RESOURCE_EXHAUSTED


def granted(revisions: int) -> Story:
    story = Story(KEYED, DeclaredMemory(max_revisions=revisions))
    story.grants()
    return story


def again(story: Story, attempt: int) -> None:
    story.passes(130)
    story.grants("B", f"b{attempt}", attempt, f"t{attempt}")


def test_the_grant_after_as_many_as_revisions_are_declared_is_unsafe() -> None:
    story = granted(2)
    again(story, 2)
    again(story, 3)
    assert story.classes() == ["ok", "ok", "unsafe"]


def test_it_is_refused_there() -> None:
    story = granted(2)
    again(story, 2)
    story.passes(130)
    story.begins(None, status=FULL)
    assert (story.classes(), story.rows()) == (["ok", "ok", "ok"], ["N", "X", "M"])


@pytest.mark.parametrize(("declared", "found"), [(2, "ok"), (3, "malformed"), (0, "malformed")])
def test_a_refusal_is_right_only_where_the_calls_can_have_made_so_many(
    declared: int, found: str
) -> None:
    story = granted(declared)
    story.passes(130)
    story.begins(None, status=FULL)
    assert story.classes() == ["ok", found]


def test_challenges_may_count_and_need_not() -> None:
    for refused in (True, False):
        story = granted(5)
        for _ in range(2):
            story.trace.called(
                CONTINUITY + "RequestResolve",
                continuity_pb2.RequestResolveRequest(
                    operation_id=KEYED.operation_id, namespace=KEYED.namespace
                ),
                continuity_pb2.RequestResolveResponse(),
            )
        if refused:
            story.passes(130)
            story.begins(None, status=FULL)
        else:
            again(story, 2)
        assert story.classes() == ["ok", "ok"]


def test_what_completes_is_never_refused() -> None:
    story = granted(1)
    story.records(tracing.record_receipt(), status=FULL)
    assert story.classes() == ["ok", "needless"]


def test_a_peek_and_what_was_refused_make_no_revision() -> None:
    story = granted(9)
    story.begins(None, status=FULL)
    story.trace.called(
        CONTINUITY + "Peek",
        continuity_pb2.PeekRequest(spec=KEYED, incarnation_id="B"),
        continuity_pb2.PeekResponse(kind=continuity_pb2.DECISION_KIND_WAIT),
    )
    (view,) = build_views(story.trace.records)
    assert Revisions.of(view).possible_by(None) == 2
    clock = readings_from_trace(story.trace.records, vendor_pb2.LEASE_CLOCK_WALL)
    assert judge_operation(view, ClockMap.from_readings(clock), story.declared).calls
