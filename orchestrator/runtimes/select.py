"""Which runtime a run takes: docker where an engine answers, else local processes (DESIGN §3)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.errors import EngineError, UsageError
from orchestrator.runtimes.base import Runtime
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.process_runtime import ProcessRuntime

__all__ = ["Selection", "all_runtimes", "select_runtime"]


@dataclass(frozen=True)
class Selection:
    """The runtime taken and why, for the person who started the run.

    Attributes:
        runtime: The runtime.
        reason: A sentence.
    """

    runtime: Runtime
    reason: str


def all_runtimes() -> tuple[Runtime, ...]:
    """Every runtime there is; gc asks all of them."""
    return (DockerRuntime(), ProcessRuntime())


def select_runtime(name: str | None) -> Selection:
    """The runtime of that name, or the best that this machine has.

    Raises:
        UsageError: there is no runtime of that name.
        EngineError: docker was asked for by name and no engine answers.
    """
    docker, process = all_runtimes()
    if name == process.name:
        return Selection(process, "local processes, as asked for")
    if name not in (None, "", docker.name):
        raise UsageError(
            f"There is no runtime named {name!r}.", next_step="Use RUNTIME=docker or =process."
        )
    found = docker.available()
    if found.available:
        return Selection(docker, f"containers on {found.reason}")
    if name == docker.name:
        raise EngineError(
            found.reason, next_step="Start Docker, or use local processes: RUNTIME=process."
        )
    return Selection(process, f"local processes, as no container engine answers ({found.reason})")
