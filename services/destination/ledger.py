"""The destination's tables beside the journal: rules, effects, keys and fences.

Every function works inside the caller's transaction or snapshot.
"""

import sqlite3
from dataclasses import dataclass

from services.destination.model import Applied, Capability, Invocation, QueryQuestion, WorkflowRules

__all__ = [
    "RetainedKey",
    "add_effect",
    "attempt_applied",
    "count_effects",
    "create",
    "fence_of",
    "first_effect",
    "keep_key",
    "key_of",
    "mark_called",
    "raise_fence",
    "rules_of",
    "set_rules",
    "was_called",
]

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS workflows (
        workflow_id TEXT PRIMARY KEY, capability TEXT NOT NULL, fenced INTEGER NOT NULL,
        visibility_delay_ms INTEGER NOT NULL, retention_seconds INTEGER NOT NULL,
        guard INTEGER NOT NULL, one_apply_per_attempt INTEGER NOT NULL,
        enforce_not_after INTEGER NOT NULL, called INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS effects (
        number INTEGER PRIMARY KEY, effect_id TEXT NOT NULL UNIQUE, workflow_id TEXT NOT NULL,
        operation_id TEXT NOT NULL, attempt INTEGER NOT NULL, result_json TEXT NOT NULL,
        committed_unix_ns INTEGER NOT NULL)""",
    """CREATE INDEX IF NOT EXISTS effects_of_operation
        ON effects (workflow_id, operation_id, attempt)""",
    """CREATE TABLE IF NOT EXISTS retained_keys (
        workflow_id TEXT NOT NULL, idempotency_key TEXT NOT NULL, tool TEXT NOT NULL,
        arguments_digest TEXT NOT NULL, effect_id TEXT NOT NULL, result_json TEXT NOT NULL,
        first_commit_unix_ns INTEGER NOT NULL,
        PRIMARY KEY (workflow_id, idempotency_key)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS fences (
        workflow_id TEXT NOT NULL, operation_id TEXT NOT NULL, attempt INTEGER NOT NULL,
        PRIMARY KEY (workflow_id, operation_id)) WITHOUT ROWID""",
)


@dataclass(frozen=True, slots=True)
class RetainedKey:
    """What a key is kept with: the first call's tool and arguments, its effect and commit time."""

    tool: str
    arguments_digest: str
    effect: Applied
    first_commit_unix_ns: int


def create(connection: sqlite3.Connection) -> None:
    """Creates the tables where they are missing."""
    for statement in _SCHEMA:
        connection.execute(statement)


def rules_of(connection: sqlite3.Connection, workflow_id: str) -> WorkflowRules | None:
    """A workflow's rules, or None when the evaluator has set none."""
    row = connection.execute(
        "SELECT capability, fenced, visibility_delay_ms, retention_seconds, guard, "
        "one_apply_per_attempt, enforce_not_after FROM workflows WHERE workflow_id = ?",
        (workflow_id,),
    ).fetchone()
    if row is None:
        return None
    capability, fenced, visibility_delay_ms, retention_seconds, guard, once, not_after = row
    return WorkflowRules(
        workflow_id=workflow_id,
        capability=Capability(capability),
        fenced=bool(fenced),
        visibility_delay_ms=visibility_delay_ms,
        retention_seconds=retention_seconds,
        guard=bool(guard),
        one_apply_per_attempt=bool(once),
        enforce_not_after=bool(not_after),
    )


def set_rules(connection: sqlite3.Connection, rules: WorkflowRules) -> None:
    """Sets a workflow's rules anew."""
    connection.execute(
        "INSERT OR REPLACE INTO workflows VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            rules.workflow_id,
            rules.capability.value,
            rules.fenced,
            rules.visibility_delay_ms,
            rules.retention_seconds,
            rules.guard,
            rules.one_apply_per_attempt,
            rules.enforce_not_after,
        ),
    )


def was_called(connection: sqlite3.Connection, workflow_id: str) -> bool:
    """True once a configured workflow had its first Invoke or QueryEffect."""
    row = connection.execute(
        "SELECT called FROM workflows WHERE workflow_id = ?", (workflow_id,)
    ).fetchone()
    return row is not None and bool(row[0])


def mark_called(connection: sqlite3.Connection, workflow_id: str) -> None:
    """Notes the first call of a workflow; writes nothing for a later one."""
    connection.execute(
        "UPDATE workflows SET called = 1 WHERE workflow_id = ? AND called = 0", (workflow_id,)
    )


def add_effect(
    connection: sqlite3.Connection, call: Invocation, effect: Applied, committed_unix_ns: int
) -> None:
    """Adds an effect of a call."""
    connection.execute(
        "INSERT INTO effects (effect_id, workflow_id, operation_id, attempt, result_json, "
        "committed_unix_ns) VALUES (?, ?, ?, ?, ?, ?)",
        (
            effect.effect_id,
            call.workflow_id,
            call.operation_id,
            call.attempt,
            effect.result_json,
            committed_unix_ns,
        ),
    )


def count_effects(connection: sqlite3.Connection, call: Invocation) -> int:
    """Effects of the call's operation so far."""
    row = connection.execute(
        "SELECT count(*) FROM effects WHERE workflow_id = ? AND operation_id = ?",
        (call.workflow_id, call.operation_id),
    ).fetchone()
    return int(row[0])


def attempt_applied(connection: sqlite3.Connection, call: Invocation) -> bool:
    """True when this operation and attempt has an effect."""
    row = connection.execute(
        "SELECT 1 FROM effects WHERE workflow_id = ? AND operation_id = ? AND attempt = ? LIMIT 1",
        (call.workflow_id, call.operation_id, call.attempt),
    ).fetchone()
    return row is not None


def first_effect(
    connection: sqlite3.Connection, question: QueryQuestion, committed_until_unix_ns: int | None
) -> Applied | None:
    """The operation's first effect, among those committed until a time where one is given."""
    row = connection.execute(
        "SELECT effect_id, result_json FROM effects WHERE workflow_id = ? AND operation_id = ? "
        "AND (? IS NULL OR committed_unix_ns <= ?) ORDER BY number LIMIT 1",
        (
            question.workflow_id,
            question.operation_id,
            committed_until_unix_ns,
            committed_until_unix_ns,
        ),
    ).fetchone()
    return None if row is None else Applied(effect_id=row[0], result_json=row[1], replayed=False)


def key_of(connection: sqlite3.Connection, call: Invocation) -> RetainedKey | None:
    """What the call's key is kept with, expired or not; None for a new key."""
    row = connection.execute(
        "SELECT tool, arguments_digest, effect_id, result_json, first_commit_unix_ns "
        "FROM retained_keys WHERE workflow_id = ? AND idempotency_key = ?",
        (call.workflow_id, call.idempotency_key),
    ).fetchone()
    if row is None:
        return None
    tool, arguments_digest, effect_id, result_json, first_commit_unix_ns = row
    return RetainedKey(
        tool=tool,
        arguments_digest=arguments_digest,
        effect=Applied(effect_id=effect_id, result_json=result_json, replayed=True),
        first_commit_unix_ns=first_commit_unix_ns,
    )


def keep_key(
    connection: sqlite3.Connection, call: Invocation, effect: Applied, committed_unix_ns: int
) -> None:
    """Keeps the call's key from now on, in place of an expired one."""
    connection.execute(
        "INSERT OR REPLACE INTO retained_keys VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            call.workflow_id,
            call.idempotency_key,
            call.tool,
            call.arguments_digest,
            effect.effect_id,
            effect.result_json,
            committed_unix_ns,
        ),
    )


def fence_of(connection: sqlite3.Connection, call: Invocation) -> int | None:
    """The attempt up to which the call's operation is refused, or None."""
    row = connection.execute(
        "SELECT attempt FROM fences WHERE workflow_id = ? AND operation_id = ?",
        (call.workflow_id, call.operation_id),
    ).fetchone()
    return None if row is None else int(row[0])


def raise_fence(connection: sqlite3.Connection, question: QueryQuestion) -> None:
    """Refuses attempts up to the question's from now on; a fence is never lowered."""
    connection.execute(
        "INSERT INTO fences VALUES (?, ?, ?) ON CONFLICT (workflow_id, operation_id) "
        "DO UPDATE SET attempt = max(attempt, excluded.attempt)",
        (question.workflow_id, question.operation_id, question.fence_attempt),
    )
