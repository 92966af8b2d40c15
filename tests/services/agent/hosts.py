"""Agent hosts under test: in this process, and as processes that can be killed."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from memqual.v1 import agent_pb2, agent_pb2_grpc
from services.agent.app import AUDIT_SERVICE, SERVICE, AgentApp, AgentSettings
from services.common import platform
from services.common.server import start
from tests.services.agent.fakes import World

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "edge-token"
RPC_SECONDS = 30
SETTLE_MS = 10_000
SETTLE_TRIES = 6


def workflow(
    workflow_id: str,
    arm: "agent_pb2.Arm.ValueType" = agent_pb2.ARM_MEMORY,
    *turns: Sequence[str],
) -> agent_pb2.Workflow:
    """A workflow with turns of tools; one turn with one `publish` when none are named."""
    number = 0
    message = agent_pb2.Workflow(
        workflow_id=workflow_id,
        run_id="run-1",
        arm=arm,
        namespace="space",
        principal="someone",
        deployment="test",
    )
    for tools in turns or [["publish"]]:
        turn = message.turns.add()
        for tool in tools:
            number += 1
            turn.calls.add(tool=tool, arguments_json=f'{{"number":{number}}}')
    return message


@dataclass
class HostClient:
    """Stubs of one host."""

    agent: agent_pb2_grpc.AgentServiceStub
    audit: agent_pb2_grpc.AgentAuditServiceStub

    def start(self, started: agent_pb2.Workflow, seed: str = "seed-1") -> None:
        """Starts a workflow."""
        request = agent_pb2.StartRequest(workflow=started, model_seed=seed)
        self.agent.Start(request, timeout=RPC_SECONDS)

    def resume(self, *workflow_ids: str, seed: str = "seed-2") -> None:
        """Wakes workflows up."""
        request = agent_pb2.ResumeRequest(workflow_ids=workflow_ids, model_seed=seed)
        self.agent.Resume(request, timeout=RPC_SECONDS)

    def status(self, workflow_id: str) -> agent_pb2.WorkflowStatus:
        """Where one workflow stands now."""
        request = agent_pb2.StatusRequest(workflow_ids=[workflow_id])
        return self.agent.Status(request, timeout=RPC_SECONDS).workflows[0]

    def settled(self, *workflow_ids: str) -> list[agent_pb2.WorkflowStatus]:
        """Where workflows stand once none of them runs."""
        request = agent_pb2.StatusRequest(workflow_ids=workflow_ids, await_settled_ms=SETTLE_MS)
        for _ in range(SETTLE_TRIES):
            found = list(self.agent.Status(request, timeout=RPC_SECONDS).workflows)
            if all(one.state != agent_pb2.WORKFLOW_STATE_RUNNING for one in found):
                return found
        raise AssertionError(f"still running: {found}")

    def arm(self, barrier: "agent_pb2.Barrier.ValueType", *workflow_ids: str) -> None:
        """Arms a barrier."""
        request = agent_pb2.ArmBarrierRequest(barrier=barrier, workflow_ids=workflow_ids)
        self.audit.ArmBarrier(request, timeout=RPC_SECONDS)

    def await_barrier(self, barrier: "agent_pb2.Barrier.ValueType", count: int) -> list[str]:
        """Waits until workflows stand at a barrier."""
        request = agent_pb2.AwaitBarrierRequest(barrier=barrier, count=count, timeout_ms=20_000)
        return list(self.audit.AwaitBarrier(request, timeout=RPC_SECONDS).workflow_ids)

    def release(self, barrier: "agent_pb2.Barrier.ValueType") -> None:
        """Releases a barrier."""
        request = agent_pb2.ReleaseBarrierRequest(barrier=barrier)
        self.audit.ReleaseBarrier(request, timeout=RPC_SECONDS)

    def checkpoint(self, workflow_id: str) -> str:
        """The durable checkpoint's JSON."""
        request = agent_pb2.ReadCheckpointRequest(workflow_id=workflow_id)
        return self.audit.ReadCheckpoint(request, timeout=RPC_SECONDS).checkpoint_json


