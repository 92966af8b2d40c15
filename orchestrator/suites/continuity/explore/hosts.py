"""What befalls the hosts of the lanes' workflows: work, sleep, older checkpoints (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass, field

import grpc

from chaos.faults import ActiveFault
from chaos.storage_receipts import CheckpointRestoreReceipt
from memqual.v1 import agent_pb2
from orchestrator.session import AgentHost
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.zombies import bury, fall_asleep, let_finish, mark_zombie

__all__ = ["Hosts"]

_NOT_SEEN_TO_ITS_END = "a zombie was not seen to its end"
_NOT_POSSIBLE = (
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.UNAVAILABLE,
)


@dataclass
class Hosts:
    """The two hosts of a stack.

    Attributes:
        stage: The batch.
    """

    stage: Stage
    _asleep: tuple[AgentHost, ActiveFault] | None = field(default=None, init=False)

    def work(self) -> None:
        """The active host does the lanes' workflows; when it does already, it is woken."""
        rig = self.stage.rig
        if rig.started:
            rig.wake(new_life=False)
        else:
            rig.start()

    def sleep_or_wake(self) -> None:
        """Stop the active host where it is, or let the one that is stopped go on.

        Raises:
            StackError, ChaosError: The standby cannot take over, or a host does not end.
        """
        if self._asleep is not None:
            self.wake()
            return
        stage = self.stage
        if not stage.rig.started:
            return
        stage.await_standby()
        zombie = stage.context.session.active
        # Whatever goes wrong from here on, two hosts may be at work.
        stage.context.progress.spoiled = _NOT_SEEN_TO_ITS_END
        self._asleep = (zombie, fall_asleep(stage, zombie))
        stage.context.session.swap_hosts()
        stage.rig.wake(new_life=True)

    def wake(self) -> None:
        """The host that is stopped goes on, late, until it has nothing to do; then it is ended.

        Raises:
            StackError, ChaosError: It does not come to an end.
        """
        if self._asleep is None:
            return
        (zombie, fault), self._asleep = self._asleep, None
        stage = self.stage
        mark_zombie(stage, "awake")
        stage.keep(fault.lift())
        let_finish(stage, zombie)
        mark_zombie(stage, "done")
        bury(stage, zombie)
        stage.await_standby()
        stage.context.progress.spoiled = ""

    def set_back(self) -> None:
        """Restore what checkpoints can be restored, and let the host go on from there.

        One of a workflow that runs, or that holds no assistant message yet, stays as it is.
        """
        stage = self.stage
        if not stage.rig.started:
            return
        host = stage.context.session.active
        before: dict[str, int] = {}
        after: dict[str, int] = {}
        for name in stage.rig.workflow_ids:
            request = agent_pb2.RestoreCheckpointRequest(workflow_id=name)
            try:
                restored = host.audit.RestoreCheckpoint(request)
            except grpc.RpcError as error:
                if error.code() not in _NOT_POSSIBLE:
                    raise
                continue
            before[name], after[name] = restored.messages_before, restored.messages_after
        if before:
            receipt = CheckpointRestoreReceipt(service=host.service, before=before, after=after)
            stage.keep(receipt)
            stage.rig.wake(new_life=True)
