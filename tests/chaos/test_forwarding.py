"""What goes in comes out: bytes, metadata, deadlines, statuses, streams, tokens, sizes."""

import contextlib
import hashlib
import socket
import threading
import time
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from chaos.interposer.limits import MESSAGE_BYTES_MAX
from services.common.channels import CHANNEL_OPTIONS, CallMetadata
from tests.chaos.harness import (
    BEGIN,
    CONTROL_TOKEN,
    READ_JOURNAL,
    STANDBY_TOKEN,
    WAIT_SECONDS,
    Loop,
    Rig,
    Target,
    health_status,
    rig_of,
    wait_for,
)

SERVING = 1


def control_metadata(target: str, token: str = CONTROL_TOKEN) -> tuple[tuple[str, str], ...]:
    return CallMetadata(token=token, target=target).pairs()


def test_bytes_metadata_and_deadline_reach_the_target(rig: Rig) -> None:
    extra = (("x-trace", "t1"), ("x-raw-bin", b"\x00\xff"))
    assert rig.call(b"\x00raw", timeout=7.0, extra=extra).result() == b"answer to \x00raw"
    (received,) = rig.memory.received
    assert received.method == BEGIN
    assert received.request == b"\x00raw"
    assert received.metadata["memqual-workflow"] == "w1"
    assert received.metadata["memqual-attempt"] == "1"
    assert received.metadata["x-trace"] == "t1"
    assert received.metadata["x-raw-bin"] == b"\x00\xff"
    assert "memqual-token" not in received.metadata
    assert received.remaining_seconds is not None
    # gRPC rounds a timeout up on each of the two ways.
    assert 0 < received.remaining_seconds < 7.2


def test_response_metadata_comes_back(loop: Loop) -> None:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.send_initial_metadata((("x-first", "1"),))
        context.set_trailing_metadata((("x-last", "2"), ("x-last-bin", b"\x01")))
        return request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"")
        assert call.result() == b""
        assert ("x-first", "1") in tuple(call.initial_metadata())
        assert tuple(call.trailing_metadata()) == (("x-last", "2"), ("x-last-bin", b"\x01"))


def test_a_target_cannot_speak_for_the_interposer(loop: Loop) -> None:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "interposer: no such target")

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"")
        with pytest.raises(grpc.RpcError):
            call.result()
        assert call.code() is grpc.StatusCode.PERMISSION_DENIED
        assert call.details() == "memory: interposer: no such target"


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.PERMISSION_DENIED]
)
def test_status_details_and_trailers_come_back_unchanged(loop: Loop, code: grpc.StatusCode) -> None:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        context.set_trailing_metadata((("x-cause", "why"),))
        context.abort(code, "größer als erlaubt")

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"")
        with pytest.raises(grpc.RpcError):
            call.result()
        assert call.code() is code
        assert call.details() == "größer als erlaubt"
        assert ("x-cause", "why") in tuple(call.trailing_metadata())
        records = [record for record in rig.client.trace() if record.call_id]
        assert [record.kind.value for record in records] == [
            "REQUEST_RECEIVED",
            "REQUEST_FORWARDED",
            "RESPONSE_RECEIVED",
            "RESPONSE_DELIVERED",
        ]
        assert [record.status_code for record in records] == [0, 0, code.value[0], code.value[0]]


def test_source_is_told_by_its_token(rig: Rig) -> None:
    rig.call(b"a").result()
    rig.call(b"b", token=STANDBY_TOKEN).result()
    rig.call(b"c", edge="observer", method="/memqual.v1.ObserverService/Emit").result()
    received = [record for record in rig.client.trace() if record.kind == "REQUEST_RECEIVED"]
    assert [(record.source, record.target) for record in received] == [
        ("agent", "memory"),
        ("standby", "memory"),
        ("memory", "observer"),
    ]
    assert all("memqual-token" not in record.metadata for record in received)


@pytest.mark.parametrize("token", [None, "wrong", CONTROL_TOKEN])
def test_edge_refuses_a_wrong_token(rig: Rig, token: str | None) -> None:
    call = rig.call(b"a", token=token)
    assert call.code() is grpc.StatusCode.PERMISSION_DENIED
    assert rig.memory.received == []


@pytest.mark.parametrize("token", [None, "wrong", "control-token-and-more"])
def test_control_port_refuses_a_wrong_token(rig: Rig, token: str | None) -> None:
    metadata = CallMetadata(token=token, target="memory").pairs()
    methods = (
        BEGIN,
        "/memqual.v1.InterposerService/ReadStatistics",
        "/grpc.health.v1.Health/Check",
    )
    for method in methods:
        call = rig.control.unary_unary(method).future(b"", timeout=WAIT_SECONDS, metadata=metadata)
        assert call.code() is grpc.StatusCode.PERMISSION_DENIED, method
    assert rig.memory.received == []


def test_control_port_routes_by_target(rig: Rig) -> None:
    call = rig.control.unary_unary(BEGIN)
    assert call(b"x", timeout=WAIT_SECONDS, metadata=control_metadata("memory")) == b"answer to x"
    assert rig.memory.requests() == [b"x"]
    assert not {"memqual-target", "memqual-token"} & rig.memory.received[0].metadata.keys()
    (received,) = [record for record in rig.client.trace() if record.kind == "REQUEST_RECEIVED"]
    assert (received.source, received.target) == ("orchestrator", "memory")


