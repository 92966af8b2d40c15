"""A memory, a destination and an observer that obey the contract, in this process, over real gRPC.

They are small on purpose: enough of DESIGN §6 to decide rightly, with switches to answer otherwise.
Every call is recorded with its metadata.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, destination_pb2, observer_pb2
from services.common.canonical import canonical_json, sha256_hex

LEASE_MS = 120_000
TOOLS = frozenset({"publish", "lookup", "refuse"})
NOW_UNIX_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Call:
    """One call as it arrived."""

    method: str
    request: Message
    metadata: dict[str, str]


class StatusError(Exception):
    """What a switch raises to answer with a status."""

    def __init__(self, code: grpc.StatusCode) -> None:
        super().__init__(code.name)
        self.code = code


class Recorder:
    """Serves some methods, records their calls, and lets a test step in before or after."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.calls: list[Call] = []
        self.before: dict[str, deque[grpc.StatusCode]] = defaultdict(deque)
        self.after: dict[str, deque[grpc.StatusCode]] = defaultdict(deque)
        self.held: dict[str, Hold] = {}
        self.changed = threading.Condition(self.lock)

    def of(self, method: str) -> list[Call]:
        """Calls of one method, in order."""
        with self.lock:
            return [call for call in self.calls if call.method == method]

    def hold(self, method: str, *, before: bool) -> "Hold":
        """Keeps calls of a method, before or after their work, until the hold is released."""
        hold = Hold(self, _key(method, before=before))
        with self.lock:
            self.held[hold.key] = hold
        return hold

    def handler(
        self,
        method: str,
        work: Callable[[Message], Message],
        request_type: type[Message],
    ) -> "grpc.RpcMethodHandler[Message, Message]":
        """A handler with recording, switches and holds around the work."""

        def handle(request: Message, context: grpc.ServicerContext) -> Message:
            metadata = {
                key: value
                for key, value in context.invocation_metadata()
                if key.startswith("memqual-") and isinstance(value, str)
            }
            with self.lock:
                self.calls.append(Call(method, request, metadata))
            try:
                self._pass("before", method)
                response = work(request)
                self._pass("after", method)
            except StatusError as error:
                context.abort(error.code, "as the test wants")
            return response

        return grpc.unary_unary_rpc_method_handler(
            handle,
            request_deserializer=request_type.FromString,
            response_serializer=lambda response: response.SerializeToString(),
        )

    def _pass(self, side: str, method: str) -> None:
        with self.changed:
            hold = self.held.get(f"{side} {method}")
            if hold is not None:
                hold.standing += 1
                self.changed.notify_all()
        if hold is not None:
            hold.wait()
        with self.lock:
            switches = (self.before if side == "before" else self.after)[method]
            if switches:
                raise StatusError(switches.popleft())


class Hold:
    """Calls that stand still at one place."""

    def __init__(self, recorder: Recorder, key: str) -> None:
        self.key = key
        self.standing = 0
        self._recorder = recorder
        self._released = threading.Event()
        self._dropped = False

    def await_standing(self, count: int) -> None:
        """Waits until so many calls stand here."""
        with self._recorder.changed:
            assert self._recorder.changed.wait_for(lambda: self.standing >= count, 30), self.key

    def release(self, *, drop: bool = False) -> None:
        """Lets the calls that stand here go on, or drops them; holds no other."""
        with self._recorder.lock:
            self._recorder.held.pop(self.key, None)
            self._dropped = drop
        self._released.set()

    def wait(self) -> None:
        """Stands still; raises StatusError when dropped."""
        self._released.wait(60)
        if self._dropped:
            raise StatusError(grpc.StatusCode.UNAVAILABLE)


def _key(method: str, *, before: bool) -> str:
    return f"{'before' if before else 'after'} {method}"


@dataclass
class _Remembered:
    spec: continuity_pb2.OperationSpec
    attempt: int = 0
    expires_at: float = 0.0
    absent_final: bool = False
    receipt: continuity_pb2.Receipt | None = None
    replays: dict[tuple[str, str], continuity_pb2.BeginResponse] = field(default_factory=dict)


