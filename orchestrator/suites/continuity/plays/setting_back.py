"""What plays share in which a host's checkpoints are set back to before a call."""

from __future__ import annotations

import json

from chaos.client import Fate
from chaos.receipts import FaultReceipt
from chaos.storage_receipts import CheckpointForkReceipt, CheckpointRestoreReceipt
from chaos.windows import window
from memqual.v1 import agent_pb2
from orchestrator.suites.continuity.stage import Stage

__all__ = ["lose_answers", "replay", "set_back"]


def _messages(stage: Stage, workflow_id: str) -> int:
    request = agent_pb2.ReadCheckpointRequest(workflow_id=workflow_id)
    answer = stage.context.session.active.audit.ReadCheckpoint(request)
    return len(json.loads(answer.checkpoint_json)["messages"])


def set_back(stage: Stage, *, fork: bool = False) -> None:
    """Set every workflow's checkpoint back to before its last assistant message; keep the proof."""
    host = stage.context.session.active
    before = {name: _messages(stage, name) for name in stage.rig.workflow_ids}
    kept: dict[str, int] = {}
    for name in stage.rig.workflow_ids:
        request = agent_pb2.RestoreCheckpointRequest(workflow_id=name, fork=fork)
        kept[name] = host.audit.RestoreCheckpoint(request).newer_kept
    after = {name: _messages(stage, name) for name in stage.rig.workflow_ids}
    receipt: FaultReceipt
    if fork:
        receipt = CheckpointForkReceipt(service=host.service, before=before, after=after, kept=kept)
    else:
        receipt = CheckpointRestoreReceipt(service=host.service, before=before, after=after)
    stage.keep(receipt)


def replay(stage: Stage) -> None:
    """The host goes on from the older state: its model is asked again and answers anew."""
    stage.rig.wake(new_life=True)
    stage.settle("replayed")


def lose_answers(stage: Stage, at: str) -> None:
    """Every host loses what it waits for at a window, and asks again."""
    stage.rig.window = window(at)
    hold = stage.rig.arm()
    stage.rig.start()
    stage.rig.await_window(hold)
    hold.release(Fate.DISCONNECT, 0.0)
    stage.settle("lost")
