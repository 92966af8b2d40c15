"""Free ports of 127.0.0.1 for services that run as processes.

Two things could take a port between its choice and its use. Outgoing connections take theirs from
the ephemeral range of the system, so ours come from below it; that also keeps a killed service's
port free until it starts again. Other listeners, such as another run, are kept off by holding each
port bound until just before its service starts; what slips through all the same shows as a service
that cannot listen, and the stack is started again elsewhere.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from orchestrator.errors import StackError
from orchestrator.runtimes.addresses import Address

__all__ = ["LOOPBACK", "HeldPorts", "port_is_free"]

LOOPBACK = "127.0.0.1"
# Below every ephemeral range in use: Linux begins at 32768, macOS and Windows at 49152.
FIRST_PORT = 20_000
LAST_PORT = 32_000
TRIES_PER_PORT = 200


class HeldPorts:
    """A bound port for each address, held until it is let go; also a context manager."""

    def __init__(self, addresses: Iterable[Address]) -> None:
        """Raises StackError when no free port is found for an address."""
        self._sockets: dict[Address, socket.socket] = {}
        self.ports: dict[Address, int] = {}
        try:
            for address in addresses:
                held = _bind_free_port()
                self._sockets[address] = held
                self.ports[address] = held.getsockname()[1]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def local(self, address: Address) -> str:
        """``127.0.0.1:port`` of an address; one that is not held stays as it is."""
        return f"{LOOPBACK}:{self.ports[address]}" if address in self.ports else str(address)

    def let_go(self, hosts: Iterable[str]) -> None:
        """Frees the ports of these names, for the service that is about to bind them."""
        names = set(hosts)
        for address in [address for address in self._sockets if address.host in names]:
            self._sockets.pop(address).close()

    def close(self) -> None:
        """Frees what is still held."""
        for held in self._sockets.values():
            held.close()
        self._sockets.clear()


def port_is_free(port: int) -> bool:
    """Whether a service could listen there now."""
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return False
    return True


def _bind_free_port() -> socket.socket:
    for _ in range(TRIES_PER_PORT):
        candidate = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            candidate.bind((LOOPBACK, random.randint(FIRST_PORT, LAST_PORT)))
        except OSError:
            candidate.close()
            continue
        return candidate
    raise StackError(
        f"No free port of {LOOPBACK} was found between {FIRST_PORT} and {LAST_PORT}.",
        next_step="End what holds them (other runs; memqual gc), then run again.",
    )
