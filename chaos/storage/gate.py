"""What stands before every operation on a volume: a count, an end of room, a hold."""

from __future__ import annotations

import errno
import os
import threading
from enum import StrEnum

__all__ = ["Fate", "Gate", "Held"]

_HOLD_SECONDS = 60.0
"""A hold that nobody ends lets go, so that no process hangs for ever."""


class Fate(StrEnum):
    """What becomes of a held operation."""

    APPLY = "apply"
    REFUSE = "refuse"
    """It fails and leaves nothing: whoever asked is being killed."""
    TEAR = "tear"
    """The first half of what is written gets there."""


class Held:
    """One operation that stands still.

    Attributes:
        what: Name of the operation and of its path.
        offset: Where a write begins, bytes.
        size: Bytes of a write.
    """

    def __init__(self, what: str, offset: int, size: int) -> None:
        self.what = what
        self.offset = offset
        self.size = size
        self._fate = Fate.APPLY
        self._decided = threading.Event()

    def decide(self, fate: Fate) -> None:
        """Lets it go on."""
        self._fate = fate
        self._decided.set()

    def wait(self) -> Fate:
        """Stands still until it is decided."""
        self._decided.wait(_HOLD_SECONDS)
        return self._fate


class Gate:
    """See the module; threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._full_after: int | None = None
        self._full_for_all = False
        self._hold_after: int | None = None
        self._hold_writes_only = False
        self.operations = 0
        self.refused = 0
        self.held: Held | None = None

    def pass_through(
        self,
        what: str,
        *,
        grows: bool = False,
        writes: bool = False,
        offset: int = 0,
        size: int = 0,
    ) -> Fate:
        """Counts one operation and lets it pass, sooner or later.

        Args:
            what: Name of the operation and of its path.
            grows: It needs room.
            writes: It writes content.
            offset: Where a write begins, bytes.
            size: Bytes of a write.

        Raises:
            OSError: ENOSPC without room, EIO for a held operation that is refused.
        """
        held = None
        with self._lock:
            self.operations += 1
            wants_room = grows or (writes and self._full_for_all)
            if wants_room and self._full_after is not None:
                if self._full_after <= 0:
                    self.refused += 1
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._full_after -= 1
            if self._hold_after is not None and (writes or not self._hold_writes_only):
                self._hold_after -= 1
                if self._hold_after < 0:
                    self._hold_after = None
                    held = self.held = Held(what, offset, size)
                    self._arrived.notify_all()
        fate = Fate.APPLY if held is None else held.wait()
        if fate is Fate.REFUSE:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return fate

    def fill(self, after: int, *, everything: bool = False) -> None:
        """No more room once so many operations that need some have passed.

        Args:
            after: How many still find room.
            everything: Writes within a file need room, too, as where nothing is written in place.
        """
        with self._lock:
            self._full_after, self._full_for_all, self.refused = after, everything, 0

    def lift(self) -> int:
        """There is room again; returns how many operations found none."""
        with self._lock:
            self._full_after, self._full_for_all = None, False
            return self.refused

    def hold(self, after: int, *, writes_only: bool) -> None:
        """The operation after so many others stands still, once."""
        with self._lock:
            self.held = None
            self._hold_after, self._hold_writes_only = after, writes_only

    def await_held(self, seconds: float) -> Held | None:
        """The operation that stands still, or None when none does in time."""
        with self._lock:
            self._arrived.wait_for(lambda: self.held is not None, seconds)
            return self.held

    def stop(self) -> None:
        """Lets everything pass from now on: the volume is going."""
        self.lift()
        self.release(Fate.REFUSE)

    def release(self, fate: Fate) -> None:
        """Lets a held operation go on, and holds none from now on."""
        with self._lock:
            held, self.held, self._hold_after = self.held, None, None
        if held is not None:
            held.decide(fate)
