"""Intents of two pasts, and workflows that are full: what other operations mean for one."""

from dataclasses import dataclass, field

import pytest
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, vendor_pb2
from orchestrator.oracle.clockmap import ClockMap, readings_from_trace
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.siblings import Siblings
from orchestrator.oracle.view import build_views
from tests.orchestrator.oracle import tracing
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    MILLISECOND,
    SECOND,
    WALL_OFFSET,
    Trace,
    confirm,
    execute,
    receipt,
    record_receipt,
    reuse,
    spec,
    wait,
)

OK = ["ok"]
RESULT = '{"ok":true}'


@dataclass
class Workflow:
    """Calls about the operations of one workflow; all have one intent unless told otherwise."""

    declared: DeclaredMemory = field(default_factory=lambda: DeclaredMemory(intent_matching=True))
    trace: Trace = field(default_factory=Trace)

    def __post_init__(self) -> None:
        self.trace.mark_clock()

    def begins(
        self,
        operation: str,
        answer: Message | None,
        settled: tuple[str, ...] | None = (),
        *,
        intent: str = "i" * 64,
        status: int = 0,
    ) -> None:
        asked = spec(operation)
        asked.intent_digest = intent
        request = tracing.begin(asked, "A", f"b{len(self.trace.records)}")
        if settled is not None:
            request.settled.operation_ids.extend(settled)
            request.settled.SetInParent()
        self.trace.called(CONTINUITY + "Begin", request, answer, status=status)

    def grants(self, operation: str, settled: tuple[str, ...] | None = ()) -> None:
        at = self.trace.now + WALL_OFFSET + MILLISECOND
        self.begins(operation, execute(at, 1, f"token-{operation}"), settled)

    def completes(self, operation: str, outcome: str = "SUCCEEDED") -> None:
        request = record_receipt(token=f"token-{operation}", operation=operation)
        request.receipt.outcome = continuity_pb2.ReceiptOutcome.Value(f"RECEIPT_OUTCOME_{outcome}")
        self.trace.called(CONTINUITY + "RecordReceipt", request, tracing.taken())

    def resolves(self, operation: str, word: str, result: str = "") -> None:
        asked = continuity_pb2.RequestResolveRequest(operation_id=operation)
        issued = continuity_pb2.RequestResolveResponse(
            challenge=common_pb2.Challenge(challenge_id=f"challenge-{operation}")
        )
        self.trace.called(CONTINUITY + "RequestResolve", asked, issued)
        answer = continuity_pb2.ResolveRequest(
            challenge_id=f"challenge-{operation}",
            decision=continuity_pb2.OperatorDecision.Value(f"OPERATOR_DECISION_{word}"),
            result_json=result,
        )
        self.trace.called(CONTINUITY + "Resolve", answer, continuity_pb2.ResolveResponse())

    def classes(self, operation: str) -> list[str]:
        views = build_views(self.trace.records)
        clock = ClockMap.from_readings(
            readings_from_trace(self.trace.records, vendor_pb2.LEASE_CLOCK_WALL)
        )
        view = next(one for one in views if one.operation_id == operation)
        judged = judge_operation(view, clock, self.declared, Siblings.of(view, views))
        return [call.classification.value for call in judged.calls]


def forked() -> Workflow:
    """Operation `a` was granted; the host of `b` does not know of it."""
    story = Workflow()
    story.grants("a")
    return story


@pytest.mark.parametrize("answer", [confirm(), wait()])
def test_a_forked_intent_that_is_under_way_is_held_back(answer: Message) -> None:
    story = forked()
    story.begins("b", answer)
    assert story.classes("b") == OK


@pytest.mark.parametrize(
    ("set_back_seconds", "told_seconds", "judged"),
    [
        (0, 120, "ok"),
        (0, 122, "needless"),
        (0, 365 * 86_400, "needless"),
        # The clock has to come up to the mark before what it waits for even begins.
        (86_400, 86_400 + 119, "ok"),
        (86_400, 86_400 + 125, "needless"),
    ],
)
def test_a_forked_intent_is_not_held_back_for_longer_than_declared(
    set_back_seconds: int, told_seconds: int, judged: str
) -> None:
    story = forked()
    if set_back_seconds:
        story.trace.mark_clock()
        story.trace.mark_clock(-set_back_seconds * SECOND)
    story.begins("b", wait(told_seconds * 1_000))
    assert story.classes("b") == [judged]


