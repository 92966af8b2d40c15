from collections.abc import Iterator

import grpc
import pytest

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.server import RunningServer, start

NAME = "memqual.v1.ObserverService"
DEADLINE_SECONDS = 30


class _Observer(observer_pb2_grpc.ObserverServiceServicer):
    def Emit(
        self, request: observer_pb2.EmitRequest, context: grpc.ServicerContext
    ) -> observer_pb2.EmitResponse:
        if request.events[0].event_id != "grüße":
            context.abort(grpc.StatusCode.ABORTED, "another message arrived")
        return observer_pb2.EmitResponse()


@pytest.fixture
def server() -> Iterator[RunningServer]:
    def register(target: grpc.Server) -> None:
        observer_pb2_grpc.add_ObserverServiceServicer_to_server(_Observer(), target)

    running = start(listen="127.0.0.1:0", registrars=[register], service_names=[NAME])
    yield running
    running.stop()


def _emit(server: RunningServer, payload: bytes) -> grpc.StatusCode:
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            f"/{NAME}/Emit", lambda request: request, lambda answer: answer
        )
        try:
            call(payload, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


# No protobuf at all; and an event whose id is no UTF-8.
@pytest.mark.parametrize("payload", [b"\xff\xff\xff", b"\x0a\x04\x0a\x02\xc3\x28"])
def test_bytes_that_are_no_message_are_the_callers_fault(
    server: RunningServer, payload: bytes
) -> None:
    assert _emit(server, payload) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_still_arrives(server: RunningServer) -> None:
    event = observer_pb2.TelemetryEvent(event_id="grüße")
    request = observer_pb2.EmitRequest(events=[event])
    assert _emit(server, request.SerializeToString()) is grpc.StatusCode.OK
