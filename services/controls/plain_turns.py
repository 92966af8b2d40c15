"""Turns as they were told, in the memory's own database: all that a plain narrative memory keeps.

Functions take a connection inside the caller's transaction and never commit.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["PlainTurn", "State", "create_tables", "delete_namespace", "keep", "load", "state"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS control_turns (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    speaker TEXT NOT NULL,
    time TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (namespace, speaker, time, text)
)
"""
_INSERT = "INSERT OR IGNORE INTO control_turns (namespace, speaker, time, text) VALUES (?, ?, ?, ?)"
# Of one time, in the order in which they came.
_STATE = "SELECT COUNT(*), MAX(row) FROM control_turns WHERE namespace = ?"
_LOAD = (
    "SELECT row, speaker, time, text FROM control_turns WHERE namespace = ?1"
    " AND (?2 = '' OR speaker = ?2) ORDER BY time, row"
)


@dataclass(frozen=True, slots=True)
class State:
    """State of a namespace: equal values mean equal turns, since no row's number is used twice."""

    turns: int
    last: int


@dataclass(frozen=True, slots=True)
class PlainTurn:
    """One turn.

    Attributes:
        row: its number in this database.
        speaker: full name of who said it.
        time: ISO 8601 local date-time, to the second.
        text: what was said.
    """

    row: int
    speaker: str
    time: str
    text: str


def create_tables(conn: sqlite3.Connection) -> None:
    """Creates the table where it is missing."""
    conn.execute(_SCHEMA)


def keep(conn: sqlite3.Connection, namespace: str, speaker: str, time: str, text: str) -> int:
    """Keeps a turn; returns its row, or 0 where it is kept already."""
    cursor = conn.execute(_INSERT, (namespace, speaker, time, text))
    return cursor.lastrowid or 0 if cursor.rowcount else 0


def load(conn: sqlite3.Connection, namespace: str, speaker: str) -> Iterator[PlainTurn]:
    """A speaker's turns, or everybody's where the speaker is empty: by time, then as they came."""
    for row in conn.execute(_LOAD, (namespace, speaker)):
        yield PlainTurn(*row)


def state(conn: sqlite3.Connection, namespace: str) -> State:
    """State of a namespace."""
    count, last = conn.execute(_STATE, (namespace,)).fetchone()
    return State(count, last or 0)


def delete_namespace(conn: sqlite3.Connection, namespace: str) -> None:
    """Removes all turns of a namespace."""
    conn.execute("DELETE FROM control_turns WHERE namespace = ?", (namespace,))
