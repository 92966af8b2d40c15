"""Ctrl-C and SIGTERM end a run in order: nothing finished is lost, nothing is left behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

import structlog

from orchestrator.errors import MemqualError

__all__ = ["StopSignals"]

_CLEAN_UP_SECONDS = 120.0
# Windows tells a process of a group of its own by Ctrl-Break.
_NUMBERS = tuple(
    signal.Signals[name]
    for name in ("SIGINT", "SIGTERM", "SIGBREAK")
    if name in signal.Signals.__members__
)


class StopSignals:
    """While open, the first signal sets `stopping` and runs what was asked for, in a thread.

    A handler must not wait; calls under way end when their stack goes. As long as nothing was asked
    for there is nothing to clean up, and the signal raises KeyboardInterrupt instead. Further
    signals are ignored: the clean-up is bounded, and killing it would leave things behind.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._actions: list[Callable[[], object]] = []
        self._before: dict[signal.Signals, signal._HANDLER] = {}
        self._acting: threading.Thread | None = None

    def on_stop(self, action: Callable[[], object]) -> None:
        """Run this when a signal comes, after what was asked for before.

        What it raises as MemqualError is logged and does not keep the next action from running.
        """
        self._actions.append(action)

    def await_actions(self) -> None:
        """Wait, two minutes at most, until what a signal began has ended."""
        if self._acting is not None:
            self._acting.join(_CLEAN_UP_SECONDS)

    def __enter__(self) -> StopSignals:
        """Take the signals over."""
        for number in _NUMBERS:
            self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the signals back, when what a signal began has ended."""
        self.await_actions()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.stopping.is_set():
            return
        self.stopping.set()
        if not self._actions:
            raise KeyboardInterrupt
        self._acting = threading.Thread(target=self._run_actions, name="stop")
        self._acting.start()

    def _run_actions(self) -> None:
        for action in self._actions:
            try:
                action()
            except MemqualError as error:
                structlog.get_logger().warning("not_cleaned_up", cause=error.diagnosis)
