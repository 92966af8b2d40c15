from collections.abc import Iterator

import grpc
import pytest

from memqual.v1 import vendor_pb2, vendor_pb2_grpc
from services.common.server import RunningServer, start

SERVICE = vendor_pb2.DESCRIPTOR.services_by_name["VendorService"].full_name


class _Vendor(vendor_pb2_grpc.VendorServiceServicer):
    def StateHash(
        self, request: vendor_pb2.StateHashRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.StateHashResponse:
        return vendor_pb2.StateHashResponse(digest=request.namespace)


@pytest.fixture
def server() -> Iterator[RunningServer]:
    def register(target: grpc.Server) -> None:
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(_Vendor(), target)

    running = start(
        name="memory", listen="127.0.0.1:0", registrars=[register], service_names=[SERVICE]
    )
    yield running
    running.stop()


@pytest.mark.parametrize("payload", [b"\xff\xff\xff", b"\x0a\x02\xc3\x28"])
def test_bytes_that_are_no_message_are_the_callers_fault(
    server: RunningServer, payload: bytes
) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.unary_unary(f"/{SERVICE}/StateHash")
        with pytest.raises(grpc.RpcError) as refused:
            call(payload, timeout=10)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_still_arrives(server: RunningServer) -> None:
    request = vendor_pb2.StateHashRequest(namespace="grüße")
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        call = channel.unary_unary(f"/{SERVICE}/StateHash")
        answer = call(request.SerializeToString(), timeout=10)
    assert vendor_pb2.StateHashResponse.FromString(answer).digest == "grüße"
