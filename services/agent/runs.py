"""What this process knows of its workflows: where each stands, and what became of its operations.

Everything here is in RAM and for Status only (DESIGN §4); the checkpoint files hold what lasts.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memqual.v1 import agent_pb2, continuity_pb2
from services.agent.state import StoredResult, identity_of

__all__ = ["LOADED_WORKFLOWS", "REASON_CODE_CHARACTERS", "Run", "Runs", "TooManyWorkflows"]

LOADED_WORKFLOWS = 10_000
REASON_CODE_CHARACTERS = 64
# These leave the table when it is full: nothing is waited for any more.
ENDED_STATES = frozenset(
    {
        agent_pb2.WORKFLOW_STATE_COMPLETED,
        agent_pb2.WORKFLOW_STATE_REJECTED,
        agent_pb2.WORKFLOW_STATE_FAILED,
    }
)


class TooManyWorkflows(Exception):
    """As many workflows are under way as this process keeps."""


@dataclass(slots=True)
class _OperationView:
    """One operation's line in Status, and the attempts that this process dispatched."""

    operation_id: str
    identity: continuity_pb2.OperationIdentity
    tool: str
    last_decision: "continuity_pb2.DecisionKind.ValueType" = (
        continuity_pb2.DECISION_KIND_UNSPECIFIED
    )
    reason_code: str = ""
    attempt: int = 0
    result_digest: str = ""
    tool_error_code: str = ""
    dispatched: set[int] = field(default_factory=set)

    def status(self) -> agent_pb2.OperationStatus:
        return agent_pb2.OperationStatus(
            operation_id=self.operation_id,
            identity=self.identity,
            tool=self.tool,
            last_decision=self.last_decision,
            reason_code=self.reason_code,
            attempt=self.attempt,
            result_digest=self.result_digest,
            tool_error_code=self.tool_error_code,
        )


class Run:
    """One workflow in this process. Thread-safe; `changed` is the table's condition."""

    def __init__(self, workflow_id: str, model_seed: str, changed: threading.Condition) -> None:
        self.workflow_id = workflow_id
        self._changed = changed
        self._model_seed = model_seed
        self._state: agent_pb2.WorkflowState.ValueType = agent_pb2.WORKFLOW_STATE_RUNNING
        self._error = ""
        self._wait_remaining_ms = 0
        self._wake_up_pending = False
        self._operations: dict[str, _OperationView] = {}
        self._model_requests = 0
        self._mismatched: set[int] = set()
        self._trajectory_digest = ""
        self._graph_digest = ""
        self._usage: agent_pb2.ModelUsage | None = None

    @property
    def state(self) -> "agent_pb2.WorkflowState.ValueType":
        """Where the workflow stands."""
        with self._changed:
            return self._state

    @property
    def model_seed(self) -> str:
        """Seed of the latest Start or Resume."""
        with self._changed:
            return self._model_seed

    @property
    def error(self) -> str:
        """Status code and cause of a failure; empty without one."""
        with self._changed:
            return self._error

    def wake_up(self, model_seed: str) -> bool:
        """Takes a Resume; True when the caller is to drive the run, False when it is running.

        A running workflow remembers one wake-up, however many come.
        """
        with self._changed:
            self._model_seed = model_seed
            if self._state == agent_pb2.WORKFLOW_STATE_RUNNING:
                self._wake_up_pending = True
                return False
            self._become_running()
            return True

    def settle(
        self,
        state: "agent_pb2.WorkflowState.ValueType",
        *,
        error: str = "",
        wait_remaining_ms: int = 0,
    ) -> bool:
        """Ends one drive; True when a wake-up came meanwhile and the run is to be driven again.

        A workflow that is complete has nothing to ask and stays so.
        """
        with self._changed:
            again = self._wake_up_pending and state != agent_pb2.WORKFLOW_STATE_COMPLETED
            self._wake_up_pending = False
            if again:
                self._become_running()
            else:
                self._state = state
                self._error = error
                self._wait_remaining_ms = wait_remaining_ms
                self._changed.notify_all()
            return again

    def known(
        self, operation_id: str, identity: continuity_pb2.OperationIdentity, tool: str
    ) -> None:
        """Makes sure that an operation has its line, in order of dispatch."""
        with self._changed:
            if operation_id not in self._operations:
                self._operations[operation_id] = _OperationView(operation_id, identity, tool)

    def decided(
        self,
        operation_id: str,
        kind: "continuity_pb2.DecisionKind.ValueType",
        reason_code: str,
        attempt: int,
    ) -> None:
        """The latest decision on a known operation; `attempt` is 0 where the kind carries none."""
        with self._changed:
            view = self._operations[operation_id]
            view.last_decision = kind
            view.reason_code = reason_code[:REASON_CODE_CHARACTERS]
            view.attempt = attempt or view.attempt

    def first_dispatch(self, operation_id: str, attempt: int) -> bool:
        """Notes a dispatch; False when this process dispatched that attempt before."""
        with self._changed:
            dispatched = self._operations[operation_id].dispatched
            if attempt in dispatched:
                return False
            dispatched.add(attempt)
            return True

    def stored(self, workflow: agent_pb2.Workflow, results: Iterable[StoredResult]) -> None:
        """These results are in the graph's state."""
        with self._changed:
            for result in results:
                view = self._operations.get(result.operation_id)
                if view is None:
                    identity = identity_of(workflow, result.message_id, result.tool_call_id)
                    view = _OperationView(result.operation_id, identity, result.tool)
                    self._operations[result.operation_id] = view
                view.attempt = result.attempt or view.attempt
                view.result_digest = result.result_digest
                view.tool_error_code = result.tool_error_code

    def conversed(
        self,
        *,
        requests: int,
        trajectory_digest: str,
        graph_digest: str,
        usage: agent_pb2.ModelUsage | None = None,
    ) -> None:
        """This is the conversation in the graph's state; arguments as in WorkflowStatus."""
        with self._changed:
            self._model_requests = requests
            self._trajectory_digest = trajectory_digest
            self._graph_digest = graph_digest
            self._usage = usage

    def mismatched(self, number: int) -> None:
        """The recording has no answer to the conversation's request of this number."""
        with self._changed:
            self._mismatched.add(number)

    def status(self) -> agent_pb2.WorkflowStatus:
        """The workflow's line in Status."""
        with self._changed:
            return agent_pb2.WorkflowStatus(
                workflow_id=self.workflow_id,
                state=self._state,
                operations=[view.status() for view in self._operations.values()],
                error=self._error,
                wait_remaining_ms=self._wait_remaining_ms,
                model_requests=self._model_requests,
                model_requests_mismatched=len(self._mismatched),
                trajectory_digest=self._trajectory_digest,
                graph_digest=self._graph_digest,
                model_usage=self._usage,
            )

    def _become_running(self) -> None:
        self._state = agent_pb2.WORKFLOW_STATE_RUNNING
        self._error = ""
        self._wait_remaining_ms = 0


