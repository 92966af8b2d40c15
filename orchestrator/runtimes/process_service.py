"""One service as a local process, with the same kills and stops as a container (DESIGN §3)."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from chaos.clock import remove_shared_memory
from orchestrator.errors import StackError
from orchestrator.runtimes.base import ExitInfo
from orchestrator.runtimes.crash import CRASH_LOG_LINES, crash_error
from services.common.platform import (
    KILLED_EXIT_CODE,
    kill_group,
    resume_process,
    spawn_process,
    suspend_process,
)

__all__ = ["SIGKILL_EXIT_CODE", "Launch", "ProcessService"]

# What a container shows after SIGKILL; a process shows the same here, whatever its system calls it.
SIGKILL_EXIT_CODE = 137
LOG_TAIL_BYTES = 1 << 20
LOG_LINES_LIMIT = 10_000


@dataclass(frozen=True)
class Launch:
    """How a service is started.

    Attributes:
        name: Name in the topology.
        arguments: Program and arguments.
        environment: All of its environment.
        folder: Where it runs.
        log: File to which its output is added.
        clock_folder: Folder that sets its clock, or None.
        title: Module or program, for people.
    """

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    log: Path
    clock_folder: Path | None
    title: str


class ProcessService:
    """A local process over all its lives; see `base.ServiceHandle`.

    Args:
        launch: How it is started.
        on_started: Told the process id of each new life, to write it down.
    """

    def __init__(self, launch: Launch, on_started: Callable[[str, int], None]) -> None:
        self._launch = launch
        self._on_started = on_started
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at_ns = 0

    @property
    def name(self) -> str:
        """Name in the topology."""
        return self._launch.name

    @property
    def image(self) -> str:
        """Module or program that runs."""
        return self._launch.title

    @property
    def digest(self) -> str:
        """Empty: a process has no image."""
        return ""

    @property
    def clock_folder(self) -> Path | None:
        """Folder whose timestamp file sets its clock."""
        return self._launch.clock_folder

    def pid(self) -> int | None:
        """Process id of its present life, or None when it does not live."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def started_at_ns(self) -> int:
        """When its present or last life was begun, by this machine's wall clock."""
        if self._process is None:
            raise StackError(
                f"The service {self.name!r} was never started.", next_step="Start it first."
            )
        return self._started_at_ns

    def running(self) -> bool:
        """Whether it lives."""
        return self.pid() is not None

    def kill(self) -> None:
        """SIGKILL to it, its group and whatever else it started."""
        pid = self._living_pid("killed")
        children = _children(pid)
        kill_group(pid)
        for child in children:
            # psutil looks first whether the id still means the same process.
            try:
                child.kill()
            except psutil.Error:
                continue

    def stop(self) -> None:
        """SIGSTOP to it and whatever it started."""
        self._each(suspend_process, "stopped")

    def cont(self) -> None:
        """SIGCONT to it and whatever it started."""
        self._each(resume_process, "continued")

    def wait_exit(self, timeout_seconds: float) -> ExitInfo:
        """Waits for the end of its life; see `base.ServiceHandle.wait_exit`."""
        started_at_ns = self.started_at_ns()
        assert self._process is not None
        try:
            code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise StackError(
                f"The service {self.name!r} still runs after {timeout_seconds:g} s.",
                next_step="Look at the run's log for why it was not killed, then run again.",
            ) from None
        self._clear_shared_memory()
        return ExitInfo(
            exit_code=SIGKILL_EXIT_CODE if code == KILLED_EXIT_CODE else code,
            oom_killed=False,
            started_at_ns=started_at_ns,
            finished_at_ns=time.time_ns(),
        )

    def start(self) -> None:
        """A new life; see `base.ServiceHandle.start`."""
        if self.running():
            raise StackError(
                f"The service {self.name!r} runs already.",
                next_step="Wait for its end before starting it again.",
            )
        launch = self._launch
        try:
            launch.log.parent.mkdir(parents=True, exist_ok=True)
            with launch.log.open("ab") as log:
                self._started_at_ns = time.time_ns()
                self._process = spawn_process(
                    launch.arguments,
                    environment=launch.environment,
                    folder=launch.folder,
                    output=log,
                    errors=log,
                )
        except OSError as error:
            raise StackError(
                f"The service {self.name!r} cannot be started ({launch.arguments[0]}): "
                f"{error.strerror}.",
                next_step="Check `process` in the vendor.yaml, and that the program is executable.",
            ) from error
        self._on_started(self.name, self._process.pid)

    def logs_tail(self, line_count: int) -> str:
        """The last lines it wrote, over all its lives."""
        try:
            with self._launch.log.open("rb") as log:
                size = log.seek(0, 2)
                log.seek(max(0, size - LOG_TAIL_BYTES))
                text = log.read().decode("utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-min(line_count, LOG_LINES_LIMIT) :])

    def raise_if_ended(self) -> None:
        """Does nothing while it lives; a StackError says how it ended."""
        code = self._process.poll() if self._process is not None else None
        if code is not None:
            raise crash_error(self.name, code, self.logs_tail(CRASH_LOG_LINES))

    def _clear_shared_memory(self) -> None:
        # libfaketime's, which a killed process leaves; a later process with its id would find it.
        if self.clock_folder is not None and self._process is not None:
            remove_shared_memory(self._process.pid)

    def _living_pid(self, participle: str) -> int:
        pid = self.pid()
        if pid is None:
            raise StackError(
                f"The service {self.name!r} does not run and cannot be {participle}.",
                next_step="Look at its log for why it ended by itself.",
            )
        return pid

    def _each(self, act: Callable[[int], None], participle: str) -> None:
        pid = self._living_pid(participle)
        act(pid)
        for child in _children(pid):
            act(child.pid)


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []
