"""What chaos asks of a service that it attacks; the runtimes implement it.

Structural: `orchestrator.runtimes.base.ServiceHandle` fits without knowing of this module.
"""

from pathlib import Path
from typing import Protocol

__all__ = ["ExitSeen", "Target"]


class ExitSeen(Protocol):
    """How one life of a target ended."""

    @property
    def exit_code(self) -> int:
        """137 or -9 after SIGKILL; otherwise the process's own."""

    @property
    def oom_killed(self) -> bool:
        """The kernel ended it for want of memory; False where that cannot be told."""

    @property
    def started_at_ns(self) -> int:
        """When that life began, wall clock, nanoseconds."""

    @property
    def finished_at_ns(self) -> int:
        """When its end was recorded, same clock."""


class Target(Protocol):
    """One service over all its lives."""

    @property
    def name(self) -> str:
        """Exact service name, as the interposer knows it."""

    @property
    def clock_folder(self) -> Path | None:
        """Folder of this machine whose timestamp file sets its clock; None: it cannot be set."""

    def pid(self) -> int | None:
        """Process id of its present life in this machine's numbering, or None."""

    def started_at_ns(self) -> int:
        """When its present or last life began, wall clock, nanoseconds."""

    def running(self) -> bool:
        """Whether it lives."""

    def kill(self) -> None:
        """Sends SIGKILL and returns."""

    def stop(self) -> None:
        """Stops it where it is (SIGSTOP)."""

    def cont(self) -> None:
        """Lets it go on (SIGCONT)."""

    def wait_exit(self, timeout_seconds: float) -> ExitSeen:
        """Waits until its life has ended; raises when it still runs after that time."""

    def start(self) -> None:
        """Begins a new life; does not wait for health."""
