"""One stack of containers, with networks and volumes of its own (DESIGN §3).

Everything is labelled with run, stack and owner before it does anything, so that whatever is cut
short is found by `close`, or by gc. `close` may come at any moment, from a signal handler too: it
takes no lock that `open` holds and asks the engine over a connection of its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait

import structlog

from orchestrator.errors import EngineError, MemqualError, StackError, VendorConfigError
from orchestrator.runtimes.base import IsolationReport, StackSpec
from orchestrator.runtimes.clock_mounts import FAKETIME_TARGET, is_preloaded, without_preload
from orchestrator.runtimes.crash import CRASH_LOG_LINES
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_isolation import examine_isolation
from orchestrator.runtimes.docker_labels import INSTANCE_LABEL, labels_of_stack
from orchestrator.runtimes.docker_options import container_options
from orchestrator.runtimes.docker_removal import remove_everything
from orchestrator.runtimes.docker_service import DockerService
from orchestrator.runtimes.docker_types import Labelled
from orchestrator.runtimes.docker_volumes import DockerVolumes
from orchestrator.runtimes.health import await_targets, targets_of
from orchestrator.runtimes.plan import MEMORY_SERVICE, StackPlan, memory_service
from orchestrator.runtimes.storage import StorageSlot
from orchestrator.runtimes.topology import Network, ServiceSpec
from orchestrator.vendors import VendorConfig

__all__ = ["DockerStack"]

# Networks and services of a stack that are made at the same time.
WORKERS = 12
SAVED_LOG_LINES = 10_000

_log = structlog.get_logger(__name__)


class DockerStack:
    """See `base.Stack`. `open` starts it; a stack that was not opened has nothing to close."""

    def __init__(self, plan: StackPlan) -> None:
        self._plan = plan
        self._spec = plan.spec
        self._engine = DockerEngine.connect()
        self._labels = labels_of_stack(plan.spec)
        self._prefix = f"memqual-{plan.spec.run_id}-{plan.spec.stack_id}"
        self._specs = {service.name: service for service in plan.topology.services}
        self._services: dict[str, DockerService] = {}
        self._volumes = DockerVolumes(
            self._engine,
            self._labels,
            self._prefix,
            memory=lambda: self._specs[MEMORY_SERVICE],
            generation=lambda: self._generation(MEMORY_SERVICE),
        )
        self._creating = threading.Lock()
        self._memories = 0
        self._control_port = 0
        self._changes = 0
        self._closing = False
        self._closed = False

    @property
    def spec(self) -> StackSpec:
        """What was asked for, with the present memory's vendor."""
        return self._spec

    @property
    def plan(self) -> StackPlan:
        """The topology that it runs."""
        return self._plan

    @property
    def control_address(self) -> str:
        """Where the orchestrator reaches the interposer."""
        return f"127.0.0.1:{self._control_port}"

    @property
    def control_token(self) -> str:
        """What the control port wants."""
        return self._plan.control_token

    @property
    def storage(self) -> StorageSlot:
        """The layer under the memory's volume."""
        return self._volumes.storage

    @property
    def service_names(self) -> tuple[str, ...]:
        """Services in the topology's order."""
        return tuple(self._specs)

    def service(self, name: str) -> DockerService:
        """One service; after `replace_memory` the memory's is another object."""
        if name not in self._services:
            raise StackError(
                f"The stack has no service named {name!r}.",
                next_step=f"Use one of: {', '.join(self._services)}.",
            )
        return self._services[name]

    def open(self) -> None:
        """Starts everything and waits until it is healthy; the caller closes it if this raises."""
        with self._changing():
            self._open()

    def _open(self) -> None:
        for service in self._specs.values():
            self._check_image(service)
        self._volumes.open_layer(self._spec)
        self._volumes.create(self._plan.topology.used_volumes())
        with ThreadPoolExecutor(WORKERS) as pool:
            networks = {
                network.name: pool.submit(self._create_network, network)
                for network in self._plan.topology.networks
            }
            starts = [
                pool.submit(self._start_service, service, networks)
                for service in self._specs.values()
            ]
            _raise_first([*networks.values(), *starts])
        published = self.service(self._plan.control_service).state().ports
        if self._plan.control.port not in published:
            self.service(self._plan.control_service).raise_if_ended()
            raise EngineError(
                "The engine did not publish the interposer's control port.",
                next_step="Check that the engine can publish ports on 127.0.0.1 (docker info).",
            )
        self._control_port = published[self._plan.control.port]
        self._await_healthy_with_or_without_clock(self.service_names)
        self._volumes.look_at_layer()

    def await_healthy(self, names: tuple[str, ...], timeout_seconds: float) -> None:
        """Waits until services are healthy; see `base.Stack.await_healthy`."""
        watched = [self.service(name) for name in names]

        def raise_if_ended() -> None:
            self._raise_if_closing()
            for service in watched:
                service.raise_if_ended()

        asked = (name for name in names if name != self._plan.control_service)
        await_targets(
            self.control_address,
            self.control_token,
            [target for name in asked for target in targets_of(self._specs[name])],
            timeout_seconds=timeout_seconds,
            raise_if_ended=raise_if_ended,
        )

    def replace_memory(self, vendor: VendorConfig | None) -> None:
        """Puts another memory in place; see `base.Stack.replace_memory`."""
        if (
            vendor is not None
            and vendor.image is not None
            and vendor.port != self._plan.memory_port
        ):
            raise StackError(
                f"{vendor.name!r} listens on port {vendor.port}, this stack's memory on "
                f"{self._plan.memory_port}.",
                next_step="Start a stack of its own for it.",
            )
        service = memory_service(self._plan.base_memory, vendor, self._spec, self._plan.memory_port)
        self._check_image(service)
        self._spec = dataclasses.replace(self._spec, vendor=vendor)
        with self._changing():
            self._swap_memory(service)
            self._await_healthy_with_or_without_clock((MEMORY_SERVICE,))

    def reconfigure_memory(self, environment: Mapping[str, str]) -> None:
        """Starts the memory with further variables; see `base.Stack.reconfigure_memory`."""
        present = self._specs[MEMORY_SERVICE]
        with self._changing():
            self._remove_container()
            self._specs[MEMORY_SERVICE] = dataclasses.replace(
                present, environment={**present.environment, **environment}
            )
            self._start_service(self._specs[MEMORY_SERVICE], {})
            self.await_healthy((MEMORY_SERVICE,), self._spec.healthy_within_seconds)

    def volume_bytes(self, name: str) -> Iterator[bytes]:
        """What lies on a service's volumes, as tar files; see `base.Stack.volume_bytes`."""
        yield from self._volumes.content(self._specs[name], self.service(name).container)

    def describe_isolation(self) -> IsolationReport:
        """Looks from inside the memory's network; see `base.Stack.describe_isolation`."""
        return examine_isolation(
            self._engine,
            topology=self._plan.topology,
            containers={name: service.container for name, service in self._services.items()},
            probe_image=self._specs[self._plan.control_service].image,
            name=f"{self._prefix}-probe",
            labels=self._labels,
        )

    def close(self) -> None:
        """Removes everything; see `base.Stack.close`."""
        self._closing = True
        if self._closed:
            return
        self._volumes.storage.let_go()
        # By this object's own mark: another stack may have the same ids, and was there first.
        mark = f"{INSTANCE_LABEL}={self._labels[INSTANCE_LABEL]}"
        # A signal may have cut into a request on the other connection and left it in an odd state.
        with DockerEngine.connect() as engine:
            remove_everything(engine, mark, what=self._prefix, before_container=self._save_log)
        self._volumes.close_layer()
        # What is being made at this moment may come after the last look; who makes it looks again.
        if not self._changes:
            self._closed = True
            self._engine.close()

    def close_after_failure(self) -> None:
        """Closes without hiding the error that led here; what stays is gc's."""
        try:
            self.close()
        except MemqualError as error:
            _log.warning("not_removed", stack=self._prefix, cause=error.diagnosis)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Around everything that makes parts: closes once more if `close` came meanwhile."""
        self._changes += 1
        try:
            yield
        finally:
            self._changes -= 1
            if self._closing:
                self.close_after_failure()

    def _check_image(self, service: ServiceSpec) -> None:
        if not service.image:
            raise VendorConfigError(
                f"{service.name!r} has no image, only a process.",
                next_step="Name an image in the vendor.yaml, or use RUNTIME=process.",
            )
        self._engine.image(service.image)

    def _create_network(self, network: Network) -> None:
        self._raise_if_closing()
        self._engine.create_network(
            self._network_name(network.name),
            internal=network.internal,
            options=network.driver_options,
            labels=self._labels,
        )

    def _start_service(self, spec: ServiceSpec, networks: Mapping[str, Future[None]]) -> None:
        _, *further = spec.networks
        for attachment in spec.networks:
            if attachment.network in networks:
                networks[attachment.network].result()
        clock_folder = self._plan.clock_folders.get(spec.name) if is_preloaded(spec) else None
        # The first container of a volume fills it with what its image has there: one at a time.
        with self._creating:
            self._raise_if_closing()
            container = self._engine.create_container(
                container_options(
                    spec,
                    name=self._container_name(spec.name),
                    labels=self._labels,
                    network_name=self._network_name,
                    volume_name=self._volumes.name,
                    clock_folder=clock_folder,
                )
            )
        for attachment in further:
            self._engine.connect_network(
                container, self._network_name(attachment.network), (spec.name, *attachment.aliases)
            )
        service = DockerService(
            self._engine,
            name=spec.name,
            container=container,
            image=spec.image,
            clock_folder=clock_folder,
        )
        self._raise_if_closing()
        service.start()
        self._services[spec.name] = service

    def _await_healthy_with_or_without_clock(self, names: tuple[str, ...]) -> None:
        """Waits for health; a memory that dies of its clock's library starts again without."""
        try:
            self.await_healthy(names, self._spec.healthy_within_seconds)
        except StackError as error:
            if not self._died_of_preload():
                raise
            _log.warning("clock_cannot_be_set", service=MEMORY_SERVICE, cause=error.diagnosis)
            self._swap_memory(without_preload(self._specs[MEMORY_SERVICE]))
            self.await_healthy(names, self._spec.healthy_within_seconds)

    def _died_of_preload(self) -> bool:
        """Whether the memory ended and its last lines name the library: musl cannot load it."""
        memory = self._services.get(MEMORY_SERVICE)
        if memory is None or not is_preloaded(self._specs[MEMORY_SERVICE]) or memory.running():
            return False
        return FAKETIME_TARGET in memory.logs_tail(CRASH_LOG_LINES)

    def _swap_memory(self, service: ServiceSpec) -> None:
        self._remove_memory()
        self._memories += 1
        self._specs[MEMORY_SERVICE] = service
        self._volumes.create_memorys()
        self._start_service(service, {})

    def _remove_memory(self) -> None:
        if self._remove_container():
            self._volumes.remove_memorys()

    def _remove_container(self) -> bool:
        """Removes the memory's container, and not its volume; whether there was one."""
        memory = self._services.get(MEMORY_SERVICE)
        if memory is None:
            return False
        name = self._container_name(MEMORY_SERVICE)
        self._save_log(self._engine, memory.container, name)
        del self._services[MEMORY_SERVICE]
        self._engine.remove(Labelled("container", memory.container, name, {}))
        return True

    def _container_name(self, service: str) -> str:
        return f"{self._prefix}-{service}{self._generation(service)}"

    def _generation(self, service: str) -> str:
        return f"-{self._memories}" if service == MEMORY_SERVICE and self._memories else ""

    def _network_name(self, name: str) -> str:
        return f"{self._prefix}-{name}"

    def _save_log(self, engine: DockerEngine, container: str, name: str) -> None:
        """Keeps what a container wrote for the run; best effort, as the container goes anyway."""
        folder = self._spec.stack_folder
        with contextlib.suppress(MemqualError, OSError):
            file = folder / f"{name.removeprefix(f'{self._prefix}-')}.log"
            file.write_text(engine.logs(container, SAVED_LOG_LINES), encoding="utf-8")

    def _raise_if_closing(self) -> None:
        if self._closing:
            raise StackError(
                f"The stack {self._prefix} is being closed.", next_step="Start another one."
            )


def _raise_first(futures: list[Future[None]]) -> None:
    """Raises the first error that is not a consequence of another one."""
    wait(futures)
    errors = [error for future in futures if (error := future.exception()) is not None]
    for error in errors:
        raise error
