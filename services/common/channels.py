"""Channels and call metadata (DESIGN §5: no retries by gRPC, quick reconnects, no keepalive)."""

from dataclasses import dataclass

import grpc
import grpc.aio

from services.common.limits import ID_BYTES

__all__ = ["CHANNEL_OPTIONS", "CallMetadata", "open_aio_channel", "open_channel"]

MESSAGE_BYTES = 4 * 1024 * 1024
RECONNECT_BACKOFF_MIN_MS = 50
RECONNECT_BACKOFF_MAX_MS = 100
# gRPC takes its minimal backoff for the time that a connection attempt may take: with 50 ms, a
# handshake on a loaded machine fails.
CONNECT_MS = 1_000

CHANNEL_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", RECONNECT_BACKOFF_MIN_MS),
    ("grpc.min_reconnect_backoff_ms", CONNECT_MS),
    ("grpc.max_reconnect_backoff_ms", RECONNECT_BACKOFF_MAX_MS),
    # Its own subchannels: a fresh channel must mean a fresh connection.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    ("grpc.enable_http_proxy", 0),
)


def open_channel(address: str) -> grpc.Channel:
    """A fresh insecure channel to `name:port`; the caller closes it."""
    return grpc.insecure_channel(address, options=CHANNEL_OPTIONS)


def open_aio_channel(address: str) -> grpc.aio.Channel:
    """A fresh insecure asyncio channel to `name:port`; the caller closes it."""
    return grpc.aio.insecure_channel(address, options=CHANNEL_OPTIONS)


@dataclass(frozen=True, slots=True)
class CallMetadata:
    """What a caller tells the interposer with a call (common.proto); None leaves a key out.

    Attributes:
        run: run id of the campaign.
        workflow: workflow id.
        operation: operation id.
        attempt: attempt, 0 before a grant.
        incarnation: incarnation id of the agent host.
        token: tells sources apart in the process runtime.
        target: service wanted, on the control port only.
    """

    run: str | None = None
    workflow: str | None = None
    operation: str | None = None
    attempt: int | None = None
    incarnation: str | None = None
    token: str | None = None
    target: str | None = None

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The metadata pairs of a call.

        Raises:
            ValueError: a value is not printable ASCII or longer than 128 bytes, which gRPC metadata
                cannot carry unchanged.
        """
        values = (
            ("memqual-run", self.run),
            ("memqual-workflow", self.workflow),
            ("memqual-operation", self.operation),
            ("memqual-attempt", None if self.attempt is None else str(self.attempt)),
            ("memqual-incarnation", self.incarnation),
            ("memqual-token", self.token),
            ("memqual-target", self.target),
        )
        present = tuple((key, value) for key, value in values if value)
        for key, value in present:
            if not (value.isascii() and value.isprintable() and len(value) <= ID_BYTES):
                raise ValueError(f"{key} is not printable ASCII of at most {ID_BYTES} bytes")
        return present
