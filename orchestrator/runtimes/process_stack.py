"""One stack of local processes: what docker isolates, this only tells apart by token."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import structlog
import tenacity

from chaos.storage.layer import StorageLayer
from orchestrator.errors import MemqualError, StackError
from orchestrator.runtimes.addresses import find_addresses
from orchestrator.runtimes.base import IsolationReport, StackSpec
from orchestrator.runtimes.folders import files_of
from orchestrator.runtimes.health import await_targets, targets_of
from orchestrator.runtimes.plan import MEMORY_SERVICE, StackPlan, memory_service
from orchestrator.runtimes.ports import HeldPorts, port_is_free
from orchestrator.runtimes.process_launch import make_launch
from orchestrator.runtimes.process_service import ProcessService
from orchestrator.runtimes.process_state import StateFolder, marked_processes, marks_of
from orchestrator.runtimes.storage import StorageSlot
from orchestrator.runtimes.topology import ServiceSpec
from orchestrator.vendors import VendorConfig

__all__ = ["ProcessStack"]

# Starts before it is said that ports cannot be had: others would have to take one each time.
START_TRIES = 3
EXIT_WAIT_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class _PortTaken(StackError):
    """Another program took a port between its choice and its use."""


class ProcessStack:
    """See `base.Stack`. `open` starts it."""

    def __init__(self, plan: StackPlan) -> None:
        self._plan = plan
        self._spec = plan.spec
        self._specs = {service.name: service for service in plan.topology.services}
        self._state = StateFolder.create(plan.spec.run_id, plan.spec.stack_id)
        self._services: dict[str, ProcessService] = {}
        self._ports: HeldPorts | None = None
        self._storage = StorageSlot()
        self._memories = 0
        self._closing = False

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
        return self._held().local(self._plan.control)

    @property
    def control_token(self) -> str:
        """What the control port wants."""
        return self._plan.control_token

    @property
    def storage(self) -> StorageSlot:
        """The layer under the memory's volume."""
        return self._storage

    @property
    def service_names(self) -> tuple[str, ...]:
        """Services in the topology's order."""
        return tuple(self._specs)

    def service(self, name: str) -> ProcessService:
        """One service; after `replace_memory` the memory's is another object."""
        if name not in self._services:
            raise StackError(
                f"The stack has no service named {name!r}.",
                next_step=f"Use one of: {', '.join(self._services)}.",
            )
        return self._services[name]

    def open(self) -> None:
        """Starts everything and waits until it is healthy; the caller closes it if this raises."""
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(START_TRIES),
            retry=tenacity.retry_if_exception_type(_PortTaken),
            before_sleep=lambda state: _log.warning("port_taken", tries=state.attempt_number),
            reraise=True,
        )
        with self._changing():
            if self._spec.failing_storage:
                self._storage.open(self._state, self._spec.stack_folder)
            retrying(self._open_once)

    def await_healthy(self, names: tuple[str, ...], timeout_seconds: float) -> None:
        """Waits until services are healthy; see `base.Stack.await_healthy`."""
        watched = [self.service(name) for name in names]

        def raise_if_ended() -> None:
            for service in watched:
                self._raise_if_ended(service)

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
        spec = memory_service(self._plan.base_memory, vendor, self._spec, self._plan.memory_port)
        self._launch_check(spec)
        self._spec = dataclasses.replace(self._spec, vendor=vendor)
        with self._changing():
            self._remove_memory()
            self._memories += 1
            self._specs[MEMORY_SERVICE] = spec
            self._start_service(spec)
            self.await_healthy((MEMORY_SERVICE,), self._spec.healthy_within_seconds)

    def reconfigure_memory(self, environment: Mapping[str, str]) -> None:
        """Starts the memory with further variables; see `base.Stack.reconfigure_memory`."""
        present = self._specs[MEMORY_SERVICE]
        spec = dataclasses.replace(present, environment={**present.environment, **environment})
        with self._changing():
            old = self._services.pop(MEMORY_SERVICE, None)
            self._end([old] if old is not None else [])
            self._specs[MEMORY_SERVICE] = spec
            self._start_service(spec)
            self.await_healthy((MEMORY_SERVICE,), self._spec.healthy_within_seconds)

    def volume_bytes(self, name: str) -> Iterator[bytes]:
        """What lies in a service's data folders; see `base.Stack.volume_bytes`."""
        self.service(name)
        for mount in self._specs[name].mounts:
            if not mount.is_folder:
                yield from files_of(self._volume(mount.source))

    def describe_isolation(self) -> IsolationReport:
        """Says that local processes are not isolated: N/R with subtype ``platform``."""
        return IsolationReport(
            supported=False,
            reason="local processes share this machine's network and files; nothing isolates them",
        )

    def close(self) -> None:
        """Removes everything; see `base.Stack.close`."""
        self._closing = True
        self._storage.let_go()
        self._end(list(self._services.values()))
        self._storage.close()
        self._end_marked()
        if self._ports is not None:
            self._ports.close()
        try:
            self._state.remove()
        except OSError as error:
            # Its processes are gone; a folder that something else still uses is left to gc.
            _log.warning("not_removed", folder=self._state.path.name, cause=error.strerror)

    def close_after_failure(self) -> None:
        """Closes without hiding the error that led here; what stays is gc's."""
        try:
            self.close()
        except MemqualError as error:
            _log.warning("not_removed", stack=self._spec.stack_id, cause=error.diagnosis)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Around everything that makes parts: closes once more if `close` came meanwhile."""
        try:
            yield
        finally:
            if self._is_closing():
                self.close_after_failure()

    def _remove_memory(self) -> None:
        old = self._services.pop(MEMORY_SERVICE, None)
        self._end([old] if old is not None else [])
        for mount in self._specs[MEMORY_SERVICE].mounts:
            if not mount.is_folder and self._layer_under(mount.source) is None:
                shutil.rmtree(self._volume(mount.source))
        if self._storage.layer is not None:
            self._storage.layer.wipe()

    def _open_once(self) -> None:
        if self._ports is not None:
            self._ports.close()
        self._ports = HeldPorts(find_addresses(self._plan.topology))
        try:
            for service in self._specs.values():
                self._start_service(service)
            self.await_healthy(self.service_names, self._spec.healthy_within_seconds)
        except _PortTaken:
            self._end(list(self._services.values()))
            self._services.clear()
            raise

    def _start_service(self, spec: ServiceSpec) -> None:
        if self._is_closing():
            raise StackError("The stack is being closed.", next_step="Start another one.")
        service = self._launch_check(spec)
        self._held().let_go(spec.hostnames())
        service.start()
        self._services[spec.name] = service

    def _launch_check(self, spec: ServiceSpec) -> ProcessService:
        """The service, not started; raises when it cannot run as a process."""
        generation = f"-{self._memories}" if spec.name == MEMORY_SERVICE and self._memories else ""
        launch = make_launch(
            spec,
            self._plan.topology,
            ports=self._held().ports,
            folders={
                mount.target: Path(mount.source) if mount.is_folder else self._volume(mount.source)
                for mount in spec.mounts
            },
            marks=marks_of(self._state.record),
            work_folder=self._state.work_folder(spec.name),
            log=self._spec.stack_folder / f"{spec.name}{generation}.log",
            clock_folder=self._plan.clock_folders.get(spec.name),
            product=self._spec.product,
        )
        return ProcessService(launch, self._state.add_process)

    def _volume(self, name: str) -> Path:
        """The folder that stands in for a volume."""
        layer = self._layer_under(name)
        if layer is not None:
            return layer.mount
        generation = f"-{self._memories}" if self._is_memorys(name) else ""
        return self._state.volume(f"{name}{generation}")

    def _layer_under(self, name: str) -> StorageLayer | None:
        return self._storage.layer if self._is_memorys(name) else None

    def _is_memorys(self, name: str) -> bool:
        return any(mount.source == name for mount in self._specs[MEMORY_SERVICE].mounts)

    def _raise_if_ended(self, service: ProcessService) -> None:
        if service.running():
            return
        names = self._specs[service.name].hostnames()
        for address, port in self._held().ports.items():
            if address.host in names and not port_is_free(port):
                raise _PortTaken(
                    f"The service {service.name!r} ended, and another program has its port {port}.",
                    next_step="Run again: other ports are chosen.",
                )
        service.raise_if_ended()

    def _end(self, services: list[ProcessService]) -> None:
        for service in services:
            with contextlib.suppress(StackError):  # It has ended already.
                service.kill()
        for service in services:
            with contextlib.suppress(StackError):  # Not to be ended; what it holds is gc's.
                service.wait_exit(EXIT_WAIT_SECONDS)

    def _end_marked(self) -> None:
        """Ends what a service started and left behind in a group of its own."""
        record = self._state.record
        left = [
            marked.process
            for marked in marked_processes()
            if (marked.run_id, marked.stack_id, marked.owner)
            == (record.run_id, record.stack_id, record.owner)
        ]
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=EXIT_WAIT_SECONDS)

    def _is_closing(self) -> bool:
        return self._closing

    def _held(self) -> HeldPorts:
        if self._ports is None:
            raise StackError("The stack was never started.", next_step="Start it first.")
        return self._ports
