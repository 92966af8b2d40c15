"""Plays of `families.bad_input`: hosts die with their calls committed, and something is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chaos.storage_receipts import CheckpointCutReceipt
from memqual.v1 import agent_pb2
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.plays.host_kill import kill_host_at
from orchestrator.suites.continuity.stage import Stage

__all__ = ["PLAYS"]

_WINDOW = "after_commit"


def _destination_down(stage: Stage) -> None:
    """Nothing is there to be asked: that is no absence, and whatever is granted then gets lost."""
    killed = kill_host_at(stage, _WINDOW, stage.rig.start)

    def take_up() -> None:
        stage.take_over(killed)
        stage.settle("live")
        stage.reach_lease_end()
        stage.rig.wake(new_life=False)
        stage.settle("destination_down")

    kill_and_restart(stage, "destination", while_down=take_up)
    stage.step = "destination_back"
    # What was granted meanwhile has a lease of its own.
    stage.reach_lease_end()
    stage.wake_until_settled("resolved", stage.wakes_for_declared_bound())


def _checkpoint_cut(stage: Stage) -> None:
    killed = kill_host_at(stage, _WINDOW, stage.rig.start)
    standby = stage.context.session.standby
    cut = [member.workflow_id for member in stage.batch.members[::2]]
    answers = [
        standby.audit.CutCheckpoint(agent_pb2.CutCheckpointRequest(workflow_id=workflow))
        for workflow in cut
    ]
    stage.keep(
        CheckpointCutReceipt(
            service=standby.service,
            workflow_ids=tuple(cut),
            bytes_before=sum(one.bytes_before for one in answers),
            bytes_after=sum(one.bytes_after for one in answers),
        )
    )
    stage.step = "take_over"
    stage.take_over(killed)
    stage.settle("live")
    stage.reach_lease_end()
    stage.wake_until_settled("expired", stage.wakes_for_declared_bound())


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "bad_input.destination_down": _destination_down,
    "bad_input.checkpoint_cut": _checkpoint_cut,
}
