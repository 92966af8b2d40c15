"""What a service of the topology is as a container."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from chaos.clock import FALLBACK_FILE, FALLBACK_TARGET
from orchestrator.runtimes.docker_labels import SERVICE_LABEL
from orchestrator.runtimes.docker_types import ContainerOptions
from orchestrator.runtimes.topology import ServiceSpec

__all__ = ["container_options"]


def container_options(
    spec: ServiceSpec,
    *,
    name: str,
    labels: Mapping[str, str],
    network_name: Callable[[str], str],
    volume_name: Callable[[str], str],
    clock_folder: Path | None = None,
) -> ContainerOptions:
    """A service's container on its first network; the engine connects the others afterwards.

    Args:
        spec: The service.
        name: Name of the container.
        labels: Labels of the stack.
        network_name: The engine's name of a network of the topology.
        volume_name: The engine's name of a volume of the topology.
        clock_folder: Folder of this machine that sets its clock, or None.
    """
    first = spec.networks[0]
    clock = [] if clock_folder is None else [f"{clock_folder / FALLBACK_FILE}:{FALLBACK_TARGET}:ro"]
    return ContainerOptions(
        name=name,
        image=spec.image,
        labels={**labels, SERVICE_LABEL: spec.name},
        network=network_name(first.network),
        aliases=(spec.name, *first.aliases),
        command=spec.command,
        environment=spec.environment,
        binds=(
            *(
                f"{mount.source if mount.is_folder else volume_name(mount.source)}"
                f":{mount.target}:{'ro' if mount.read_only else 'rw'}"
                for mount in spec.mounts
            ),
            *clock,
        ),
        tmpfs={entry.target: entry.options for entry in spec.tmpfs},
        published={port.container_port: port.host_ip for port in spec.ports},
        read_only=spec.read_only,
        cap_drop=spec.cap_drop,
        security_opt=spec.security_opt,
        dns=spec.dns,
        dns_opt=spec.dns_opt,
        pids_limit=spec.pids_limit,
        mem_limit_bytes=spec.mem_limit_bytes,
        memswap_limit_bytes=spec.memswap_limit_bytes,
        cpus=spec.cpus,
        log_driver=spec.log_driver,
        log_options=spec.log_options,
    )
