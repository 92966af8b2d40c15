"""Namespaces, principals and circles as numbers, and the clock that never goes back."""

import sqlite3
from dataclasses import dataclass

from services.common.clock import wall_ns
from services.memory.records.model import Scope

__all__ = ["Place", "advance_clock", "find_circle", "find_namespace", "make_place", "next_ordinal"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is kept: row ids of its namespace, principal and circle."""

    namespace_id: int
    principal_id: int
    circle_id: int


def advance_clock(conn: sqlite3.Connection) -> int:
    """Now, in wall-clock nanoseconds, and never before any earlier answer of this store.

    A wall clock that was set back must not revive an expired challenge.
    """
    conn.execute(
        "UPDATE mem_meta SET value = max(value, ?) WHERE name = 'clock_unix_ns'", (wall_ns(),)
    )
    row = conn.execute("SELECT value FROM mem_meta WHERE name = 'clock_unix_ns'").fetchone()
    return int(row[0])


def make_place(conn: sqlite3.Connection, scope: Scope) -> Place:
    """The place of a scope, made where it is new."""
    namespace_id = _identify(
        conn,
        "SELECT id FROM mem_namespaces WHERE name = ?",
        "INSERT INTO mem_namespaces (name, records) VALUES (?, 0)",
        (scope.namespace,),
    )
    principal_id = _identify(
        conn,
        "SELECT id FROM mem_principals WHERE namespace_id = ? AND name = ?",
        "INSERT INTO mem_principals (namespace_id, name) VALUES (?, ?)",
        (namespace_id, scope.principal),
    )
    circle_id = _identify(
        conn,
        "SELECT id FROM mem_circles WHERE principal_id = ? AND agent = ? AND workspace = ?"
        " AND purpose = ?",
        "INSERT INTO mem_circles (principal_id, agent, workspace, purpose) VALUES (?, ?, ?, ?)",
        (principal_id, scope.agent, scope.workspace, scope.purpose),
    )
    return Place(namespace_id, principal_id, circle_id)


def find_namespace(conn: sqlite3.Connection, namespace: str) -> int | None:
    """Row id of a namespace; None while nothing is in it."""
    row = conn.execute("SELECT id FROM mem_namespaces WHERE name = ?", (namespace,)).fetchone()
    return None if row is None else int(row[0])


def find_circle(conn: sqlite3.Connection, scope: Scope) -> int | None:
    """Row id of a scope's circle; None while nothing is in it."""
    row = conn.execute(
        "SELECT c.id FROM mem_circles c JOIN mem_principals p ON p.id = c.principal_id"
        " JOIN mem_namespaces n ON n.id = p.namespace_id WHERE n.name = ? AND p.name = ?"
        " AND c.agent = ? AND c.workspace = ? AND c.purpose = ?",
        (scope.namespace, scope.principal, scope.agent, scope.workspace, scope.purpose),
    ).fetchone()
    return None if row is None else int(row[0])


def next_ordinal(conn: sqlite3.Connection, namespace_id: int) -> int:
    """The next number of a namespace, from 1: records and repeated statements take one each."""
    row = conn.execute(
        "UPDATE mem_namespaces SET records = records + 1 WHERE id = ? RETURNING records",
        (namespace_id,),
    ).fetchone()
    return int(row[0])


def _identify(
    conn: sqlite3.Connection, find: str, insert: str, values: tuple[int | str, ...]
) -> int:
    row = conn.execute(find, values).fetchone()
    if row is not None:
        return int(row[0])
    made = conn.execute(insert, values).lastrowid
    assert made is not None  # an INSERT that did not raise has a row id
    return made
