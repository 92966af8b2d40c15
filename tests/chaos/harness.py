"""Real gRPC around the interposer: targets that record, an interposer in this process, clients."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from chaos.client import InterposerClient
from chaos.interposer.config import InterposerConfig, ListenerConfig
from chaos.interposer.server import RunningInterposer, start
from chaos.interposer.upstream import CONNECT_OPTIONS
from memqual.v1 import interposer_pb2 as pb
from services.common.channels import CallMetadata

BEGIN = "/memqual.v1.ContinuityService/Begin"
INVOKE = "/memqual.v1.DestinationService/Invoke"
EMIT = "/memqual.v1.ObserverService/Emit"
READ_JOURNAL = "/memqual.v1.DestinationAuditService/ReadJournal"

CONTROL_TOKEN = "control-token"
AGENT_TOKEN = "agent-token"
STANDBY_TOKEN = "standby-token"
WAIT_SECONDS = 20.0

Answer = Callable[[bytes, grpc.ServicerContext], bytes]


def open_channel(port: int) -> grpc.Channel:
    """A channel that also connects while this machine is busy with other tests."""
    return grpc.insecure_channel(f"127.0.0.1:{port}", options=CONNECT_OPTIONS)


def wait_for(holds: Callable[[], bool], what: str) -> None:
    """Waits for something that must happen soon."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"did not happen: {what}"
        time.sleep(0.005)


@dataclass(frozen=True)
class Received:
    """One request that a target got."""

    method: str
    request: bytes
    metadata: dict[str, str | bytes]
    remaining_seconds: float | None


@dataclass
class Target:
    """A server that records what it gets; `answer` decides what it says."""

    answer: Answer = field(default=lambda request, context: b"answer to " + request)
    with_health: bool = True
    port: int = 0
    received: list[Received] = field(default_factory=list)
    server: grpc.Server | None = None

    def start(self) -> "Target":
        server = grpc.server(
            futures.ThreadPoolExecutor(64),
            options=[
                ("grpc.so_reuseport", 0),
                ("grpc.max_send_message_length", -1),
                ("grpc.server.max_pending_requests", 10_000),
                ("grpc.server.max_pending_requests_hard_limit", 10_000),
            ],
        )
        if self.with_health:
            health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
        server.add_generic_rpc_handlers((_Recording(self),))
        self.port = server.add_insecure_port(f"127.0.0.1:{self.port}")
        server.start()
        self.server = server
        return self

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop(None).wait()
            self.server = None

    def requests(self) -> list[bytes]:
        return [received.request for received in self.received]


class _Recording(grpc.GenericRpcHandler):
    def __init__(self, target: Target) -> None:
        self._target = target

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        method = handler_call_details.method
        if method.startswith("/grpc."):
            return None

        def note(request: bytes, context: grpc.ServicerContext) -> None:
            metadata = dict(context.invocation_metadata())
            self._target.received.append(
                Received(method, request, metadata, context.time_remaining())
            )

        def unary(request: bytes, context: grpc.ServicerContext) -> bytes:
            note(request, context)
            return self._target.answer(request, context)

        def stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            note(request, context)
            for number in range(int(request)):
                yield b"record %d" % number
            context.set_trailing_metadata((("x-stream", "ended"),))

        if method == READ_JOURNAL:
            return grpc.unary_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(unary)


