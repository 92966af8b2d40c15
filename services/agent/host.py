"""Drives workflows, a thread each, from Start or Resume until the graph ends or stops (DESIGN §4).

A drive opens the workflow's checkpoint file, runs the graph and closes the file. What it ends in is
for Status; the file alone decides where the next drive goes on.
"""

import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import grpc
import structlog
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from memqual.v1 import agent_pb2, observer_pb2
from services.agent.barriers import Barriers
from services.agent.calls import ToolCaller
from services.agent.checkpoints import (
    INTERRUPT_CHANNEL,
    CheckpointError,
    CheckpointExists,
    CheckpointFiles,
    CheckpointMissing,
    WorkflowSaver,
    store_failure,
    thread_config,
)
from services.agent.events import HostEvents
from services.agent.fresh_model import FreshModel
from services.agent.graph import AgentGraph, Drive, build_graph, graph_digest
from services.agent.requests import CALLS_A_TURN, TURNS
from services.agent.runs import Run, Runs
from services.agent.state import AgentState, initial_state, workflow_of
from services.agent.stops import ERROR_BYTES, Failed, Parked, Rejected

__all__ = ["Host", "StartFailed"]

DRIVES_AT_ONCE = 128
START_SECONDS = 8.0
# Every call is one step, every turn another; the rest is for the ends.
STEPS_A_DRIVE = TURNS * (CALLS_A_TURN + 1) + 8
WAKE_UP = "wake-up"

_log = structlog.get_logger(__name__)


class StartFailed(Exception):
    """A workflow's first checkpoint could not be made durable; says why."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a drive ended; fields as in WorkflowStatus."""

    state: "agent_pb2.WorkflowState.ValueType"
    error: str = ""
    wait_remaining_ms: int = 0


