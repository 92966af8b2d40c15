"""Every request that the docker runtime makes of the container engine, as typed calls (DESIGN §3).

The Docker SDK is used here and nowhere else in the runtime. Whatever the engine says no to becomes
one of memqual's errors, with what a person can do about it; see `docker_errors`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

import docker
import docker.errors
import requests
from docker.utils import kwargs_from_env

from orchestrator.errors import EngineError
from orchestrator.runtimes.docker_errors import engine_gone, from_engine
from orchestrator.runtimes.docker_types import (
    ContainerOptions,
    ContainerState,
    ImageFacts,
    Labelled,
)

__all__ = ["DockerEngine"]

# Bounds any one request, so that an engine that hangs is noticed.
REQUEST_TIMEOUT_SECONDS = 30
# Requests that run at the same time: a stack's services, and what watches them.
CONNECTIONS = 24
LOG_LINES_LIMIT = 10_000
# How the SDK writes the address of an engine on this machine: a socket, a pipe, or loopback.
_LOCAL_PREFIXES = ("http+docker://", "http://127.0.0.1:", "http://localhost:")
_FRACTION = re.compile(r"\.(\d+)")

P = ParamSpec("P")
R = TypeVar("R")


def _asks(call: Callable[P, R]) -> Callable[P, R]:
    """Turns what the SDK raises into memqual's errors."""

    @functools.wraps(call)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except docker.errors.APIError as error:
            raise from_engine(str(error.explanation or error), error.status_code) from error
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise engine_gone(error) from error

    return wrapped