@pytest.mark.parametrize("target", ["nowhere", ""])
def test_control_port_refuses_an_unknown_target(rig: Rig, target: str) -> None:
    call = rig.control.unary_unary(BEGIN).future(
        b"x", timeout=WAIT_SECONDS, metadata=control_metadata(target)
    )
    assert call.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert rig.memory.received == []


def test_streams_are_proxied_with_their_end(rig: Rig) -> None:
    call = rig.control.unary_stream(READ_JOURNAL)(
        b"1000", timeout=WAIT_SECONDS, metadata=control_metadata("destination-audit")
    )
    assert list(call) == [b"record %d" % number for number in range(1000)]
    assert ("x-stream", "ended") in tuple(call.trailing_metadata())
    records = [record for record in rig.client.trace() if record.call_id]
    assert [record.kind.value for record in records] == [
        "REQUEST_RECEIVED",
        "REQUEST_FORWARDED",
        "RESPONSE_RECEIVED",
        "RESPONSE_DELIVERED",
    ]
    assert records[0].payload == b"1000"


def test_stream_to_a_target_that_is_down(rig: Rig) -> None:
    rig.destination.stop()
    call = rig.control.unary_stream(READ_JOURNAL)(
        b"1", timeout=WAIT_SECONDS, metadata=control_metadata("destination-audit")
    )
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert rig.kinds()[-2:] == ["UPSTREAM_FAILED", "RESPONSE_DELIVERED"]


def test_stream_ends_with_its_client(rig: Rig) -> None:
    call = rig.control.unary_stream(READ_JOURNAL)(
        b"1000000", timeout=None, metadata=control_metadata("destination-audit")
    )
    assert next(call) == b"record 0"
    call.cancel()
    wait_for(lambda: "CLIENT_GONE" in rig.kinds(), "the client is gone")
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "the stream has ended")
    assert "RESPONSE_RECEIVED" not in rig.kinds()


def test_health_and_reflection_own_and_of_a_target(rig: Rig) -> None:
    assert health_status(rig.control, token=CONTROL_TOKEN) == SERVING
    assert health_status(rig.control, token=CONTROL_TOKEN, target="memory") == SERVING
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    stub: Any = reflection_pb2_grpc.ServerReflectionStub
    answers = stub(rig.control).ServerReflectionInfo(
        iter([request]), timeout=WAIT_SECONDS, metadata=(("memqual-token", CONTROL_TOKEN),)
    )
    names = {service.name for service in next(answers).list_services_response.service}
    assert "memqual.v1.InterposerService" in names


def test_unknown_method_is_carried_to_its_target(rig: Rig) -> None:
    assert rig.call(b"x", method="/vendor.Private/Call").result() == b"answer to x"


def test_hundred_megabyte_answer_is_refused_and_survived(loop: Loop) -> None:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        return b"z" * 100_000_000 if request == b"big" else request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"big")
        assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert f"memory answered {BEGIN} with more than {MESSAGE_BYTES_MAX} bytes" in call.details()
        assert rig.call(b"small").result() == b"small"


def test_answer_up_to_the_bound_passes(loop: Loop) -> None:
    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        return b"z" * (MESSAGE_BYTES_MAX - 16)

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        assert len(rig.call(b"").result()) == MESSAGE_BYTES_MAX - 16
        (received,) = [r for r in rig.client.trace() if r.kind == "RESPONSE_RECEIVED"]
        assert len(received.payload) == 1024 * 1024
        whole = hashlib.sha256(b"z" * (MESSAGE_BYTES_MAX - 16)).hexdigest()
        assert received.payload_digest == whole


def test_too_long_request_is_refused(rig: Rig) -> None:
    unbounded = tuple(
        (key, -1 if key == "grpc.max_send_message_length" else value)
        for key, value in CHANNEL_OPTIONS
    )
    channel = grpc.insecure_channel(f"127.0.0.1:{rig.running.listener_ports[0]}", options=unbounded)
    with channel:
        call = rig.call(b"z" * (MESSAGE_BYTES_MAX + 1), channel=channel)
        assert call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert rig.memory.received == []


def test_slow_handshake_of_a_target_is_waited_for(rig: Rig) -> None:
    """A connection that takes longer than the reconnect backoff, as on a busy machine."""
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)

    def relay() -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                time.sleep(0.3)
                far = socket.create_connection(("127.0.0.1", rig.memory.port))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=relay, daemon=True).start()
    rig.running._state.upstreams["memory"]._address = f"127.0.0.1:{listening.getsockname()[1]}"
    assert rig.call(b"x").result() == b"answer to x"
    listening.close()


def test_target_down_fails_at_once(rig: Rig) -> None:
    rig.memory.stop()
    call = rig.call(b"x")
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert rig.kinds()[-2:] == ["UPSTREAM_FAILED", "RESPONSE_DELIVERED"]


def test_answer_that_is_no_http2_is_unavailable(loop: Loop) -> None:
    listening = socket.create_server(("127.0.0.1", 0))

    def babble() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello")

    threading.Thread(target=babble, daemon=True).start()
    with rig_of(loop) as rig:
        rig.memory.stop()
        # The target's address now leads to a server of something else.
        upstream = rig.running._state.upstreams["memory"]
        upstream._address = f"127.0.0.1:{listening.getsockname()[1]}"
        call = rig.call(b"x", timeout=5.0)
        assert call.code() is grpc.StatusCode.UNAVAILABLE
        assert rig.call(b"x", edge="destination").result() == b"answer to x"
    listening.close()
