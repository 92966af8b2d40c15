"""Real processes: a client that is killed, a server that is killed, an interposer of its own."""

import json
import socket
import threading
from pathlib import Path

import grpc
import pytest

from chaos.client import Fate, InterposerClient
from chaos.errors import InterposerError
from memqual.v1 import interposer_pb2 as pb
from services.common.platform import resume_process, suspend_process, terminate_process
from tests.chaos.harness import (
    BEGIN,
    CONTROL_TOKEN,
    WAIT_SECONDS,
    Loop,
    Rig,
    Target,
    health_status,
    open_channel,
    rig_of,
    rule,
    wait_for,
)
from tests.chaos.processes import Spawner, first_line, kill


def memory_port(rig: Rig) -> str:
    return str(rig.running.listener_ports[0])


@pytest.mark.parametrize("fate", [Fate.DELIVER, Fate.DROP])
def test_client_killed_with_held_requests(rig: Rig, spawn: Spawner, fate: Fate) -> None:
    names = tuple(f"w{number}" for number in range(20))
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, workflows=names, hits=1))
    client = spawn.module("tests.chaos.peers", "client", memory_port(rig), BEGIN, *names)
    rig.client.await_held("r1", len(names), WAIT_SECONDS)
    rig.client.freeze("agent")
    kill(client)
    gone = rig.client.await_eof("agent", timeout_seconds=WAIT_SECONDS)
    assert gone == len(names)
    assert all(held.client_gone for held in rig.client.await_held("r1", len(names), 1))
    assert rig.memory.received == []
    released = rig.client.release("r1", fate, await_done_seconds=WAIT_SECONDS)
    assert released == len(names)
    rig.client.thaw("agent")
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "every call has ended")
    expected = sorted(name.encode() for name in names) if fate is Fate.DELIVER else []
    assert sorted(rig.memory.requests()) == expected
    answers = [record for record in rig.client.trace() if record.kind == "RESPONSE_RECEIVED"]
    assert sorted(record.payload for record in answers) == [
        b"answer to " + request for request in expected
    ]


def test_client_killed_with_held_responses(rig: Rig, spawn: Spawner) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, pb.MESSAGE_PHASE_RESPONSE))
    client = spawn.module("tests.chaos.peers", "client", memory_port(rig), BEGIN, "w1")
    (held,) = rig.client.await_held("r1", 1, WAIT_SECONDS)
    kill(client)
    rig.client.await_eof("agent", timeout_seconds=WAIT_SECONDS)
    assert rig.client.release("r1", Fate.DELIVER) == 1
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "the call has ended")
    assert rig.kinds(held.call_id) == [
        "REQUEST_RECEIVED",
        "REQUEST_FORWARDED",
        "RESPONSE_RECEIVED",
        "HELD",
        "CLIENT_GONE",
        "RELEASED",
    ]


def test_suspended_client_is_no_eof(rig: Rig, spawn: Spawner) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    client = spawn.module("tests.chaos.peers", "client", memory_port(rig), BEGIN, "w1")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    suspend_process(client.pid)
    with pytest.raises(InterposerError, match="1 calls still have their client"):
        rig.client.await_eof("agent", timeout_seconds=0.2)
    resume_process(client.pid)
    rig.client.release("r1", Fate.DELIVER)
    assert first_line(client) == "answer to w1"


def test_killed_server_comes_back_after_refresh(loop: Loop, spawn: Spawner, tmp_path: Path) -> None:
    log = tmp_path / "requests"
    server = spawn.module("tests.chaos.peers", "server", "0", str(log), "hang")
    port = first_line(server)
    with rig_of(loop) as rig:
        rig.memory.stop()
        rig.running._state.upstreams["memory"]._address = f"127.0.0.1:{port}"
        call = rig.call(b"w1")
        wait_for(lambda: log.exists() and log.read_bytes() == b"w1\n", "the request arrives")
        rig.client.freeze("memory")
        kill(server)
        rig.client.await_eof("memory", timeout_seconds=WAIT_SECONDS)
        with pytest.raises(InterposerError, match="memory was not healthy within 100 ms"):
            rig.client.refresh("memory", 0.1)
        second = spawn.module("tests.chaos.peers", "server", port, str(log), "answer")
        assert rig.client.refresh("memory", WAIT_SECONDS) >= 0
        rig.client.thaw("memory")
        assert call.code() is grpc.StatusCode.UNAVAILABLE
        assert rig.call(b"w2").result() == f"w2 by {second.pid}".encode()
        (refreshed,) = [record for record in rig.client.trace() if record.kind == "REFRESHED"]
        assert (refreshed.target, json.loads(refreshed.mark_json)) == (
            "memory",
            {"health": "serving"},
        )


def test_refresh_of_a_server_without_health_says_so(loop: Loop) -> None:
    with rig_of(loop, memory=Target(with_health=False)) as rig:
        rig.client.refresh("memory", WAIT_SECONDS)
        (refreshed,) = [record for record in rig.client.trace() if record.kind == "REFRESHED"]
        assert json.loads(refreshed.mark_json) == {"health": "not served; connected"}


def test_refresh_ends_no_call_of_a_living_target(loop: Loop) -> None:
    may_answer = threading.Event()

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        may_answer.wait(WAIT_SECONDS)
        return request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"x")
        wait_for(lambda: len(rig.memory.received) == 1, "the request arrives")
        rig.client.refresh("memory", WAIT_SECONDS)
        may_answer.set()
        assert call.result() == b"x"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_interposer_process_serves_and_stops(spawn: Spawner) -> None:
    control, edge = free_port(), free_port()
    config = {
        "control": f"localhost:{control}",
        "listeners": [{"source": "agent", "target": "memory", "listen": f"127.0.0.1:{edge}"}],
        "targets": {"memory": "127.0.0.1:1"},
    }
    process = spawn.module(
        "chaos.interposer",
        MEMQUAL_INTERPOSER_CONFIG=json.dumps(config),
        MEMQUAL_CONTROL_TOKEN=CONTROL_TOKEN,
    )
    assert process.stderr is not None
    ready = json.loads(process.stderr.readline())
    assert ready["event"] == "interposer_ready"
    with open_channel(control) as channel:
        assert health_status(channel, token=CONTROL_TOKEN) == 1
        statistics = InterposerClient(channel, CONTROL_TOKEN).statistics()
        assert statistics.in_flight_calls == 0
        # A second one on the same ports says what is wrong.
        second = spawn.module(
            "chaos.interposer",
            MEMQUAL_INTERPOSER_CONFIG=json.dumps(config),
            MEMQUAL_CONTROL_TOKEN=CONTROL_TOKEN,
        )
        _, errors = second.communicate(timeout=WAIT_SECONDS)
        assert second.returncode == 1
        assert "is the port taken?" in errors
    terminate_process(process.pid)
    _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("", "MEMQUAL_INTERPOSER_CONFIG is not set"),
        ("{", "Invalid JSON"),
        ('{"control": "a:1", "listeners": [], "targets": {}, "extra": 1}', "extra"),
        (
            '{"control": "a:1", "targets": {"m": "a:2"}, "listeners": '
            '[{"source": "a", "target": "x", "listen": "a:3", "tokens": {"geheim": "a"}}]}',
            "no such target",
        ),
    ],
)
def test_wrong_configuration_is_told_without_tokens(
    spawn: Spawner, config: str, words: str
) -> None:
    process = spawn.module(
        "chaos.interposer", MEMQUAL_INTERPOSER_CONFIG=config, MEMQUAL_CONTROL_TOKEN="t"
    )
    _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 2
    assert words in errors
    assert "geheim" not in errors
