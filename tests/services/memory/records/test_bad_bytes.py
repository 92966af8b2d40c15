"""Bytes that are no UTF-8 are refused before anything is written of them."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memqual.v1 import memory_pb2, memory_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from services.common import server
from services.common.channels import open_channel
from services.memory.process import Composition, MemorySettings, build

DEADLINE_SECONDS = 10
PLACEHOLDER = b"bibobubaba"
# A stray continuation byte, a cut sequence, an overlong slash, half of a surrogate pair.
NO_UTF_8 = (b"\x80", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80")


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[grpc.Channel]:
    process = build(MemorySettings(tmp_path / "memory.db"), Composition())
    running = server.start(
        listen="127.0.0.1:0", registrars=process.registrars, service_names=process.service_names
    )
    channel = open_channel(f"127.0.0.1:{running.port}")
    yield channel
    channel.close()
    running.stop()
    process.close()


def said(content: str) -> memory_pb2.Observation:
    return memory_pb2.Observation(
        scope=memory_pb2.Scope(namespace="space", principal="alice"),
        kind=memory_pb2.RECORD_KIND_FACT,
        content=content,
        source=memory_pb2.Source(
            type=memory_pb2.SOURCE_TYPE_USER,
            binding=memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
            source_id="alice",
        ),
    )


def state_of(channel: grpc.Channel) -> str:
    vendor = vendor_pb2_grpc.VendorServiceStub(channel)
    request = vendor_pb2.StateHashRequest(namespace="space")
    return vendor.StateHash(request, timeout=DEADLINE_SECONDS).digest


@pytest.mark.parametrize("wrong", NO_UTF_8)
@pytest.mark.parametrize("method", ["Write", "Derive", "Supersede", "Recall"])
def test_what_is_no_text_is_refused_and_nothing_is_written(
    channel: grpc.Channel, method: str, wrong: bytes
) -> None:
    stub = memory_pb2_grpc.MemoryServiceStub(channel)
    kept = stub.Write(
        memory_pb2.WriteRequest(observation=said("The tea is in cupboard ten.")),
        timeout=DEADLINE_SECONDS,
    ).admission
    before = state_of(channel)
    text = f"The tea is in cupboard {PLACEHOLDER.decode()}."
    scope = said("x").scope
    requests = {
        "Write": memory_pb2.WriteRequest(observation=said(text)),
        "Derive": memory_pb2.DeriveRequest(
            scope=scope,
            kind=memory_pb2.RECORD_KIND_FACT,
            parent_ids=[kept.record_id],
            content=text,
            method="summary",
        ),
        "Supersede": memory_pb2.SupersedeRequest(
            scope=scope, record_id=kept.record_id, observation=said(text)
        ),
        "Recall": memory_pb2.RecallRequest(
            scope=scope, query=text, max_hits=5, surface=memory_pb2.RECALL_SURFACE_EVIDENCE
        ),
    }
    spoiled = wrong.ljust(len(PLACEHOLDER), b"x")
    payload = requests[method].SerializeToString().replace(PLACEHOLDER, spoiled)
    assert spoiled in payload
    call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
        f"/memqual.v1.MemoryService/{method}", lambda sent: sent, lambda answer: answer
    )
    with pytest.raises(grpc.RpcError) as refused:
        call(payload, timeout=DEADLINE_SECONDS)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert state_of(channel) == before
    again = memory_pb2.WriteRequest(observation=said("The coffee is in cupboard eleven."))
    admission = stub.Write(again, timeout=DEADLINE_SECONDS).admission
    assert admission.state == memory_pb2.RECORD_STATE_ACTIVE
