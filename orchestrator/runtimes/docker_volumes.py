"""The volumes of a stack of containers: the engine's own, and the memory's layer in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import structlog

from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_types import Labelled
from orchestrator.runtimes.folders import files_of
from orchestrator.runtimes.process_state import StateFolder
from orchestrator.runtimes.storage import StorageSlot
from orchestrator.runtimes.topology import ServiceSpec

__all__ = ["DockerVolumes"]

_log = structlog.get_logger(__name__)


class DockerVolumes:
    """Makes, names and removes the volumes of one stack.

    Args:
        engine: Where.
        labels: Labels of the stack.
        prefix: Begins every name.
        memory: The memory's present service.
        generation: Ends the names of the present memory's own things.
    """

    def __init__(
        self,
        engine: DockerEngine,
        labels: Mapping[str, str],
        prefix: str,
        memory: Callable[[], ServiceSpec],
        generation: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._labels = dict(labels)
        self._prefix = prefix
        self._memory = memory
        self._generation = generation
        self._state: StateFolder | None = None
        self.storage = StorageSlot()

    def open_layer(self, spec: StackSpec) -> None:
        """Mounts the layer, if the stack is to have one; gc finds it by its state folder."""
        if spec.failing_storage:
            self._state = StateFolder.create(spec.run_id, spec.stack_id)
            self.storage.open(self._state, spec.stack_folder)

    def look_at_layer(self) -> None:
        """Gives the layer up when the memory, which is healthy, never came to it."""
        layer = self.storage.layer
        if layer is not None and not layer.status().operations:
            self.storage.give_up("the engine's containers do not see what is mounted here")

    def close_layer(self) -> None:
        """Removes the layer; may be called again."""
        self.storage.close()
        if self._state is not None:
            try:
                self._state.remove()
            except OSError as error:
                _log.warning("not_removed", folder=self._state.path.name, cause=error.strerror)

    def name(self, volume: str) -> str:
        """The engine's name of a volume, or the folder of this machine that lies in its place."""
        if self.storage.layer is not None and volume in self._memorys():
            return str(self.storage.layer.mount)
        generation = self._generation() if volume in self._memorys() else ""
        return f"{self._prefix}-{volume}{generation}"

    def create(self, volumes: tuple[str, ...]) -> None:
        """Makes empty volumes; the layer is there already."""
        for volume in volumes:
            if self.storage.layer is None or volume not in self._memorys():
                self._engine.create_volume(self.name(volume), self._labels)

    def create_memorys(self) -> None:
        """Makes the present memory's volumes."""
        self.create(self._memorys())

    def remove_memorys(self) -> None:
        """Removes the volumes of a memory that is gone; empties the layer."""
        if self.storage.layer is not None:
            self.storage.layer.wipe()
            return
        for volume in self._memorys():
            name = self.name(volume)
            self._engine.remove(Labelled("volume", name, name, {}))

    def content(self, service: ServiceSpec, container: str) -> Iterator[bytes]:
        """What lies on a service's volumes, as tar files or file by file."""
        for mount in service.mounts:
            if mount.is_folder:
                continue
            if self.storage.layer is not None and mount.source in self._memorys():
                yield from files_of(self.storage.layer.mount)
            else:
                yield from self._engine.archive(container, mount.target)

    def _memorys(self) -> tuple[str, ...]:
        return tuple(mount.source for mount in self._memory().mounts if not mount.is_folder)
