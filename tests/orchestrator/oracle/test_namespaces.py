"""One operation in two namespaces: REJECT, or a partition of its own to which nothing leaks."""

import pytest

from memqual.v1 import continuity_pb2, vendor_pb2
from orchestrator.oracle.clockmap import ClockMap, readings_from_trace
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.view import build_views
from tests.orchestrator.oracle.plots import granted
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    confirm,
    execute,
    receipt,
    record_receipt,
    reject,
    reuse,
    spec,
    wait,
)


def elsewhere() -> continuity_pb2.OperationSpec:
    """The same operation in another namespace."""
    asked = spec()
    asked.namespace += "-other"
    return asked


def classes(story: Story) -> list[list[str]]:
    """The class of every answer, namespace by namespace."""
    clock = ClockMap.from_readings(
        readings_from_trace(story.trace.records, vendor_pb2.LEASE_CLOCK_WALL)
    )
    return [
        [call.classification.value for call in judge_operation(view, clock, story.declared).calls]
        for view in build_views(story.trace.records)
    ]


@pytest.mark.parametrize(
    ("answer", "last"),
    [
        (reject(), "ok"),
        (None, "ok"),
        (wait(), "needless"),
        (confirm(), "needless"),
        (reuse(receipt()), "unsafe"),
    ],
)
def test_what_another_namespace_is_told(
    answer: continuity_pb2.BeginResponse | None, last: str
) -> None:
    story = granted()
    story.records(record_receipt())
    told = answer or execute(story.wall, 1, "t9")
    story.begins(told, spec=elsewhere())
    assert classes(story) == [["ok", "ok"], [last]]


def test_a_namespace_of_its_own_has_a_lease_of_its_own() -> None:
    story = granted()
    story.begins(execute(story.wall, 1, "t9"), spec=elsewhere())
    story.begins(wait(), "C", spec=elsewhere())
    story.begins(reject(), "C", spec=elsewhere())
    story.begins(wait(), "C")
    assert classes(story) == [["ok", "ok"], ["ok", "ok", "needless"]]


def test_the_first_namespace_rejects_nothing_that_is_bound() -> None:
    story = granted()
    story.begins(reject(), spec=elsewhere())
    story.begins(reject())
    assert classes(story) == [["ok", "needless"], ["ok"]]


def test_what_names_no_known_namespace_is_about_what_is_bound() -> None:
    story = granted()
    stray = record_receipt()
    stray.namespace = "n-unknown"
    story.records(stray, status=5)
    assert len(build_views(story.trace.records)) == 1


def test_a_peek_binds_no_namespace() -> None:
    """What was looked at in one namespace is bound in another: the first may be rejected then."""
    story = Story()
    looked = continuity_pb2.PeekRequest(spec=spec(), incarnation_id="L")
    told = continuity_pb2.PeekResponse(
        kind=continuity_pb2.DECISION_KIND_EXECUTE, reason_code="first_grant"
    )
    story.trace.called(CONTINUITY + "Peek", looked, told)
    story.begins(execute(story.wall, 1, "t9"), spec=elsewhere())
    story.begins(reject())
    assert classes(story) == [["ok", "ok"], ["ok"]]