@contextmanager
def client(port: int, audit_port: int) -> Iterator[HostClient]:
    """Stubs on a host's two ports."""
    with (
        grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
        grpc.insecure_channel(f"127.0.0.1:{audit_port}") as audit,
    ):
        yield HostClient(
            agent_pb2_grpc.AgentServiceStub(channel),
            agent_pb2_grpc.AgentAuditServiceStub(audit),
        )


@contextmanager
def local_host(
    around: World,
    data_dir: Path,
    *,
    deadline_seconds: float = 5.0,
    barrier_seconds: float = 60.0,
    observed: bool = False,
) -> Iterator[HostClient]:
    """A host in this process, with short waits between transport retries."""
    app = AgentApp(
        AgentSettings(
            data_dir=data_dir,
            memory_address=around.memory_address,
            destination_address=around.destination_address,
            observer_address=around.observer_address if observed else None,
            edge_token=TOKEN,
            deadline_seconds=deadline_seconds,
            retry_waits_seconds=(0.01, 0.01, 0.01),
            barrier_seconds=barrier_seconds,
        )
    )
    server = start(
        listen="127.0.0.1:0",
        registrars=app.registrars,
        service_names=(SERVICE,),
        audit_listen="127.0.0.1:0",
        audit_registrars=app.audit_registrars,
        audit_service_names=(AUDIT_SERVICE,),
    )
    try:
        with client(server.port, server.audit_port) as found:
            yield found
    finally:
        server.stop()
        app.close()


@dataclass
class HostProcess:
    """A host that runs as `python -m services.agent`."""

    process: "subprocess.Popen[bytes]"
    client: HostClient
    channel: grpc.Channel

    def kill(self) -> None:
        """SIGKILL, and its end is seen."""
        platform.kill_process(self.process.pid)
        self.process.wait(10)

    def terminate(self) -> None:
        """Tells it to stop."""
        platform.terminate_process(self.process.pid)


@contextmanager
def process_host(around: World, data_dir: Path, log_path: Path) -> Iterator[HostProcess]:
    """Starts a host process on free ports and waits until it serves."""
    port, audit_port = _free_ports()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "protos")]),
        "MEMQUAL_LISTEN": f"127.0.0.1:{port}",
        "MEMQUAL_AUDIT_LISTEN": f"127.0.0.1:{audit_port}",
        "MEMQUAL_DATA_DIR": str(data_dir),
        "MEMQUAL_RUN": "run-1",
        "MEMQUAL_SERVICE": "agent",
        "MEMQUAL_MEMORY_ADDRESS": around.memory_address,
        "MEMQUAL_DESTINATION_ADDRESS": around.destination_address,
        "MEMQUAL_OBSERVER_ADDRESS": around.observer_address,
        "MEMQUAL_EDGE_TOKEN": TOKEN,
    }
    with log_path.open("wb") as log:
        process = platform.spawn_process(
            [sys.executable, "-m", "services.agent"],
            environment=environment,
            folder=ROOT,
            output=log,
            errors=log,
        )
    try:
        _await_port(process, port, log_path)
        with (
            client(port, audit_port) as found,
            grpc.insecure_channel(f"127.0.0.1:{port}") as channel,
        ):
            yield HostProcess(process, found, channel)
    finally:
        if process.poll() is None:
            platform.kill_process(process.pid)
        process.wait(10)


def _await_port(process: "subprocess.Popen[bytes]", port: int, log_path: Path) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        ready = grpc.channel_ready_future(channel)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            assert process.poll() is None, log_path.read_text()
            try:
                ready.result(timeout=0.2)
            except grpc.FutureTimeoutError:
                continue
            return
    raise AssertionError(f"never served: {log_path.read_text()}")


def _free_ports() -> tuple[int, int]:
    import socket

    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]
