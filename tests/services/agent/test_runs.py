"""The table of workflows: states, wake-ups, and its bound."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memqual.v1 import agent_pb2, continuity_pb2
from services.agent.runs import Run, Runs, TooManyWorkflows
from services.agent.state import StoredResult
from tests.services.agent.hosts import workflow

RUNNING = agent_pb2.WORKFLOW_STATE_RUNNING
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED


def new_run(runs: Runs, workflow_id: str = "w") -> Run:
    run, is_new = runs.add(workflow_id, "seed")
    assert is_new
    return run


def test_a_running_workflow_remembers_one_wake_up() -> None:
    run = new_run(Runs())
    assert [run.wake_up("later"), run.wake_up("latest")] == [False, False]
    assert run.settle(PARKED, wait_remaining_ms=5)
    assert (run.state, run.model_seed, run.status().wait_remaining_ms) == (RUNNING, "latest", 0)
    assert not run.settle(PARKED, wait_remaining_ms=5)
    assert (run.state, run.status().wait_remaining_ms) == (PARKED, 5)


def test_a_wake_up_of_a_settled_workflow_is_the_callers_to_drive() -> None:
    run = new_run(Runs())
    run.settle(FAILED, error="INTERNAL: x")
    assert run.error == "INTERNAL: x"
    assert run.wake_up("later")
    assert (run.state, run.error) == (RUNNING, "")


def test_a_complete_workflow_asks_nothing_more() -> None:
    run = new_run(Runs())
    run.wake_up("later")
    assert not run.settle(COMPLETED)
    assert run.state == COMPLETED


def test_status_tells_decisions_and_results_in_order_of_dispatch() -> None:
    run = new_run(Runs())
    started = workflow("w")
    for operation_id in ("one", "two"):
        run.known(operation_id, continuity_pb2.OperationIdentity(thread_id="w"), "publish")
    run.decided("one", continuity_pb2.DECISION_KIND_EXECUTE, "r" * 70, 2)
    run.decided("one", continuity_pb2.DECISION_KIND_WAIT, "lease_live", 0)
    run.stored(started, [StoredResult("three", "m", "c", "lookup", 0, "d" * 64, "", "no")])
    lines = run.status().operations
    assert [line.operation_id for line in lines] == ["one", "two", "three"]
    assert (
        lines[0].last_decision,
        lines[0].reason_code,
        lines[0].attempt,
        lines[0].result_digest,
    ) == (continuity_pb2.DECISION_KIND_WAIT, "lease_live", 2, "")
    assert (
        lines[2].identity.message_id,
        lines[2].identity.tool_call_id,
        lines[2].tool,
        lines[2].result_digest,
        lines[2].tool_error_code,
    ) == ("m", "c", "lookup", "d" * 64, "no")


def test_an_attempt_is_dispatched_once() -> None:
    run = new_run(Runs())
    run.known("one", continuity_pb2.OperationIdentity(), "publish")
    assert [run.first_dispatch("one", n) for n in (1, 1, 2)] == [True, False, True]


def test_a_full_table_forgets_what_has_ended_and_nothing_else() -> None:
    runs = Runs(capacity=2)
    first, second = new_run(runs, "first"), new_run(runs, "second")
    second.settle(PARKED)
    with pytest.raises(TooManyWorkflows):
        runs.add("third", "seed")
    first.settle(COMPLETED)
    new_run(runs, "third")
    assert [line.state for line in runs.status(["first", "second", "third"])] == [
        agent_pb2.WORKFLOW_STATE_NOT_LOADED,
        PARKED,
        RUNNING,
    ]


def test_await_settled_returns_when_nothing_runs() -> None:
    runs = Runs()
    one, two = new_run(runs, "one"), new_run(runs, "two")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(runs.await_settled, ["one", "two", "unknown"], 60, lambda: True)
        one.settle(PARKED)
        assert not waiting.done()
        two.settle(COMPLETED)
        waiting.result(10)


def test_await_settled_ends_with_its_time_its_caller_or_the_host() -> None:
    runs = Runs()
    new_run(runs, "one")
    runs.await_settled(["one"], 0.001, lambda: True)
    runs.await_settled(["one"], 60, lambda: False)
    waiter = threading.Thread(target=runs.await_settled, args=(["one"], 60, lambda: True))
    waiter.start()
    runs.close()
    waiter.join(10)
    assert not waiter.is_alive()
