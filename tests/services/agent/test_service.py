"""The two services: what they refuse and tell, and how a host ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memqual.v1 import agent_pb2
from services.agent import __main__ as entry
from services.agent import clients
from services.agent.checkpoints import CheckpointFiles
from services.common.settings import run as run_service
from tests.services.agent.fakes import World
from tests.services.agent.hosts import HostClient, local_host, process_host, workflow

BEFORE_INTENT = agent_pb2.BARRIER_BEFORE_INTENT_CHECKPOINT
BEFORE = agent_pb2.BARRIER_BEFORE_CHECKPOINT
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
RPC_SECONDS = 30


def code_of(error: pytest.ExceptionInfo[grpc.RpcError]) -> grpc.StatusCode:
    return clients.code_of(error.value)


def changed(**fields: object) -> agent_pb2.Workflow:
    message = workflow("w")
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def with_turns(turns: int, calls: int, arguments_json: str = "{}") -> agent_pb2.Workflow:
    message = workflow("w")
    del message.turns[:]
    for _ in range(turns):
        turn = message.turns.add()
        for _ in range(calls):
            turn.calls.add(tool="publish", arguments_json=arguments_json)
    return message


@pytest.mark.parametrize(
    "started",
    [
        changed(workflow_id=""),
        changed(workflow_id="x" * 129),
        changed(workflow_id="\u00e9"),
        changed(run_id="a\nb"),
        changed(namespace=""),
        changed(principal=""),
        changed(deployment=""),
        changed(arm=agent_pb2.ARM_UNSPECIFIED),
        changed(arm=99),
        with_turns(0, 1),
        with_turns(65, 1),
        with_turns(1, 0),
        with_turns(1, 17),
        with_turns(1, 1, "[]"),
        with_turns(1, 1, '{"b":1,"a":1}'),
        with_turns(1, 1, ""),
    ],
)
def test_a_malformed_workflow_is_refused_and_leaves_nothing(
    host: HostClient, tmp_path: Path, started: agent_pb2.Workflow
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        host.start(started)
    assert code_of(refused) == grpc.StatusCode.INVALID_ARGUMENT
    assert list(tmp_path.iterdir()) == []


def test_the_largest_workflow_is_taken(host: HostClient) -> None:
    started = with_turns(4, 16)
    started.arm = agent_pb2.ARM_BASELINE
    host.start(started)
    found = host.settled("w")[0]
    assert (found.state, len(found.operations)) == (COMPLETED, 64)


def test_seeds_ids_and_waits_are_checked(host: HostClient) -> None:
    calls: list[Callable[[], object]] = [
        lambda: host.start(workflow("w"), seed=""),
        host.resume,
        lambda: host.resume("w", seed=""),
        lambda: host.resume(*(f"w{number}" for number in range(1_001))),
        lambda: host.resume(""),
        lambda: host.status(""),
        lambda: host.agent.Status(
            agent_pb2.StatusRequest(workflow_ids=["w"], await_settled_ms=10_001),
            timeout=RPC_SECONDS,
        ),
        lambda: host.arm(agent_pb2.BARRIER_UNSPECIFIED, "w"),
        lambda: host.arm(BEFORE),
        lambda: host.audit.AwaitBarrier(
            agent_pb2.AwaitBarrierRequest(barrier=BEFORE, count=1, timeout_ms=60_001),
            timeout=RPC_SECONDS,
        ),
        lambda: host.checkpoint(""),
    ]
    for call in calls:
        with pytest.raises(grpc.RpcError) as refused:
            call()
        assert code_of(refused) == grpc.StatusCode.INVALID_ARGUMENT


def test_a_workflow_is_started_once(around: World, host: HostClient, tmp_path: Path) -> None:
    host.start(workflow("w"))
    with pytest.raises(grpc.RpcError) as here:
        host.start(workflow("w"))
    host.settled("w")
    with local_host(around, tmp_path) as standby, pytest.raises(grpc.RpcError) as elsewhere:
        standby.start(workflow("w"))
    assert [code_of(here), code_of(elsewhere)] == [grpc.StatusCode.FAILED_PRECONDITION] * 2
    assert len(around.destination.effects_of("w")) == 1


def test_a_file_that_cannot_be_read_is_not_started_over(host: HostClient, tmp_path: Path) -> None:
    CheckpointFiles(tmp_path).path("w").write_bytes(b"something else" * 100)
    with pytest.raises(grpc.RpcError) as refused:
        host.start(workflow("w"))
    assert code_of(refused) == grpc.StatusCode.FAILED_PRECONDITION


def test_what_is_unknown_is_not_found(host: HostClient) -> None:
    host.start(workflow("w"))
    host.settled("w")
    with pytest.raises(grpc.RpcError) as resumed:
        host.resume("w", "unknown")
    with pytest.raises(grpc.RpcError) as read:
        host.checkpoint("unknown")
    assert [code_of(resumed), code_of(read)] == [grpc.StatusCode.NOT_FOUND] * 2
    assert host.status("unknown").state == agent_pb2.WORKFLOW_STATE_NOT_LOADED


def test_a_checkpoint_that_is_damaged_is_told(host: HostClient, tmp_path: Path) -> None:
    CheckpointFiles(tmp_path).path("w").write_bytes(b"something else" * 100)
    with pytest.raises(grpc.RpcError) as read:
        host.checkpoint("w")
    assert code_of(read) == grpc.StatusCode.DATA_LOSS


def test_start_is_durable_when_it_answers(around: World, host: HostClient, tmp_path: Path) -> None:
    held = around.destination.hold("DescribeTool", before=True)
    host.start(workflow("w"))
    loaded = CheckpointFiles(tmp_path).read("w")
    held.release()
    assert loaded.workflow == workflow("w")


def test_a_volume_that_cannot_be_written_to_fails_the_start(around: World, tmp_path: Path) -> None:
    with local_host(around, tmp_path / "gone") as host:
        with pytest.raises(grpc.RpcError) as refused:
            host.start(workflow("w"))
        assert code_of(refused) == grpc.StatusCode.UNAVAILABLE
        (tmp_path / "gone").mkdir()
        host.start(workflow("w"))
        assert host.settled("w")[0].state == COMPLETED


def test_awaiting_more_than_come_is_a_deadline(host: HostClient) -> None:
    request = agent_pb2.AwaitBarrierRequest(barrier=BEFORE, count=1, timeout_ms=10)
    with pytest.raises(grpc.RpcError) as few:
        host.audit.AwaitBarrier(request, timeout=RPC_SECONDS)
    assert code_of(few) == grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_host_tells_its_clocks_and_counters(host: HostClient) -> None:
    reading = host.audit.ReadHostClock(agent_pb2.ReadHostClockRequest(), timeout=RPC_SECONDS).clock
    later = host.audit.ReadHostClock(agent_pb2.ReadHostClockRequest(), timeout=RPC_SECONDS).clock
    assert 0 < reading.monotonic_ns <= later.monotonic_ns
    assert reading.wall_unix_ns > 0
    status = host.agent.Status(agent_pb2.StatusRequest(workflow_ids=["w"]), timeout=RPC_SECONDS)
    assert (len(status.incarnation_id), status.telemetry_dropped) == (32, 0)


def test_one_life_has_one_incarnation(around: World, host: HostClient, tmp_path: Path) -> None:
    def incarnation(of: HostClient) -> str:
        request = agent_pb2.StatusRequest(workflow_ids=["w"])
        return of.agent.Status(request, timeout=RPC_SECONDS).incarnation_id

    answer = host.agent.Start(
        agent_pb2.StartRequest(workflow=workflow("w"), model_seed="s"), timeout=RPC_SECONDS
    )
    assert answer.incarnation_id == incarnation(host)
    with local_host(around, tmp_path) as standby:
        assert incarnation(standby) != incarnation(host)


def test_a_host_that_is_told_to_stop_does_so_whatever_it_is_doing(
    around: World, tmp_path: Path
) -> None:
    held = around.destination.hold("Invoke", before=True)
    log_path = tmp_path / "host.log"
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    with process_host(around, data_dir, log_path) as host:
        health: Any = health_pb2_grpc.HealthStub(host.channel)
        served = health.Check(
            health_pb2.HealthCheckRequest(service="memqual.v1.AgentService"), timeout=RPC_SECONDS
        )
        assert served.status == health_pb2.HealthCheckResponse.SERVING
        host.client.arm(BEFORE_INTENT, "standing")
        host.client.start(workflow("calling"))
        host.client.start(workflow("standing"))
        host.client.await_barrier(BEFORE_INTENT, 1)
        held.await_standing(1)
        host.terminate()
        assert host.process.wait(10) == 0
    held.release()
    lines = [json.loads(line) for line in log_path.read_text().splitlines()]
    assert {line["run"] for line in lines} == {"run-1"}
    assert "stopped" in {line["event"] for line in lines}
    causes = {line["workflow"]: line["cause"] for line in lines if "cause" in line}
    assert causes == dict.fromkeys(("calling", "standing"), "CANCELLED: the host stops")


@pytest.mark.parametrize("missing", ["MEMQUAL_MEMORY_ADDRESS", "MEMQUAL_DATA_DIR"])
def test_a_host_without_its_settings_ends_with_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    for name in ("MEMORY_ADDRESS", "DESTINATION_ADDRESS", "LISTEN", "AUDIT_LISTEN"):
        monkeypatch.setenv(f"MEMQUAL_{name}", "127.0.0.1:0")
    monkeypatch.setenv("MEMQUAL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv(missing, "")
    # Logging is the process's; this one belongs to the tests.
    monkeypatch.setattr(entry, "configure", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        run_service(entry.main)
    assert ended.value.code == 2


def test_a_checkpoint_is_cut_in_half_once_its_workflow_has_settled(
    around: World, host: HostClient, tmp_path: Path
) -> None:
    held = around.destination.hold("DescribeTool", before=True)
    host.start(workflow("w"))
    with pytest.raises(grpc.RpcError) as running:
        host.audit.CutCheckpoint(agent_pb2.CutCheckpointRequest(workflow_id="w"))
    held.release()
    host.settled("w")
    file = CheckpointFiles(tmp_path).path("w")
    size = file.stat().st_size
    cut = host.audit.CutCheckpoint(agent_pb2.CutCheckpointRequest(workflow_id="w"))
    with pytest.raises(grpc.RpcError) as unknown:
        host.audit.CutCheckpoint(agent_pb2.CutCheckpointRequest(workflow_id="unknown"))
    assert (cut.bytes_before, cut.bytes_after, file.stat().st_size) == (size, size // 2, size // 2)
    assert [code_of(running), code_of(unknown)] == [
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.NOT_FOUND,
    ]
