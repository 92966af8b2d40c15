"""The draws of one rule: many small decisions out of one number.

Hypothesis chooses the rules and one number for each; drawn one by one, the decisions of a sequence
would resemble each other too much to meet rare combinations. Hash streams are used, since Python's
`random` may change between versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["DICE_MAX", "Dice"]

DICE_MAX = 2**24 - 1
"""Of larger ranges Hypothesis draws small numbers far more often than others."""

_TIMES_MAX = 12
_OFTEN = 0.6

_Item = TypeVar("_Item")


class Dice:
    """A stream of draws.

    Args:
        number: 0 ≤ number ≤ DICE_MAX.
        salt: Equal numbers with equal salt make equal draws.
    """

    def __init__(self, number: int, salt: int) -> None:
        self._number = number
        self._salt = salt
        self._drawn = 0

    def below(self, limit: int) -> int:
        """A whole number 0 ≤ n < limit."""
        block = f"{self._salt}/{self._number}/{self._drawn}".encode()
        self._drawn += 1
        return int.from_bytes(hashlib.sha256(block).digest()[:8], "big") % limit

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.below(1_000_000) < probability * 1_000_000

    def one(self, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[self.below(len(items))]

    def mostly(self, usual: _Item, items: Sequence[_Item]) -> _Item:
        """The usual one more often than not; else one of the items."""
        return usual if self.chance(_OFTEN) else self.one(items)

    def some(self, items: Sequence[_Item], most: int) -> list[_Item]:
        """One item or more, at most so many, each once, in any order."""
        left = list(items)
        return [
            left.pop(self.below(len(left))) for _ in range(1 + self.below(min(most, len(items))))
        ]

    def times(self) -> int:
        """How often: once, or up to twelve times."""
        return 1 if self.chance(_OFTEN) else 1 + self.below(_TIMES_MAX)

    def few(self) -> int:
        """How often: once, or up to four times."""
        return 1 if self.chance(_OFTEN) else 1 + self.below(4)
