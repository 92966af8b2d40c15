"""Histories that the brute-force model is asked about, and the worlds that they happen in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Answer = tuple[Any, ...]
"""("EXECUTE", attempt, token), ("QUERY", attempt, ticket), ("WAIT",), ("OK", word) and so on."""


@dataclass(frozen=True)
class Rules:
    """What the memory declares and what the destination lets one do; times in ticks."""

    lease: int = 4
    capability: str = "none"
    retention: int = 0
    margin: int = 0
    replay: bool = True
    final: bool = True
    max_uncertain: int = 2
    question: int = 0


@dataclass(frozen=True)
class Ask:
    """One request, the ticks within which it can be taken, and what was answered.

    `answer` None: never answered, so it may not have been taken at all.
    """

    what: str
    start: int
    stop: int
    answer: Answer | None = None
    life: str = "A"
    begin: str = "b1"
    variant: int = 0
    attempt: int = 0
    token: str = ""
    presence: str = ""
    result: str = "r"
    word: str = ""


@dataclass(frozen=True)
class Clock:
    """The memory's clock: tick + the offset that holds at the tick."""

    offsets: tuple[tuple[int, int], ...] = ((0, 0),)

    def at(self, tick: int) -> int:
        """What the clock shows at a tick."""
        offset = 0
        for since, value in self.offsets:
            if tick >= since:
                offset = value
        return tick + offset

    def highest(self, tick: int) -> int:
        """The most that the clock has shown up to a tick."""
        return max(self.at(earlier) for earlier in range(tick + 1))
