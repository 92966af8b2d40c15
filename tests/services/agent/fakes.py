"""A destination and an observer that obey the contract, and all three fakes as one world."""

from collections import defaultdict, deque
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from google.protobuf.message import Message

from memqual.v1 import common_pb2, destination_pb2, observer_pb2
from services.common.canonical import canonical_json, sha256_hex
from tests.services.agent.fake_memory import FakeMemory
from tests.services.agent.recorder import Recorder, StatusError

TOOLS = frozenset({"publish", "lookup", "refuse"})
NOW_UNIX_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Effect:
    """One effect that the destination applied."""

    workflow_id: str
    operation_id: str
    attempt: int
    result_json: str


class FakeDestination(Recorder):
    """DestinationService with one tool of each kind, effects in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.capability = common_pb2.EFFECT_CAPABILITY_NONE
        self.capabilities: dict[str, common_pb2.EffectCapability.ValueType] = {}
        self.retention_seconds = 3_600
        self.effects: list[Effect] = []
        self.fences: dict[str, int] = {}
        self.keys: dict[str, Effect] = {}
        self.fenced = True
        self.responses: dict[str, deque[destination_pb2.InvokeResponse]] = defaultdict(deque)

    def handlers(self) -> "dict[str, grpc.RpcMethodHandler[Message, Message]]":
        """The service's methods."""
        return {
            "DescribeTool": self.handler(
                "DescribeTool", self._describe, destination_pb2.DescribeToolRequest
            ),
            "Invoke": self.handler("Invoke", self._invoke, destination_pb2.InvokeRequest),
            "QueryEffect": self.handler(
                "QueryEffect", self._query, destination_pb2.QueryEffectRequest
            ),
        }

    def effects_of(self, workflow_id: str) -> list[Effect]:
        """Effects of one workflow, in order."""
        with self.lock:
            return [effect for effect in self.effects if effect.workflow_id == workflow_id]

    def _describe(self, request: Message) -> Message:
        assert isinstance(request, destination_pb2.DescribeToolRequest)
        if request.tool not in TOOLS:
            raise StatusError(grpc.StatusCode.NOT_FOUND)
        capability = self.capabilities.get(request.workflow_id, self.capability)
        idempotent = capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
        return destination_pb2.DescribeToolResponse(
            destination="fake",
            capability=capability,
            retention_seconds=self.retention_seconds if idempotent else 0,
            now_unix_ns=NOW_UNIX_NS,
            read_only=request.tool == "lookup",
        )

    def _invoke(self, request: Message) -> Message:
        assert isinstance(request, destination_pb2.InvokeRequest)
        with self.lock:
            script = self.responses[request.workflow_id]
            if script:
                return script.popleft()
            if request.attempt and request.attempt <= self.fences.get(request.operation_id, 0):
                raise StatusError(grpc.StatusCode.FAILED_PRECONDITION)
            if request.tool == "refuse":
                error = destination_pb2.ToolError(code="not_allowed", message="by its own rules")
                return destination_pb2.InvokeResponse(tool_error=error)
            kept = self.keys.get(request.idempotency_key) if request.idempotency_key else None
            if kept is not None:
                return _result(kept, replayed=True)
            body = canonical_json({"done": len(self.effects) + 1}).decode()
            effect = Effect(request.workflow_id, request.operation_id, request.attempt, body)
            self.effects.append(effect)
            if request.idempotency_key:
                self.keys[request.idempotency_key] = effect
            return _result(effect, replayed=False)

    def _query(self, request: Message) -> Message:
        assert isinstance(request, destination_pb2.QueryEffectRequest)
        with self.lock:
            for effect in self.effects:
                if effect.operation_id == request.operation_id:
                    return destination_pb2.QueryEffectResponse(
                        presence=common_pb2.EFFECT_PRESENCE_PRESENT,
                        result=_result(effect, replayed=False).result,
                    )
            if not self.fenced:
                return destination_pb2.QueryEffectResponse(
                    presence=common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
                )
            self.fences[request.operation_id] = request.fence_attempt
            return destination_pb2.QueryEffectResponse(
                presence=common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
            )


class FakeObserver(Recorder):
    """ObserverService that keeps everything."""

    def handlers(self) -> "dict[str, grpc.RpcMethodHandler[Message, Message]]":
        """The service's methods."""
        return {"Emit": self.handler("Emit", self._emit, observer_pb2.EmitRequest)}

    def events_of(self, workflow_id: str) -> list[observer_pb2.TelemetryEvent]:
        """Events of one workflow, in order."""
        return [
            event
            for call in self.of("Emit")
            if isinstance(call.request, observer_pb2.EmitRequest)
            for event in call.request.events
            if event.workflow_id == workflow_id
        ]

    def _emit(self, request: Message) -> Message:
        return observer_pb2.EmitResponse()


@dataclass
class World:
    """What stands around a host."""

    memory: FakeMemory
    destination: FakeDestination
    observer: FakeObserver
    memory_address: str
    destination_address: str
    observer_address: str


@contextmanager
def world() -> Iterator[World]:
    """Starts all three on free ports of the loopback."""
    memory, destination, observer = FakeMemory(), FakeDestination(), FakeObserver()
    servers = []
    addresses = []
    for service, handlers in (
        ("memqual.v1.ContinuityService", memory.handlers()),
        ("memqual.v1.DestinationService", destination.handlers()),
        ("memqual.v1.ObserverService", observer.handlers()),
    ):
        server = grpc.server(futures.ThreadPoolExecutor(32))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        addresses.append(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")
        server.start()
        servers.append(server)
    try:
        yield World(memory, destination, observer, *addresses)
    finally:
        for server in servers:
            server.stop(0).wait(5)


def _result(effect: Effect, *, replayed: bool) -> destination_pb2.InvokeResponse:
    return destination_pb2.InvokeResponse(
        result=destination_pb2.ToolResult(
            result_json=effect.result_json,
            effect_id=f"effect-{sha256_hex(effect.operation_id.encode())[:8]}-{effect.attempt}",
            replayed=replayed,
        )
    )
