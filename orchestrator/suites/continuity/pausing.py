"""The time that a memory asks for passes: its clock jumps, or the evaluator waits (DESIGN §5).

A memory may put its callers off for a while, and whoever asks again too early learns nothing of it.
Where the clock that its leases run on can be set, it is moved by what was asked, so that no pause
costs real time; elsewhere the pause is waited for, within a budget of seconds a batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.oracle.declared import NANOSECONDS, DeclaredMemory

__all__ = ["PAUSE_SECONDS", "REAL_SECONDS_MAX", "SHORT_PAUSE_SECONDS", "Pauses", "pause"]

PAUSE_SECONDS = 0.1
"""Between two wake-ups, whatever was asked."""

SHORT_PAUSE_SECONDS = 2.0
"""At most, where what was asked cannot pass."""

REAL_SECONDS_MAX = 60.0
"""Seconds of whole pauses that are waited for in one batch."""

_MARGIN_SECONDS = 1.0
"""Beyond what was asked: a memory may keep its times by whole seconds."""

_WAKES_SPARE = 6
"""Wake-ups after the lease's end at least, and beyond what a memory's questions may take."""

_WAKES_A_QUESTION = 2
"""A question and a pause before it."""

_WAKES_BOUND = 128

_QUESTIONS_A_WAKE = 10
"""Decisions after which the host stops asking until it is woken again (services.agent)."""

_STOPS_BOUND = 16


class Pauses:
    """The pauses of one batch.

    Attributes:
        clock_is_free: Nothing else moves the memory's clock just now.
        wakes_max: Wake-ups in which a memory can ask as often as it declares, with a pause before
            each question, bounded.
        stops_max: How often a host may stop asking a memory that does not pause, bounded.

    Args:
        context: The stack.
        move_clock: Moves a service's clock and keeps the proof (`Stage.move_clock`).
    """

    def __init__(self, context: StackContext, move_clock: Callable[[str, int], None]) -> None:
        self.clock_is_free = True
        self._context = context
        self._move_clock = move_clock
        self._left_seconds = REAL_SECONDS_MAX
        declared = DeclaredMemory.from_describe(context.describe)
        self._most_seconds = declared.pause_ns / NANOSECONDS
        questions = declared.max_uncertain
        self.wakes_max = min(_WAKES_A_QUESTION * questions + _WAKES_SPARE, _WAKES_BOUND)
        stops = -(-questions // _QUESTIONS_A_WAKE) + 1
        self.stops_max = min(max(_WAKES_SPARE, stops), _STOPS_BOUND)

    def let_pass(self, asked_seconds: float) -> bool:
        """Let what was asked pass, at most as much as the memory may ask for at all.

        Returns:
            Whether so much passed.

        Raises:
            FaultNotPossible, ClockError: The memory's clock cannot be set, against what was seen.
            SilentClock: The memory does not answer Now.
        """
        if asked_seconds <= PAUSE_SECONDS:
            time.sleep(PAUSE_SECONDS)
            return True
        wanted_seconds = min(asked_seconds, self._most_seconds) + _MARGIN_SECONDS
        if self._movable():
            self._move_clock("memory", round(wanted_seconds * NANOSECONDS))
            time.sleep(PAUSE_SECONDS)
            return True
        if wanted_seconds <= self._left_seconds:
            self._left_seconds -= wanted_seconds
            time.sleep(wanted_seconds)
            return True
        pause(asked_seconds)
        return False

    def _movable(self) -> bool:
        return (
            self.clock_is_free
            and self._context.skew
            and self._context.describe.lease_clock != vendor_pb2.LEASE_CLOCK_MONOTONIC
            and self._context.stack.service("memory").clock_folder is not None
        )


def pause(asked_seconds: float) -> None:
    """A moment in which others may get on with their work; what was asked need not pass."""
    time.sleep(min(max(asked_seconds, PAUSE_SECONDS), SHORT_PAUSE_SECONDS))
