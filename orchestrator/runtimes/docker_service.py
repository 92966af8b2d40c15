"""One service of a docker stack, killed by its process id where this machine sees it.

A kill through the engine takes effect tens of milliseconds after it was asked for, in which the
service still sends; SIGKILL to the process id takes effect at once. The id is trusted only if the
kernel says that the process belongs to the container: on Docker Desktop the engine's ids are those
of its virtual machine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import psutil

from orchestrator.errors import StackError
from orchestrator.runtimes.base import ExitInfo
from orchestrator.runtimes.crash import CRASH_LOG_LINES, crash_error
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_types import ContainerState
from services.common.platform import kill_process, resume_process, suspend_process

__all__ = ["DockerService"]


class DockerService:
    """A container over all its lives; see `base.ServiceHandle`.

    Args:
        engine: Where it runs.
        name: Name in the topology.
        container: Its id.
        image: Reference of its image.
        clock_folder: Folder that sets its clock, or None.
    """

    def __init__(
        self,
        engine: DockerEngine,
        *,
        name: str,
        container: str,
        image: str,
        clock_folder: Path | None,
    ) -> None:
        self._engine = engine
        self._name = name
        self._image = image
        self._clock_folder = clock_folder
        self._life: ContainerState | None = None
        self.container = container

    @property
    def name(self) -> str:
        """Name in the topology."""
        return self._name

    @property
    def image(self) -> str:
        """Reference of its image."""
        return self._image

    @property
    def digest(self) -> str:
        """Identity of its image's content."""
        return self._present_life().image_digest

    @property
    def clock_folder(self) -> Path | None:
        """Folder of this machine whose timestamp file sets its clock."""
        return self._clock_folder

    def pid(self) -> int | None:
        """Process id of its first process in this machine's numbering; None: not to be had."""
        pid = self._present_life().pid
        return pid if pid > 0 and _belongs(pid, self.container) else None

    def started_at_ns(self) -> int:
        """When its present or last life began, by the engine."""
        return self._present_life().started_at_ns

    def running(self) -> bool:
        """Whether it lives, by the engine."""
        return self.state().running

    def state(self) -> ContainerState:
        """What the engine says of it now."""
        return self._engine.state(self.container)

    def kill(self) -> None:
        """SIGKILL; see `base.ServiceHandle.kill`."""
        pid = self.pid()
        if pid is not None:
            # The end of a namespace's first process is the end of all of them.
            with contextlib.suppress(PermissionError):
                kill_process(pid)
                return
        self._through_engine("SIGKILL", "killed")

    def stop(self) -> None:
        """SIGSTOP to all its processes, or to the first one where only the engine sees them."""
        if not self._each(suspend_process):
            self._through_engine("SIGSTOP", "stopped")

    def cont(self) -> None:
        """SIGCONT, as `stop`."""
        if not self._each(resume_process):
            self._through_engine("SIGCONT", "continued")

    def wait_exit(self, timeout_seconds: float) -> ExitInfo:
        """Waits for the end of its life; see `base.ServiceHandle.wait_exit`."""
        ended = self._engine.wait(self.container, timeout_seconds)
        state = self.state()
        if not ended or state.running:
            raise StackError(
                f"The service {self._name!r} still runs after {timeout_seconds:g} s.",
                next_step="Look at the run's log for why it was not killed, then run again.",
            )
        return ExitInfo(
            exit_code=state.exit_code,
            oom_killed=state.oom_killed,
            started_at_ns=state.started_at_ns,
            finished_at_ns=state.finished_at_ns,
        )

    def start(self) -> None:
        """A new life of the same container; see `base.ServiceHandle.start`."""
        if self._life is not None and self.running():
            raise StackError(
                f"The service {self._name!r} runs already.",
                next_step="Wait for its end before starting it again.",
            )
        self._engine.start(self.container)
        self._life = self.state()

    def logs_tail(self, line_count: int) -> str:
        """The last lines it wrote."""
        return self._engine.logs(self.container, line_count)

    def raise_if_ended(self) -> None:
        """Does nothing while it lives.

        Raises:
            StackError: it has ended; the diagnosis has exit code and last lines.
            ImageError: it ended because its image is for another kind of machine.
        """
        state = self.state()
        if not state.running:
            tail = self.logs_tail(CRASH_LOG_LINES)
            raise crash_error(
                self._name, state.exit_code, tail, oom_killed=state.oom_killed, image=self._image
            )

    def _present_life(self) -> ContainerState:
        if self._life is None:
            raise StackError(
                f"The service {self._name!r} was never started.", next_step="Start it first."
            )
        return self._life

    def _each(self, act: Callable[[int], None]) -> bool:
        """Does it to every process of the container, parents first; False where that cannot be."""
        pid = self.pid()
        if pid is None:
            return False
        try:
            act(pid)
            for child in psutil.Process(pid).children(recursive=True):
                act(child.pid)
        except (PermissionError, psutil.Error):
            return False
        return True

    def _through_engine(self, signal_name: str, participle: str) -> None:
        if not self.running():
            raise StackError(
                f"The service {self._name!r} does not run and cannot be {participle}.",
                next_step="Look at its log for why it ended by itself.",
            )
        self._engine.signal(self.container, signal_name)


def _belongs(pid: int, container: str) -> bool:
    """Whether the kernel says that this process of this machine is in that container."""
    try:
        return container in Path(f"/proc/{pid}/cgroup").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return False
