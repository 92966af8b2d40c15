"""Proves from inside the memory's network namespace what it can and cannot reach (DESIGN §3).

A helper container of one of memqual's own images joins the memory's namespace, so that this works
for an image without a shell or Python, and what is seen is exactly what the memory could see. It
tries the one listener that is there for the memory, and everything that is not: the other services
and their audit ports by address and by name, the interposer's other listeners and its control port,
this machine on every bridge and address that it has, a name and a neighbour outside, and IPv6.
"""

from __future__ import annotations

import contextlib
import json
import platform
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from orchestrator.errors import PreflightError
from orchestrator.runtimes import isolation_probe
from orchestrator.runtimes.addresses import find_addresses
from orchestrator.runtimes.base import IsolationCheck, IsolationReport
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_types import ContainerOptions, Labelled
from orchestrator.runtimes.plan import MEMORY_SERVICE, SUT_NETWORK
from orchestrator.runtimes.topology import Topology

__all__ = ["examine_isolation"]

PROBE_TIMEOUT_SECONDS = 30.0
HOST_ADDRESS_LIMIT = 64
# A documentation address (RFC 5737): no machine has it, so an attempt shows a way out without
# reaching anyone.
OUTSIDE_ADDRESS = "203.0.113.1"
# Never a name (RFC 2606): whoever denies it knows names of the outside world.
OUTSIDE_NAME = "memqual-isolation.invalid"
# Tried where no listener of ours can stand; a refusal shows as well as a connection that the
# machine is in reach.
HOST_PORT = 22

# Names of the engine's bridges on a Linux machine.
_BRIDGE_PREFIXES = ("docker", "br-")

_REACHABLE = "reachable"
_UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class _Attempt:
    """One attempt, and which of its results count as reached.

    Attributes:
        name: What it shows, for people.
        kind: tcp | name | ipv6, as the probe knows it.
        host: Address or name.
        port: Port for tcp, else 0.
        reached: Results of the probe that mean that it was reached.
        expected: ``reachable`` or ``unreachable``.
    """

    name: str
    kind: str
    host: str
    port: int
    reached: frozenset[str]
    expected: str = _UNREACHABLE


# A refusal comes from a machine that the packet reached.
_MACHINE = frozenset({"connected", "refused"})
_PORT = frozenset({"connected"})
# Silence shows that there is a route to somewhere: a closed network has none.
_ROUTE = frozenset({"connected", "refused", "silent"})


def examine_isolation(
    engine: DockerEngine,
    *,
    topology: Topology,
    containers: Mapping[str, str],
    probe_image: str,
    name: str,
    labels: Mapping[str, str],
) -> IsolationReport:
    """Runs the probe beside a stack's memory.

    Args:
        engine: Where the stack runs.
        topology: What runs.
        containers: Container by service.
        probe_image: An image with python3.
        name: Name for the helper container.
        labels: Labels of the stack.

    Raises:
        PreflightError: the probe did not run or its answer cannot be read.
        EngineError: the engine does not answer.
    """
    with _canaries(engine.gateways()) as host_ports:
        attempts = [
            *_own_listener(topology),
            *_other_services(engine, topology, containers),
            *_this_machine(host_ports),
            _Attempt("a way out of this machine", "tcp", OUTSIDE_ADDRESS, 443, _ROUTE),
            _Attempt(
                "names of the outside", "name", OUTSIDE_NAME, 0, frozenset({"resolved", "denied"})
            ),
            _Attempt("IPv6", "ipv6", "", 0, frozenset({"present"})),
        ]
        options = ContainerOptions(
            name=name,
            image=probe_image,
            labels=labels,
            network=f"container:{containers[MEMORY_SERVICE]}",
            entrypoint=("python3",),
            command=("-c", _probe_text(), json.dumps([_entry(item) for item in attempts])),
            cap_drop=("ALL",),
            security_opt=("no-new-privileges:true",),
            pids_limit=128,
        )
        results = _run_probe(engine, options)
    if len(results) != len(attempts):
        raise _failed(f"it made {len(results)} of {len(attempts)} attempts")
    return IsolationReport(
        supported=True,
        checks=tuple(
            IsolationCheck(
                name=item.name,
                expected=item.expected,
                observed=_REACHABLE if outcome in item.reached else _UNREACHABLE,
                detail=f"{outcome}: {detail}",
            )
            for item, (outcome, detail) in zip(attempts, results, strict=True)
        ),
    )


