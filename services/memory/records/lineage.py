"""Who was made out of whom: ancestors nearest first, and descendants.

Edges only point from a newer record to older ones, so there are no cycles to walk into; both walks
would end in one all the same, since they visit each record once.
"""

import sqlite3
from collections.abc import Sequence

from services.memory.records.store import sql_list

__all__ = [
    "ANCESTORS_MAX",
    "add_edges",
    "ancestor_ids",
    "ancestors",
    "declared_parents",
    "descendants",
]

ANCESTORS_MAX = 1_000
_CHUNK = 500


def add_edges(
    conn: sqlite3.Connection, child: int, declared: Sequence[int], found: Sequence[int]
) -> None:
    """Records a new child's parents: declared ones in the caller's order, then those found."""
    parents = [(parent, True) for parent in declared] + [(parent, False) for parent in found]
    conn.executemany(
        "INSERT INTO mem_edges VALUES (?, ?, ?, ?)",
        [(child, position, parent, known) for position, (parent, known) in enumerate(parents)],
    )
    conn.execute("UPDATE mem_records SET parents = ? WHERE row = ?", (len(parents), child))


def declared_parents(conn: sqlite3.Connection, row: int) -> tuple[int, ...]:
    """Rows of the parents that the caller named, in his order."""
    return tuple(
        parent
        for (parent,) in conn.execute(
            "SELECT parent FROM mem_edges WHERE child = ? AND declared = 1 ORDER BY position",
            (row,),
        )
    )


def ancestors(conn: sqlite3.Connection, row: int) -> list[int]:
    """Rows of every ancestor, nearest generation first, each once, at most 1,000."""
    seen = {row}
    generation = [row]
    found: list[int] = []
    while generation and len(found) < ANCESTORS_MAX:
        parents = _step(
            conn,
            "SELECT parent FROM mem_edges WHERE child IN ({}) ORDER BY child DESC, position",
            generation,
        )
        generation = [parent for parent in dict.fromkeys(parents) if parent not in seen]
        seen.update(generation)
        found.extend(generation)
    return found[:ANCESTORS_MAX]


def ancestor_ids(conn: sqlite3.Connection, row: int) -> tuple[str, ...]:
    """Ids of every ancestor, in the same order."""
    found = ancestors(conn, row)
    names: dict[int, str] = {}
    for start in range(0, len(found), _CHUNK):
        chunk = found[start : start + _CHUNK]
        names.update(
            conn.execute(
                f"SELECT row, record_id FROM mem_records WHERE row IN ({sql_list(len(chunk))})",
                chunk,
            )
        )
    return tuple(names[ancestor] for ancestor in found)


def descendants(conn: sqlite3.Connection, row: int) -> list[int]:
    """Rows of every descendant, nearest generation first, each once."""
    seen = {row}
    generation = [row]
    found: list[int] = []
    while generation:
        children = _step(
            conn, "SELECT child FROM mem_edges WHERE parent IN ({}) ORDER BY child", generation
        )
        generation = [child for child in dict.fromkeys(children) if child not in seen]
        seen.update(generation)
        found.extend(generation)
    return found


def _step(conn: sqlite3.Connection, select: str, rows: Sequence[int]) -> list[int]:
    found: list[int] = []
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        found.extend(value for (value,) in conn.execute(select.format(sql_list(len(chunk))), chunk))
    return found
