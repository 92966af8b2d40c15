"""The SQLite tables of operations: one row an operation, an attempt, a revision (DESIGN §4).

Every statement is a constant, so that SQLite prepares it once a connection, and every look-up goes
through an index: the cost of a call does not grow with what is kept. Functions take a connection
inside the caller's transaction and never commit.
"""

import dataclasses
import sqlite3
from collections.abc import Iterator
from typing import Any

from services.memory.model import AttemptRecord, Change, Operation, OperationBinding
from services.memory.rows import (
    attempt_of,
    attempt_row,
    binding_of,
    binding_text,
    receipt_of,
    receipt_text,
)

__all__ = [
    "RevisionRow",
    "Stored",
    "count_workflow",
    "create_tables",
    "delete_namespace",
    "load",
    "load_intent",
    "load_workflow",
    "next_workflow",
    "raise_mark",
    "read_mark",
    "read_revisions",
    "save",
]

SCHEMA = """
CREATE TABLE IF NOT EXISTS lease_clock (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    mark_ns INTEGER NOT NULL
);
INSERT OR IGNORE INTO lease_clock VALUES (1, 0);
CREATE TABLE IF NOT EXISTS operations (
    operation_key INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    operation_id TEXT NOT NULL UNIQUE,
    workflow_id TEXT NOT NULL,
    intent_digest TEXT NOT NULL,
    binding_json TEXT NOT NULL,
    revision INTEGER NOT NULL,
    key_deadline_ns INTEGER NOT NULL,
    abandoned INTEGER NOT NULL,
    receipt_json TEXT
);
CREATE INDEX IF NOT EXISTS operations_of_workflow ON operations (namespace, workflow_id);
CREATE INDEX IF NOT EXISTS operations_of_intent
    ON operations (namespace, workflow_id, intent_digest);
CREATE TABLE IF NOT EXISTS attempts (
    operation_key INTEGER NOT NULL REFERENCES operations ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    incarnation_id TEXT NOT NULL,
    begin_id TEXT NOT NULL,
    lease_token TEXT NOT NULL,
    reason TEXT NOT NULL,
    granted_at_ns INTEGER NOT NULL,
    lease_ends_at_ns INTEGER NOT NULL,
    renewals INTEGER NOT NULL,
    absent_final INTEGER NOT NULL,
    released INTEGER NOT NULL,
    questions_json TEXT NOT NULL,
    evidence_json TEXT,
    PRIMARY KEY (operation_key, attempt)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS revisions (
    operation_key INTEGER NOT NULL REFERENCES operations ON DELETE CASCADE,
    revision INTEGER NOT NULL,
    at_ns INTEGER NOT NULL,
    change TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    actor TEXT NOT NULL,
    PRIMARY KEY (operation_key, revision)
) WITHOUT ROWID;
"""

