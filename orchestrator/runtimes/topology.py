"""The topology as frozen data, read from compose/compose.yaml (DESIGN §3).

Both runtimes read nothing else. The supported subset of compose is `SUPPORTED_KEYS`; a key outside
it, a reference to what is not declared, or a form that only some versions of compose understand is
a StackError that names the key and the line. Top-level ``x-…`` keys hold anchors and are otherwise
ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from orchestrator.errors import StackError
from orchestrator.runtimes.compose_schema import (
    ComposeFile,
    ComposeService,
    parse_mount,
    parse_port,
    parse_tmpfs,
    supported_keys,
)
from orchestrator.runtimes.interpolation import InterpolationError, interpolate
from orchestrator.runtimes.yamlmodel import validate
from orchestrator.runtimes.yamltext import (
    JsonData,
    YamlDocument,
    YamlPath,
    YamlProblem,
    load_yaml,
)

__all__ = [
    "SUPPORTED_KEYS",
    "Attachment",
    "Mount",
    "Network",
    "ProcessSpec",
    "PublishedPort",
    "ServiceSpec",
    "Tmpfs",
    "Topology",
    "parse_topology",
]

# What each level of the file may hold, by a path in which * stands for a name. ARCHITECTURE.md
# quotes it.
SUPPORTED_KEYS: Mapping[str, tuple[str, ...]] = supported_keys()


@dataclass(frozen=True)
class Attachment:
    """One service on one network.

    Attributes:
        network: Name of the network.
        aliases: Names by which the others on it find the service, beside the service's own name.
    """

    network: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedPort:
    """A port of a service that this machine can reach at a number that the engine chooses.

    Attributes:
        host_ip: Address of this machine at which it is published.
        container_port: Port in the service.
    """

    host_ip: str
    container_port: int


@dataclass(frozen=True)
class Mount:
    """A volume, or a folder of this machine, in a service.

    Attributes:
        source: Name of a declared volume, or an absolute path of this machine.
        target: Path in the service.
        read_only: The service cannot write there.
    """

    source: str
    target: str
    read_only: bool

    @property
    def is_folder(self) -> bool:
        """The source is a folder of this machine and no volume."""
        return (
            PurePosixPath(self.source).is_absolute() or PureWindowsPath(self.source).is_absolute()
        )


@dataclass(frozen=True)
class Tmpfs:
    """A file system in RAM; options as mount(8) takes them."""

    target: str
    options: str


@dataclass(frozen=True)
class ProcessSpec:
    """How a service is started without a container.

    Attributes:
        module: Python module to run, or None when `command` names a program.
        command: Program and its first arguments; empty with a module.
        arguments: What follows the module or the command.
        folder: Folder in which it runs, or None for one of the stack's own.
    """

    module: str | None
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True)
class ServiceSpec:
    """One service of the topology; sizes in bytes, cpus in whole processors."""

    name: str
    image: str
    process: ProcessSpec | None
    networks: tuple[Attachment, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] | None = None
    mounts: tuple[Mount, ...] = ()
    ports: tuple[PublishedPort, ...] = ()
    tmpfs: tuple[Tmpfs, ...] = ()
    read_only: bool = False
    cap_drop: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()
    dns: tuple[str, ...] = ()
    dns_opt: tuple[str, ...] = ()
    pids_limit: int | None = None
    mem_limit_bytes: int | None = None
    memswap_limit_bytes: int | None = None
    cpus: float | None = None
    log_driver: str | None = None
    log_options: Mapping[str, str] = field(default_factory=dict)

    def hostnames(self) -> tuple[str, ...]:
        """Every name by which another service may call this one."""
        return (self.name, *(alias for network in self.networks for alias in network.aliases))

    def mount_at(self, target: str) -> Mount | None:
        """What is mounted at a path of the service."""
        return next((mount for mount in self.mounts if mount.target == target), None)


@dataclass(frozen=True)
class Network:
    """A network; an internal one has no way out."""

    name: str
    internal: bool
    driver_options: Mapping[str, str]


@dataclass(frozen=True)
class Topology:
    """Everything that compose.yaml says, with its variables filled in; in the order of the file."""

    services: tuple[ServiceSpec, ...]
    networks: tuple[Network, ...]
    volumes: tuple[str, ...]

    def service(self, name: str) -> ServiceSpec:
        """The service of that name.

        Raises:
            StackError: there is none.
        """
        for service in self.services:
            if service.name == name:
                return service
        raise StackError(
            f"The topology has no service named {name!r}.",
            next_step=f"Use one of: {', '.join(service.name for service in self.services)}.",
        )

    def used_volumes(self) -> tuple[str, ...]:
        """Declared volumes that a service mounts; the rest stand in for folders of this machine."""
        sources = {mount.source for service in self.services for mount in service.mounts}
        return tuple(name for name in self.volumes if name in sources)


def parse_topology(path: Path, variables: Mapping[str, str]) -> Topology:
    """Reads a compose file.

    Args:
        path: The file.
        variables: What its ``${VAR}`` stand for; the environment of this process plays no part.

    Raises:
        StackError: the file cannot be read, or says something that is not supported.
    """
    try:
        document = load_yaml(path)
        document = YamlDocument(
            data=_interpolated_mapping(document, document.data, (), variables),
            lines=document.lines,
        )
    except OSError as error:
        raise StackError(
            f"The topology {path} cannot be read: {error.strerror or error}.",
            next_step="Restore it with git: git checkout compose/compose.yaml.",
        ) from error
    except YamlProblem as error:
        raise _problem(path, error.line, error.message) from error
    plain = {key: value for key, value in document.data.items() if not key.startswith("x-")}
    document = YamlDocument(data=plain, lines=document.lines)
    compose = validate(ComposeFile, document, lambda line, text: _problem(path, line, text))
    topology = Topology(
        services=tuple(_service(name, raw) for name, raw in compose.services.items()),
        networks=tuple(
            Network(name, raw.internal, raw.driver_opts) if raw else Network(name, False, {})
            for name, raw in compose.networks.items()
        ),
        volumes=tuple(compose.volumes),
    )
    _check_references(path, document, topology)
    return topology


def _problem(path: Path, line: int, text: str) -> StackError:
    return StackError(
        f"{path.name} line {line}: {text}.",
        next_step="Keep to the keys that ARCHITECTURE.md lists, or extend the runtimes.",
    )


def _interpolated_mapping(
    document: YamlDocument, data: dict[str, JsonData], path: YamlPath, variables: Mapping[str, str]
) -> dict[str, JsonData]:
    return {
        key: _interpolated(document, value, (*path, key), variables) for key, value in data.items()
    }


def _interpolated(
    document: YamlDocument, value: JsonData, path: YamlPath, variables: Mapping[str, str]
) -> JsonData:
    if isinstance(value, dict):
        return _interpolated_mapping(document, value, path, variables)
    if isinstance(value, list):
        return [
            _interpolated(document, item, (*path, index), variables)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, str):
        return value
    try:
        return interpolate(value, variables)
    except InterpolationError as error:
        raise YamlProblem(document.line_of(path), f"{path[-1]!r}: {error}") from error


def _service(name: str, raw: ComposeService) -> ServiceSpec:
    process = raw.process
    logging = raw.logging
    return ServiceSpec(
        name=name,
        image=raw.image,
        process=ProcessSpec(module=process.module, arguments=tuple(process.args))
        if process
        else None,
        networks=tuple(
            Attachment(network, tuple(attachment.aliases) if attachment else ())
            for network, attachment in raw.networks.items()
        ),
        environment=raw.environment,
        command=tuple(raw.command) if raw.command is not None else None,
        mounts=tuple(Mount(*parse_mount(text)) for text in raw.volumes),
        ports=tuple(PublishedPort(*parse_port(text)) for text in raw.ports),
        tmpfs=tuple(Tmpfs(*parse_tmpfs(text)) for text in raw.tmpfs),
        read_only=raw.read_only,
        cap_drop=tuple(raw.cap_drop),
        security_opt=tuple(raw.security_opt),
        dns=tuple(raw.dns),
        dns_opt=tuple(raw.dns_opt),
        pids_limit=raw.pids_limit,
        mem_limit_bytes=raw.mem_limit,
        memswap_limit_bytes=raw.memswap_limit,
        cpus=raw.cpus,
        log_driver=logging.driver if logging else None,
        log_options=logging.options if logging else {},
    )


def _check_references(path: Path, document: YamlDocument, topology: Topology) -> None:
    networks = {network.name: network for network in topology.networks}
    owner_of_name: dict[str, str] = {}
    for service in topology.services:
        at: YamlPath = ("services", service.name)
        for attachment in service.networks:
            if attachment.network not in networks:
                line = document.line_of((*at, "networks"))
                raise _problem(path, line, f"the network {attachment.network!r} is not declared")
        for index, mount in enumerate(service.mounts):
            if not mount.is_folder and mount.source not in topology.volumes:
                line = document.line_of((*at, "volumes", index))
                raise _problem(path, line, f"the volume {mount.source!r} is not declared")
        if service.ports and all(networks[used.network].internal for used in service.networks):
            line = document.line_of((*at, "ports"))
            raise _problem(
                path, line, f"{service.name!r} is on internal networks only: 'ports' cannot work"
            )
        for name in service.hostnames():
            if owner_of_name.setdefault(name, service.name) != service.name:
                line = document.line_of((*at, "networks"))
                raise _problem(
                    path, line, f"the name {name!r} belongs to {owner_of_name[name]!r} already"
                )
