"""Each row of DESIGN §6, told as a history and judged; and each way to get it wrong."""

import pytest

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle import linearize
from orchestrator.oracle.declared import NANOSECONDS, DeclaredMemory
from orchestrator.oracle.errors import OracleLimitError, ViewError
from orchestrator.oracle.judgement import Classification
from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.particulars import Problem
from orchestrator.oracle.view import Outage
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
    taken,
    wait,
)

NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
PRESENT = common_pb2.EFFECT_PRESENCE_PRESENT
FINAL = common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
UNCERTAIN = common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
UNKNOWN = common_pb2.EFFECT_PRESENCE_UNKNOWN
EVIDENCE = continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
ALREADY = continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
REFUSED = 7
LEASE = 121
KEYED = spec(capability=IDEMPOTENT, retention=600)
ASKABLE = spec(capability=QUERY)


def granted(story: Story | None = None) -> Story:
    """A story in which the first attempt was granted."""
    made = story or Story()
    made.grants()
    return made


def expired(story: Story | None = None) -> Story:
    """A story in which the first attempt's lease is over."""
    made = granted(story)
    made.jumps(LEASE)
    return made


def again(story: Story, attempt: int = 2, **particulars: int) -> None:
    """The next incarnation is granted a new attempt."""
    story.grants("B", f"b{attempt}", attempt, f"t{attempt}", **particulars)


# -- rows --------------------------------------------------------------------------------------


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


# -- identity ----------------------------------------------------------------------------------


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


# -- receipts ----------------------------------------------------------------------------------


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


# -- what was never answered -------------------------------------------------------------------


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


# -- clock -------------------------------------------------------------------------------------


@pytest.mark.parametrize("capability", [NONE, QUERY, IDEMPOTENT])
def test_a_clock_behind_the_mark_waits(capability: common_pb2.EffectCapability.ValueType) -> None:
    story = granted(Story(spec(capability=capability, retention=600)))
    story.jumps(-300)
    story.begins(wait())
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "B"])


def test_a_clock_behind_the_mark_never_ends_a_lease_early() -> None:
    story = granted()
    story.jumps(-300)
    story.begins(confirm())
    assert story.classes() == ["ok", "needless"]


def test_at_the_mark_an_expired_lease_stays_expired() -> None:
    story = expired()
    story.begins(confirm())
    story.jumps(-300)
    story.begins(confirm())
    story.begins(wait())
    assert story.classes() == ["ok"] * 4


def test_behind_the_mark_no_retry_rests_on_the_key() -> None:
    story = expired(Story(KEYED))
    story.begins(wait(), "A", "b1")  # needless, but shows the clock at its highest
    story.jumps(-1)
    again(story)
    assert story.classes()[-1] == "ok"  # one second back is still past the lease's end
    behind = expired(Story(KEYED))
    behind.jumps(-300)
    again(behind)
    assert behind.classes() == ["ok", "unsafe"]


def test_a_clock_behind_the_mark_hides_nothing_that_is_complete() -> None:
    story = granted()
    story.records(record_receipt())
    story.jumps(-300)
    story.begins(reuse())
    story.begins(wait())
    assert story.classes() == ["ok", "ok", "ok", "needless"]


def test_answers_at_the_end_of_a_lease_are_boundary() -> None:
    for answer in (wait(), confirm()):
        story = granted()
        story.trace.now += 120 * SECOND - 2 * 1_000_000
        story.begins(answer)
        assert story.classes() == ["ok", "boundary"]
        assert story.judged().boundary


# -- particulars -------------------------------------------------------------------------------


def problems(story: Story) -> tuple[Problem, ...]:
    return story.judged().calls[-1].problems


def test_an_attempt_must_be_larger_than_any_before() -> None:
    story = expired(Story(KEYED))
    story.grants("B", "b2", 1, "t9")
    assert story.classes() == ["ok", "malformed"]
    assert problems(story) == (Problem.ATTEMPT_NOT_LARGER,)
    assert [call.attempt for call in story.judged().violations] == [1]


