"""Waiting for a batch's operations: at the window, or until they settle, and never for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, cast

import pytest

from chaos.client import Statistics
from chaos.errors import NotInTime, WindowMissed
from chaos.holding import Hold
from chaos.windows import window
from memqual.v1 import agent_pb2, destination_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Arm, Cell, Suite, WindowName
from orchestrator.plan import Batch, Member
from orchestrator.suites.continuity import rig as rig_module
from orchestrator.suites.continuity.rig import NotSettled, Rig, span_of

RUNNING = agent_pb2.WORKFLOW_STATE_RUNNING
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED

State: TypeAlias = agent_pb2.WorkflowState.ValueType


@dataclass
class FakeStack:
    """Context, session, hosts and interposer in one: answers what a test has put in line.

    Attributes:
        answers: States of the workflows, one entry for each Status; the last one stays.
        calls: What was asked, in order.
        moves: Messages pass all the time.
        head: The trace's head.
    """

    answers: list[tuple[State, ...]] = field(default_factory=lambda: [(COMPLETED,)])
    calls: list[str] = field(default_factory=list)
    run_id: str = "run"
    moves: bool = False
    head: int = 77

    def __getattr__(self, name: str) -> FakeStack:
        assert name in ("session", "active", "agent", "audit", "interposer", "destination_audit")
        return self

    def Status(  # the stub's name
        self, request: agent_pb2.StatusRequest, timeout: float = 10.0
    ) -> agent_pb2.StatusResponse:
        self.calls.append(f"Status {request.await_settled_ms}")
        states = self.answers.pop(0) if self.answers[1:] else self.answers[0]
        return agent_pb2.StatusResponse(
            workflows=[
                agent_pb2.WorkflowStatus(workflow_id=workflow, state=state, error="why")
                for workflow, state in zip(request.workflow_ids, states, strict=False)
            ]
        )

    def Start(self, request: agent_pb2.StartRequest) -> None:  # as above
        self.calls.append(f"Start {request.workflow.workflow_id}")

    def ConfigureWorkflow(  # as above
        self, request: destination_pb2.ConfigureWorkflowRequest
    ) -> None:
        self.calls.append("Configure")

    def ReleaseBarrier(self, request: agent_pb2.ReleaseBarrierRequest) -> None:  # as above
        self.calls.append(f"ReleaseBarrier {request.barrier}")

    def clear(self, *rule_ids: str) -> None:
        self.calls.append(f"clear {', '.join(rule_ids)}")

    def statistics(self) -> Statistics:
        self.head += 1 if self.moves else 0
        return Statistics(
            wall_unix_ns=1,
            monotonic_ns=2,
            trace_head_sequence=self.head,
            trace_first_sequence=1,
            in_flight_calls=0,
            held_messages=0,
        )


@dataclass
class FakeHold:
    """Holds more with each look.

    Attributes:
        held: How many are held at each wait; the last entry stays.
    """

    held: list[int]

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        now = self.held.pop(0) if self.held[1:] else self.held[0]
        if now < count:
            raise NotInTime("AwaitHeld", "DEADLINE_EXCEEDED", f"holds {now} of {count}")
        return ("w",) * now


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rig_module, "_HOLD_SECONDS", 0.0)


def _rig(stack: FakeStack, workflows: int = 2, name: str = "in_request") -> Rig:
    cell = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, window=WindowName(name))
    members = tuple(
        Member(trial_id=f"t{number}", cell=cell, sub_seed=number, workflow_id=f"w{number}")
        for number in range(workflows)
    )
    batch = Batch(batch_id="b1", subject="vendor", kill_number=0, members=members)
    return Rig(cast(StackContext, stack), batch, window(name))


def _await(stack: FakeStack, *held: int) -> None:
    _rig(stack).await_window(cast(Hold, FakeHold(list(held))))


def test_a_window_at_which_all_stand_is_hit() -> None:
    _await(FakeStack(), 2)


def test_those_who_come_between_two_looks_stand_there_too() -> None:
    _await(FakeStack([(RUNNING, RUNNING)]), 1, 2)


def test_operations_that_settled_elsewhere_will_never_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rig_module, "_HOLD_SECONDS", 600.0)
    with pytest.raises(WindowMissed, match="holds 1 of 2; 1 workflows settled without it"):
        _await(FakeStack([(RUNNING, FAILED)]), 1)


def test_operations_that_hang_are_waited_for_in_bounds() -> None:
    with pytest.raises(WindowMissed, match="holds 0 of 2; 0 workflows settled without it"):
        _await(FakeStack([(RUNNING, RUNNING)]), 0)


def test_slow_operations_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rig_module, "_HOLD_SECONDS", 600.0)
    stack = FakeStack([(RUNNING, RUNNING)])
    _await(stack, 0, 0, 1, 1, 2)
    assert len(stack.calls) == 2


def _await_those(stack: FakeStack, *held: int) -> tuple[str, ...]:
    return _rig(stack).await_those_that_come(cast(Hold, FakeHold(list(held))), 2)


def test_those_that_come_are_taken_when_the_others_settled() -> None:
    assert _await_those(FakeStack([(RUNNING, FAILED)]), 1) == ("w",)
    assert _await_those(FakeStack([(RUNNING, RUNNING)]), 2) == ("w", "w")


@pytest.mark.parametrize(
    ("held", "states"),
    [(0, (FAILED, FAILED)), (1, (RUNNING, RUNNING))],
    ids=["nobody_comes", "one_hangs"],
)
def test_a_window_without_anybody_or_with_one_on_the_way_is_missed(
    held: int, states: tuple[State, ...]
) -> None:
    with pytest.raises(WindowMissed, match=f"holds {held} of 2"):
        _await_those(FakeStack([states]), held)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("in_request", "clear hold-b1"),
        ("before_checkpoint", f"ReleaseBarrier {agent_pb2.BARRIER_BEFORE_CHECKPOINT}"),
    ],
)
def test_a_hold_that_was_missed_is_taken_away(name: str, call: str) -> None:
    stack = FakeStack()
    _rig(stack, name=name).disarm()
    assert stack.calls == [call]


def test_settled_workflows_are_kept_with_the_head_of_the_trace() -> None:
    stack = FakeStack([(RUNNING, PARKED), (COMPLETED, PARKED)])
    snapshot = _rig(stack).settle("live")
    assert (snapshot.phase, snapshot.trace_sequence, len(snapshot.status_json)) == ("live", 77, 2)
    assert stack.calls == ["Status 10000"] * 2


def test_work_that_goes_on_is_waited_for() -> None:
    stack = FakeStack(answers=[*[(RUNNING, COMPLETED)] * 20, (COMPLETED, COMPLETED)], moves=True)
    snapshot = _rig(stack).settle("live")
    assert len(snapshot.status_json) == 2


def test_work_that_goes_on_for_ever_is_not() -> None:
    stack = FakeStack(answers=[(RUNNING, COMPLETED)], moves=True)
    with pytest.raises(NotSettled, match="0 s after the last message"):
        _rig(stack).settle("live")
    assert len(stack.calls) == 30


def test_workflows_that_never_settle_are_no_trouble_of_the_infrastructure() -> None:
    stack = FakeStack([(RUNNING, COMPLETED)])
    with pytest.raises(NotSettled, match="batch b1 still run, 60 s after the last message"):
        _rig(stack).settle("live")
    assert stack.calls == ["Status 10000"] * 6


def test_a_canary_that_completes_proves_the_rig() -> None:
    stack = FakeStack([(COMPLETED,)])
    _rig(stack).canary(0)
    assert stack.calls == ["Configure", "Start canary-b1-0", "Status 10000"]


def test_a_canary_that_does_not_is_trouble_of_the_testbed() -> None:
    with pytest.raises(StackError, match="An operation without a memory did not complete: why"):
        _rig(FakeStack([(FAILED,)])).canary(1)


def test_a_span_begins_where_it_was_asked_for_and_may_be_empty() -> None:
    assert (span_of([5, 9, 7], 5).first, span_of([5, 9, 7], 5).last) == (5, 9)
    assert (span_of([], 5).first, span_of([], 5).last) == (5, 4)
