"""Exact arithmetic over instants that are known only by bounds: difference-bound matrices.

A correct memory acts at some instant between the moment a call was forwarded and the moment its
answer was seen, so the end of a lease is known by bounds as well, and the two are correlated. A
zone keeps every bound on a difference of two instants, in closed form; projection and emptiness are
exact over the integers. Two independent brackets would allow answers that no memory can give.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

__all__ = ["UNBOUNDED", "Instant", "Zone"]

UNBOUNDED = 1 << 80
"""Larger than any difference of two times in nanoseconds; a bound of this size is no bound."""


class Instant(IntEnum):
    """The instants that a world remembers, in nanoseconds.

    QUESTION_END is the end of the latest question's own lease, where a memory declares one.
    POINT and NEXT_POINT are on the interposer's clock, the others on the memory's.

    ZERO is the number 0, so that absolute times are differences, too. NOW is the memory's effective
    time of the call that is being taken; NOW and NEXT_POINT are free between two calls.
    """

    ZERO = 0
    POINT = 1
    LEASE_END = 2
    FIRST_GRANT = 3
    MARK = 4
    NOW = 5
    NEXT_POINT = 6
    QUESTION_END = 7


_SIZE = len(Instant)


@dataclass(frozen=True)
class Zone:
    """A non-empty set of assignments of instants.

    Attributes:
        bounds: Row-major; `bounds[a * size + b]` is the least known upper bound of a - b, closed
            under the triangle inequality.
    """

    bounds: tuple[int, ...]

    @classmethod
    def everything(cls) -> Self:
        """The zone without any bound."""
        return cls(tuple(0 if a == b else UNBOUNDED for a in range(_SIZE) for b in range(_SIZE)))

    def at_most(self, left: Instant, right: Instant, bound: int) -> Zone | None:
        """The assignments in which left - right ≤ bound (ns), or None when there is none."""
        old = self.bounds
        if bound >= old[left * _SIZE + right]:
            return self
        if bound + old[right * _SIZE + left] < 0:
            return None
        new = list(old)
        out = old[right * _SIZE : right * _SIZE + _SIZE]
        for a in range(_SIZE):
            into = old[a * _SIZE + left]
            if into >= UNBOUNDED:
                continue
            for b in range(_SIZE):
                if out[b] < UNBOUNDED and into + bound + out[b] < new[a * _SIZE + b]:
                    new[a * _SIZE + b] = into + bound + out[b]
        return Zone(tuple(new))

    def at_least(self, left: Instant, right: Instant, bound: int) -> Zone | None:
        """The assignments in which left - right ≥ bound (ns), or None when there is none."""
        return self.at_most(right, left, -bound)

    def within(self, left: Instant, right: Instant, low: int, high: int) -> Zone | None:
        """The assignments in which low ≤ left - right ≤ high (ns), or None when there is none."""
        upper = self.at_most(left, right, high)
        return None if upper is None else upper.at_least(left, right, low)

    def forget(self, instants: Iterable[Instant]) -> Zone:
        """The projection that knows nothing of `instants` any more."""
        gone = frozenset(instants)
        return Zone(
            tuple(
                bound if index // _SIZE == index % _SIZE or not _touches(index, gone) else UNBOUNDED
                for index, bound in enumerate(self.bounds)
            )
        )

    def assign(self, target: Instant, source: Instant, shift: int) -> Zone:
        """The zone after target := source + shift (ns).

        Raises:
            ValueError: The two are one instant.
        """
        if target is source:
            raise ValueError("an instant cannot be assigned to itself")
        old = list(self.bounds)
        for other in range(_SIZE):
            old[target * _SIZE + other] = _shifted(self.bounds[source * _SIZE + other], shift)
            old[other * _SIZE + target] = _shifted(self.bounds[other * _SIZE + source], -shift)
        old[target * _SIZE + target] = 0
        old[target * _SIZE + source], old[source * _SIZE + target] = shift, -shift
        return Zone(tuple(old))

    def span(self, instant: Instant) -> tuple[int | None, int | None]:
        """Least and greatest value of an instant (ns); None where there is no bound."""
        high = self.bounds[instant * _SIZE]
        low = self.bounds[instant]
        return (None if low >= UNBOUNDED else -low, None if high >= UNBOUNDED else high)


def _touches(index: int, gone: frozenset[Instant]) -> bool:
    return index // _SIZE in gone or index % _SIZE in gone


def _shifted(bound: int, shift: int) -> int:
    return bound if bound >= UNBOUNDED else bound + shift
