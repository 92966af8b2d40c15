"""Operations at the agent host's own barriers: armed, awaited, let go, or dead with their host."""

import time
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from chaos.client import Fate
from chaos.errors import NotInTime
from chaos.holding import HeldByBarrier
from chaos.injection import Injection
from chaos.plans import KillPlan
from chaos.receipts import JournalPrecondition
from memqual.v1 import agent_pb2, agent_pb2_grpc
from tests.chaos.harness import Rig, open_channel
from tests.chaos.processes import ProcessTarget, Spawner

BARRIER = agent_pb2.BARRIER_BEFORE_CHECKPOINT


@dataclass
class Host(agent_pb2_grpc.AgentAuditServiceServicer):
    """A host whose armed workflows stand at once; what the contract says, and nothing more."""

    standing: list[str] = field(default_factory=list)
    released: list[int] = field(default_factory=list)

    def ArmBarrier(self, request: agent_pb2.ArmBarrierRequest, context: Any) -> Any:
        self.standing += request.workflow_ids
        return agent_pb2.ArmBarrierResponse()

    def AwaitBarrier(self, request: agent_pb2.AwaitBarrierRequest, context: Any) -> Any:
        if len(self.standing) < request.count:
            time.sleep(request.timeout_ms / 1_000)
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, f"{len(self.standing)} stand there")
        return agent_pb2.AwaitBarrierResponse(workflow_ids=self.standing)

    def ReleaseBarrier(self, request: agent_pb2.ReleaseBarrierRequest, context: Any) -> Any:
        self.released.append(request.barrier)
        self.standing.clear()
        return agent_pb2.ReleaseBarrierResponse()

    def ReadCheckpoint(self, request: Any, context: Any) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not asked by any test here")

    def RestoreCheckpoint(self, request: Any, context: Any) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not asked by any test here")

    def CutCheckpoint(self, request: Any, context: Any) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not asked by any test here")

    def ReadHostClock(self, request: Any, context: Any) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "not asked by any test here")


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def hold(host: Host) -> Iterator[HeldByBarrier]:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    agent_pb2_grpc.add_AgentAuditServiceServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with open_channel(port) as channel:
        yield HeldByBarrier(agent_pb2_grpc.AgentAuditServiceStub(channel), BARRIER)
    server.stop(None).wait()


def test_barrier_holds_and_lets_go(host: Host, hold: HeldByBarrier) -> None:
    hold.arm(["w1", "w2"])
    assert hold.await_held(2, 1.0) == ("w1", "w2")
    assert hold.release(Fate.DELIVER, 1.0) == 2
    assert host.released == [BARRIER]


def test_too_few_at_a_barrier_is_told(hold: HeldByBarrier) -> None:
    hold.arm(["w1"])
    with pytest.raises(NotInTime, match="1 stand there"):
        hold.await_held(2, 0.05)


@pytest.mark.parametrize("fate", [Fate.DROP, Fate.DISCONNECT])
def test_barrier_cannot_drop(hold: HeldByBarrier, fate: Fate) -> None:
    with pytest.raises(ValueError, match="goes on or dies"):
        hold.release(fate, 1.0)


def test_what_stands_at_a_barrier_dies_with_its_host(
    rig: Rig, spawn: Spawner, host: Host, hold: HeldByBarrier
) -> None:
    agent = ProcessTarget("agent", lambda: spawn.python(["-c", "input()"], {}))
    agent.start()
    hold.arm(["w1", "w2"])
    plan = KillPlan("i1", "before_checkpoint", (agent,), hold, expected_held=2, fate=Fate.DROP)
    seen = JournalPrecondition(name="effect", expected=2, seen=2, journal_sequence=4)
    receipt = Injection(plan, rig.client, lambda: seen).run()
    assert receipt.release is not None
    assert (receipt.release.fate, receipt.release.released) == ("died with its host", 0)
    assert (
        receipt.model_copy(update={"operations_before": 1, "operations_after": 1}).missing() == []
    )
    assert host.released == []


def test_barrier_of_a_living_host_is_let_go_when_another_dies(
    rig: Rig, spawn: Spawner, host: Host, hold: HeldByBarrier
) -> None:
    memory = ProcessTarget("memory", lambda: spawn.python(["-c", "input()"], {}))
    memory.start()
    hold.arm(["w1"])
    plan = KillPlan("i1", "before_checkpoint", (memory,), hold, expected_held=1, fate=Fate.DELIVER)
    seen = JournalPrecondition(name="effect", expected=1, seen=1, journal_sequence=4)
    receipt = Injection(plan, rig.client, lambda: seen).run()
    assert receipt.release is not None
    assert (receipt.release.fate, receipt.release.released) == ("deliver", 1)
    assert host.released == [BARRIER]
