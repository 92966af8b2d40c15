"""A small choice of cells in which every pair of coordinate values meets (DESIGN §7, standard)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations

from orchestrator.suites.continuity.table import TableCell

__all__ = ["covering"]


def covering(
    cells: Sequence[TableCell], given: Iterable[TableCell], seed: int
) -> tuple[TableCell, ...]:
    """Extends a choice until every pair of coordinate values that occurs at all occurs in it.

    At each window and with each capability every target meets every fate that it has there, since
    the two say which row of DESIGN §6 is asked. Greedy: the cell that adds most comes next; ties
    are broken by a digest of the seed.

    Args:
        cells: What can be chosen.
        given: What is chosen already, all of `cells`.
        seed: Another seed gives another choice of the same coverage.

    Returns:
        The choice, in the order of `cells`.
    """
    chosen = {one.cell.cell_id: one for one in given}
    left = sorted(
        (one for one in cells if one.cell.cell_id not in chosen), key=lambda one: _rank(seed, one)
    )
    wanted = {pair for one in left for pair in _pairs(one)}
    wanted -= {pair for one in chosen.values() for pair in _pairs(one)}
    while wanted:
        best = max(left, key=lambda one: len(wanted & _pairs(one)))
        wanted -= _pairs(best)
        chosen[best.cell.cell_id] = best
        left.remove(best)
    return tuple(one for one in cells if one.cell.cell_id in chosen)


@cache
def _pairs(one: TableCell) -> frozenset[tuple[str, ...]]:
    cell = one.cell
    values = (
        f"window={cell.window}",
        f"capability={cell.capability}",
        f"target={cell.target}",
        f"fate={cell.fate}",
        f"fault={cell.fault}",
        f"arm={cell.arm}",
        f"expiry={cell.expiry}",
    )
    within = {(place, *values[2:4]) for place in values[:2]}
    return frozenset({*combinations(values, 2), *within})


def _rank(seed: int, one: TableCell) -> str:
    return hashlib.sha256(f"{seed}:pairwise:{one.cell.cell_id}".encode()).hexdigest()
