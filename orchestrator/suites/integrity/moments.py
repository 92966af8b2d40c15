"""Moments that threads wait for: a start that all have in common, and the n-th call (DESIGN §5)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Gate", "Start"]

_KNOWN_SECONDS = 30.0


class Gate:
    """Does something in the thread of the call that is the n-th to pass it, once."""

    def __init__(self, calls: int) -> None:
        self._left = calls
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._action: Callable[[], None] | None = None

    def when_reached(self, action: Callable[[], None]) -> None:
        """What is to be done; said before anybody passes."""
        self._action = action

    def passing(self) -> None:
        """One more call begins, right after the answer of the one before."""
        with self._lock:
            self._left -= 1
        if self._left <= 0:
            self._act()

    def await_done(self, seconds: float) -> None:
        """Return when it was done; does it when so few calls came that nobody did."""
        if not self._done.wait(seconds):
            self._act()

    def _act(self) -> None:
        with self._lock:
            action, self._action = self._action, None
        if action is not None:
            action()
            self._done.set()


class Start:
    """A moment that many wait for, to do something so many seconds after it."""

    def __init__(self) -> None:
        self._began = 0.0
        self._known = threading.Event()

    def now(self) -> None:
        """It is now."""
        self._began = time.monotonic()
        self._known.set()

    def sleep_until(self, seconds: float) -> None:
        """Return so many seconds after it, at once when that has passed."""
        self._known.wait(_KNOWN_SECONDS)
        time.sleep(max(0.0, self._began + seconds - time.monotonic()))
