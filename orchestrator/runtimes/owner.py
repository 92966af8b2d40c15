"""Who started something: enough to tell a dead owner's leftovers from a living owner's stack.

A process id alone comes back after a while, so an owner is a process id with the moment at which
that process began, on a named machine. On Linux that moment is counted in ticks since a boot that
has an id of its own: it does not move when the wall clock is set. Elsewhere it is psutil's creation
time.
"""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import psutil

__all__ = ["Liveness", "Owner", "start_mark"]

# psutil's creation time has the wall clock's precision and may move with it a little.
CREATE_TIME_TOLERANCE_SECONDS = 2.0


class Liveness(Enum):
    """What can be said about an owner from here."""

    ALIVE = "alive"
    DEAD = "dead"
    # Another machine's, or nothing was written down: only a person can say.
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Owner:
    """One process of one machine.

    Attributes:
        pid: Process id.
        started: Moment at which it began (see `start_mark`); empty when it is not known.
        machine: Name of its machine; empty when it is not known.
    """

    pid: int
    started: str
    machine: str

    @classmethod
    def this_process(cls) -> Owner:
        """The owner of everything that this process starts."""
        pid = os.getpid()
        return cls(pid=pid, started=start_mark(pid) or "", machine=platform.node())

    def liveness(self) -> Liveness:
        """Whether that very process still runs."""
        if self.machine and self.machine != platform.node():
            return Liveness.UNKNOWN
        if self.pid <= 0:
            return Liveness.UNKNOWN
        current = start_mark(self.pid)
        if current is None:
            return Liveness.DEAD
        if not self.started:
            return Liveness.UNKNOWN
        return Liveness.ALIVE if same_mark(self.started, current) else Liveness.DEAD


def start_mark(pid: int) -> str | None:
    """When a process began: ``<boot>:<ticks>`` on Linux, else seconds since 1970; None: no such."""
    boot = _boot_id()
    if boot is not None:
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        # The second field, the program's name, may hold spaces and parentheses; after it the third
        # field follows.
        fields = text.rpartition(")")[2].split()
        return None if fields[0] == "Z" else f"{boot}:{fields[19]}"
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return f"{process.create_time():.3f}"
    except psutil.Error:
        return None


def same_mark(one: str, other: str) -> bool:
    """Whether two marks of one process id mean the same process."""
    if ":" in one or ":" in other:
        return one == other
    try:
        return abs(float(one) - float(other)) <= CREATE_TIME_TOLERANCE_SECONDS
    except ValueError:
        return False


@functools.cache
def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip() or None
    except OSError:
        return None
