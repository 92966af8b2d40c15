"""Typed calls to every service of one stack, all through the interposer's control port (DESIGN §3).

The evaluator holds one channel; each target is reached by metadata `memqual-target`. Every call
has a deadline.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import grpc

from memqual.v1 import (
    agent_pb2_grpc,
    continuity_pb2_grpc,
    destination_pb2_grpc,
    memory_pb2_grpc,
    narrative_pb2_grpc,
    observer_pb2_grpc,
    origin_pb2_grpc,
    vendor_pb2_grpc,
)
from services.common.channels import CallMetadata, open_channel

__all__ = ["CALL_SECONDS", "AgentHost", "MemoryClients", "Session"]

CALL_SECONDS = 10.0

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


@dataclass(frozen=True)
class _Details(grpc.ClientCallDetails):
    method: str
    timeout: float | None
    metadata: tuple[tuple[str, str], ...] | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _Targeting(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Adds the target, the token and a default deadline to each call."""

    def __init__(self, metadata: CallMetadata) -> None:
        self._pairs = metadata.pairs()

    def _details(self, details: Any) -> _Details:
        pairs = tuple(details.metadata or ()) + self._pairs
        timeout = CALL_SECONDS if details.timeout is None else details.timeout
        return _Details(details.method, timeout, pairs, details.credentials, None, None)

    def intercept_unary_unary(
        self, continuation: Callable[[_Details, Any], Any], details: Any, request: Any
    ) -> Any:
        return continuation(self._details(details), request)

    def intercept_unary_stream(
        self, continuation: Callable[[_Details, Any], Any], details: Any, request: Any
    ) -> Any:
        return continuation(self._details(details), request)


@dataclass(frozen=True)
class MemoryClients:
    """Everything that the memory under test serves."""

    vendor: vendor_pb2_grpc.VendorServiceStub
    continuity: continuity_pb2_grpc.ContinuityServiceStub
    memory: memory_pb2_grpc.MemoryServiceStub
    narrative: narrative_pb2_grpc.NarrativeServiceStub


@dataclass(frozen=True)
class AgentHost:
    """One agent host with its evaluator-only twin.

    Attributes:
        service: Name of the service in the topology, "agent" or "standby".
    """

    service: str
    agent: agent_pb2_grpc.AgentServiceStub
    audit: agent_pb2_grpc.AgentAuditServiceStub


class Session:
    """The evaluator's connection to one stack. Close it before the stack.

    Args:
        address: `host:port` of the interposer's control port.
        token: This run's control token.
        run_id: Put into every call's metadata.
    """

    def __init__(self, address: str, token: str, run_id: str) -> None:
        self._channel = open_channel(address)
        self._base = CallMetadata(run=run_id, token=token)
        self.destination_audit = destination_pb2_grpc.DestinationAuditServiceStub(
            self._to("destination-audit")
        )
        self.observer_audit = observer_pb2_grpc.ObserverAuditServiceStub(self._to("observer-audit"))
        self.observer = observer_pb2_grpc.ObserverServiceStub(self._to("observer"))
        self.memory = self._memory_calls()
        self._hosts = [self._host("agent"), self._host("standby")]

    @property
    def channel(self) -> grpc.Channel:
        """The raw channel, for the interposer's own client."""
        return self._channel

    @property
    def active(self) -> AgentHost:
        """The host that takes new work."""
        return self._hosts[0]

    @property
    def standby(self) -> AgentHost:
        """The host that takes over."""
        return self._hosts[1]

    def host(self, service: str) -> AgentHost:
        """The host that runs as `service` of the topology, whatever its role is now."""
        return next(host for host in self._hosts if host.service == service)

    def swap_hosts(self) -> None:
        """Give the standby the active role, after the active one was killed."""
        self._hosts.reverse()

    def with_workflow(self, workflow_id: str, operation_id: str | None = None) -> MemoryClients:
        """Stubs whose calls carry ids, so that rules and the trace can tell them apart."""
        return self._memory_calls(workflow_id, operation_id)

    def destination_for(
        self, workflow_id: str, operation_id: str, attempt: int
    ) -> destination_pb2_grpc.DestinationServiceStub:
        """The destination as a host of the evaluator's calls it, with the ids that tell calls."""
        channel = self._to("destination", workflow_id, operation_id, attempt)
        return destination_pb2_grpc.DestinationServiceStub(channel)

    def origin_of(self, target: str) -> origin_pb2_grpc.OriginServiceStub:
        """What a target tells of its own code, where it was started to tell."""
        return origin_pb2_grpc.OriginServiceStub(self._to(target))

    def close(self) -> None:
        """Close the channel; calls under way are cancelled."""
        self._channel.close()

    def _to(
        self,
        target: str,
        workflow_id: str | None = None,
        operation_id: str | None = None,
        attempt: int | None = None,
    ) -> grpc.Channel:
        metadata = replace(
            self._base,
            target=target,
            workflow=workflow_id,
            operation=operation_id,
            attempt=attempt,
        )
        return grpc.intercept_channel(self._channel, _Targeting(metadata))

    def _memory_calls(
        self, workflow_id: str | None = None, operation_id: str | None = None
    ) -> MemoryClients:
        channel = self._to("memory", workflow_id, operation_id)
        return MemoryClients(
            vendor_pb2_grpc.VendorServiceStub(channel),
            continuity_pb2_grpc.ContinuityServiceStub(channel),
            memory_pb2_grpc.MemoryServiceStub(channel),
            narrative_pb2_grpc.NarrativeServiceStub(channel),
        )

    def _host(self, service: str) -> AgentHost:
        return AgentHost(
            service,
            agent_pb2_grpc.AgentServiceStub(self._to(service)),
            agent_pb2_grpc.AgentAuditServiceStub(self._to(f"{service}-audit")),
        )
