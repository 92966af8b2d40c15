"""The records part behind a real server: what its tests send and read."""

from collections.abc import Callable
from typing import Any

import grpc
import pytest

from memqual.v1 import memory_pb2, memory_pb2_grpc

DEADLINE_SECONDS = 30
SCOPE = memory_pb2.Scope(namespace="n", principal="alice")
USER = memory_pb2.Source(
    type=memory_pb2.SOURCE_TYPE_USER,
    binding=memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
    source_id="u-1",
)
WEB = memory_pb2.Source(
    type=memory_pb2.SOURCE_TYPE_WEB, binding=memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
)
FACT = "Alice prefers the window seat"
CONTENT_BYTES = 65_536
FACT_KIND = memory_pb2.RECORD_KIND_FACT
APPROVE = memory_pb2.REVIEW_DECISION_APPROVE

Stub = memory_pb2_grpc.MemoryServiceStub


def observation(scope: memory_pb2.Scope, **changes: Any) -> memory_pb2.Observation:
    fields = {"kind": FACT_KIND, "content": FACT, "source": USER, **changes}
    return memory_pb2.Observation(scope=scope, **fields)


def write(stub: Stub, offered: memory_pb2.Observation) -> memory_pb2.Admission:
    request = memory_pb2.WriteRequest(observation=offered)
    return stub.Write(request, timeout=DEADLINE_SECONDS).admission


def recall(
    stub: Stub,
    scope: memory_pb2.Scope,
    query: str,
    surface: memory_pb2.RecallSurface.ValueType = memory_pb2.RECALL_SURFACE_AUTHORITATIVE,
    max_hits: int = 10,
) -> list[memory_pb2.Hit]:
    request = memory_pb2.RecallRequest(scope=scope, query=query, max_hits=max_hits, surface=surface)
    return list(stub.Recall(request, timeout=DEADLINE_SECONDS).hits)


def refused(call: Callable[[], object]) -> grpc.StatusCode:
    with pytest.raises(grpc.RpcError) as error:
        call()
    return error.value.code()