class Runs:
    """All workflows of this process."""

    def __init__(self, *, capacity: int = LOADED_WORKFLOWS) -> None:
        self._capacity = capacity
        self._changed = threading.Condition(threading.RLock())
        self._runs: dict[str, Run] = {}
        self._closed = False

    def get(self, workflow_id: str) -> Run | None:
        """The workflow's run, or None when this process does not have it."""
        with self._changed:
            return self._runs.get(workflow_id)

    def add(self, workflow_id: str, model_seed: str) -> tuple[Run, bool]:
        """The workflow's run, new and RUNNING when there was none; True with a new one.

        Raises:
            TooManyWorkflows: the table is full of workflows that have not ended.
        """
        with self._changed:
            found = self._runs.get(workflow_id)
            if found is not None:
                return found, False
            if len(self._runs) >= self._capacity:
                self._forget_one()
            run = Run(workflow_id, model_seed, self._changed)
            self._runs[workflow_id] = run
            return run, True

    def discard(self, run: Run) -> None:
        """Forgets a run that never began."""
        with self._changed:
            if self._runs.get(run.workflow_id) is run:
                del self._runs[run.workflow_id]

    def status(self, workflow_ids: Sequence[str]) -> list[agent_pb2.WorkflowStatus]:
        """A line for each workflow, in the order asked; NOT_LOADED for those not here."""
        with self._changed:
            return [
                run.status()
                if (run := self._runs.get(workflow_id))
                else agent_pb2.WorkflowStatus(
                    workflow_id=workflow_id, state=agent_pb2.WORKFLOW_STATE_NOT_LOADED
                )
                for workflow_id in workflow_ids
            ]

    def await_settled(
        self, workflow_ids: Sequence[str], timeout_seconds: float, is_wanted: Callable[[], bool]
    ) -> None:
        """Returns when none of the workflows is RUNNING, at the latest after the time.

        `is_wanted` is asked now and then whether anybody still waits for the answer.
        """
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while self._any_running(workflow_ids) and not self._closed and is_wanted():
                left_seconds = deadline - time.monotonic()
                if left_seconds <= 0:
                    return
                self._changed.wait(min(left_seconds, 1.0))

    def close(self) -> None:
        """Ends every wait. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _any_running(self, workflow_ids: Sequence[str]) -> bool:
        return any(
            run.state == agent_pb2.WORKFLOW_STATE_RUNNING
            for run in map(self._runs.get, workflow_ids)
            if run is not None
        )

    def _forget_one(self) -> None:
        ended = next((run for run in self._runs.values() if run.state in ENDED_STATES), None)
        if ended is None:
            raise TooManyWorkflows(f"{self._capacity} workflows are under way")
        del self._runs[ended.workflow_id]
