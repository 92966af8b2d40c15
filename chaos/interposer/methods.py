"""Which methods exist and which of them stream, from the descriptors of what memqual serves."""

from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from memqual.v1 import (
    agent_pb2,
    continuity_pb2,
    destination_pb2,
    interposer_pb2,
    memory_pb2,
    narrative_pb2,
    observer_pb2,
    origin_pb2,
    vendor_pb2,
)

__all__ = ["INTERPOSER_PREFIX", "STREAMING_METHODS", "UNARY_METHODS"]

_FILES = (
    agent_pb2.DESCRIPTOR,
    continuity_pb2.DESCRIPTOR,
    destination_pb2.DESCRIPTOR,
    memory_pb2.DESCRIPTOR,
    narrative_pb2.DESCRIPTOR,
    observer_pb2.DESCRIPTOR,
    origin_pb2.DESCRIPTOR,
    vendor_pb2.DESCRIPTOR,
    health_pb2.DESCRIPTOR,
    reflection_pb2.DESCRIPTOR,
)

INTERPOSER_PREFIX = f"/{interposer_pb2.DESCRIPTOR.services_by_name['InterposerService'].full_name}/"


def _methods(*, streaming: bool) -> frozenset[str]:
    return frozenset(
        f"/{service.full_name}/{method.name}"
        for file in _FILES
        for service in file.services_by_name.values()
        for method in service.methods
        if (method.client_streaming or method.server_streaming) is streaming
    )


# Full names, as on the wire: "/memqual.v1.ContinuityService/Begin".
UNARY_METHODS = _methods(streaming=False)
# What is in neither set is carried as a stream in both directions, which any call can be.
STREAMING_METHODS = _methods(streaming=True)
