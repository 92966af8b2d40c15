"""Receipts, queries and missing answers, told as histories and judged."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2, interposer_pb2
from orchestrator.oracle.view import Outage
from tests.orchestrator.oracle.plots import (
    ALREADY,
    ASKABLE,
    EVIDENCE,
    FINAL,
    KEYED,
    LEASE,
    PRESENT,
    REFUSED,
    UNCERTAIN,
    UNKNOWN,
    again,
    expired,
    granted,
)
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
    SECOND,
    confirm,
    query,
    receipt,
    record_query,
    record_receipt,
    reuse,
    spec,
    taken,
    wait,
)


def test_a_repeated_receipt_is_acknowledged() -> None:
    story = granted()
    story.records(record_receipt())
    story.records(record_receipt(), taken(ALREADY))
    story.records(record_receipt(), status=REFUSED)
    assert story.classes() == ["ok", "ok", "ok", "needless"]


def test_a_receipt_of_the_latest_attempt_may_not_be_refused() -> None:
    story = granted()
    story.records(record_receipt(), status=REFUSED)
    assert story.classes() == ["ok", "needless"]


@pytest.mark.parametrize(
    ("asked", "then", "last"),
    [
        (spec(), confirm(), "ok"),
        (spec(), None, "unsafe"),
        (ASKABLE, query(), "ok"),
        (KEYED, None, "ok"),
        (KEYED, wait(), "ok"),
    ],
)
def test_what_is_kept_back_as_evidence_is_counted_once(
    asked: continuity_pb2.OperationSpec, then: continuity_pb2.BeginResponse | None, last: str
) -> None:
    """It licenses nothing, and with the holder's own word the lease may be over."""
    story = granted(Story(asked))
    story.records(record_receipt(), taken(EVIDENCE))
    if then is None:
        again(story)
    else:
        story.begins(then)
    assert story.classes() == ["ok", "needless", last]


@pytest.mark.parametrize(
    "wrong",
    [
        record_receipt(token="other"),
        record_receipt(attempt=2),
        record_receipt(life="B"),
        continuity_pb2.RecordReceiptRequest(
            operation_id="op",
            incarnation_id="A",
            attempt=1,
            lease_token="t1",
            receipt=receipt(arguments="b" * 64),
        ),
    ],
)
def test_a_receipt_that_does_not_fit_changes_nothing(
    wrong: continuity_pb2.RecordReceiptRequest,
) -> None:
    refused = granted()
    refused.records(wrong, status=REFUSED)
    refused.begins(wait())
    assert refused.classes() == ["ok"] * 3
    accepted = granted()
    accepted.records(wrong)
    assert accepted.classes() == ["ok", "unsafe"]


def test_a_superseded_receipt_stays_evidence_and_completes_nothing() -> None:
    story = expired(Story(KEYED))
    again(story)
    story.records(record_receipt(), taken(EVIDENCE))
    story.begins(wait(), "C", "b5")
    assert story.classes() == ["ok"] * 4


def test_a_superseded_receipt_that_comes_again_is_acknowledged() -> None:
    story = expired(Story(KEYED))
    again(story)
    story.records(record_receipt(), taken(EVIDENCE))
    story.records(record_receipt(), taken(ALREADY))
    other = record_receipt()
    other.receipt.effect_id = "another"
    story.records(other, status=9)
    assert story.classes() == ["ok"] * 5


def test_a_superseded_receipt_was_not_recorded_before_it_came() -> None:
    for status, answer, class_ in ((9, None, "needless"), (0, taken(ALREADY), "unsafe")):
        story = expired(Story(KEYED))
        again(story)
        story.records(record_receipt(), answer, status)
        assert story.classes() == ["ok", "ok", class_]


def test_a_superseded_receipt_that_completes_is_unsafe() -> None:
    story = expired(Story(KEYED))
    again(story)
    story.records(record_receipt())
    story.begins(reuse(), "C", "b5")
    assert story.classes() == ["ok", "ok", "unsafe", "ok"]


def test_a_receipt_before_any_begin_is_refused() -> None:
    story = Story()
    story.records(record_receipt(), status=5)
    assert story.classes() == ["ok"]


def test_a_query_with_a_wrong_ticket_is_refused() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL, 1, "other"), status=REFUSED)
    story.begins(query())
    story.records(record_query(FINAL, 1, "other"))
    assert story.classes() == ["ok", "ok", "ok", "ok", "unsafe"]


def test_absence_for_a_superseded_attempt_does_not_count() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL))
    again(story)
    story.records(record_query(FINAL), status=9)
    story.begins(wait(), "C", "b5")
    assert story.classes() == ["ok"] * 6


def test_an_answer_after_completion_may_be_acknowledged_or_refused() -> None:
    for status in (0, 9):
        story = expired(Story(ASKABLE))
        story.begins(query())
        story.records(record_receipt())
        story.records(record_query(FINAL), status=status)
        story.begins(reuse())
        assert story.classes() == ["ok"] * 5


