"""A grant of one operation bounds the mark that every other operation is judged by."""

from dataclasses import replace

from orchestrator.oracle.clockmap import ClockMap, ClockReading
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import Classification
from orchestrator.oracle.marks import with_marks
from orchestrator.oracle.messages import (
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Spec,
)
from orchestrator.oracle.view import Call, OperationView

SECOND = 1_000_000_000
LEASE = DeclaredMemory().lease_ns
KEYED = Spec("core", "rest", Capability.IDEMPOTENT, "arguments", True, 86_400 * SECOND)

# 800 s pass, then the clock is set back by 300 s, still long after the first grant's lease.
CLOCK = ClockMap.from_readings(
    [
        ClockReading(0, 0, 0),
        ClockReading(800 * SECOND, 800 * SECOND, 800 * SECOND),
        ClockReading(801 * SECOND, 801 * SECOND, 501 * SECOND),
    ]
)


def begin(number: int, at_seconds: int, answer: Answer) -> Call:
    at_ns = at_seconds * SECOND
    asked = BeginAsked(KEYED, f"life-{number}", f"begin-{number}")
    return Call(number, number, "agent", asked, answer, at_ns, at_ns + 1)


def execute(attempt: int, granted_at_ns: int) -> DecisionTold:
    return DecisionTold(
        DecisionKind.EXECUTE,
        "granted",
        attempt=attempt,
        token=f"token-{attempt}-{granted_at_ns}",
        remaining_ms=LEASE // 1_000_000,
        granted_at_ns=granted_at_ns,
        key_deadline_ns=86_400 * SECOND,
    )


def story(last: Answer, other_grant_ns: int) -> tuple[OperationView, ...]:
    own = (begin(1, 10, execute(1, 10 * SECOND)), begin(3, 810, last))
    other = (begin(2, 799, execute(1, other_grant_ns)),)
    return with_marks((OperationView("own", own), OperationView("other", other)), CLOCK)


def classes(last: Answer, other_grant_ns: int = 799 * SECOND) -> list[Classification]:
    own = story(last, other_grant_ns)[0]
    return [call.classification for call in judge_operation(own, CLOCK, DeclaredMemory()).calls]


def test_a_retry_on_a_key_behind_another_operations_grant_is_unsafe() -> None:
    assert classes(execute(2, 510 * SECOND)) == [Classification.OK, Classification.UNSAFE]


def test_wait_and_confirm_are_right_there() -> None:
    for kind in (DecisionKind.WAIT, DecisionKind.CONFIRM):
        told = DecisionTold(kind, "behind", remaining_ms=1_000)
        assert classes(told) == [Classification.OK, Classification.OK]


def test_a_grant_dated_where_the_clock_never_was_says_nothing_of_the_mark() -> None:
    found = classes(execute(2, 510 * SECOND), other_grant_ns=10**6 * SECOND)
    assert found == [Classification.OK, Classification.OK]


def test_a_grant_counts_from_its_answer_on_and_never_before() -> None:
    own, other = story(execute(2, 510 * SECOND), 799 * SECOND)
    # Give or take the grain of the coarsest clock.
    assert [call.mark_ns for call in own.calls] == [None, 798 * SECOND]
    assert [call.mark_ns for call in other.calls] == [9 * SECOND]


def test_without_marks_each_operation_stands_alone() -> None:
    own = story(execute(2, 510 * SECOND), 799 * SECOND)[0]
    alone = replace(own, calls=tuple(replace(call, mark_ns=None) for call in own.calls))
    judged = judge_operation(alone, CLOCK, DeclaredMemory())
    assert judged.violations == ()
