"""The judgement as a whole: what it names, counts and follows."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle import linearize
from orchestrator.oracle.errors import OracleLimitError, ViewError
from orchestrator.oracle.messages import DecisionKind
from tests.orchestrator.oracle.plots import (
    ASKABLE,
    LEASE,
    NONE,
    PRESENT,
    QUERY,
    again,
    expired,
    granted,
)
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    SECOND,
    begin,
    confirm,
    execute,
    query,
    receipt,
    record_query,
    record_receipt,
    reject,
    reuse,
    spec,
    wait,
)


def test_a_mistake_is_counted_once() -> None:
    story = expired()
    again(story)
    story.records(record_receipt(2, "t2", "B"))
    story.begins(reuse(receipt(attempt=2)), "C", "b5")
    assert story.classes() == ["ok", "unsafe", "ok", "ok"]


def test_a_needless_question_is_followed() -> None:
    story = granted(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(PRESENT))
    story.begins(reuse())
    assert story.classes() == ["ok", "needless", "ok", "ok"]


def test_the_history_collapses_waits() -> None:
    story = granted()
    story.begins(wait())
    story.begins(wait())
    story.begins(continuity_pb2.BeginResponse())
    story.jumps(LEASE)
    story.begins(confirm())
    assert story.judged().history() == (
        "EXECUTE:granted:1",
        "WAIT:lease_live:0",
        "MALFORMED(a decision without a kind)",
        "CONFIRM:expired:0",
    )


def test_a_judgement_names_who_asked_what() -> None:
    story = granted()
    story.records(record_receipt())
    first, second = story.judged().calls
    assert (first.method, first.source, first.incarnation_id) == ("Begin", "agent", "A")
    assert (first.kind, first.attempt, first.reason) == (DecisionKind.EXECUTE, 1, "granted")
    assert (second.method, second.observed, second.kind) == ("RecordReceipt", "OK(COMPLETED)", None)
    assert not story.judged().grant_outside


def test_overlapping_begins_are_told_apart() -> None:
    story = Story()
    first = story.trace.opened(CONTINUITY + "Begin", begin(story.spec, "A", "b1"))
    second = story.trace.opened(CONTINUITY + "Begin", begin(story.spec, "B", "b2"))
    story.trace.forwarded(first)
    story.trace.forwarded(second)
    story.passes(0.001)
    story.trace.answered(second, wait())
    story.passes(0.001)
    story.trace.answered(first, execute(story.wall))
    assert story.classes() == ["ok", "ok"]


def test_two_fresh_executes_at_once_cannot_both_be_right() -> None:
    story = Story()
    first = story.trace.opened(CONTINUITY + "Begin", begin(story.spec, "A", "b1"))
    second = story.trace.opened(CONTINUITY + "Begin", begin(story.spec, "B", "b2"))
    story.trace.forwarded(first)
    story.trace.forwarded(second)
    story.passes(0.001)
    story.trace.answered(second, execute(story.wall, 1, "t1"))
    story.trace.answered(first, execute(story.wall, 2, "t2"))
    assert sorted(story.classes()) == ["ok", "unsafe"]


def test_a_history_that_leaves_too_much_open_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(linearize, "MAX_CONFIGURATIONS", 5)
    story = Story()
    for life in "ABCDEF":
        story.begins(None, life, "b1", status=14)
    story.begins(wait(), "Z")
    with pytest.raises(OracleLimitError, match="more than 5 worlds"):
        story.judged()


def test_no_memory_can_be_asked_before_time_began() -> None:
    story = granted()
    story.trace.records[-1].monotonic_ns -= 10 * SECOND
    with pytest.raises(ViewError, match="contradict"):
        story.judged()


@pytest.mark.parametrize("capability", [NONE, QUERY])
def test_another_core_is_rejected(capability: common_pb2.EffectCapability.ValueType) -> None:
    changed = spec(capability=capability, arguments="b" * 64)
    story = granted(Story(spec(capability=capability)))
    story.begins(reject(), spec=changed)
    story.begins(wait())
    assert (story.classes(), story.rows()) == (["ok"] * 3, ["N", "R", "L"])


@pytest.mark.parametrize("answer", [wait(), confirm(), reuse(), query()])
def test_another_core_owes_reject(answer: continuity_pb2.BeginResponse) -> None:
    story = granted()
    story.records(record_receipt())
    story.begins(answer, spec=spec(tool="transfer_funds"))
    assert story.classes()[:2] == ["ok", "ok"]
    assert story.classes()[2] in ("needless", "unsafe")


def test_execute_for_another_core_is_unsafe() -> None:
    story = granted()
    story.begins(execute(story.wall, 2, "t2"), spec=spec(tool="transfer_funds"))
    assert story.classes() == ["ok", "unsafe"]


def test_other_bound_fields_may_be_rejected_or_passed_over() -> None:
    story = granted()
    story.begins(reject(), spec=spec(principal="q"))
    story.begins(wait(), spec=spec(principal="q"))
    assert story.classes() == ["ok"] * 3
