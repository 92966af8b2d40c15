"""What the golden family's plays tell the trace, and its judges read there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypeVar

from memqual.v1 import interposer_pb2
from orchestrator.errors import EvidenceError
from orchestrator.model import Frozen

__all__ = ["GoldenState", "GoldenTask", "state_of", "task_of"]


class GoldenTask(Frozen):
    """Which write of which task a trial's workflow is killed at.

    Attributes:
        kind: Of the mark.
        workflow: The trial's workflow.
        task: Name of the task.
        at: Index of the write among the task's calls.
        tool: The write's tool.
        arguments_digest: SHA-256 of the write's arguments.
        writes: The write is not one that the tool refuses.
        failing: Indexes of the calls that the tools refuse.
        calls: Number of the task's calls.
        digest: Compact digest of the store at the task's end.
    """

    kind: str = "golden_task"
    workflow: str
    task: str
    at: int
    tool: str
    arguments_digest: str
    writes: bool
    failing: tuple[int, ...]
    calls: int
    digest: str


class GoldenState(Frozen):
    """The store of a trial's workflow when everything was over.

    Attributes:
        kind: Of the mark.
        workflow: The trial's workflow.
        digest: Compact digest of its store.
        without: The same of a workflow that nobody disturbed, right before the write; empty where
            the task was completed.
        with_write: The same, right after it.
    """

    kind: str = "golden_state"
    workflow: str
    digest: str
    without: str = ""
    with_write: str = ""


_Mark = TypeVar("_Mark", GoldenTask, GoldenState)


def task_of(trace: Iterable[interposer_pb2.TraceRecord], workflow_id: str) -> GoldenTask | None:
    """What was told of a workflow's task; None when nothing was.

    Raises:
        EvidenceError: The mark is none.
    """
    return _told(trace, workflow_id, GoldenTask, "golden_task")


def state_of(trace: Iterable[interposer_pb2.TraceRecord], workflow_id: str) -> GoldenState | None:
    """What was told of a workflow's store; None when nothing was. Raises as `task_of`."""
    return _told(trace, workflow_id, GoldenState, "golden_state")


def _told(
    trace: Iterable[interposer_pb2.TraceRecord], workflow_id: str, of: type[_Mark], kind: str
) -> _Mark | None:
    for record in trace:
        if record.kind != interposer_pb2.TRACE_KIND_MARK or kind not in record.mark_json:
            continue
        mark = json.loads(record.mark_json)
        if mark.get("kind") != kind or mark.get("workflow") != workflow_id:
            continue
        try:
            return of.model_validate(mark)
        except ValueError as error:
            raise EvidenceError(
                f"The mark of workflow {workflow_id} about its task cannot be read.",
                next_step="The bundle was altered or is of another version: run `memqual verify`.",
            ) from error
    return None
