"""Cuts a schedule down to the fewest steps that still break the rule (Zeller 1999).

Each try is a playing of its own, so it is bounded in number and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from orchestrator.suites.continuity.explore.steps import Step

__all__ = ["fewest"]

StillBroken = Callable[[tuple[Step, ...]], bool]


def fewest(
    steps: Sequence[Step], still_broken: StillBroken, *, tries_max: int, seconds: float
) -> tuple[Step, ...]:
    """The steps that are needed.

    Args:
        steps: A sequence that breaks a rule.
        still_broken: Plays a sequence; whether it breaks the same rule.
        tries_max: How many playings it may take.
        seconds: How long it may take.

    Returns:
        A sequence of which no single step can be left out and none be made plainer, or as far as
        the bounds allowed.
    """
    tries = _Tries(still_broken, tries_max, seconds)
    best = tuple(steps)
    # What comes after the rule was broken, first: most of a schedule often is.
    size = max(1, len(best) // 2)
    while size:
        shorter = _without(best, size, tries)
        if size == 1 and len(shorter) < len(best):
            best = shorter
            continue
        best = shorter
        size //= 2
    return _plainer(best, tries)


class _Tries:
    def __init__(self, still_broken: StillBroken, tries_max: int, seconds: float) -> None:
        self._still_broken = still_broken
        self._left = tries_max
        self._ends = time.monotonic() + seconds

    def hold(self, steps: tuple[Step, ...]) -> bool:
        if self._left <= 0 or time.monotonic() > self._ends or not steps:
            return False
        self._left -= 1
        return self._still_broken(steps)


def _without(steps: tuple[Step, ...], size: int, tries: _Tries) -> tuple[Step, ...]:
    start = len(steps)
    while start > 0:
        start = max(0, start - size)
        shorter = steps[:start] + steps[start + size :]
        if len(shorter) < len(steps) and tries.hold(shorter):
            steps = shorter
            start = min(start, len(steps))
    return steps


def _plainer(steps: tuple[Step, ...], tries: _Tries) -> tuple[Step, ...]:
    """Without variants, counts and other agents that play no part."""
    for at in range(len(steps)):
        for change in ({"variant": ""}, {"amount": 0}, {"agent": 0}):
            plain = steps[at].model_copy(update=change)
            changed = (*steps[:at], plain, *steps[at + 1 :])
            # A fault's variant is what it is; everything else has a plain form.
            unfit = plain.act in _BY_VARIANT and not plain.variant
            if plain != steps[at] and not unfit and tries.hold(changed):
                steps = changed
    return steps


_BY_VARIANT = frozenset(("fault", "resolve", "release", "cut"))