class Loop:
    """An event loop on a thread of its own, in which interposers run."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(WAIT_SECONDS)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(WAIT_SECONDS)


@dataclass
class Rig:
    """An interposer between clients and three targets."""

    targets: dict[str, Target]
    running: RunningInterposer
    # Bare channels carry bytes, which the type stubs do not know of.
    control: Any
    client: InterposerClient
    edges: dict[str, Any]

    @property
    def memory(self) -> Target:
        return self.targets["memory"]

    @property
    def destination(self) -> Target:
        return self.targets["destination"]

    def call(
        self,
        request: bytes,
        *,
        edge: str = "memory",
        method: str = BEGIN,
        workflow: str | None = "w1",
        token: str | None = AGENT_TOKEN,
        timeout: float | None = WAIT_SECONDS,
        extra: tuple[tuple[str, str | bytes], ...] = (),
        channel: Any = None,
    ) -> Any:
        """Starts a call on an edge and returns its future."""
        metadata = CallMetadata(
            run="r1", workflow=workflow, operation=f"op-{workflow}", attempt=1, token=token
        ).pairs()
        call = (channel or self.edges[edge]).unary_unary(method)
        return call.future(request, timeout=timeout, metadata=metadata + extra)

    def kinds(self, call_id: int | None = None) -> list[str]:
        """Kinds in the trace, of one call or of all."""
        return [
            record.kind.value
            for record in self.client.trace()
            if call_id is None or record.call_id == call_id
        ]


def listeners() -> tuple[ListenerConfig, ...]:
    agents = {AGENT_TOKEN: "agent", STANDBY_TOKEN: "standby"}
    return (
        ListenerConfig(source="agent", target="memory", listen="127.0.0.1:0", tokens=agents),
        ListenerConfig(source="agent", target="destination", listen="127.0.0.1:0", tokens=agents),
        ListenerConfig(source="memory", target="observer", listen="127.0.0.1:0"),
    )


def interposer_config(targets: dict[str, Target]) -> InterposerConfig:
    addresses = {name: f"127.0.0.1:{target.port}" for name, target in targets.items()}
    for name in ("destination", "observer"):
        addresses[f"{name}-audit"] = addresses[name]
    addresses["agent"] = addresses["standby"] = "127.0.0.1:1"
    return InterposerConfig(control="127.0.0.1:0", listeners=listeners(), targets=addresses)


@contextmanager
def rig_of(loop: Loop, **targets: Target) -> Iterator[Rig]:
    """Starts targets, an interposer and channels; ends them all."""
    all_targets = {
        name: targets.get(name, Target()) for name in ("memory", "destination", "observer")
    }
    for target in all_targets.values():
        target.start()
    running = loop.run(start(interposer_config(all_targets), CONTROL_TOKEN))
    channels = [open_channel(port) for port in running.listener_ports]
    control = open_channel(running.control_port)
    try:
        yield Rig(
            targets=all_targets,
            running=running,
            control=control,
            client=InterposerClient(control, CONTROL_TOKEN),
            edges=dict(zip(("memory", "destination", "observer"), channels, strict=True)),
        )
    finally:
        for channel in (*channels, control):
            channel.close()
        loop.run(running.stop())
        for target in all_targets.values():
            target.stop()


def rule(
    action: pb.RuleAction.ValueType,
    phase: pb.MessagePhase.ValueType = pb.MESSAGE_PHASE_REQUEST,
    *,
    workflows: tuple[str, ...] = (),
    hits: int = 0,
    delay_ms: int = 0,
    fail_code: int = 0,
    rule_id: str = "r1",
) -> pb.Rule:
    """A rule on Begin calls from the agent hosts to the memory."""
    matches = [pb.MetadataMatch(key="memqual-workflow", values=workflows)] if workflows else []
    return pb.Rule(
        rule_id=rule_id,
        edge=pb.Edge(source="agent", target="memory"),
        method=BEGIN,
        phase=phase,
        action=action,
        matches=matches,
        max_hits_per_workflow=hits,
        delay_ms=delay_ms,
        fail_code=fail_code,
    )


def health_status(channel: Any, *, timeout_seconds: float = WAIT_SECONDS, **metadata: str) -> int:
    """What grpc.health.v1 says over a channel."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = stub.Check(
        health_pb2.HealthCheckRequest(),
        timeout=timeout_seconds,
        metadata=tuple((f"memqual-{key}", value) for key, value in metadata.items()),
    )
    return int(answer.status)
