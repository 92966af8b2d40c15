"""One stack's own copy of the topology: tokens, images, clocks and the memory under test filled in.

Both runtimes start from a StackPlan and differ only in how they make a ServiceSpec live.
"""

from __future__ import annotations

import dataclasses
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ImageError, StackError, UsageError
from orchestrator.images import ImageRef
from orchestrator.runtimes.addresses import Address, find_addresses, rewrite_addresses
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.clock_mounts import CLOCK_TARGET, make_clock_mounts, readable_folder
from orchestrator.runtimes.product import with_product
from orchestrator.runtimes.topology import (
    ProcessSpec,
    ServiceSpec,
    Topology,
    parse_topology,
)
from orchestrator.vendors import VendorConfig

__all__ = [
    "COMPOSE_FILE",
    "MEMORY_SERVICE",
    "SUT_NETWORK",
    "StackPlan",
    "make_plan",
    "memory_service",
    "required_recipes",
]

COMPOSE_FILE = Path(__file__).resolve().parents[2] / "compose" / "compose.yaml"
MEMORY_SERVICE = "memory"
SUT_NETWORK = "sut"

# Where compose.yaml mounts the memory's volume, and the retail tools' store.
_DATA_TARGET = "/data"
_RETAIL_TARGET = "/run/memqual/retail"

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_STACK_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,15}")
_RECIPE_IMAGE = re.compile(r"memqual/(?P<recipe>[a-z0-9-]+):latest")


@dataclass(frozen=True)
class StackPlan:
    """What a runtime starts.

    Attributes:
        spec: What was asked for.
        topology: Every service as it shall run, the memory under test among them.
        base_memory: The memory of compose.yaml, before a vendor was put in its place.
        memory_port: Port on which the interposer looks for the memory.
        control: Address of the interposer's control port within the topology.
        control_service: Service that publishes it.
        control_token: Token that it wants.
        clock_folders: Folder of this machine that sets a service's clock, by service; empty without
            skew.
    """

    spec: StackSpec
    topology: Topology
    base_memory: ServiceSpec
    memory_port: int
    control: Address
    control_service: str
    control_token: str
    clock_folders: Mapping[str, Path]


def required_recipes(compose_file: Path = COMPOSE_FILE) -> tuple[str, ...]:
    """Images of the topology that memqual builds itself; a vendor's recipe comes on top."""
    topology = parse_topology(compose_file, {})
    matches = (_RECIPE_IMAGE.fullmatch(service.image) for service in topology.services)
    return tuple(sorted({match["recipe"] for match in matches if match}))


def make_plan(spec: StackSpec, *, compose_file: Path = COMPOSE_FILE) -> StackPlan:
    """Fills in one stack, and makes the folders of this machine that its services mount.

    Raises:
        StackError: compose.yaml is not usable, or an id is malformed.
        ImageError: the vendor's recipe is not among the images.
        UsageError: the reviewers' keys cannot be read.
    """
    _check_ids(spec)
    folder = spec.stack_folder
    control_token, *edge_tokens = (secrets.token_hex(16) for _ in range(4))
    clocks = make_clock_mounts(
        _services_with_clock(compose_file), folder / "clocks", skew=spec.clock_skew
    )
    variables = {
        "MEMQUAL_RUN": spec.run_id,
        "MEMQUAL_LEASE_SECONDS": str(spec.lease_seconds),
        "MEMQUAL_CONTROL_TOKEN": control_token,
        **_named(
            "MEMQUAL_TOKEN", dict(zip(("agent", "standby", "memory"), edge_tokens, strict=True))
        ),
        **_named("MEMQUAL_IMAGE", {name: image.tag for name, image in spec.images.items()}),
        "MEMQUAL_REVIEWERS": str(_reviewers_folder(spec, folder)),
        **_retail_variables(spec, folder),
        **clocks.variables,
    }
    topology = _with_environment(parse_topology(compose_file, variables), spec.environment)
    base = topology.service(MEMORY_SERVICE)
    base_port = _listen_port(base)
    port = spec.vendor.port if spec.vendor else base_port
    if port != base_port:
        topology = _with_memory_port(topology, base_port, port)
        base = topology.service(MEMORY_SERVICE)
    memory = memory_service(base, spec.vendor, spec, port)
    topology = _with_service(topology, memory)
    for service in topology.services:
        # The memory has it already: every memory that is put in its place gets it there, too.
        if service.name != MEMORY_SERVICE:
            topology = _with_service(topology, with_product(service, spec.product))
    control_service, control = _control_port(topology)
    return StackPlan(
        spec=spec,
        topology=topology,
        base_memory=base,
        memory_port=port,
        control=control,
        control_service=control_service,
        control_token=control_token,
        clock_folders=clocks.folders,
    )


