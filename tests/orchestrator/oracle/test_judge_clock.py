"""Clocks that are set, and the particulars of a decision, told as histories and judged."""

import pytest

from memqual.v1 import common_pb2
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.particulars import Problem
from tests.orchestrator.oracle.plots import (
    ASKABLE,
    IDEMPOTENT,
    KEYED,
    NONE,
    QUERY,
    UNCERTAIN,
    again,
    expired,
    granted,
)
from tests.orchestrator.oracle.story import Story
from tests.orchestrator.oracle.tracing import (
    SECOND,
    confirm,
    query,
    record_query,
    record_receipt,
    reuse,
    spec,
    wait,
)


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
    assert (story.classes(), problems(story)) == (["ok", "needless"], (Problem.WAIT_TOO_LONG,))


TOO_LONG = ("needless", (Problem.WAIT_TOO_LONG,))
FINE: tuple[str, tuple[Problem, ...]] = ("ok", ())


def doubted(declared: DeclaredMemory) -> Story:
    story = Story(ASKABLE, declared)
    lease_seconds = declared.lease_ns // SECOND
    story.grants(remaining_ms=lease_seconds * 1_000)
    story.jumps(lease_seconds + 1)
    story.begins(query())
    story.records(record_query(UNCERTAIN))
    return story


@pytest.mark.parametrize(
    ("declared", "told_seconds", "judged"),
    [
        (DeclaredMemory(), 30, FINE),
        (DeclaredMemory(), 120, FINE),
        (DeclaredMemory(), 122, TOO_LONG),
        (DeclaredMemory(), 365 * 86_400, TOO_LONG),
        # The evaluator may have asked for a short lease; the memory's own pauses stay as they are.
        (DeclaredMemory(lease_ns=3 * SECOND), 120, FINE),
        (DeclaredMemory(lease_ns=3 * SECOND), 122, TOO_LONG),
        (DeclaredMemory(lease_ns=600 * SECOND), 600, FINE),
        (DeclaredMemory(lease_ns=600 * SECOND), 602, TOO_LONG),
        (DeclaredMemory(question_ns=300 * SECOND), 300, FINE),
        (DeclaredMemory(question_ns=300 * SECOND), 302, TOO_LONG),
    ],
)
def test_a_pause_after_doubt_is_no_longer_than_what_is_declared(
    declared: DeclaredMemory, told_seconds: int, judged: tuple[str, tuple[Problem, ...]]
) -> None:
    story = doubted(declared)
    story.begins(wait(told_seconds * 1_000))
    assert (story.classes()[-1], problems(story)) == judged


@pytest.mark.parametrize(
    ("told_seconds", "judged"),
    [(86_400, FINE), (86_400 + 120, FINE), (86_400 + 125, TOO_LONG), (365 * 86_400, TOO_LONG)],
)
def test_behind_the_mark_a_wait_is_no_longer_than_the_way_to_it_and_a_lease(
    told_seconds: int, judged: tuple[str, tuple[Problem, ...]]
) -> None:
    story = granted()
    story.jumps(-86_400)
    story.begins(wait(told_seconds * 1_000))
    assert (story.classes()[-1], problems(story), story.rows()[-1]) == (*judged, "B")


def test_a_wait_that_comes_later_behind_the_mark_may_tell_less() -> None:
    story = granted()
    story.jumps(-600)
    story.passes(500)
    story.begins(wait(600_000))
    assert (story.classes()[-1], problems(story)) == TOO_LONG


def test_the_declared_number_of_attempts_may_be_refused() -> None:
    story = expired(Story(KEYED, DeclaredMemory(max_attempts=1)))
    story.begins(None, status=8)
    assert (story.classes(), story.rows()) == (["ok", "ok"], ["N", "M"])
