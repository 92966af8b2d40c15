"""Keeps operations at a window until an injection is done: by a rule, or by the host's barrier."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import grpc

from chaos.client import Fate, InterposerClient
from chaos.errors import NotInTime
from chaos.windows import Window, rule_for
from memqual.v1 import agent_pb2
from memqual.v1.agent_pb2_grpc import AgentAuditServiceStub

__all__ = ["HeldByBarrier", "HeldByRule", "Hold"]

CALL_SECONDS = 10.0
MARGIN_SECONDS = 5.0
MILLISECONDS_PER_SECOND = 1_000


class Hold(Protocol):
    """A window's hold on operations."""

    @property
    def dies_with_agent(self) -> bool:
        """The hold is within the agent host: a kill of that host ends it."""

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        """Waits until so many workflows are held; returns all that are.

        Raises:
            NotInTime: fewer are.
        """

    def release(self, fate: Fate, await_done_seconds: float) -> int:
        """Ends the hold; returns how many got the fate. A barrier knows DELIVER only."""


@dataclass(frozen=True, slots=True)
class HeldByRule:
    """Held by the interposer.

    Attributes:
        client: its control.
        rule_id: the rule; `arm` makes it.
    """

    client: InterposerClient
    rule_id: str

    @property
    def dies_with_agent(self) -> bool:
        """The interposer keeps messages of the dead."""
        return False

    def arm(self, window: Window, workflow_ids: Sequence[str], skipped: int = 0) -> None:
        """Arms the window's rule for these workflows; `skipped` as in `rule_for`.

        Raises:
            RuleRefused: its id is in use.
        """
        self.client.arm(rule_for(window, workflow_ids, self.rule_id, skipped))

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        """See `Hold`."""
        held = self.client.await_held(self.rule_id, count, timeout_seconds)
        return tuple(message.workflow_id for message in held)

    def release(self, fate: Fate, await_done_seconds: float) -> int:
        """See `Hold`."""
        return self.client.release(self.rule_id, fate, await_done_seconds=await_done_seconds)


@dataclass(frozen=True, slots=True)
class HeldByBarrier:
    """Held by the agent host itself.

    Attributes:
        audit: audit service of that host; its channel adds target and token to every call.
        barrier: which barrier.
    """

    audit: AgentAuditServiceStub
    barrier: agent_pb2.Barrier.ValueType

    @property
    def dies_with_agent(self) -> bool:
        """What stands within a host dies with it."""
        return True

    def arm(self, workflow_ids: Sequence[str]) -> None:
        """Arms the barrier for these workflows."""
        request = agent_pb2.ArmBarrierRequest(barrier=self.barrier, workflow_ids=workflow_ids)
        self.audit.ArmBarrier(request, timeout=CALL_SECONDS)

    def await_held(self, count: int, timeout_seconds: float) -> tuple[str, ...]:
        """See `Hold`."""
        request = agent_pb2.AwaitBarrierRequest(
            barrier=self.barrier,
            count=count,
            timeout_ms=round(timeout_seconds * MILLISECONDS_PER_SECOND),
        )
        try:
            answer = self.audit.AwaitBarrier(request, timeout=timeout_seconds + MARGIN_SECONDS)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise NotInTime("AwaitBarrier", error.code().name, error.details() or "") from error
            raise
        return tuple(answer.workflow_ids)

    def release(self, fate: Fate, await_done_seconds: float) -> int:
        """See `Hold`; everything that stands there goes on."""
        if fate is not Fate.DELIVER:
            raise ValueError("what stands at a barrier goes on or dies with its host")
        standing = self.await_held(0, 0.0)
        request = agent_pb2.ReleaseBarrierRequest(barrier=self.barrier)
        self.audit.ReleaseBarrier(request, timeout=CALL_SECONDS)
        return len(standing)