class Host:
    """One life of the agent host.

    Attributes:
        files: the checkpoint files.
        barriers: the host's own windows.
        runs: the workflows of this process.
    """

    def __init__(
        self,
        *,
        files: CheckpointFiles,
        caller: ToolCaller,
        events: HostEvents,
        barriers: Barriers,
        fresh_model: FreshModel,
    ) -> None:
        """Compiles the graph, so that a takeover does not wait for it."""
        self.files = files
        self.barriers = barriers
        self.runs = Runs()
        self._caller = caller
        self._events = events
        self._fresh_model = fresh_model
        self._graph = build_graph()
        self._graph_digest = graph_digest(self._graph)
        self._threads = ThreadPoolExecutor(DRIVES_AT_ONCE, thread_name_prefix="drive")

    def start(self, workflow: agent_pb2.Workflow, model_seed: str) -> None:
        """Starts a workflow; returns when its initial state is durable.

        Raises:
            CheckpointExists: it was started already.
            CheckpointDamaged: a file is there and cannot be read.
            TooManyWorkflows: this process has no room.
            StartFailed: the initial state could not be written.
        """
        try:
            self.files.create(workflow.workflow_id)
        except OSError as error:
            raise StartFailed(f"the volume cannot be written to: {error.strerror}") from error
        run, is_new = self.runs.add(workflow.workflow_id, model_seed)
        if not is_new:
            raise CheckpointExists(f"workflow {workflow.workflow_id} was started already")
        durable: Future[None] = Future()
        self._threads.submit(self._drive, run, workflow, durable)
        try:
            durable.result(START_SECONDS)
        except TimeoutError as error:
            raise StartFailed("the first checkpoint is not durable in time") from error

    def resume(self, workflow_ids: Sequence[str], model_seed: str) -> None:
        """Wakes workflows up: each is asked about again, whatever it waits for.

        Raises:
            CheckpointMissing: one of them has no checkpoint; none was woken.
            TooManyWorkflows: this process has no room for all of them.
        """
        for workflow_id in workflow_ids:
            if self.runs.get(workflow_id) is None and not self.files.exists(workflow_id):
                raise CheckpointMissing(f"workflow {workflow_id} has no checkpoint")
        for workflow_id in workflow_ids:
            run, is_new = self.runs.add(workflow_id, model_seed)
            if is_new or run.wake_up(model_seed):
                self._threads.submit(self._drive, run, None, Future())

    def close(self) -> None:
        """Ends waits and takes no more work. Idempotent."""
        self.barriers.close()
        self.runs.close()
        self._fresh_model.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _drive(self, run: Run, started: agent_pb2.Workflow | None, durable: Future[None]) -> None:
        """Runs the graph until it ends or stops, and again for a wake-up that came meanwhile."""
        again = True
        while again:
            ending = self._drive_once(run, started, durable)
            if not durable.done():
                if started is not None:
                    # Nothing of the workflow lasts, so it may be started once more.
                    self.runs.discard(run)
                durable.set_exception(StartFailed(ending.error))
            again = run.settle(
                ending.state, error=ending.error, wait_remaining_ms=ending.wait_remaining_ms
            )
            started = None

    def _drive_once(
        self, run: Run, started: agent_pb2.Workflow | None, durable: Future[None]
    ) -> _Ending:
        workflow = started
        try:
            with self.files.open(run.workflow_id, durable) as saver:
                graph_input: AgentState | Command[Any] | None
                if started is None:
                    found = self.files.load(saver, run.workflow_id)
                    workflow = found.workflow
                    graph_input = Command(resume=WAKE_UP) if found.interrupted else None
                    self._events.emit(workflow, observer_pb2.EVENT_KIND_WORKFLOW_RESUMED)
                else:
                    graph_input = initial_state(started)
                    self._events.emit(started, observer_pb2.EVENT_KIND_WORKFLOW_STARTED)
                ending = self._invoke(run, saver, graph_input)
        except Exception as error:
            ending = _ending_of(error, run.workflow_id)
        if workflow is not None:
            self._events.emit(workflow, observer_pb2.EVENT_KIND_WORKFLOW_SETTLED)
        return ending

    def _invoke(
        self, run: Run, saver: WorkflowSaver, graph_input: AgentState | Command[Any] | None
    ) -> _Ending:
        drive = Drive(
            run, self._caller, self.barriers, self._events, self._graph_digest, self._fresh_model
        )
        graph: AgentGraph = self._graph.copy({"checkpointer": saver})
        config: RunnableConfig = {
            **thread_config(run.workflow_id),
            "recursion_limit": STEPS_A_DRIVE,
            # One writer thread: a step's writes are committed before its checkpoint is.
            "max_concurrency": 1,
        }
        state = graph.invoke(graph_input, config, context=drive, durability="sync")
        if INTERRUPT_CHANNEL in state:
            return _Ending(agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION)
        final = cast("AgentState", state)
        drive.show(workflow_of(final), final)
        return _Ending(agent_pb2.WORKFLOW_STATE_COMPLETED)


def _ending_of(error: Exception, workflow_id: str) -> _Ending:
    match error:
        case Parked():
            return _Ending(agent_pb2.WORKFLOW_STATE_PARKED, wait_remaining_ms=error.remaining_ms)
        case Rejected():
            return _Ending(agent_pb2.WORKFLOW_STATE_REJECTED)
        case Failed():
            cause = error.error
        case CheckpointError():
            cause = f"{grpc.StatusCode.DATA_LOSS.name}: {error}"
        case sqlite3.Error():
            cause = store_failure(error)
        case _:
            # A defect: its text may quote content, so Status tells its kind only.
            _log.error("drive_failed", workflow=workflow_id, exc_info=error)
            cause = f"{grpc.StatusCode.INTERNAL.name}: {type(error).__name__}"
    _log.warning("workflow_failed", workflow=workflow_id, cause=cause)
    return _Ending(agent_pb2.WORKFLOW_STATE_FAILED, error=cause[:ERROR_BYTES])
