"""Rows of a procedure's outcome counters; a record without a row has no report."""

import sqlite3
from collections.abc import Iterable
from dataclasses import astuple

from services.memory.records.model import Outcomes
from services.memory.records.store import sql_list

__all__ = ["load", "load_many", "save"]

_CHUNK = 500
_SELECT = "SELECT row, helpful, harmful, neutral, utility_micros FROM mem_outcomes"


def load(conn: sqlite3.Connection, row: int) -> Outcomes:
    """The counters of one record."""
    return load_many(conn, (row,)).get(row, Outcomes())


def load_many(conn: sqlite3.Connection, rows: Iterable[int]) -> dict[int, Outcomes]:
    """Counters by row, for those records that have any."""
    every = tuple(rows)
    found: dict[int, Outcomes] = {}
    for start in range(0, len(every), _CHUNK):
        chunk = every[start : start + _CHUNK]
        for values in conn.execute(f"{_SELECT} WHERE row IN ({sql_list(len(chunk))})", chunk):
            found[values[0]] = Outcomes(*values[1:])
    return found


def save(conn: sqlite3.Connection, row: int, outcomes: Outcomes) -> None:
    """Keeps a record's counters."""
    conn.execute(
        "INSERT OR REPLACE INTO mem_outcomes VALUES (?, ?, ?, ?, ?)", (row, *astuple(outcomes))
    )
