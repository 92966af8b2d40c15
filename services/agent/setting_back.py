"""Checkpoints that an evaluator sets back to before a call (arXiv 2603.20625): restored, or forked.

A restored file is as an older snapshot of it. A forked one goes on from a copy of an older
checkpoint, as LangGraph forks a thread: the newer checkpoints stay, and nothing leads to them.
"""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple, copy_checkpoint
from langgraph.checkpoint.base.id import uuid6

from services.agent.checkpoints import (
    CheckpointFiles,
    NothingToRestore,
    WorkflowSaver,
    messages_in,
    thread_config,
)

__all__ = ["SetBack", "set_back"]

FORGET_CHECKPOINT = "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?"
FORGET_WRITES = "DELETE FROM writes WHERE thread_id = ? AND checkpoint_id = ?"


@dataclass(frozen=True, slots=True)
class SetBack:
    """A workflow that was set back.

    Attributes:
        messages_before: messages of the checkpoint that was the latest.
        messages_after: messages of the one that is now.
        newer_kept: checkpoints newer than the one gone back to that are there still.
    """

    messages_before: int
    messages_after: int
    newer_kept: int


def set_back(files: CheckpointFiles, workflow_id: str, *, fork: bool) -> SetBack:
    """Sets a file back to before its last assistant message.

    Args:
        files: the folder that it is in.
        workflow_id: the workflow; it must not run.
        fork: the newer checkpoints stay.

    Raises:
        CheckpointMissing: no file, or no checkpoint in it.
        CheckpointDamaged: it cannot be read.
        NothingToRestore: no older checkpoint is without that message.
        sqlite3.Error: it cannot be written to.
    """
    before = messages_in(files.read(workflow_id).saved)
    asked = _assistant_messages(before)
    with files.open(workflow_id, Future()) as saver:
        older, newer = _before_message(saver, workflow_id, asked)
        if fork:
            _fork(saver, older)
        else:
            _forget(saver.conn, workflow_id, older.checkpoint["id"], newer)
    return SetBack(len(before), len(messages_in(older)), len(newer) if fork else 0)


def _before_message(
    saver: WorkflowSaver, workflow_id: str, asked: int
) -> tuple[CheckpointTuple, list[str]]:
    """The latest checkpoint with fewer assistant messages than that, and the ids of newer ones."""
    newer: list[str] = []
    # The saver is locked while its list is read: all of it, before anything else is done with it.
    for saved in list(saver.list(thread_config(workflow_id))):
        if _assistant_messages(messages_in(saved)) < asked:
            return saved, newer
        newer.append(saved.checkpoint["id"])
    raise NothingToRestore(f"workflow {workflow_id} has no assistant message to go back before")


def _assistant_messages(messages: list[AnyMessage]) -> int:
    return sum(isinstance(message, AIMessage) for message in messages)


def _fork(saver: WorkflowSaver, saved: CheckpointTuple) -> None:
    """A copy of an older checkpoint becomes the latest; of the step after it, it has no writes."""
    step = saved.metadata.get("step", 0) + 1
    copied = copy_checkpoint(saved.checkpoint)
    # The latest is the one with the greatest id; these are in order of time.
    copied["id"] = str(uuid6(clock_seq=step))
    saver.put(saved.config, copied, CheckpointMetadata(source="fork", step=step, parents={}), {})


def _forget(
    connection: sqlite3.Connection, workflow_id: str, kept: str, forgotten: Sequence[str]
) -> None:
    """Removes newer checkpoints, and what the step after the kept one has written."""
    with connection:
        for name in forgotten:
            connection.execute(FORGET_CHECKPOINT, (workflow_id, name))
        for name in (kept, *forgotten):
            connection.execute(FORGET_WRITES, (workflow_id, name))