def _own_listener(topology: Topology) -> Iterator[_Attempt]:
    aliases = {
        alias
        for service in topology.services
        for attachment in service.networks
        if attachment.network == SUT_NETWORK
        for alias in attachment.aliases
    }
    for address in find_addresses(topology):
        if address.host in aliases:
            yield _Attempt(f"{address}", "tcp", address.host, address.port, _PORT, _REACHABLE)


def _other_services(
    engine: DockerEngine, topology: Topology, containers: Mapping[str, str]
) -> Iterator[_Attempt]:
    addresses = [a for a in find_addresses(topology) if a.host != MEMORY_SERVICE]
    for service in topology.services:
        if service.name == MEMORY_SERVICE:
            continue
        networks = {attachment.network for attachment in service.networks}
        ports = sorted({a.port for a in addresses if a.host in service.hostnames()})
        found = engine.state(containers[service.name]).addresses
        for network, address in sorted(found.items()):
            shared = network.endswith(f"-{SUT_NETWORK}")
            allowed = {
                a.port for a in addresses if shared and a.host == f"{service.name}.{SUT_NETWORK}"
            }
            for port in ports:
                if port not in allowed:
                    yield _Attempt(
                        f"{service.name} at {address}:{port}",
                        *("tcp", address, port),
                        # On the shared network its machine may refuse; elsewhere nothing may answer
                        # at all.
                        _PORT if shared else _MACHINE,
                    )
        if SUT_NETWORK not in networks:
            yield _Attempt(
                f"the name {service.name}", "name", service.name, 0, frozenset({"resolved"})
            )


def _this_machine(host_ports: Mapping[str, int]) -> Iterator[_Attempt]:
    for address, port in sorted(host_ports.items()):
        yield _Attempt(f"this machine at {address}:{port}", "tcp", address, port, _MACHINE)


@contextlib.contextmanager
def _canaries(gateways: Sequence[str]) -> Iterator[dict[str, int]]:
    """This machine's addresses, each with a port to try; on bridges a listener of ours is there.

    Only on bridges of the engine, where nobody but containers can see it, and only while the probe
    runs.
    """
    bridges, others = _host_addresses()
    with contextlib.ExitStack() as stack:
        ports = {}
        for address in list(dict.fromkeys([*gateways, *bridges]))[:HOST_ADDRESS_LIMIT]:
            ports[address] = HOST_PORT
            # An address that this machine does not have cannot be bound: a closed bridge, or one
            # inside the virtual machine of Docker Desktop.
            with contextlib.suppress(OSError):
                listener = stack.enter_context(socket.create_server((address, 0)))
                ports[address] = listener.getsockname()[1]
        for address in others[:HOST_ADDRESS_LIMIT]:
            ports.setdefault(address, HOST_PORT)
        yield ports


def _host_addresses() -> tuple[list[str], list[str]]:
    """This machine's IPv4 addresses: on the engine's bridges, and the rest without loopback."""
    bridges: list[str] = []
    others: list[str] = []
    if platform.system() != "Linux":
        return (
            bridges,
            others,
        )  # The engine is in a virtual machine; its addresses are its gateways.
    for interface, entries in psutil.net_if_addrs().items():
        into = bridges if interface.startswith(_BRIDGE_PREFIXES) else others
        into += [
            entry.address
            for entry in entries
            if entry.family == socket.AF_INET and not entry.address.startswith("127.")
        ]
    return bridges, others


def _probe_text() -> str:
    return Path(isolation_probe.__file__).read_text(encoding="utf-8")


def _entry(item: _Attempt) -> tuple[str, str, int]:
    return (item.kind, item.host, item.port)


def _run_probe(engine: DockerEngine, options: ContainerOptions) -> list[tuple[str, str]]:
    container = engine.create_container(options)
    try:
        engine.start(container)
        ended = engine.wait(container, PROBE_TIMEOUT_SECONDS)
        output = engine.logs(container, 100)
        if not ended or engine.state(container).exit_code != 0:
            raise _failed(output.strip()[-2000:] or "no output")
        return [(str(outcome), str(detail)) for outcome, detail in json.loads(output)]
    except (ValueError, TypeError) as error:
        raise _failed(f"its answer cannot be read: {output.strip()[-500:]}") from error
    finally:
        engine.remove(Labelled("container", container, options.name, {}))


def _failed(why: str) -> PreflightError:
    return PreflightError(
        f"The isolation probe did not run to its end: {why}",
        next_step="Run `memqual doctor`, and look at the engine's log.",
    )
