"""The host's own windows and its wake-ups: what is durable where (DESIGN §5)."""

import json
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import grpc
import pytest

from memqual.v1 import agent_pb2
from services.agent.checkpoints import CheckpointFiles, WorkflowSaver
from services.common.canonical import canonical_json
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, local_host, workflow

BEFORE_INTENT = agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT
BEFORE = agent_pb2.BARRIER_BEFORE_CHECKPOINT
AFTER = agent_pb2.BARRIER_AFTER_CHECKPOINT
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
RUNNING = agent_pb2.WORKFLOW_STATE_RUNNING


def durable(host: HostClient, workflow_id: str = "w") -> tuple[list[str], list[str], int]:
    """Types of messages, nodes that are due, and the number of results in the checkpoint."""
    told = json.loads(host.checkpoint(workflow_id))
    assert canonical_json(told).decode() == host.checkpoint(workflow_id)
    return [one["type"] for one in told["messages"]], told["next"], len(told["results"])


def test_before_intent_the_message_is_not_durable(around: World, host: HostClient) -> None:
    host.arm(BEFORE_INTENT, "w")
    host.start(workflow("w"))
    assert host.await_barrier(BEFORE_INTENT, 1) == ["w"]
    assert durable(host)[0] == []
    assert around.destination.calls == []
    assert host.status("w").state == RUNNING
    host.release(BEFORE_INTENT)
    assert host.settled("w")[0].state == COMPLETED


def test_before_the_checkpoint_the_result_is_recorded_and_not_durable(
    around: World, host: HostClient
) -> None:
    host.arm(BEFORE, "w")
    host.start(workflow("w"))
    host.await_barrier(BEFORE, 1)
    assert durable(host) == (["assistant"], ["act"], 0)
    assert len(around.memory.of("RecordReceipt")) == 1
    assert host.status("w").operations[0].result_digest == ""
    host.release(BEFORE)
    assert host.settled("w")[0].state == COMPLETED


@pytest.mark.parametrize(
    ("turns", "following"),
    [([["publish"]], "finish"), ([["publish", "lookup"]], "act"), ([["publish"]] * 2, "model")],
)
def test_after_the_checkpoint_the_result_and_its_writes_are_durable(
    host: HostClient, tmp_path: Path, turns: list[list[str]], following: str
) -> None:
    host.arm(AFTER, "w")
    host.start(workflow("w", agent_pb2.ARM_MEMORY, *turns))
    host.await_barrier(AFTER, 1)
    assert durable(host) == (["assistant", "tool"], [following], 1)
    assert host.status("w").operations[0].result_digest != ""
    loaded = CheckpointFiles(tmp_path).read("w")
    assert loaded.saved.parent_config is not None
    with CheckpointFiles(tmp_path).open("w", Future()) as saver:
        before = saver.get_tuple(loaded.saved.parent_config)
    assert before is not None
    channels = {channel for _, channel, _ in before.pending_writes or ()}
    assert {"messages", "results", f"branch:to:{following}"} <= channels
    host.release(AFTER)
    assert host.settled("w")[0].state == COMPLETED


def test_after_the_checkpoint_is_after_writes_that_are_slow(
    host: HostClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed: list[str] = []
    put_writes = WorkflowSaver.put_writes

    def slow(saver: WorkflowSaver, *arguments: Any) -> None:
        # Long enough for a checkpoint on another thread to overtake, if one could.
        time.sleep(0.2)
        put_writes(saver, *arguments)
        committed.extend(channel for channel, _ in arguments[1])

    monkeypatch.setattr(WorkflowSaver, "put_writes", slow)
    host.arm(AFTER, "w")
    host.start(workflow("w"))
    host.await_barrier(AFTER, 1)
    assert "results" in committed
    host.release(AFTER)
    assert host.settled("w")[0].state == COMPLETED


def test_a_barrier_stops_a_workflow_once(around: World, host: HostClient) -> None:
    host.arm(BEFORE, "w")
    host.start(workflow("w", agent_pb2.ARM_MEMORY, ["publish", "lookup"]))
    host.await_barrier(BEFORE, 1)
    host.release(BEFORE)
    assert host.settled("w")[0].state == COMPLETED
    assert len(around.destination.of("Invoke")) == 2


def test_a_barrier_that_is_never_released_fails_the_workflow(around: World, tmp_path: Path) -> None:
    with local_host(around, tmp_path, barrier_seconds=0.05) as host:
        host.arm(BEFORE, "w")
        host.start(workflow("w"))
        found = host.settled("w")[0]
        assert found.state == agent_pb2.WORKFLOW_STATE_FAILED
        assert found.error.startswith("DEADLINE_EXCEEDED: held at before_checkpoint")
        host.resume("w")
        found = host.settled("w")[0]
    assert (found.state, len(around.destination.effects_of("w"))) == (COMPLETED, 1)


def test_wake_ups_of_a_running_workflow_make_it_ask_once_more(
    around: World, host: HostClient
) -> None:
    around.destination.after["Invoke"].append(grpc.StatusCode.UNAVAILABLE)
    held = around.destination.hold("Invoke", before=True)
    host.start(workflow("w"))
    held.await_standing(1)
    for _ in range(5):
        host.resume("w")
    assert host.status("w").state == RUNNING
    held.release()
    assert host.settled("w")[0].state == agent_pb2.WORKFLOW_STATE_PARKED
    # The first, the one after the lost answer, and one for all five wake-ups.
    assert len(around.memory.of("Begin")) == 3


def test_a_wake_up_of_a_complete_workflow_asks_nothing(around: World, host: HostClient) -> None:
    host.start(workflow("w"))
    first = host.settled("w")[0]
    host.resume("w")
    assert host.settled("w")[0] == first
    assert len(around.memory.of("Begin")) == 1
