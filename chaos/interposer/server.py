"""Binds the listeners and the control port, and stops them."""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import grpc.aio
import structlog
import tenacity
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from chaos.interposer.carrier import Carrier
from chaos.interposer.config import InterposerConfig
from chaos.interposer.control import Control
from chaos.interposer.handlers import ControlHandlers, EdgeHandlers, Handler, HandlerCollector
from chaos.interposer.limits import (
    BIND_SECONDS,
    BIND_WAIT_SECONDS,
    CALLS_MAX,
    MESSAGE_BYTES_MAX,
    STOP_GRACE_SECONDS,
)
from chaos.interposer.proxy import Proxy
from chaos.interposer.state import State, new_state
from chaos.interposer.streams import StreamProxy
from chaos.interposer.upstream import close_all
from memqual.v1 import interposer_pb2, interposer_pb2_grpc

__all__ = ["BindError", "RunningInterposer", "start"]

SERVER_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # Beyond 1,000 calls that wait for their handler, gRPC would cancel some at random.
    ("grpc.server.max_pending_requests", CALLS_MAX),
    ("grpc.server.max_pending_requests_hard_limit", CALLS_MAX),
)

_log = structlog.get_logger(__name__)


class BindError(Exception):
    """An address cannot be bound; the message names it and the cause."""


@dataclass(frozen=True, slots=True)
class RunningInterposer:
    """An interposer that serves.

    Attributes:
        control_port: port of the control address.
        listener_ports: port of each listener, in the order of the configuration.
    """

    control_port: int
    listener_ports: tuple[int, ...]
    _servers: tuple[grpc.aio.Server, ...]
    _state: State
    _proxy: Proxy

    async def stop(self) -> None:
        """Ends everything within the grace; held messages are given up."""
        await asyncio.gather(*(server.stop(STOP_GRACE_SECONDS) for server in self._servers))
        await self._proxy.stop()
        await close_all(self._state.upstreams.values())


async def start(config: InterposerConfig, token: str) -> RunningInterposer:
    """Binds and serves.

    Args:
        config: where to listen and whom to reach.
        token: wanted on the control port.

    Raises:
        BindError: a name does not resolve or a port is taken.
    """
    state = new_state(config)
    carrier = Carrier(state)
    proxy = Proxy(state, carrier)
    streams = StreamProxy(state, carrier, proxy)
    servers, ports = [], []
    for listener in config.listeners:
        server, port = await _bind(listener.listen, EdgeHandlers(proxy, streams, listener))
        servers.append(server)
        ports.append(port)
    control = ControlHandlers(proxy, streams, token, _own_handlers(state), tuple(config.targets))
    control_server, control_port = await _bind(config.control, control)
    servers.append(control_server)
    for server in servers:
        await server.start()
    running = RunningInterposer(control_port, tuple(ports), tuple(servers), state, proxy)
    _log.info("interposer_ready", control_port=control_port, listener_ports=ports)
    return running


def _own_handlers(state: State) -> Mapping[str, Handler]:
    name = interposer_pb2.DESCRIPTOR.services_by_name["InterposerService"].full_name
    collector = HandlerCollector()
    # It has the two methods of a server that generated code calls.
    server = cast(grpc.aio.Server, collector)
    interposer_pb2_grpc.add_InterposerServiceServicer_to_server(Control(state), server)
    health_pb2_grpc.add_HealthServicer_to_server(health.aio.HealthServicer(), server)
    served_names = (name, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflects = reflection.aio.ReflectionServicer(served_names)
    add_reflection = reflection_pb2_grpc.add_ServerReflectionServicer_to_server
    add_reflection(reflects, server)  # type: ignore[no-untyped-call]  # generated without types
    return collector.handlers


async def _bind(address: str, handlers: grpc.GenericRpcHandler) -> tuple[grpc.aio.Server, int]:
    host, _, port = address.rpartition(":")
    bound = await _resolve(host.strip("[]"), int(port))
    server = grpc.aio.server(
        handlers=[handlers], options=SERVER_OPTIONS, maximum_concurrent_rpcs=CALLS_MAX
    )
    try:
        return server, server.add_insecure_port(bound)
    except RuntimeError as error:
        raise BindError(
            f"{address} ({bound}) cannot be bound; is the port taken? {error}"
        ) from error


async def _resolve(host: str, port: int) -> str:
    """The one address that a name means here, so that no other network reaches what is bound."""
    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_after_delay(BIND_SECONDS),
        wait=tenacity.wait_fixed(BIND_WAIT_SECONDS),
        retry=tenacity.retry_if_exception_type(socket.gaierror),
        before_sleep=lambda state: _log.info(
            "listener_name_unresolved", host=host, tries=state.attempt_number
        ),
        reraise=True,
    )
    try:
        return await retrying(_look_up, host, port)
    except socket.gaierror as error:
        raise BindError(f"{host} does not resolve here: {error}") from error


async def _look_up(host: str, port: int) -> str:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, bound = found[0]
    # An IP address is text; the type stub allows for families that are not asked for.
    ip, bound_port = cast(tuple[str, int], bound[:2])
    return f"[{ip}]:{bound_port}" if family == socket.AF_INET6 else f"{ip}:{bound_port}"
