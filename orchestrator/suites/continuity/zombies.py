"""Hosts that fall behind and wake up late, and are buried when their batch is over (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from chaos.faults import ActiveFault, Suspension
from memqual.v1 import agent_pb2
from orchestrator.errors import StackError
from orchestrator.session import AgentHost
from orchestrator.suites.continuity.rig import SETTLE_MS, NotSettled
from orchestrator.suites.continuity.stage import Stage

__all__ = ["ZOMBIE_MARK", "bury", "fall_asleep", "let_finish", "mark_zombie"]

ZOMBIE_MARK = "zombie"
"""Kind of the marks that tell when a zombie woke up (`awake`) and when it was done (`done`)."""

_SILENCE_SECONDS = 0.5
_AWAKE_SECONDS = 10.0
_SETTLE_ROUNDS_MAX = 6
_EXIT_SECONDS = 10.0
_MILLISECONDS_A_SECOND = 1_000
_MARGIN_SECONDS = 10


@dataclass
class _Listener:
    """Asks a host for its clock: for a moment while it must be silent, for longer afterwards."""

    host: AgentHost
    patience_seconds: float = _SILENCE_SECONDS

    def __call__(self) -> bool:
        request = agent_pb2.ReadHostClockRequest()
        try:
            self.host.audit.ReadHostClock(request, timeout=self.patience_seconds)
        except grpc.RpcError:
            return False
        return True


def fall_asleep(stage: Stage, host: AgentHost) -> ActiveFault:
    """Stop a host where it is; lifting the fault lets it go on.

    Raises:
        FaultNotPossible: It does not run.
    """
    listener = _Listener(host)
    asleep = Suspension(listener).inject(stage.context.stack.service(host.service))
    listener.patience_seconds = _AWAKE_SECONDS
    return asleep


def mark_zombie(stage: Stage, step: str) -> None:
    """Put into the trace where a zombie stands."""
    stage.interposer.mark({"kind": ZOMBIE_MARK, "step": step})


def let_finish(stage: Stage, host: AgentHost) -> None:
    """Wait until a host that woke up has nothing to do any more.

    Raises:
        NotSettled: It still has after a minute.
    """
    request = agent_pb2.StatusRequest(
        workflow_ids=stage.rig.workflow_ids, await_settled_ms=SETTLE_MS
    )
    for _ in range(_SETTLE_ROUNDS_MAX):
        answer = host.agent.Status(
            request, timeout=SETTLE_MS / _MILLISECONDS_A_SECOND + _MARGIN_SECONDS
        )
        if all(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in answer.workflows):
            return
    raise NotSettled(f"the woken host {host.service} still runs workflows after a minute")


def bury(stage: Stage, host: AgentHost) -> None:
    """End a woken host, and start it as the next standby beside everything else.

    Raises:
        StackError: It did not end.
    """
    service = stage.context.stack.service(host.service)
    service.kill()
    try:
        service.wait_exit(_EXIT_SECONDS)
    except StackError as error:
        raise StackError(
            f"The woken host {host.service!r} could not be ended: {error.diagnosis}",
            next_step="See its log in the run folder.",
        ) from error
    stage.restart_standby(host.service)
