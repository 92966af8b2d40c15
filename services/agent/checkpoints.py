"""Checkpoint files: one SQLite file a workflow, on the volume that both agent hosts share.

WAL, synchronous FULL: what LangGraph was told is saved survives the process (DESIGN §4). A file is
open only while its workflow runs; SQLite's locks die with the process that held them, so a host
that takes over needs no clean-up.

    Exception
    └── CheckpointError
        ├── CheckpointExists    the workflow was started already
        ├── CheckpointMissing   no checkpoint of this workflow
        ├── NothingToRestore    no assistant message to go back before
        └── CheckpointDamaged   the file cannot be read
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import grpc
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from memqual.v1 import agent_pb2
from services.agent.state import AgentState, checkpoint_serializer, workflow_of
from services.common import platform
from services.common.canonical import sha256_hex

__all__ = [
    "INTERRUPT_CHANNEL",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointExists",
    "CheckpointFiles",
    "CheckpointMissing",
    "LoadedCheckpoint",
    "NothingToRestore",
    "WorkflowSaver",
    "messages_in",
    "store_failure",
    "thread_config",
]

BUSY_TIMEOUT_SECONDS = 5.0
# LangGraph's name for an interrupt among a step's writes and in a graph's output.
INTERRUPT_CHANNEL = "__interrupt__"
TABLES = ("checkpoints", "writes")
PRIMARY_CODE_MASK = 0xFF
FAILURE_CODES = {
    sqlite3.SQLITE_FULL: grpc.StatusCode.RESOURCE_EXHAUSTED,
    sqlite3.SQLITE_CORRUPT: grpc.StatusCode.DATA_LOSS,
    sqlite3.SQLITE_NOTADB: grpc.StatusCode.DATA_LOSS,
}


class CheckpointError(Exception):
    """A checkpoint file is not as it is needed."""


class CheckpointExists(CheckpointError):
    """The workflow was started already, here or by another host on this volume."""


class CheckpointMissing(CheckpointError):
    """There is no checkpoint of this workflow."""


class NothingToRestore(CheckpointError):
    """No older checkpoint is without the last assistant message."""


class CheckpointDamaged(CheckpointError):
    """The file is there and cannot be read; says what SQLite or the decoder found."""


@dataclass(frozen=True, slots=True)
class LoadedCheckpoint:
    """The latest checkpoint of a workflow.

    Attributes:
        workflow: the workflow as it was started.
        saved: the checkpoint with the pending writes of the step after it, as LangGraph has them.
        interrupted: True when that step stands at an interrupt.
    """

    workflow: agent_pb2.Workflow
    saved: CheckpointTuple
    interrupted: bool


def thread_config(workflow_id: str) -> RunnableConfig:
    """The workflow's thread, in its root checkpoint namespace."""
    return {"configurable": {"thread_id": workflow_id, "checkpoint_ns": ""}}


def store_failure(error: sqlite3.Error) -> str:
    """Status code and cause of a failed file operation, for Status."""
    primary = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE_MASK
    code = FAILURE_CODES.get(primary, grpc.StatusCode.UNAVAILABLE)
    return f"{code.name}: checkpoint: {error}"


