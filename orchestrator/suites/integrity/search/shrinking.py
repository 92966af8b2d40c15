"""Makes a found sequence as short as it can be: nothing can be left out of it (Zeller 1999).

Hypothesis shrinks what its rules drew; this works on the calls themselves, of which one rule makes
many. Each try is a playing of its own, so it is bounded in number and time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from orchestrator.suites.integrity.search.moves import (
    Decide,
    Derive,
    Move,
    Supersede,
    Write,
    made_by,
    named_by,
)

__all__ = ["closed", "shortest"]

Plays = Callable[[tuple[Move, ...]], bool]


def shortest(
    moves: Sequence[Move], still_found: Plays, *, tries_max: int, seconds: float
) -> tuple[Move, ...]:
    """The moves that are needed.

    Args:
        moves: A sequence that breaks a rule.
        still_found: Plays a sequence; whether it breaks the same rule.
        tries_max: How many playings it may take.
        seconds: How long it may take.

    Returns:
        A sequence of which no single move can be left out, or as far as the bounds allowed.
    """
    tries = _Tries(still_found, tries_max, seconds)
    best = tuple(moves)
    size = max(1, len(best) // 2)
    while size:
        before = best
        best = _without_chunks(best, size, tries)
        if size == 1 and len(best) < len(before):
            continue
        size //= 2
    plain = _plainer(best, tries)
    # A move that is plainer may refer to less.
    return plain if plain == best else _without_chunks(plain, 1, tries)


def closed(moves: Sequence[Move]) -> tuple[Move, ...]:
    """The moves without those that refer to what no move makes, or made only later."""
    made: set[str] = set()
    kept = []
    for move in moves:
        if isinstance(move, Derive) and not made.issuperset(move.parents):
            parents = tuple(parent for parent in move.parents if parent in made)
            if not parents:
                continue
            move = move.model_copy(update={"parents": parents})  # noqa: PLW2901
        if named_by(move) <= made:
            kept.append(move)
            made.add(made_by(move))
    return tuple(kept)


class _Tries:
    def __init__(self, still_found: Plays, tries_max: int, seconds: float) -> None:
        self._still_found = still_found
        self._left = tries_max
        self._ends = time.monotonic() + seconds

    def hold(self, moves: tuple[Move, ...]) -> bool:
        if self._left <= 0 or time.monotonic() > self._ends or not moves:
            return False
        self._left -= 1
        return self._still_found(moves)


def _without_chunks(moves: tuple[Move, ...], size: int, tries: _Tries) -> tuple[Move, ...]:
    start = len(moves)
    while start > 0:
        start = max(0, start - size)
        shorter = closed(moves[:start] + moves[start + size :])
        if len(shorter) < len(moves) and tries.hold(shorter):
            moves = shorter
            start = min(start, len(moves))
    return moves


def _plainer(moves: tuple[Move, ...], tries: _Tries) -> tuple[Move, ...]:
    """Without labels, second parents and other challenges that play no part."""
    for at in range(len(moves)):
        for plain in _plain_forms(moves[at]):
            changed = (*moves[:at], plain, *moves[at + 1 :])
            if tries.hold(changed):
                moves = changed
                break
    return moves


def _plain_forms(move: Move) -> list[Move]:
    if isinstance(move, Write | Supersede) and move.said.labels:
        return [move.model_copy(update={"said": move.said.model_copy(update={"labels": ()})})]
    if isinstance(move, Derive) and len(move.parents) > 1:
        return [move.model_copy(update={"parents": (parent,)}) for parent in move.parents]
    if isinstance(move, Decide) and move.other:
        return [move.model_copy(update={"other": ""})]
    return []
