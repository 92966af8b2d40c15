"""Retail as a module of tools: each workflow's changes lie beside the base that all share."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from services.common.canonical import JsonObject, JsonValue
from services.destination.tools.base import Action, Tool, ToolModule
from services.destination.tools.retail.reads import READS, Read
from services.destination.tools.retail.store import (
    Kind,
    RetailBase,
    StateDigests,
    View,
    state_digests,
)
from services.destination.tools.retail.writes import WRITES, Write

__all__ = ["RESULT", "Retail"]

RESULT = "value"
"""Name of a tool's answer within its result, which is always an object."""


class Retail(ToolModule):
    """The 16 tools of the retail environment."""

    name = "retail"

    def __init__(self, base: RetailBase) -> None:
        """Every workflow begins with this store."""
        self._base = base

    def tools(self) -> Sequence[Tool]:
        """Nine that only read, seven that write."""
        reads = [Tool(name, True, partial(self._prepare_read, READS[name])) for name in READS]
        writes = [Tool(name, False, partial(self._prepare_write, WRITES[name])) for name in WRITES]
        return (*reads, *writes)

    def create(self, connection: sqlite3.Connection) -> None:
        """Creates the table of changes where it is missing."""
        connection.execute(
            "CREATE TABLE IF NOT EXISTS retail_documents (workflow_id TEXT NOT NULL, "
            "kind TEXT NOT NULL, id TEXT NOT NULL, body_json TEXT NOT NULL, "
            "PRIMARY KEY (workflow_id, kind, id)) WITHOUT ROWID"
        )

    def state(self, connection: sqlite3.Connection, workflow_id: str | None) -> JsonValue:
        """Every changed user and order, by workflow; empty where nothing was changed."""
        rows = connection.execute(
            "SELECT workflow_id, kind, id, body_json FROM retail_documents"
            " WHERE workflow_id = ?1 OR ?1 IS NULL ORDER BY workflow_id, kind, id",
            (workflow_id,),
        )
        return [[workflow, kind, identity, body] for workflow, kind, identity, body in rows]

    def digests(self, connection: sqlite3.Connection, workflow_id: str) -> StateDigests:
        """Digests of a workflow's whole store, base and changes (DESIGN §10)."""
        return state_digests(self._base, _kept(connection, workflow_id))

    def _prepare_read(self, read: Read, workflow_id: str, arguments: JsonObject) -> Action:
        def answer(view: View, guard: bool) -> JsonValue:
            return read(view, arguments)

        return _Call(self._base, workflow_id, answer)

    def _prepare_write(self, write: Write, workflow_id: str, arguments: JsonObject) -> Action:
        def answer(view: View, guard: bool) -> JsonValue:
            return write(view, arguments, guard)

        return _Call(self._base, workflow_id, answer)


class _Call(Action):
    """One prepared call."""

    def __init__(
        self, base: RetailBase, workflow_id: str, answer: Callable[[View, bool], JsonValue]
    ) -> None:
        self._base = base
        self._workflow_id = workflow_id
        self._answer = answer

    def apply(self, connection: sqlite3.Connection, *, guard: bool) -> JsonObject:
        view = View(self._base, _kept(connection, self._workflow_id))
        answer = self._answer(view, guard)
        connection.executemany(
            "INSERT OR REPLACE INTO retail_documents VALUES (?, ?, ?, ?)",
            [
                (self._workflow_id, kind, identity, json.dumps(body))
                for (kind, identity), body in view.changed.items()
            ],
        )
        return {RESULT: answer}


def _kept(
    connection: sqlite3.Connection, workflow_id: str
) -> dict[tuple[Kind, str], dict[str, Any]]:
    rows = connection.execute(
        "SELECT kind, id, body_json FROM retail_documents WHERE workflow_id = ?", (workflow_id,)
    )
    return {(kind, identity): json.loads(body) for kind, identity, body in rows}