def memory_service(
    base: ServiceSpec, vendor: VendorConfig | None, spec: StackSpec, port: int
) -> ServiceSpec:
    """The memory of compose.yaml with a vendor's image, command, environment, volume, limits.

    Raises:
        ImageError: the vendor's recipe is not among the stack's images.
    """
    if vendor is None:
        return with_product(base, spec.product)
    resources = vendor.resources
    memory_bytes = resources.memory or base.mem_limit_bytes
    service = dataclasses.replace(
        base,
        image=_vendor_image(vendor, spec.images),
        command=vendor.command,
        process=_vendor_process(vendor),
        environment={
            **base.environment,
            "MEMQUAL_LISTEN": f"{MEMORY_SERVICE}:{port}",
            "MEMQUAL_DATA_DIR": vendor.volume,
            **vendor.environment_for(run_id=spec.run_id, lease_seconds=spec.lease_seconds),
        },
        mounts=tuple(
            dataclasses.replace(mount, target=vendor.volume)
            if mount.target == _DATA_TARGET
            else mount
            for mount in base.mounts
        ),
        mem_limit_bytes=memory_bytes,
        memswap_limit_bytes=memory_bytes,
        cpus=resources.cpus or base.cpus,
        pids_limit=resources.pids or base.pids_limit,
    )
    return with_product(service, spec.product)


def _vendor_image(vendor: VendorConfig, images: Mapping[str, ImageRef]) -> str:
    """Reference of the vendor's image; empty for one that has a process only."""
    if vendor.recipe is None:
        return vendor.image or ""
    if not images:
        return f"memqual/{vendor.recipe}:latest"
    if vendor.recipe not in images:
        raise ImageError(
            f"The image {vendor.recipe!r} of {vendor.name!r} was not built for this stack.",
            next_step="Build it with `make images`; a run does so by itself.",
        )
    return images[vendor.recipe].tag


def _vendor_process(vendor: VendorConfig) -> ProcessSpec | None:
    process = vendor.process
    if process is None:
        return None
    return ProcessSpec(
        module=process.module,
        command=process.command,
        arguments=process.args,
        folder=vendor.folder,
    )


def _check_ids(spec: StackSpec) -> None:
    for what, value, pattern in (
        ("run id", spec.run_id, _RUN_ID),
        ("stack id", spec.stack_id, _STACK_ID),
    ):
        if not pattern.fullmatch(value):
            raise StackError(
                f"{value!r} is no {what}.",
                next_step="Use lower-case letters, digits and . _ - (a letter or digit first).",
            )


def _named(prefix: str, values: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}_{name.upper().replace('-', '_')}": value for name, value in values.items()}


def _reviewers_folder(spec: StackSpec, folder: Path) -> Path:
    target = readable_folder(folder / "reviewers")
    if spec.reviewer_keys is not None:
        try:
            shutil.copyfile(spec.reviewer_keys, target / "keys.json")
        except OSError as error:
            raise UsageError(
                f"The reviewers' keys {spec.reviewer_keys} cannot be read: {error.strerror}.",
                next_step="Give a readable JSON file with the public keys.",
            ) from error
        (target / "keys.json").chmod(0o644)
    return target


def _retail_variables(spec: StackSpec, folder: Path) -> dict[str, str]:
    """Where the destination finds the store of its retail tools; nowhere without one."""
    if spec.retail_store is None:
        return {"MEMQUAL_RETAIL_FOLDER": str(readable_folder(folder / "retail"))}
    store = spec.retail_store.resolve()
    return {
        # Mounted where it lies: a copy would become a part of the bundle.
        "MEMQUAL_RETAIL_FOLDER": str(store.parent),
        "MEMQUAL_RETAIL_STORE": f"{_RETAIL_TARGET}/{store.name}",
    }


def _services_with_clock(compose_file: Path) -> tuple[str, ...]:
    services = parse_topology(compose_file, {}).services
    return tuple(each.name for each in services if each.mount_at(CLOCK_TARGET) is not None)


def _with_environment(topology: Topology, overrides: Mapping[str, Mapping[str, str]]) -> Topology:
    for name, values in overrides.items():
        service = topology.service(name)
        environment = {**service.environment, **values}
        topology = _with_service(topology, dataclasses.replace(service, environment=environment))
    return topology


def _with_service(topology: Topology, changed: ServiceSpec) -> Topology:
    return dataclasses.replace(
        topology,
        services=tuple(
            changed if service.name == changed.name else service for service in topology.services
        ),
    )


def _with_memory_port(topology: Topology, old: int, new: int) -> Topology:
    def moved(address: Address) -> str:
        return f"{MEMORY_SERVICE}:{new if address.port == old else address.port}"

    for service in topology.services:
        environment = {
            name: rewrite_addresses(text, (MEMORY_SERVICE,), moved)
            for name, text in service.environment.items()
        }
        topology = _with_service(topology, dataclasses.replace(service, environment=environment))
    return topology


def _listen_port(memory: ServiceSpec) -> int:
    port = memory.environment.get("MEMQUAL_LISTEN", "").rpartition(":")[2]
    if not port.isdecimal():
        raise StackError(
            "compose.yaml: the memory's MEMQUAL_LISTEN is no address.",
            next_step="Write MEMQUAL_LISTEN: memory:<port>.",
        )
    return int(port)


def _control_port(topology: Topology) -> tuple[str, Address]:
    for service in topology.services:
        for port in service.ports:
            for address in find_addresses(topology):
                if address.host in service.hostnames() and address.port == port.container_port:
                    return service.name, address
    raise StackError(
        "compose.yaml publishes no port that a service listens on.",
        next_step="Publish the interposer's control port: ports: ['127.0.0.1::7100'].",
    )