OPERATION_COLUMNS = (
    "operation_key, binding_json, revision, key_deadline_ns, abandoned, receipt_json"
)
SELECT_OPERATION = f"SELECT {OPERATION_COLUMNS} FROM operations WHERE operation_id = ?"
SELECT_WORKFLOW = (
    f"SELECT {OPERATION_COLUMNS} FROM operations"
    " WHERE namespace = ? AND workflow_id = ? ORDER BY operation_key"
)
SELECT_INTENT = (
    f"SELECT {OPERATION_COLUMNS} FROM operations"
    " WHERE namespace = ? AND workflow_id = ? AND intent_digest = ? ORDER BY operation_key"
)
NEXT_WORKFLOW = (
    "SELECT workflow_id FROM operations WHERE namespace = ? AND workflow_id > ?"
    " ORDER BY workflow_id LIMIT 1"
)
ATTEMPT_COLUMNS = (
    "attempt, incarnation_id, begin_id, lease_token, reason, granted_at_ns, lease_ends_at_ns,"
    " renewals, absent_final, released, questions_json, evidence_json"
)
SELECT_ATTEMPTS = f"SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE operation_key = ? ORDER BY attempt"
SELECT_REVISIONS = (
    "SELECT revision, at_ns, change, attempt, actor FROM revisions"
    " WHERE operation_key = (SELECT operation_key FROM operations WHERE operation_id = ?)"
    " ORDER BY revision"
)
COUNT_WORKFLOW = "SELECT COUNT(*) FROM operations WHERE namespace = ? AND workflow_id = ?"
INSERT_OPERATION = (
    "INSERT INTO operations (namespace, operation_id, workflow_id, intent_digest, binding_json,"
    " revision, key_deadline_ns, abandoned, receipt_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
UPDATE_OPERATION = (
    "UPDATE operations SET revision = ?, key_deadline_ns = ?, abandoned = ?, receipt_json = ?"
    " WHERE operation_key = ?"
)
REPLACE_ATTEMPT = (
    f"INSERT OR REPLACE INTO attempts (operation_key, {ATTEMPT_COLUMNS})"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_REVISION = "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?)"
DELETE_NAMESPACE = "DELETE FROM operations WHERE namespace = ?"
READ_MARK = "SELECT mark_ns FROM lease_clock WHERE one = 1"
RAISE_MARK = "UPDATE lease_clock SET mark_ns = ? WHERE one = 1 AND mark_ns < ?"


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """An operation with the key of its row."""

    operation_key: int
    operation: Operation


@dataclasses.dataclass(frozen=True, slots=True)
class RevisionRow:
    """One change of an operation, as the audit surface shows it.

    Attributes:
        revision: position, from 1.
        at_ns: lease clock at the change, nanoseconds.
        change: what it did.
        attempt: the attempt that it was about.
        actor: incarnation, or principal of the operator, that asked for it.
    """

    revision: int
    at_ns: int
    change: Change
    attempt: int
    actor: str


def create_tables(conn: sqlite3.Connection) -> None:
    """Creates what is missing, statement by statement, inside the caller's transaction."""
    for statement in SCHEMA.split(";"):
        if statement.strip():
            conn.execute(statement)


def read_mark(conn: sqlite3.Connection) -> int:
    """High-water mark of the lease clock, nanoseconds; 0 before the first call."""
    return int(conn.execute(READ_MARK).fetchone()[0])


def raise_mark(conn: sqlite3.Connection, mark_ns: int) -> None:
    """Moves the mark forward; never back."""
    conn.execute(RAISE_MARK, (mark_ns, mark_ns))


def load(conn: sqlite3.Connection, operation_id: str) -> Stored | None:
    """One operation, whatever its namespace, or None."""
    row = conn.execute(SELECT_OPERATION, (operation_id,)).fetchone()
    return None if row is None else _stored(conn, row)


def load_workflow(conn: sqlite3.Connection, namespace: str, workflow_id: str) -> list[Operation]:
    """A workflow's operations in order of first sight."""
    rows = conn.execute(SELECT_WORKFLOW, (namespace, workflow_id)).fetchall()
    return [_stored(conn, row).operation for row in rows]


def load_intent(
    conn: sqlite3.Connection, binding: OperationBinding, settled: frozenset[str] | None
) -> tuple[Operation, ...]:
    """The workflow's operations of the same intent and arguments that are not settled.

    Args:
        conn: connection inside the caller's transaction.
        binding: the operation that is asked for; it is none of them.
        settled: operation ids; None: unknown, and so there are none.
    """
    if settled is None:
        return ()
    rows = conn.execute(
        SELECT_INTENT, (binding.namespace, binding.workflow_id, binding.intent_digest)
    ).fetchall()
    found = (_stored(conn, row).operation for row in rows)
    return tuple(
        one
        for one in found
        if one.binding.operation_id not in settled | {binding.operation_id}
        and one.binding.arguments_digest == binding.arguments_digest
    )


def count_workflow(conn: sqlite3.Connection, namespace: str, workflow_id: str) -> int:
    """How many operations a workflow holds."""
    return int(conn.execute(COUNT_WORKFLOW, (namespace, workflow_id)).fetchone()[0])


def next_workflow(conn: sqlite3.Connection, namespace: str, after: str) -> str | None:
    """The namespace's first workflow id after another one, or None; "" starts."""
    row = conn.execute(NEXT_WORKFLOW, (namespace, after)).fetchone()
    return None if row is None else str(row[0])


def read_revisions(conn: sqlite3.Connection, operation_id: str) -> Iterator[RevisionRow]:
    """An operation's changes in order."""
    for revision, at_ns, change, attempt, actor in conn.execute(SELECT_REVISIONS, (operation_id,)):
        yield RevisionRow(revision, at_ns, Change(change), attempt, actor)


def save(
    conn: sqlite3.Connection,
    before: Stored | None,
    after: Operation,
    revision: RevisionRow,
) -> None:
    """Keeps the next state of an operation and what changed it.

    Args:
        conn: connection inside the caller's transaction.
        before: what `load` gave, or None at first sight.
        after: the next state, exactly one revision on.
        revision: the audit's row of this change.
    """
    binding = after.binding
    receipt_json = receipt_text(after.receipt)
    if before is None:
        operation_key = conn.execute(
            INSERT_OPERATION,
            (
                binding.namespace,
                binding.operation_id,
                binding.workflow_id,
                binding.intent_digest,
                binding_text(binding),
                after.revision,
                after.key_deadline_ns,
                after.abandoned,
                receipt_json,
            ),
        ).lastrowid
        assert operation_key is not None
        known: tuple[AttemptRecord, ...] = ()
    else:
        operation_key = before.operation_key
        known = before.operation.attempts
        conn.execute(
            UPDATE_OPERATION,
            (after.revision, after.key_deadline_ns, after.abandoned, receipt_json, operation_key),
        )
    for record in after.attempts:
        if record.attempt > len(known) or record != known[record.attempt - 1]:
            conn.execute(REPLACE_ATTEMPT, (operation_key, *attempt_row(record)))
    conn.execute(
        INSERT_REVISION,
        (
            operation_key,
            revision.revision,
            revision.at_ns,
            revision.change.value,
            revision.attempt,
            revision.actor,
        ),
    )


def delete_namespace(conn: sqlite3.Connection, namespace: str) -> None:
    """Removes a namespace's operations with all that hangs on them."""
    conn.execute(DELETE_NAMESPACE, (namespace,))


def _stored(conn: sqlite3.Connection, row: tuple[Any, ...]) -> Stored:
    attempts = tuple(attempt_of(record) for record in conn.execute(SELECT_ATTEMPTS, (row[0],)))
    operation = Operation(
        binding=binding_of(row[1]),
        revision=row[2],
        attempts=attempts,
        key_deadline_ns=row[3],
        abandoned=bool(row[4]),
        receipt=receipt_of(row[5]),
    )
    return Stored(row[0], operation)
