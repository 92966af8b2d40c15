import socket
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.channels import open_channel
from services.common.database import DatabaseError
from services.common.errors import INTERNAL_MESSAGE, ServiceError
from services.common.server import ListenError, RunningServer, resolve, start

NAME = "memqual.v1.ObserverService"
AUDIT_NAME = "memqual.v1.ObserverAuditService"
DEADLINE_SECONDS = 30
SECRET = "what was in the request"


class Behaviour(observer_pb2_grpc.ObserverServiceServicer):
    """Does what the first event's id says."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.leave = threading.Event()

    def Emit(
        self, request: observer_pb2.EmitRequest, context: grpc.ServicerContext
    ) -> observer_pb2.EmitResponse:
        match request.events[0].event_id if request.events else "":
            case "refuse":
                raise ServiceError(grpc.StatusCode.PERMISSION_DENIED, "ask the reviewer")
            case "defect":
                raise KeyError(SECRET)
            case "busy":
                raise DatabaseError("the volume is full", transient=True)
            case "damaged":
                raise DatabaseError("the file is damaged", transient=False)
            case "abort":
                context.abort(grpc.StatusCode.ABORTED, "by the handler itself")
            case "hang":
                self.entered.set()
                self.leave.wait(DEADLINE_SECONDS)
        return observer_pb2.EmitResponse()


class AuditBehaviour(observer_pb2_grpc.ObserverAuditServiceServicer):
    def ReadEvents(
        self, request: observer_pb2.ReadEventsRequest, context: grpc.ServicerContext
    ) -> Iterator[observer_pb2.ReadEventsResponse]:
        yield observer_pb2.ReadEventsResponse()
        if request.from_sequence:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no such sequence")

    def ReadCounters(
        self, request: observer_pb2.ReadCountersRequest, context: grpc.ServicerContext
    ) -> observer_pb2.ReadCountersResponse:
        return observer_pb2.ReadCountersResponse(accepted=1)


@pytest.fixture
def behaviour() -> Behaviour:
    return Behaviour()


@pytest.fixture
def running(behaviour: Behaviour) -> Iterator[RunningServer]:
    server = start(
        listen="127.0.0.1:0",
        registrars=[
            lambda to: observer_pb2_grpc.add_ObserverServiceServicer_to_server(behaviour, to)
        ],
        service_names=[NAME],
        audit_listen="localhost:0",
        audit_registrars=[
            lambda to: observer_pb2_grpc.add_ObserverAuditServiceServicer_to_server(
                AuditBehaviour(), to
            )
        ],
        audit_service_names=[AUDIT_NAME],
    )
    yield server
    behaviour.leave.set()
    server.stop()


@pytest.fixture
def channel(running: RunningServer) -> Iterator[grpc.Channel]:
    with open_channel(f"127.0.0.1:{running.port}") as channel:
        yield channel


@pytest.fixture
def audit_channel(running: RunningServer) -> Iterator[grpc.Channel]:
    with open_channel(f"127.0.0.1:{running.audit_port}") as channel:
        yield channel


def emit(channel: grpc.Channel, what: str, **more: str) -> tuple[grpc.StatusCode, str]:
    stub = observer_pb2_grpc.ObserverServiceStub(channel)
    request = observer_pb2.EmitRequest(
        events=[observer_pb2.TelemetryEvent(event_id=what, workflow_id=more.get("padding", ""))]
    )
    try:
        stub.Emit(request, timeout=DEADLINE_SECONDS)
    except grpc.RpcError as error:
        return error.code(), error.details() or ""
    return grpc.StatusCode.OK, ""


@pytest.mark.parametrize(
    ("what", "code", "details"),
    [
        ("answer", grpc.StatusCode.OK, ""),
        ("refuse", grpc.StatusCode.PERMISSION_DENIED, "ask the reviewer"),
        ("defect", grpc.StatusCode.INTERNAL, INTERNAL_MESSAGE),
        ("busy", grpc.StatusCode.UNAVAILABLE, "the volume is full"),
        ("damaged", grpc.StatusCode.INTERNAL, "the file is damaged"),
        ("abort", grpc.StatusCode.ABORTED, "by the handler itself"),
    ],
)
def test_what_a_handler_raises_becomes_a_status(
    channel: grpc.Channel, what: str, code: grpc.StatusCode, details: str
) -> None:
    assert emit(channel, what) == (code, details)


def test_a_stream_ends_with_the_status_that_its_handler_raises(
    audit_channel: grpc.Channel,
) -> None:
    stub = observer_pb2_grpc.ObserverAuditServiceStub(audit_channel)
    stream = stub.ReadEvents(
        observer_pb2.ReadEventsRequest(from_sequence=1), timeout=DEADLINE_SECONDS
    )
    assert next(stream) == observer_pb2.ReadEventsResponse()
    with pytest.raises(grpc.RpcError) as caught:
        next(stream)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_a_port_serves_its_own_services_only(
    channel: grpc.Channel, audit_channel: grpc.Channel
) -> None:
    assert emit(audit_channel, "answer")[0] == grpc.StatusCode.UNIMPLEMENTED
    stub = observer_pb2_grpc.ObserverAuditServiceStub(channel)
    with pytest.raises(grpc.RpcError) as caught:
        next(stub.ReadEvents(observer_pb2.ReadEventsRequest(), timeout=DEADLINE_SECONDS))
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_health_tells_of_the_whole_and_of_each_service(channel: grpc.Channel) -> None:
    # The stubs of these two packages leave out what a stub has.
    health: Any = health_pb2_grpc.HealthStub(channel)
    for name in ("", NAME):
        answer = health.Check(health_pb2.HealthCheckRequest(service=name), timeout=DEADLINE_SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as caught:
        health.Check(health_pb2.HealthCheckRequest(service=AUDIT_NAME), timeout=DEADLINE_SECONDS)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_reflection_lists_what_is_served(channel: grpc.Channel) -> None:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answer = next(stub.ServerReflectionInfo(iter([request]), timeout=DEADLINE_SECONDS))
    assert {service.name for service in answer.list_services_response.service} == {
        NAME,
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


def test_a_request_beyond_a_mebibyte_is_refused(channel: grpc.Channel) -> None:
    assert emit(channel, "answer", padding="x" * 1_000_000)[0] == grpc.StatusCode.OK
    code, _ = emit(channel, "answer", padding="x" * 1_100_000)
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_stop_cuts_a_call_that_hangs_and_frees_the_port(
    running: RunningServer, behaviour: Behaviour, channel: grpc.Channel
) -> None:
    port = running.port
    call = observer_pb2_grpc.ObserverServiceStub(channel).Emit.future(
        observer_pb2.EmitRequest(events=[observer_pb2.TelemetryEvent(event_id="hang")]),
        timeout=DEADLINE_SECONDS,
    )
    assert behaviour.entered.wait(DEADLINE_SECONDS)
    running.stop()
    assert isinstance(call.exception(), grpc.RpcError)
    running.stop()
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_taken_port_is_named(running: RunningServer) -> None:
    with pytest.raises(ListenError, match=f"127.0.0.1:{running.port}.*choose another"):
        start(listen=f"127.0.0.1:{running.port}", registrars=[], service_names=[])


@pytest.mark.parametrize("listen", ["", "7000", "memory:", ":7000", "memory:port", "memory:-1"])
def test_an_address_that_is_none_is_named(listen: str) -> None:
    with pytest.raises(ListenError, match="host:port"):
        start(listen=listen, registrars=[], service_names=[])


def test_a_server_without_audit_twin_has_no_audit_port() -> None:
    server = start(listen="127.0.0.1:0", registrars=[], service_names=[])
    with pytest.raises(ValueError, match="no audit port"):
        print(server.audit_port)
    server.stop()


def test_a_name_becomes_an_address_and_ipv4_comes_first() -> None:
    assert resolve("localhost", 7000) == "127.0.0.1:7000"
    assert resolve("::1", 7000) == "[::1]:7000"
    assert resolve("0.0.0.0", 7000) == "0.0.0.0:7000"
