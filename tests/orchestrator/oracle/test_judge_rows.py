"""Each row of DESIGN §6, told as a history and judged; and each way to get it wrong."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.declared import NANOSECONDS, DeclaredMemory
from orchestrator.oracle.judgement import Classification
from tests.orchestrator.oracle.plots import (
    ASKABLE,
    FINAL,
    IDEMPOTENT,
    KEYED,
    LEASE,
    NONE,
    PRESENT,
    QUERY,
    UNCERTAIN,
    UNKNOWN,
    again,
    expired,
    granted,
)
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
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


@pytest.mark.parametrize("capability", [NONE, QUERY, IDEMPOTENT])
def test_never_granted_executes(capability: common_pb2.EffectCapability.ValueType) -> None:
    story = granted(Story(spec(capability=capability)))
    assert (story.classes(), story.rows()) == (["ok"], ["N"])


@pytest.mark.parametrize("answer", [wait(), confirm(), reject(), query()])
def test_never_granted_owes_execute(answer: continuity_pb2.BeginResponse) -> None:
    story = Story(ASKABLE)
    story.begins(answer)
    assert story.classes() == ["needless"]


def test_a_live_lease_waits() -> None:
    story = granted()
    story.begins(wait())
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "L"])


@pytest.mark.parametrize("answer", [confirm(), query(), reject()])
def test_a_live_lease_owes_wait(answer: continuity_pb2.BeginResponse) -> None:
    story = granted(Story(ASKABLE))
    story.begins(answer)
    assert story.classes() == ["ok", "needless"]


@pytest.mark.parametrize("capability", [NONE, QUERY, IDEMPOTENT])
def test_a_fresh_execute_while_the_lease_is_live_is_unsafe(
    capability: common_pb2.EffectCapability.ValueType,
) -> None:
    story = granted(Story(spec(capability=capability, retention=600)))
    again(story)
    judged = story.judged()
    assert [call.classification for call in judged.calls] == [
        Classification.OK,
        Classification.UNSAFE,
    ]
    assert judged.grant_outside


def test_the_same_begin_gets_the_same_execute() -> None:
    story = granted()
    story.grants()
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "S"])


def test_a_declared_replay_is_owed() -> None:
    story = granted()
    story.begins(wait(), "A", "b1")
    assert story.classes() == ["ok", "needless"]


def test_an_undeclared_replay_may_wait_or_be_given() -> None:
    declared = DeclaredMemory(begin_replay=False)
    waiting = granted(Story(declared=declared))
    waiting.begins(wait(), "A", "b1")
    given = granted(Story(declared=declared))
    given.grants()
    assert (waiting.classes(), given.classes()) == (["ok", "ok"], ["ok", "ok"])


def test_a_begin_id_of_another_incarnation_is_no_replay() -> None:
    story = granted()
    story.grants("B", "b1")
    assert story.classes() == ["ok", "unsafe"]


def test_a_replay_ends_with_the_lease() -> None:
    story = expired()
    story.begins(execute(story.wall, 1, "t1"), "A", "b1")
    assert story.classes() == ["ok", "unsafe"]


def test_expired_none_confirms() -> None:
    story = expired()
    story.begins(confirm())
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "X"])


def test_execute_after_an_expired_none_is_unsafe() -> None:
    story = expired()
    again(story)
    assert story.classes() == ["ok", "unsafe"]


@pytest.mark.parametrize("answer", [wait(), query(), reject()])
def test_expired_none_owes_confirm(answer: continuity_pb2.BeginResponse) -> None:
    story = expired()
    story.begins(answer)
    assert story.classes() == ["ok", "needless"]


def test_waiting_for_ever_is_needless_each_time() -> None:
    story = expired()
    for _ in range(3):
        story.begins(wait())
    assert story.classes() == ["ok", *["needless"] * 3]
    assert story.judged().count(Classification.NEEDLESS) == 3


def test_expired_query_asks_and_final_absence_executes() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL))
    again(story)
    assert story.classes() == ["ok"] * 4
    assert story.rows() == ["N", "X", "F"]


@pytest.mark.parametrize("answer", [confirm(), wait(), query()])
def test_declared_final_absence_owes_execute(answer: continuity_pb2.BeginResponse) -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(FINAL))
    story.begins(answer)
    assert story.classes() == ["ok", "ok", "ok", "needless"]


@pytest.mark.parametrize("answer", [confirm(), wait(), query(1, "q2")])
def test_undeclared_final_absence_is_no_fault(answer: continuity_pb2.BeginResponse) -> None:
    story = expired(Story(ASKABLE, DeclaredMemory(final_absence=False)))
    story.begins(query())
    story.records(record_query(FINAL))
    story.begins(answer)
    assert story.classes() == ["ok"] * 4


def test_undeclared_final_absence_may_execute_all_the_same() -> None:
    story = expired(Story(ASKABLE, DeclaredMemory(final_absence=False)))
    story.begins(query())
    story.records(record_query(FINAL))
    again(story)
    assert story.classes() == ["ok"] * 4


def test_endless_questions_are_a_fault_even_when_final_absence_is_undeclared() -> None:
    story = expired(Story(ASKABLE, DeclaredMemory(final_absence=False, max_uncertain=2)))
    for ticket in ("q1", "q2"):
        story.begins(query(1, ticket))
        story.records(record_query(FINAL, 1, ticket))
    story.begins(query(1, "q3"))
    assert story.classes() == ["ok", "ok", "ok", "ok", "ok", "needless"]


def test_uncertain_absence_never_licenses_a_retry() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(UNCERTAIN))
    again(story)
    assert story.classes() == ["ok", "ok", "ok", "unsafe"]


@pytest.mark.parametrize("answer", [confirm(), wait(), query(1, "q2")])
def test_after_uncertain_absence_the_memory_may_ask_wait_or_confirm(
    answer: continuity_pb2.BeginResponse,
) -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(UNCERTAIN))
    story.begins(answer)
    assert (story.classes(), story.rows()) == (["ok"] * 4, ["N", "X", "X"])


@pytest.mark.parametrize("answer", [wait(), query(1, "q3")])
def test_repeated_uncertainty_ends_in_confirm(answer: continuity_pb2.BeginResponse) -> None:
    story = expired(Story(ASKABLE, DeclaredMemory(max_uncertain=2)))
    for ticket in ("q1", "q2"):
        story.begins(query(1, ticket))
        story.records(record_query(UNCERTAIN, 1, ticket))
    story.begins(answer)
    story.begins(confirm())
    assert story.classes() == ["ok"] * 5 + ["needless", "ok"]


def test_an_unknown_answer_of_the_destination_changes_nothing() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(UNKNOWN))
    story.begins(confirm())
    story.begins(query(1, "q2"))
    assert story.classes() == ["ok", "ok", "ok", "needless", "ok"]


def test_a_question_about_another_attempt_is_no_question() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query(2))
    assert story.classes() == ["ok", "needless"]


EXCLUSIVE = DeclaredMemory(question_ns=60 * NANOSECONDS)


@pytest.mark.parametrize(
    ("declared", "after_seconds", "last"),
    [
        (EXCLUSIVE, 1, "ok"),
        (EXCLUSIVE, 59, "ok"),
        (EXCLUSIVE, 61, "needless"),
        (DeclaredMemory(), 1, "needless"),
    ],
)
def test_an_open_question_keeps_others_waiting_as_long_as_is_declared(
    declared: DeclaredMemory, after_seconds: int, last: str
) -> None:
    story = expired(Story(ASKABLE, declared))
    story.begins(query())
    story.passes(after_seconds)
    story.begins(wait())
    assert story.classes() == ["ok", "ok", last]


def test_a_question_whose_answer_was_lost_keeps_others_waiting() -> None:
    story = expired(Story(ASKABLE, EXCLUSIVE))
    story.begins(None, status=14)
    story.begins(wait())
    assert story.classes()[1] == "ok"


def test_a_question_that_was_answered_keeps_nobody_waiting() -> None:
    story = expired(Story(ASKABLE, EXCLUSIVE))
    story.begins(query())
    story.records(record_query(UNKNOWN))
    story.begins(wait())
    assert story.classes() == ["ok", "ok", "ok", "needless"]


def test_nobody_waits_before_a_question_was_asked() -> None:
    story = expired(Story(ASKABLE, EXCLUSIVE))
    story.begins(wait())
    assert story.classes() == ["ok", "needless"]


def test_present_completes() -> None:
    story = expired(Story(ASKABLE))
    story.begins(query())
    story.records(record_query(PRESENT))
    story.begins(reuse())
    assert (story.classes(), story.rows()) == (["ok"] * 4, ["N", "X", "C"])


def test_a_key_that_covers_the_new_lease_executes() -> None:
    story = expired(Story(KEYED))
    again(story)
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "X"])


def test_a_key_that_covers_the_new_lease_owes_execute() -> None:
    story = expired(Story(KEYED))
    story.begins(confirm())
    assert story.classes() == ["ok", "needless"]


def test_a_key_that_does_not_cover_the_whole_new_lease_confirms() -> None:
    short = Story(spec(capability=IDEMPOTENT, retention=200))
    expired(short).begins(confirm())
    assert short.classes() == ["ok", "ok"]


def test_execute_on_a_key_that_ends_within_the_new_lease_is_unsafe() -> None:
    short = Story(spec(capability=IDEMPOTENT, retention=200))
    again(expired(short))
    assert short.classes() == ["ok", "unsafe"]


def test_without_a_key_there_is_no_retry() -> None:
    keyless = spec(capability=IDEMPOTENT, retention=600)
    keyless.idempotency_key = ""
    story = expired(Story(keyless))
    story.begins(confirm())
    again(story)
    assert story.classes() == ["ok", "ok", "unsafe"]


def test_retention_counts_from_the_first_grant() -> None:
    story = expired(Story(spec(capability=IDEMPOTENT, retention=300)))
    again(story)
    story.jumps(LEASE)
    again(story, 3)
    assert story.classes() == ["ok", "ok", "unsafe"]


def test_a_declared_margin_is_not_needless() -> None:
    declared = DeclaredMemory(key_margin_ns=10 * NANOSECONDS)
    careful = Story(spec(capability=IDEMPOTENT, retention=250), declared)
    expired(careful).begins(confirm())
    bold = Story(spec(capability=IDEMPOTENT, retention=250), declared)
    again(expired(bold))
    undeclared = Story(spec(capability=IDEMPOTENT, retention=250))
    expired(undeclared).begins(confirm())
    assert (careful.classes(), bold.classes()) == (["ok", "ok"], ["ok", "ok"])
    assert undeclared.classes() == ["ok", "needless"]


def test_a_receipt_completes_even_after_confirm() -> None:
    story = expired()
    story.begins(confirm())
    story.records(record_receipt())
    story.begins(reuse())
    assert (story.classes(), story.rows()) == (["ok"] * 4, ["N", "X", "C"])


@pytest.mark.parametrize("answer", [wait(), confirm(), reject(), query()])
def test_complete_owes_reuse(answer: continuity_pb2.BeginResponse) -> None:
    story = granted()
    story.records(record_receipt())
    story.begins(answer)
    assert story.classes() == ["ok", "ok", "needless"]


def test_execute_after_completion_is_unsafe() -> None:
    story = granted()
    story.records(record_receipt())
    again(story)
    assert story.classes() == ["ok", "ok", "unsafe"]


@pytest.mark.parametrize("other", [receipt(result="{}"), receipt(attempt=2), receipt("other")])
def test_reuse_of_another_receipt_is_unsafe(other: continuity_pb2.Receipt) -> None:
    story = granted()
    story.records(record_receipt())
    story.begins(reuse(other))
    assert story.classes() == ["ok", "ok", "unsafe"]


def test_reuse_of_what_was_never_recorded_is_unsafe() -> None:
    story = granted()
    story.begins(reuse())
    story.begins(wait())
    assert story.classes() == ["ok", "unsafe", "ok"]