class DockerEngine:
    """A connection to the container engine, also a context manager; threads may share it."""

    def __init__(self, api: Any, *, version: str, architecture: str, processors: int) -> None:
        self._api = api
        self.version = version
        self.architecture = architecture
        self.processors = processors

    @classmethod
    def connect(cls) -> Self:
        """Connects to the engine that the environment names, else to this machine's own.

        Raises:
            EngineError: none answers, or it is on another machine.
        """
        try:
            settings = kwargs_from_env()
            api = docker.APIClient(
                timeout=REQUEST_TIMEOUT_SECONDS,
                num_pools=CONNECTIONS,
                max_pool_size=CONNECTIONS,
                **settings,
            )
            facts = api.version()
            here = api.base_url.startswith(_LOCAL_PREFIXES)
            processors = int(api.info()["NCPU"]) if here else 0
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise engine_gone(error) from error
        if not here:
            api.close()
            raise EngineError(
                f"The container engine at {settings.get('base_url')} is on another machine.",
                next_step="Unset DOCKER_HOST to use this machine's engine, or use RUNTIME=process.",
            )
        return cls(
            api,
            version=str(facts["Version"]),
            architecture=str(facts["Arch"]),
            processors=processors,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._api.close()

    @_asks
    def image(self, reference: str) -> ImageFacts:
        """Facts of an image that the engine has; ImageError without it."""
        found = self._api.inspect_image(reference)
        return ImageFacts(digest=str(found["Id"]), architecture=str(found["Architecture"]))

    @_asks
    def create_network(
        self, name: str, *, internal: bool, options: Mapping[str, str], labels: Mapping[str, str]
    ) -> str:
        """Makes a bridge network and returns its id."""
        made = self._api.create_network(
            name,
            driver="bridge",
            internal=internal,
            options=dict(options),
            labels=dict(labels),
            check_duplicate=True,
        )
        return str(made["Id"])

    @_asks
    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Makes an empty volume."""
        self._api.create_volume(name, labels=dict(labels))

    @_asks
    def create_container(self, options: ContainerOptions) -> str:
        """Makes a container on its first network and returns its id.

        It may use as many processors as it asks for, or all, where there are fewer.
        """
        api = self._api
        cpus = None if options.cpus is None else min(options.cpus, self.processors)
        host = api.create_host_config(
            network_mode=options.network,
            binds=list(options.binds),
            tmpfs=dict(options.tmpfs),
            port_bindings={port: (ip, None) for port, ip in options.published.items()},
            read_only=options.read_only,
            cap_drop=list(options.cap_drop),
            security_opt=list(options.security_opt),
            dns=list(options.dns),
            dns_opt=list(options.dns_opt),
            pids_limit=options.pids_limit,
            mem_limit=options.mem_limit_bytes,
            memswap_limit=options.memswap_limit_bytes,
            nano_cpus=None if cpus is None else round(cpus * 1e9),
            log_config=_log_config(options),
        )
        networking = None
        if not options.network.startswith("container:"):
            endpoint = api.create_endpoint_config(aliases=list(options.aliases))
            networking = api.create_networking_config({options.network: endpoint})
        made = api.create_container(
            options.image,
            command=list(options.command) if options.command is not None else None,
            entrypoint=list(options.entrypoint) if options.entrypoint is not None else None,
            name=options.name,
            environment=dict(options.environment),
            labels=dict(options.labels),
            ports=list(options.published) or None,
            host_config=host,
            networking_config=networking,
        )
        return str(made["Id"])

    @_asks
    def connect_network(self, container: str, network: str, aliases: Sequence[str]) -> None:
        """Puts a container on a further network."""
        self._api.connect_container_to_network(container, network, aliases=list(aliases))

    @_asks
    def start(self, container: str) -> None:
        """Starts a container that was made or has ended; one that runs stays as it is."""
        self._api.start(container)

    @_asks
    def signal(self, container: str, signal_name: str) -> None:
        """Sends a signal to the container's first process, by way of the engine."""
        self._api.kill(container, signal=signal_name)

    @_asks
    def state(self, container: str) -> ContainerState:
        """Looks at a container."""
        found = self._api.inspect_container(container)
        state, network = found["State"], found["NetworkSettings"]
        published = (network.get("Ports") or {}).items()
        return ContainerState(
            running=bool(state["Running"]),
            pid=int(state["Pid"]),
            exit_code=int(state["ExitCode"]),
            oom_killed=bool(state["OOMKilled"]),
            started_at_ns=_nanoseconds(state["StartedAt"]),
            finished_at_ns=_nanoseconds(state["FinishedAt"]),
            error=str(state.get("Error") or ""),
            image_digest=str(found["Image"]),
            addresses={
                name: str(entry["IPAddress"])
                for name, entry in (network.get("Networks") or {}).items()
                if entry["IPAddress"]
            },
            ports={
                int(port.partition("/")[0]): int(bindings[0]["HostPort"])
                for port, bindings in published
                if bindings
            },
        )

    def wait(self, container: str, timeout_seconds: float) -> bool:
        """Waits until a container has ended; False when it has not within the time."""
        try:
            self._api.wait(container, timeout=timeout_seconds)
        except requests.exceptions.Timeout:
            return False
        except docker.errors.APIError as error:
            raise from_engine(str(error.explanation or error), error.status_code) from error
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            # A read that timed out comes as this kind, too, depending on where it did.
            if "timed out" in str(error).lower():
                return False
            raise engine_gone(error) from error
        return True

    @_asks
    def gateways(self) -> tuple[str, ...]:
        """Addresses of this machine on every bridge of the engine, other stacks' included."""
        found = self._api.networks()
        return tuple(
            str(entry["Gateway"]).partition("/")[0]
            for network in found
            for entry in (network.get("IPAM") or {}).get("Config") or ()
            if entry.get("Gateway")
        )

    @_asks
    def logs(self, container: str, line_count: int) -> str:
        """The last lines that a container wrote."""
        raw = self._api.logs(container, tail=min(line_count, LOG_LINES_LIMIT))
        return bytes(raw).decode("utf-8", errors="replace")

    def archive(self, container: str, path: str) -> Iterator[bytes]:
        """A folder of a container as a tar file, in pieces; also of one that has ended."""
        try:
            pieces, _ = self._api.get_archive(container, path)
            for piece in pieces:
                yield bytes(piece)
        except docker.errors.APIError as error:
            raise from_engine(str(error.explanation or error), error.status_code) from error
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise engine_gone(error) from error

    @_asks
    def labelled(self, *labels: str) -> tuple[Labelled, ...]:
        """Containers, networks, volumes with all of these labels (``key`` or ``key=value``)."""
        filters = {"label": list(labels)}
        containers = self._api.containers(all=True, filters=filters)
        networks = self._api.networks(filters=filters)
        volumes = self._api.volumes(filters=filters)["Volumes"] or ()
        return (
            *(
                Labelled("container", c["Id"], c["Names"][0].lstrip("/"), c["Labels"] or {})
                for c in containers
                if c.get("Names")
            ),
            *(Labelled("network", n["Id"], n["Name"], n["Labels"] or {}) for n in networks),
            *(Labelled("volume", v["Name"], v["Name"], v["Labels"] or {}) for v in volumes),
        )

    @_asks
    def remove(self, thing: Labelled) -> None:
        """Removes a container (ending it), network or volume; one that is gone is no error."""
        try:
            if thing.kind == "container":
                self._api.remove_container(thing.identity, force=True, v=True)
            elif thing.kind == "network":
                self._api.remove_network(thing.identity)
            else:
                self._api.remove_volume(thing.identity, force=True)
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            if "is already in progress" not in str(error.explanation):
                raise


def _log_config(options: ContainerOptions) -> Any:
    if options.log_driver is None:
        return None
    return docker.types.LogConfig(type=options.log_driver, config=dict(options.log_options))


def _nanoseconds(text: str) -> int:
    """Nanoseconds since 1970 of the engine's time; 0 for its "never", the year 1."""
    if text.startswith("0001-"):
        return 0
    fraction = _FRACTION.search(text)
    digits = fraction[1] if fraction else ""
    moment = datetime.fromisoformat(_FRACTION.sub("", text).replace("Z", "+00:00"))
    return int(moment.astimezone(UTC).timestamp()) * 10**9 + int(digits.ljust(9, "0")[:9] or 0)
