"""The retail store as the evaluator sees it: guards, states, and workflows that nobody disturbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memqual.v1 import common_pb2, destination_pb2
from orchestrator.plan import Member
from orchestrator.suites.continuity.retail_tasks import Action, WritePoint
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import settings_of

__all__ = ["Store"]

_STATE_SECONDS = 30.0


class Store:
    """The destination's retail store behind one batch.

    Args:
        stage: The batch.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def guard(self, members: Iterable[Member]) -> None:
        """Put the tools' own preconditions on for the trials' workflows."""
        settings = [settings_of(member) for member in members]
        for one in settings:
            one.guard = True
        self._configure(settings)

    def digest(self, workflow_id: str) -> str:
        """Compact digest of a workflow's whole store."""
        answer = self._stage.context.session.destination_audit.ReadStateHash(
            destination_pb2.ReadStateHashRequest(workflow_id=workflow_id, with_retail_store=True),
            timeout=_STATE_SECONDS,
        )
        return answer.retail_compact_digest

    def undisturbed(self, workflow_id: str, point: WritePoint) -> tuple[str, str]:
        """Digests of another workflow right before the write and right after it.

        Its calls are the evaluator's own, straight to the destination, and no host's.
        """
        other = f"{workflow_id}-undisturbed"
        self._configure(
            [
                destination_pb2.WorkflowSettings(
                    workflow_id=other, capability=common_pb2.EFFECT_CAPABILITY_NONE, guard=True
                )
            ]
        )
        for action in point.task.actions[: point.at]:
            self._call(other, action)
        without = self.digest(other)
        self._call(other, point.action)
        return without, self.digest(other)

    def _call(self, workflow_id: str, action: Action) -> None:
        session = self._stage.context.session
        session.destination_for(workflow_id, action.action_id, 0).Invoke(
            destination_pb2.InvokeRequest(
                workflow_id=workflow_id,
                operation_id=action.action_id,
                tool=action.tool,
                arguments_json=action.arguments_json,
            )
        )

    def _configure(self, settings: Sequence[destination_pb2.WorkflowSettings]) -> None:
        self._stage.context.session.destination_audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(settings=settings)
        )