class WorkflowSaver(SqliteSaver):
    """LangGraph's SQLite saver for one file, which tells when a checkpoint is durable."""

    def __init__(self, connection: sqlite3.Connection, durable: Future[None]) -> None:
        """Args: durable: gets its result with the first checkpoint that is committed."""
        super().__init__(connection, serde=checkpoint_serializer())
        self._durable = durable

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As SqliteSaver.put."""
        saved = super().put(config, checkpoint, metadata, new_versions)
        if not self._durable.done():
            self._durable.set_result(None)
        return saved


class CheckpointFiles:
    """The folder of checkpoint files."""

    def __init__(self, folder: Path) -> None:
        """Args: folder: must exist; on the volume that both hosts share."""
        self._folder = folder
        self._empty_file = _empty_file()

    def path(self, workflow_id: str) -> Path:
        """The workflow's file: its name is a digest, since ids are opaque text."""
        return self._folder / f"{sha256_hex(workflow_id.encode())}.sqlite"

    def exists(self, workflow_id: str) -> bool:
        """True when the workflow has a file; says nothing of what is in it."""
        return self.path(workflow_id).is_file()

    def create(self, workflow_id: str) -> None:
        """Puts an empty file there for a workflow that is about to start.

        A file without a checkpoint is what a host left that was killed before it acknowledged the
        start; that workflow never began.

        Raises:
            CheckpointExists: it was started already.
            CheckpointDamaged: there is a file that cannot be read.
            OSError: the volume cannot be written to.
        """
        if not self.exists(workflow_id):
            platform.atomic_write_bytes(self.path(workflow_id), self._empty_file)
            return
        try:
            self.read(workflow_id)
        except CheckpointMissing:
            return
        raise CheckpointExists(f"workflow {workflow_id} was started already; resume it")

    @contextlib.contextmanager
    def open(self, workflow_id: str, durable: Future[None]) -> Iterator[WorkflowSaver]:
        """Opens a workflow's file, closes it on exit.

        Raises:
            sqlite3.Error: the file is no database or cannot be opened.
        """
        connection = sqlite3.connect(
            self.path(workflow_id), timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            saver = WorkflowSaver(connection, durable)
            saver.is_setup = True
            yield saver
        finally:
            connection.close()

    def read(self, workflow_id: str) -> LoadedCheckpoint:
        """The latest durable checkpoint, through a connection of its own that cannot write.

        Raises:
            CheckpointMissing: no file, or no checkpoint in it.
            CheckpointDamaged: it cannot be read.
        """
        path = self.path(workflow_id)
        if not path.is_file():
            raise CheckpointMissing(f"workflow {workflow_id} has no checkpoint")
        uri = f"{path.resolve().as_uri()}?mode=ro"
        try:
            connection = sqlite3.connect(
                uri, uri=True, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise CheckpointDamaged(f"checkpoint file cannot be opened: {error}") from error
        with contextlib.closing(connection):
            return self.load(WorkflowSaver(connection, Future()), workflow_id)

    def load(self, saver: WorkflowSaver, workflow_id: str) -> LoadedCheckpoint:
        """The latest checkpoint in an open file; changes nothing in it.

        Raises:
            CheckpointMissing: none there.
            CheckpointDamaged: it cannot be read.
        """
        try:
            _check_file(saver.conn, workflow_id)
            # The tables are there; setting them up again would write.
            saver.is_setup = True
            saved = saver.get_tuple(thread_config(workflow_id))
            if saved is None:
                raise CheckpointMissing(f"workflow {workflow_id} has no checkpoint")
            workflow = _workflow_in(saved)
        except sqlite3.Error as error:
            raise CheckpointDamaged(f"checkpoint cannot be read: {error}") from error
        except CheckpointError:
            raise
        except Exception as error:
            # What msgpack, a message's own validation or protobuf raises on damaged bytes; its text
            # can quote content, so only its kind is told.
            raise CheckpointDamaged(
                f"checkpoint cannot be decoded: {type(error).__name__}"
            ) from error
        return LoadedCheckpoint(
            workflow=workflow,
            saved=saved,
            interrupted=any(
                channel == INTERRUPT_CHANNEL for _, channel, _ in saved.pending_writes or ()
            ),
        )


def messages_in(saved: CheckpointTuple) -> list[AnyMessage]:
    """The messages of a checkpoint, without those of the step after it."""
    return list(saved.checkpoint["channel_values"].get("messages", ()))


def _empty_file() -> bytes:
    """A database with LangGraph's tables in WAL mode: to copy it is cheaper than to make each."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        SqliteSaver(connection).setup()
        data = bytearray(connection.serialize())
    # Format versions for writing and reading in SQLite's file header; 2 is WAL. A database in
    # memory cannot be switched to it.
    data[18:20] = b"\x02\x02"
    return bytes(data)


def _workflow_in(saved: CheckpointTuple) -> agent_pb2.Workflow:
    values = saved.checkpoint["channel_values"]
    # In the very first checkpoint the whole initial state is still the input of the start node.
    state: AgentState = values.get("__start__", values)
    return workflow_of(state)


def _check_file(connection: sqlite3.Connection, workflow_id: str) -> None:
    problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise CheckpointDamaged(f"checkpoint file is damaged: {problem}")
    found = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?)", TABLES
    ).fetchone()[0]
    if found != len(TABLES):
        raise CheckpointMissing(f"workflow {workflow_id} has no checkpoint")
