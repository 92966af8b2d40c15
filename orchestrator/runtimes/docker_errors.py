"""What the container engine says no to, in words that lead a person on.

The engine answers in prose that differs between versions, so each case is known by a few words of
it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.errors import EngineError, ImageError, MemqualError, StackError

__all__ = ["engine_gone", "from_engine"]


@dataclass(frozen=True)
class _Case:
    """Words by which an answer is known, and what it means."""

    words: tuple[str, ...]
    make: Callable[..., MemqualError]
    meaning: str
    next_step: str


_CASES = (
    _Case(
        ("no such image", "manifest unknown", "pull access denied"),
        ImageError,
        "The engine does not have the image",
        "Check the name (docker images), load it (docker pull, docker load), or run `make images`.",
    ),
    _Case(
        ("exec format error",),
        ImageError,
        "The image is for another kind of machine",
        "Build it for the engine's architecture (docker version shows it).",
    ),
    _Case(
        (
            "executable file not found",
            "no such file or directory: unknown",
            "permission denied: unknown",
            "no command specified",
        ),
        ImageError,
        "The image's program cannot be started",
        "Check the image's ENTRYPOINT and CMD, or `command` in the vendor.yaml.",
    ),
    _Case(
        ("non-overlapping ipv4 address pool", "address pools have been fully subnetted"),
        StackError,
        "The engine has no address range left for another network",
        "Remove what killed runs left (memqual gc), then other networks (docker network prune).",
    ),
    _Case(
        ("port is already allocated", "ports are not available", "address already in use"),
        StackError,
        "A port of this machine could not be taken",
        "Run again: the engine chooses another number.",
    ),
    _Case(
        ("no space left on device",),
        EngineError,
        "The engine's disk is full",
        "Free space (docker system df, docker system prune), then run again.",
    ),
    _Case(
        ("range of cpus", "minimum memory limit", "invalid pids"),
        StackError,
        "The engine cannot give a service its limits",
        "Lower `resources` in the vendor.yaml, or the limits in compose/compose.yaml.",
    ),
    _Case(
        ("mounts denied", "bind source path does not exist", "invalid mount"),
        StackError,
        "The engine cannot mount a folder of this machine",
        "Keep runs in a folder that the engine shares (Docker Desktop: Settings, File sharing).",
    ),
    _Case(
        ("is not running",),
        StackError,
        "A service does not run",
        "Look at its log for why it ended by itself.",
    ),
    _Case(
        ("no such container", "no such network", "dead or marked for removal"),
        StackError,
        "A part of the stack is gone",
        "Something else removed it; let memqual alone end its stacks, and run again.",
    ),
    _Case(
        ("is already in use by container", "already exists"),
        StackError,
        "Something of that name exists already",
        "End the other run with this id, or remove what it left: memqual gc.",
    ),
)


def from_engine(answer: str, status_code: int | None) -> MemqualError:
    """The error that an answer of the engine means."""
    lowered = answer.lower()
    for case in _CASES:
        if any(words in lowered for words in case.words):
            return case.make(f"{case.meaning}: {answer.strip()}", next_step=case.next_step)
    return EngineError(
        f"The container engine refused a request (status {status_code}): {answer.strip()}",
        next_step="Check the engine (docker info), then run again.",
    )


def engine_gone(error: Exception) -> EngineError:
    """The error for an engine that does not answer at all."""
    return EngineError(
        f"No container engine answers: {error}",
        next_step="Start Docker and run again, or use local processes: RUNTIME=process.",
    )
