"""Checkpoint files: created whole, read without change, damage told as damage."""

import json
import sqlite3
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from memqual.v1 import agent_pb2
from services.agent.checkpoints import (
    CheckpointDamaged,
    CheckpointExists,
    CheckpointFiles,
    CheckpointMissing,
    store_failure,
    thread_config,
)
from services.agent.model import assistant_message
from services.agent.operations import DefiniteAnswer, stored_result
from services.agent.reading import checkpoint_json
from services.agent.state import initial_state, pending_call, result_update
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, local_host, workflow

STARTED = workflow("w", agent_pb2.ARM_MEMORY, ["publish", "lookup"])


def save(files: CheckpointFiles, values: dict[str, object]) -> RunnableConfig:
    """Writes one checkpoint with these channel values."""
    with files.open("w", Future()) as saver:
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = values
        return saver.put(
            thread_config("w"), checkpoint, {"source": "loop", "step": 1, "parents": {}}, {}
        )


def test_a_created_file_holds_no_checkpoint_and_may_be_started(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    assert not files.exists("w")
    files.create("w")
    assert files.exists("w")
    with pytest.raises(CheckpointMissing):
        files.read("w")
    files.create("w")
    save(files, dict(initial_state(STARTED)))
    with pytest.raises(CheckpointExists):
        files.create("w")


def test_files_are_told_apart_whatever_their_ids(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    ids = ["a", "A", "a/b", "..", "a" * 128, "\u00e9"]
    for workflow_id in ids:
        files.create(workflow_id)
    assert len(ids) == len(list(tmp_path.iterdir()))


def test_files_are_wal_and_synchronous_full(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    files.create("w")
    with files.open("w", Future()) as saver:
        found = [
            saver.conn.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        ]
    full = 2
    assert ["wal", full] == found


def test_the_first_checkpoint_makes_the_workflow_durable(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    files.create("w")
    durable: Future[None] = Future()
    with files.open("w", durable) as saver:
        assert not durable.done()
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"__start__": dict(initial_state(STARTED))}
        saver.put(
            thread_config("w"), checkpoint, {"source": "input", "step": -1, "parents": {}}, {}
        )
        assert durable.done()
        loaded = files.read("w")
    assert loaded.workflow == STARTED
    assert json.loads(checkpoint_json(loaded)) == {
        "messages": [],
        "next": ["__start__"],
        "results": {},
    }


def test_reading_changes_no_byte(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    files.create("w")
    save(files, dict(initial_state(STARTED)))
    before = files.path("w").read_bytes()
    files.read("w")
    assert before == files.path("w").read_bytes()


def test_a_result_in_pending_writes_is_told_as_durable(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    files.create("w")
    message = assistant_message(STARTED, 0, "seed")
    state = initial_state(STARTED)
    call = pending_call(STARTED, [message])
    assert call is not None
    update = result_update(call, "{}", stored_result(call, DefiniteAnswer(1, "{}", "e", "")))
    saved = save(files, {**state, "messages": [message], "branch:to:act": None})
    assert json.loads(checkpoint_json(files.read("w")))["next"] == ["act"]
    writes = [*update.items(), ("branch:to:finish", None)]
    with files.open("w", Future()) as saver:
        saver.put_writes(saved, writes, "task")
    told = json.loads(checkpoint_json(files.read("w")))
    assert told["next"] == ["finish"]
    assert [call.operation_id] == list(told["results"])
    assert [one["type"] for one in told["messages"]] == ["assistant", "tool"]


@pytest.mark.parametrize("content", [b"", b"no database" * 100])
def test_what_is_no_checkpoint_file_is_told(tmp_path: Path, content: bytes) -> None:
    files = CheckpointFiles(tmp_path)
    files.path("w").write_bytes(content)
    with pytest.raises((CheckpointMissing, CheckpointDamaged)):
        files.read("w")


def test_a_checkpoint_that_cannot_be_decoded_is_damaged(tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    files.create("w")
    save(files, {"workflow": "not a serialised workflow"})
    with pytest.raises(CheckpointDamaged, match="cannot be decoded: TypeError"):
        files.read("w")
    with closing(sqlite3.connect(files.path("w"))) as connection:
        connection.execute("UPDATE checkpoints SET checkpoint = x'c1ff'")
        connection.commit()
    with pytest.raises(CheckpointDamaged, match="cannot be decoded"):
        files.read("w")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, "RESOURCE_EXHAUSTED: checkpoint: why"),
        (sqlite3.SQLITE_CORRUPT, "DATA_LOSS: checkpoint: why"),
        (sqlite3.SQLITE_IOERR, "UNAVAILABLE: checkpoint: why"),
    ],
)
def test_a_failing_volume_is_told_with_its_status(code: int, expected: str) -> None:
    error = sqlite3.OperationalError("why")
    error.sqlite_errorcode = code
    assert expected == store_failure(error)


def settled_parked(host: HostClient, around: World) -> None:
    """Leaves workflow w parked, its file closed."""
    around.memory.before["RecordReceipt"].extend([grpc.StatusCode.PERMISSION_DENIED])
    host.start(STARTED)
    assert host.settled("w")[0].state == agent_pb2.WORKFLOW_STATE_PARKED


def test_a_file_cut_in_half_fails_its_workflow_and_no_other(around: World, tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    with local_host(around, tmp_path) as host:
        settled_parked(host, around)
    path = files.path("w")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with local_host(around, tmp_path) as host:
        host.resume("w")
        found = host.settled("w")[0]
        assert found.state == agent_pb2.WORKFLOW_STATE_FAILED
        assert found.error.startswith("DATA_LOSS: checkpoint")
        host.start(workflow("other"))
        assert host.settled("other")[0].state == agent_pb2.WORKFLOW_STATE_COMPLETED


def test_a_file_whose_checkpoint_is_gone_fails_its_workflow(around: World, tmp_path: Path) -> None:
    CheckpointFiles(tmp_path).create("w")
    with local_host(around, tmp_path) as host:
        host.resume("w")
        assert host.settled("w")[0].error == "DATA_LOSS: workflow w has no checkpoint"


def test_a_workflow_goes_on_from_its_very_first_checkpoint(around: World, tmp_path: Path) -> None:
    files = CheckpointFiles(tmp_path)
    with local_host(around, tmp_path) as host:
        settled_parked(host, around)
    with closing(sqlite3.connect(files.path("w"))) as connection:
        connection.execute("DELETE FROM checkpoints WHERE parent_checkpoint_id IS NOT NULL")
        connection.execute("DELETE FROM writes")
        connection.commit()
    assert json.loads(checkpoint_json(files.read("w")))["next"] == ["__start__"]
    with local_host(around, tmp_path) as host:
        host.resume("w")
        assert host.settled("w")[0].state == agent_pb2.WORKFLOW_STATE_COMPLETED