def test_a_token_is_given_once() -> None:
    story = expired(Story(KEYED))
    story.grants("B", "b2", 2, "t1")
    assert (story.classes(), problems(story)) == (["ok", "malformed"], (Problem.TOKEN_REUSED,))


def test_another_attempt_under_the_same_begin_is_a_fresh_execute() -> None:
    story = granted()
    story.grants("A", "b1", 2, "t1")
    assert (story.classes(), problems(story)) == (["ok", "unsafe"], ())


def test_a_replay_is_equal_in_attempt_and_token() -> None:
    story = granted()
    story.grants("A", "b1", 1, "t2")
    assert (story.classes(), problems(story)) == (["ok", "malformed"], (Problem.TOKEN_DIFFERS,))


@pytest.mark.parametrize(
    ("remaining_ms", "problem"),
    [(120_001, Problem.LEASE_TOO_LONG), (118_000, Problem.LEASE_TOO_SHORT)],
)
def test_a_lease_is_as_long_as_declared(remaining_ms: int, problem: Problem) -> None:
    story = granted()
    story.trace = type(story.trace)()
    story.trace.mark_clock()
    story.grants(remaining_ms=remaining_ms)
    assert (story.classes(), problems(story)) == (["malformed"], (problem,))


def test_a_replay_does_not_stretch_the_lease() -> None:
    story = granted()
    story.passes(60)
    story.grants(at=story.wall - 60 * SECOND, remaining_ms=120_000)
    assert (story.classes(), problems(story)) == (["ok", "malformed"], (Problem.LEASE_TOO_LONG,))


@pytest.mark.parametrize("off", [-5, 5])
def test_a_grant_is_dated_by_the_memorys_own_clock(off: int) -> None:
    story = Story()
    story.grants(at=story.wall + off * SECOND)
    assert (story.classes(), problems(story)) == (["malformed"], (Problem.GRANTED_AT,))


def test_a_replay_keeps_its_date() -> None:
    story = granted()
    story.passes(60)
    story.grants(remaining_ms=59_000)
    assert problems(story) == (Problem.GRANTED_AT,)


def test_a_key_is_not_promised_for_longer_than_it_is_kept() -> None:
    story = Story(KEYED)
    late = story.wall + 700 * SECOND
    story.grants(key_deadline_ns=late)
    assert (story.classes(), problems(story)) == (["malformed"], (Problem.KEY_DEADLINE,))
    again_late = granted(Story(KEYED))
    again_late.grants(key_deadline_ns=late)
    assert problems(again_late) == (Problem.KEY_DEADLINE,)


def test_a_key_deadline_is_not_checked_on_a_monotonic_clock() -> None:
    story = Story(KEYED, DeclaredMemory(wall_clock=False))
    story.grants(key_deadline_ns=story.wall + 700 * SECOND)
    assert story.classes() == ["ok"]


def test_a_wait_is_no_longer_than_a_lease() -> None:
    story = granted()
    story.begins(wait(130_000))
    assert (story.classes(), problems(story)) == (["ok", "malformed"], (Problem.WAIT_TOO_LONG,))


def test_the_declared_number_of_attempts_may_be_refused() -> None:
    story = expired(Story(KEYED, DeclaredMemory(max_attempts=1)))
    story.begins(None, status=8)
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "M"])


# -- the judgement itself ----------------------------------------------------------------------


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
    monkeypatch.setattr(linearize, "MAX_CONFIGURATIONS", 20)
    story = Story()
    for life in "ABCDEF":
        story.begins(None, life, "b1", status=14)
    story.begins(wait(), "Z")
    with pytest.raises(OracleLimitError, match="more than 20 worlds"):
        story.judged()


def test_no_memory_can_be_asked_before_time_began() -> None:
    story = granted()
    story.trace.records[-1].monotonic_ns -= 10 * SECOND
    with pytest.raises(ViewError, match="contradict"):
        story.judged()
