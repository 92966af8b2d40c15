"""Finds and rewrites the ``name:port`` addresses inside a topology's values.

The process runtime has no names, only 127.0.0.1 with a port for each address; and a vendor's port
takes the place of the reference's. Both are one operation on text: whole addresses of known names,
wherever they stand, also in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orchestrator.runtimes.topology import ServiceSpec, Topology

__all__ = ["Address", "find_addresses", "rewrite_addresses"]


@dataclass(frozen=True, order=True)
class Address:
    """A name of a service and a port on it."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def find_addresses(topology: Topology) -> tuple[Address, ...]:
    """Every address of the topology's own names in an environment or an argument, sorted."""
    pattern = _pattern(_hostnames(topology.services))
    return tuple(
        sorted(
            {
                Address(match["host"], int(match["port"]))
                for service in topology.services
                for text in _texts(service)
                for match in pattern.finditer(text)
            }
        )
    )


def rewrite_addresses(
    text: str, hostnames: Iterable[str], replacement: Callable[[Address], str]
) -> str:
    """Replaces each address of these names in a text."""
    return _pattern(hostnames).sub(
        lambda match: replacement(Address(match["host"], int(match["port"]))), text
    )


def _hostnames(services: Iterable[ServiceSpec]) -> tuple[str, ...]:
    return tuple(name for service in services for name in service.hostnames())


def _texts(service: ServiceSpec) -> tuple[str, ...]:
    arguments = service.process.arguments if service.process else ()
    return (*service.environment.values(), *arguments)


def _pattern(hostnames: Iterable[str]) -> re.Pattern[str]:
    # Longest first: "interposer" must not win over "interposer.agent".
    names = "|".join(re.escape(name) for name in sorted(set(hostnames), key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?P<host>{names}):(?P<port>\d{{1,5}})(?!\d)")