def test_a_forked_intent_is_not_dispatched_again() -> None:
    story = forked()
    story.grants("b")
    assert story.classes("b") == ["unsafe"]


def test_what_completed_in_the_other_past_is_handed_over_or_asked_about() -> None:
    for answer in (reuse(receipt("a")), confirm()):
        story = forked()
        story.completes("a")
        story.begins("b", answer)
        assert story.classes("b") == OK


def test_nothing_else_is_handed_over() -> None:
    story = forked()
    story.completes("a")
    story.begins("b", reuse(receipt("a", result='{"ok":false}')))
    story.begins("c", wait())
    assert story.classes("b") == ["unsafe"]
    assert story.classes("c") == ["needless"]


def test_an_operators_result_is_handed_over() -> None:
    story = forked()
    story.resolves("a", "HAPPENED", RESULT)
    story.begins("b", reuse(receipt("a")))
    assert story.classes("b") == OK


def test_what_the_operator_ruled_out_blocks_nothing() -> None:
    free, blocked = forked(), forked()
    for story in (free, blocked):
        story.resolves("a", "DID_NOT_HAPPEN")
    free.grants("b")
    blocked.begins("b", confirm())
    assert free.classes("b") == OK
    assert blocked.classes("b") == ["needless"]


def test_what_was_granted_again_after_the_operators_word_blocks_again() -> None:
    story = forked()
    story.resolves("a", "DID_NOT_HAPPEN")
    at = story.trace.now + WALL_OFFSET + MILLISECOND
    story.begins("a", execute(at, 2, "another"))
    story.begins("b", confirm())
    assert story.classes("b") == OK


def test_a_tools_refusal_in_the_other_past_forbids_nothing() -> None:
    story = forked()
    story.completes("a", "TOOL_ERROR")
    story.grants("b")
    assert story.classes("b") == OK


@pytest.mark.parametrize("settled", [("a",), None, tuple(str(one) for one in range(200))])
def test_a_second_obligation_is_new_and_so_is_one_of_a_host_that_cannot_tell(
    settled: tuple[str, ...] | None,
) -> None:
    done, blocked = forked(), forked()
    for story in (done, blocked):
        story.completes("a")
    done.grants("b", settled)
    blocked.begins("b", confirm(), settled)
    assert done.classes("b") == OK
    assert blocked.classes("b") == ["needless"]


def test_another_intent_is_never_held_back() -> None:
    story = forked()
    story.begins("b", confirm(), intent="j" * 64)
    assert story.classes("b") == ["needless"]


def test_an_answer_that_was_not_seen_leaves_both_open() -> None:
    for answer in (confirm(), None):
        story = Workflow()
        story.begins("a", None, status=14)
        if answer is None:
            story.grants("b")
        else:
            story.begins("b", answer)
        assert story.classes("b") == OK


def test_without_the_declaration_a_replay_is_allowed_and_so_is_holding_it_back() -> None:
    for answered in (confirm(), None):
        story = Workflow(declared=DeclaredMemory())
        story.grants("a")
        if answered is None:
            story.grants("b")
        else:
            story.begins("b", answered)
        assert story.classes("b") == OK


def test_a_full_workflow_may_refuse_and_one_with_room_may_not() -> None:
    for held, found in ((2, "ok"), (1, "malformed")):
        story = Workflow(declared=DeclaredMemory(max_operations=2))
        for number in range(held):
            story.grants(str(number), None)
        story.trace.now += SECOND
        story.begins("one more", None, None, status=8)
        assert story.classes("one more") == [found]


def test_one_operation_more_than_is_declared_is_never_granted() -> None:
    for held, found in ((2, "unsafe"), (1, "ok")):
        story = Workflow(declared=DeclaredMemory(max_operations=2))
        for number in range(held):
            story.grants(str(number), None)
        story.trace.now += SECOND
        story.grants("one more", None)
        assert story.classes("one more") == [found]


def test_what_is_held_already_is_asked_about_in_a_full_workflow() -> None:
    story = Workflow(declared=DeclaredMemory(max_operations=2))
    for name in ("a", "b"):
        story.grants(name, None)
    story.trace.now += SECOND
    story.begins("a", wait(100_000), None)
    assert story.classes("a") == ["ok", "ok"]
