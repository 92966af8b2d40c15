"""Local processes that tests start, watch and kill; a target of chaos made of one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chaos.clock import remove_shared_memory
from services.common.platform import (
    KILLED_EXIT_CODE,
    kill_process,
    resume_process,
    suspend_process,
)
from tests.chaos.harness import WAIT_SECONDS

REPOSITORY = Path(__file__).resolve().parents[2]

# What both runtimes say of a service that was killed.
SIGKILL_EXIT_CODE = 137

Process = subprocess.Popen[str]


@dataclass
class Spawner:
    """Starts Python modules; `end` ends what is left of them."""

    started: list[Process] = field(default_factory=list)

    def module(self, name: str, *arguments: str, **environment: str) -> Process:
        return self.python(["-m", name, *arguments], environment)

    def python(self, arguments: list[str], environment: Mapping[str, str]) -> Process:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([".", "protos"]), **environment},
            cwd=REPOSITORY,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                resume_process(process.pid)
                kill_process(process.pid)
            process.communicate(timeout=WAIT_SECONDS)
            remove_shared_memory(process.pid)


def first_line(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: Process) -> None:
    kill_process(process.pid)
    process.wait(WAIT_SECONDS)


@dataclass(frozen=True)
class ProcessExit:
    exit_code: int
    oom_killed: bool
    started_at_ns: int
    finished_at_ns: int


@dataclass
class ProcessTarget:
    """`chaos.targets.Target` over a process; `begin` makes a new life."""

    name: str
    begin: Callable[[], Process]
    clock_folder: Path | None = None
    process: Process | None = None
    started_ns: int = 0

    def start(self) -> None:
        self.started_ns = time.time_ns()
        self.process = self.begin()

    def life(self) -> Process:
        assert self.process is not None
        return self.process

    def pid(self) -> int | None:
        return self.life().pid

    def started_at_ns(self) -> int:
        return self.started_ns

    def running(self) -> bool:
        return self.life().poll() is None

    def kill(self) -> None:
        kill_process(self.life().pid)

    def stop(self) -> None:
        suspend_process(self.life().pid)

    def cont(self) -> None:
        resume_process(self.life().pid)

    def wait_exit(self, timeout_seconds: float) -> ProcessExit:
        code = self.life().wait(timeout_seconds)
        seen = SIGKILL_EXIT_CODE if code == KILLED_EXIT_CODE else code
        return ProcessExit(seen, False, self.started_ns, time.time_ns())