def test_a_ticket_that_was_used_may_count_again_or_not() -> None:
    for status in (0, 7):
        story = expired(Story(ASKABLE))
        story.begins(query())
        story.records(record_query(UNCERTAIN))
        story.records(record_query(UNCERTAIN), status=status)
        story.begins(confirm())
        assert story.classes() == ["ok"] * 5


def test_what_changes_nothing_may_be_acknowledged_for_a_superseded_attempt() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL))
    again(story)
    story.records(record_query(UNKNOWN))
    assert story.classes() == ["ok"] * 5


def test_an_acknowledged_absence_for_a_superseded_attempt_is_unsafe() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL))
    again(story)
    story.records(record_query(FINAL))
    assert story.classes()[-1] == "unsafe"


def test_a_query_without_a_known_presence_or_receipt_is_refused() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(common_pb2.EFFECT_PRESENCE_UNSPECIFIED), status=3)
    bare = record_query(PRESENT)
    bare.ClearField("receipt")
    story.records(bare, status=3)
    assert story.classes() == ["ok"] * 4


def test_a_present_that_names_another_attempt_may_go_either_way() -> None:
    for status in (0, 9):
        story = expired(Story(ASKABLE))
        story.begins(query())
        mislabelled = record_query(PRESENT)
        mislabelled.receipt.attempt = 7
        story.records(mislabelled, status=status)
        assert story.classes() == ["ok"] * 3


def kill(story: Story) -> None:
    """The memory is killed and comes back."""
    now = story.trace.now
    story.outages.append(Outage(now - SECOND, now, now + SECOND, now + 2 * SECOND))
    story.passes(3)


def test_an_unanswered_begin_leaves_both_branches_open() -> None:
    for answer, row in ((wait(), "L"), (None, "N")):
        story = Story()
        story.begins(None, "A", "b1", status=14)
        kill(story)
        if answer is None:
            story.grants("B", "b2")
        else:
            story.begins(answer)
        assert (story.classes(), story.rows()) == (["ok"], [row])


def test_both_branches_are_named_in_the_allowed_set() -> None:
    story = Story()
    story.begins(None, "A", "b1", status=14)
    kill(story)
    story.begins(wait())
    assert story.judged().calls[0].allowed == ("EXECUTE(new)", "WAIT")


def test_an_attempt_that_was_never_seen_is_told_by_a_question() -> None:
    story = Story(ASKABLE)
    story.begins(None, "A", "b1", status=14)
    kill(story)
    story.jumps(LEASE)
    story.begins(query(4))
    story.records(record_query(FINAL, 4))
    story.grants("B", "b2", attempt=5, token="t5")
    assert story.classes() == ["ok"] * 3


def test_an_unanswered_receipt_may_have_completed() -> None:
    for answer in (reuse(), wait()):
        story = granted()
        story.records(record_receipt(), status=14)
        kill(story)
        story.begins(answer)
        assert story.classes() == ["ok", "ok"]


def test_a_missing_answer_that_nothing_excuses_is_malformed() -> None:
    story = granted()
    story.begins(None, status=4)
    judged = story.judged()
    assert [call.classification.value for call in judged.calls] == ["ok", "malformed"]
    assert judged.calls[1].observed == "NO ANSWER(4)"
    assert judged.calls[1].answered_ns is None


def test_an_answer_that_was_late_once_is_no_missing_answer_where_its_repeat_had_one() -> None:
    story = granted()
    story.begins(None, status=4)
    story.begins(wait())
    assert story.classes() == ["ok", "ok"]


def test_another_question_that_is_answered_excuses_no_silence() -> None:
    story = granted()
    story.begins(None, status=4)
    story.begins(wait(), begin_id="b10")
    assert story.classes() == ["ok", "ok", "malformed"]


@pytest.mark.parametrize(("deadline_ms", "classes"), [(400, ["ok"]), (9_990, ["ok", "malformed"])])
def test_a_caller_without_patience_proves_no_silence(deadline_ms: int, classes: list[str]) -> None:
    story = granted()
    story.begins(None, status=4)
    story.trace.records[-3].deadline_ms = deadline_ms
    assert story.trace.records[-3].kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED
    assert story.classes() == classes


def test_an_empty_answer_is_malformed_and_leaves_both_branches_open() -> None:
    story = Story()
    story.begins(continuity_pb2.BeginResponse(), "A", "b1")
    story.begins(wait())
    assert story.classes() == ["malformed", "ok"]
    assert story.judged().decisions[0].kind is None


def test_a_refused_begin_is_malformed_and_changes_nothing() -> None:
    story = Story()
    story.begins(None, status=12)
    story.grants()
    assert story.classes() == ["malformed", "ok"]