class FakeMemory(Recorder):
    """ContinuityService by the table of DESIGN §6, without durability."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: dict[str, _Remembered] = {}
        self.scripts: dict[str, deque[continuity_pb2.BeginResponse]] = defaultdict(deque)
        self.answers: dict[
            str, Callable[[continuity_pb2.BeginRequest], continuity_pb2.BeginResponse]
        ] = {}
        self.dispositions: dict[str, continuity_pb2.ReceiptDisposition.ValueType] = {}
        self.lease_ms = LEASE_MS
        self._skew_seconds = 0.0

    def expire_leases(self) -> None:
        """Lets every lease end."""
        with self.lock:
            self._skew_seconds += self.lease_ms / 1_000 + 1

    def handlers(self) -> "dict[str, grpc.RpcMethodHandler[Message, Message]]":
        """The service's methods."""
        return {
            "Begin": self.handler("Begin", self._begin, continuity_pb2.BeginRequest),
            "RecordReceipt": self.handler(
                "RecordReceipt", self._record_receipt, continuity_pb2.RecordReceiptRequest
            ),
            "RecordQuery": self.handler(
                "RecordQuery", self._record_query, continuity_pb2.RecordQueryRequest
            ),
        }

    def _now(self) -> float:
        return time.monotonic() + self._skew_seconds

    def _begin(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.BeginRequest)
        with self.lock:
            spec = request.spec
            if spec.workflow_id in self.answers:
                return self.answers[spec.workflow_id](request)
            if self.scripts[spec.workflow_id]:
                return self.scripts[spec.workflow_id].popleft()
            known = self.operations.setdefault(spec.operation_id, _Remembered(spec))
            if known.spec != spec:
                return _decision("spec_differs", reject=continuity_pb2.Reject())
            if known.receipt is not None:
                return _decision("complete", reuse=continuity_pb2.Reuse(receipt=known.receipt))
            asked = (request.incarnation_id, request.begin_id)
            if known.expires_at > self._now():
                return known.replays.get(asked) or self._live(known)
            return self._expired(known, asked)

    def _live(self, known: _Remembered) -> continuity_pb2.BeginResponse:
        left_ms = int((known.expires_at - self._now()) * 1_000)
        return _decision("lease_live", wait=continuity_pb2.Wait(remaining_ms=left_ms))

    def _expired(self, known: _Remembered, asked: tuple[str, str]) -> Message:
        capability = known.spec.capability
        if known.attempt and not known.absent_final:
            if capability == common_pb2.EFFECT_CAPABILITY_NONE:
                return _decision("outcome_unknown", confirm=continuity_pb2.Confirm())
            if capability == common_pb2.EFFECT_CAPABILITY_QUERY:
                return _decision(
                    "ask_destination",
                    query=continuity_pb2.Query(
                        attempt=known.attempt, query_ticket=f"ticket-{known.attempt}"
                    ),
                )
        known.attempt += 1
        known.absent_final = False
        known.expires_at = self._now() + self.lease_ms / 1_000
        response = _decision(
            "granted",
            execute=continuity_pb2.Execute(
                attempt=known.attempt,
                lease_token=f"token-{known.attempt}",
                remaining_lease_ms=self.lease_ms,
            ),
        )
        known.replays = {asked: response}
        return response

    def _record_receipt(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.RecordReceiptRequest)
        with self.lock:
            known = self.operations.get(request.operation_id)
            if known is None:
                raise StatusError(grpc.StatusCode.NOT_FOUND)
            if request.lease_token != f"token-{request.attempt}":
                raise StatusError(grpc.StatusCode.PERMISSION_DENIED)
            if known.spec.workflow_id in self.dispositions:
                disposition = self.dispositions[known.spec.workflow_id]
                return continuity_pb2.RecordReceiptResponse(disposition=disposition)
            if request.attempt != known.attempt:
                return continuity_pb2.RecordReceiptResponse(
                    disposition=continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY
                )
            if known.receipt is not None:
                return continuity_pb2.RecordReceiptResponse(
                    disposition=continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED
                )
            known.receipt = request.receipt
            return continuity_pb2.RecordReceiptResponse(
                disposition=continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
            )

    def _record_query(self, request: Message) -> Message:
        assert isinstance(request, continuity_pb2.RecordQueryRequest)
        with self.lock:
            known = self.operations[request.operation_id]
            if request.query_ticket != f"ticket-{known.attempt}":
                raise StatusError(grpc.StatusCode.PERMISSION_DENIED)
            if request.presence == common_pb2.EFFECT_PRESENCE_PRESENT:
                known.receipt = request.receipt
            elif request.presence == common_pb2.EFFECT_PRESENCE_ABSENT_FINAL:
                known.absent_final = True
            return continuity_pb2.RecordQueryResponse()


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


def _decision(reason_code: str, **kind: Message) -> continuity_pb2.BeginResponse:
    decision = continuity_pb2.Decision(reason_code=reason_code)
    for name, value in kind.items():
        getattr(decision, name).CopyFrom(value)
        getattr(decision, name).SetInParent()
    return continuity_pb2.BeginResponse(decision=decision)


decision = _decision


def _result(effect: Effect, *, replayed: bool) -> destination_pb2.InvokeResponse:
    return destination_pb2.InvokeResponse(
        result=destination_pb2.ToolResult(
            result_json=effect.result_json,
            effect_id=f"effect-{sha256_hex(effect.operation_id.encode())[:8]}-{effect.attempt}",
            replayed=replayed,
        )
    )
