"""Starts and stops a service: gRPC servers with health, reflection and limits (DESIGN §3, §4).

Exception
└── ListenError     an address cannot be bound; `serve` ends the process with code 2
"""

import socket
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent import futures

import grpc
import structlog
import tenacity
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.common import origin, platform
from services.common.errors import ErrorInterceptor
from services.common.settings import EXIT_USAGE, env_or_none

__all__ = ["ListenError", "Registrar", "RunningServer", "resolve", "serve", "start"]

Registrar = Callable[[grpc.Server], None]

SENT_BYTES = 4 * 1024 * 1024
RECEIVED_BYTES = 1024 * 1024
CALLS_AT_ONCE = 1_024
STOP_GRACE_SECONDS = 1.0
STOP_SECONDS = 2.0
RESOLVE_TRIES = 10
RESOLVE_WAIT_SECONDS = 0.5
AUDIT_WORKERS = 8

SERVER_OPTIONS: tuple[tuple[str, int], ...] = (
    # Two servers on one port must be an error, not a lottery.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", RECEIVED_BYTES),
    ("grpc.max_send_message_length", SENT_BYTES),
)

_log = structlog.get_logger(__name__)


class ListenError(Exception):
    """An address cannot be bound; the message names it and the next step."""


class RunningServer:
    """A service that answers; `stop` ends it."""

    def __init__(self, servers: Sequence["_Bound"]) -> None:
        self._servers = tuple(servers)
        self._stopped = False

    @property
    def port(self) -> int:
        """Port of the service."""
        return self._servers[0].port

    @property
    def audit_port(self) -> int:
        """Port of the audit service; raises ValueError when there is none."""
        if len(self._servers) == 1:
            raise ValueError("this service has no audit port")
        return self._servers[1].port

    def stop(self) -> None:
        """Lets calls under way end for a second, then cuts them; returns within two. Idempotent."""
        if self._stopped:
            return
        self._stopped = True
        stopped = [bound.begin_stop() for bound in self._servers]
        for event in stopped:
            event.wait(STOP_SECONDS)


class _Bound:
    """One gRPC server on one address."""

    def __init__(
        self,
        listen: str,
        registrars: Sequence[Registrar],
        service_names: Sequence[str],
        max_workers: int,
    ) -> None:
        self._server = grpc.server(
            futures.ThreadPoolExecutor(max_workers, thread_name_prefix="rpc"),
            interceptors=[ErrorInterceptor()],
            options=SERVER_OPTIONS,
            maximum_concurrent_rpcs=CALLS_AT_ONCE,
        )
        # Non-blocking: a watcher of health must not hold a worker of the service.
        self._health = health.HealthServicer(experimental_non_blocking=True)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        for register in registrars:
            register(self._server)
        self._service_names = tuple(service_names)
        reflection.enable_server_reflection(
            (*service_names, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server
        )
        self.port = _bind(self._server, listen)

    def start(self) -> None:
        self._server.start()
        for name in ("", *self._service_names):
            self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    def begin_stop(self) -> threading.Event:
        self._health.enter_graceful_shutdown()
        return self._server.stop(STOP_GRACE_SECONDS)


def start(
    *,
    listen: str,
    registrars: Sequence[Registrar],
    service_names: Sequence[str],
    audit_listen: str | None = None,
    audit_registrars: Sequence[Registrar] = (),
    audit_service_names: Sequence[str] = (),
    max_workers: int = 64,
) -> RunningServer:
    """Binds and starts a service, and its audit twin where an address for it is given.

    Args:
        listen: `host:port`; port 0 takes a free one.
        registrars: each adds one servicer to the server.
        service_names: full names for health and reflection.
        audit_listen: address of the audit port, or None for no audit port.
        audit_registrars: as `registrars`, on the audit port.
        audit_service_names: as `service_names`, on the audit port.
        max_workers: threads that handle calls.

    Raises:
        ListenError: an address cannot be resolved or bound.
    """
    if env_or_none(origin.TELL_VARIABLE):
        # The evaluator's business: on the audit port, where there is one.
        if audit_listen is None:
            registrars = (*registrars, origin.register)
            service_names = (*service_names, origin.SERVICE_NAME)
        else:
            audit_registrars = (*audit_registrars, origin.register)
            audit_service_names = (*audit_service_names, origin.SERVICE_NAME)
    servers = [_Bound(listen, registrars, service_names, max_workers)]
    if audit_listen is not None:
        servers.append(_Bound(audit_listen, audit_registrars, audit_service_names, AUDIT_WORKERS))
    # Both ports are bound before either says that it serves.
    for bound in servers:
        bound.start()
    return RunningServer(servers)


def serve(
    *,
    name: str,
    listen: str,
    registrars: Sequence[Registrar],
    service_names: Sequence[str],
    audit_listen: str | None = None,
    audit_registrars: Sequence[Registrar] = (),
    audit_service_names: Sequence[str] = (),
    max_workers: int = 64,
    on_stop: Callable[[], None] | None = None,
) -> None:
    """Runs a service until SIGTERM or SIGINT, then stops it within two seconds.

    `name` is for the log; `on_stop` is called once after the servers have stopped, to close stores;
    everything else is as for `start`. An address that cannot be bound ends the process with code 2.
    """
    stop_wanted = threading.Event()
    platform.on_stop_signal(stop_wanted.set)
    try:
        running = start(
            listen=listen,
            registrars=registrars,
            service_names=service_names,
            audit_listen=audit_listen,
            audit_registrars=audit_registrars,
            audit_service_names=audit_service_names,
            max_workers=max_workers,
        )
    except ListenError as error:
        _log.error("cannot_listen", name=name, cause=str(error))
        sys.exit(EXIT_USAGE)
    audit_port = running.audit_port if audit_listen is not None else None
    _log.info("serving", name=name, port=running.port, audit_port=audit_port)
    stop_wanted.wait()
    running.stop()
    if on_stop is not None:
        on_stop()
    _log.info("stopped", name=name)


def _bind(server: grpc.Server, listen: str) -> int:
    host, separator, port = listen.rpartition(":")
    if not (separator and host and port.isascii() and port.isdigit()):
        raise ListenError(f"{listen!r} is no address; write host:port")
    address = resolve(host.strip("[]"), int(port))
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise ListenError(
            f"{listen} ({address}) cannot be bound; stop what holds the port or choose another"
        ) from error


def resolve(host: str, port: int) -> str:
    """The address to bind for a host's name: its first IPv4 address, else its first IPv6 one.

    Raises:
        ListenError: the name is not known, after 10 tries in five seconds.
    """
    # The name of a container on a network of its own may take a moment to be known to it.
    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(RESOLVE_TRIES),
        wait=tenacity.wait_fixed(RESOLVE_WAIT_SECONDS),
        retry=tenacity.retry_if_exception_type(socket.gaierror),
        before_sleep=lambda state: _log.warning(
            "resolve_retried", host=host, attempt=state.attempt_number
        ),
        reraise=True,
    )
    try:
        found = retrying(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ListenError(
            f"{host} cannot be resolved: {error}; check the network's name"
        ) from error
    # Compose networks are IPv4; a name with both families is bound where the others look for it.
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    family, _, _, _, sockaddr = found[0]
    ip = str(sockaddr[0])
    return f"[{ip}]:{port}" if family == socket.AF_INET6 else f"{ip}:{port}"
