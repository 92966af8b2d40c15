"""Puts one life of the agent host together from its settings."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from memqual.v1 import agent_pb2, agent_pb2_grpc
from services.agent.barriers import BARRIER_SECONDS, Barriers
from services.agent.calls import ToolCaller
from services.agent.checkpoints import CheckpointFiles
from services.agent.clients import RETRY_WAITS_SECONDS, RPC_DEADLINE_SECONDS, Clients
from services.agent.events import HostEvents
from services.agent.fresh_model import FreshModel
from services.agent.host import Host
from services.agent.service import AgentAuditService, AgentService
from services.common.server import Registrar
from services.common.telemetry import Emitter

__all__ = ["AUDIT_SERVICE", "SERVICE", "AgentApp", "AgentSettings"]

SERVICE = agent_pb2.DESCRIPTOR.services_by_name["AgentService"].full_name
AUDIT_SERVICE = agent_pb2.DESCRIPTOR.services_by_name["AgentAuditService"].full_name


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What a host is told at start.

    Attributes:
        data_dir: folder of the checkpoint files, shared by active and standby.
        memory_address: `name:port` of the memory.
        destination_address: `name:port` of the destination.
        observer_address: `name:port` of the observer; None for no telemetry.
        edge_token: sent as memqual-token with every call.
        deadline_seconds: deadline of one RPC to memory or destination.
        retry_waits_seconds: waits before the transport retries.
        barrier_seconds: a workflow that stands longer at a barrier fails.
    """

    data_dir: Path
    memory_address: str
    destination_address: str
    observer_address: str | None
    edge_token: str
    deadline_seconds: float = RPC_DEADLINE_SECONDS
    retry_waits_seconds: tuple[float, ...] = RETRY_WAITS_SECONDS
    barrier_seconds: float = BARRIER_SECONDS


class AgentApp:
    """One life of the host: its incarnation id, channels, threads and servicers."""

    def __init__(self, settings: AgentSettings) -> None:
        self.incarnation_id = uuid.uuid4().hex
        self._clients = Clients(
            memory_address=settings.memory_address,
            destination_address=settings.destination_address,
            incarnation_id=self.incarnation_id,
            edge_token=settings.edge_token,
            deadline_seconds=settings.deadline_seconds,
            retry_waits_seconds=settings.retry_waits_seconds,
        )
        self._events = HostEvents(
            Emitter(settings.observer_address, settings.edge_token), self.incarnation_id
        )
        self._host = Host(
            files=CheckpointFiles(settings.data_dir),
            caller=ToolCaller(self._clients, self._events, self.incarnation_id),
            events=self._events,
            barriers=Barriers(hold_seconds=settings.barrier_seconds),
            fresh_model=FreshModel.from_environment(),
        )

    @property
    def registrars(self) -> Sequence[Registrar]:
        """Add the service to a server."""
        servicer = AgentService(self._host, self._events, self.incarnation_id)

        def register(server: grpc.Server) -> None:
            agent_pb2_grpc.add_AgentServiceServicer_to_server(servicer, server)

        return (register,)

    @property
    def audit_registrars(self) -> Sequence[Registrar]:
        """Add the audit service to a server."""
        servicer = AgentAuditService(self._host)

        def register(server: grpc.Server) -> None:
            agent_pb2_grpc.add_AgentAuditServiceServicer_to_server(servicer, server)

        return (register,)

    def close(self) -> None:
        """Ends calls, waits and threads; nothing durable is touched. Idempotent."""
        self._host.close()
        self._clients.close()
        self._events.close()
