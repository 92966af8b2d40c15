"""What the plays of the paper's study do alike: the task of each trial, and its store's state.

Both are told to the trace as marks, since judges read nothing but raw evidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from memqual.v1 import agent_pb2, destination_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.paper.cassette import Cassette
from orchestrator.suites.continuity.paper.marks import STATE_MARK, TASK_MARK
from orchestrator.suites.continuity.paper.study import cassette_for
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import settings_of, workflow_of

__all__ = ["Hands", "number_of"]

_STATE_SECONDS = 30.0


class Hands:
    """One batch of the study.

    Args:
        stage: The batch; it has begun.
        guard: Whether the tools' own preconditions hold.
    """

    def __init__(self, stage: Stage, *, guard: bool) -> None:
        self._stage = stage
        self._guard = guard
        self._tau2 = stage.context.stack.spec.retail_store is not None

    def prepare(self) -> None:
        """Set the guard, and tell every trial's task and the state of its store."""
        settings = [self._settings(member) for member in self._stage.batch.members]
        self._stage.context.session.destination_audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(settings=settings)
        )
        for member in self._stage.batch.members:
            cassette = self._cassette(member)
            self._stage.interposer.mark(
                {
                    "kind": TASK_MARK,
                    "workflow": member.workflow_id,
                    "task": cassette.task.task_id,
                    "cassette": cassette.digest,
                    "guard": self._guard,
                }
            )
        self.tell_states("initial")

    def start(self) -> None:
        """Start every trial's recorded conversation."""
        self._stage.rig.start(self._workflows())

    def start_calls(self) -> None:
        """Start every trial's recorded calls alone, as a script without a conversation."""
        workflows = self._workflows()
        for workflow in workflows:
            for exchange in workflow.recording.exchanges:
                if exchange.calls:
                    workflow.turns.add(calls=exchange.calls)
            workflow.ClearField("recording")
        self._stage.rig.start(workflows)

    def tell_states(self, point: str) -> None:
        """Tell the digests of every trial's store as it is now."""
        audit = self._stage.context.session.destination_audit
        for member in self._stage.batch.members:
            answer = audit.ReadStateHash(
                destination_pb2.ReadStateHashRequest(
                    workflow_id=member.workflow_id, with_retail_store=True
                ),
                timeout=_STATE_SECONDS,
            )
            self._stage.interposer.mark(
                {
                    "kind": STATE_MARK,
                    "workflow": member.workflow_id,
                    "point": point,
                    "compact": answer.retail_compact_digest,
                    "spaced": answer.retail_spaced_digest,
                }
            )

    def _workflows(self) -> Sequence[agent_pb2.Workflow]:
        workflows = []
        for member in self._stage.batch.members:
            workflow = workflow_of(member, self._stage.context.run_id)
            workflow.ClearField("turns")
            workflow.recording.CopyFrom(self._cassette(member).recording())
            workflows.append(workflow)
        return workflows

    def _settings(self, member: Member) -> destination_pb2.WorkflowSettings:
        settings = settings_of(member)
        settings.guard = self._guard
        return settings

    def _cassette(self, member: Member) -> Cassette:
        return cassette_for(number_of(member.trial_id), tau2=self._tau2)


def number_of(trial_id: str) -> int:
    """Number of a trial in its cell."""
    return int(trial_id.rpartition("#")[2])
