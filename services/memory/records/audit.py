"""The audit trail: what was done to which record, by ids, codes and keyed hashes only.

It never holds content, so that it can outlive a Forget.
"""

import json
import sqlite3
from collections.abc import Iterator

from services.common.canonical import JsonValue
from services.memory.records.model import Scope, Source, Standing

__all__ = ["append", "entries"]


def append(
    conn: sqlite3.Connection,
    namespace_id: int,
    now_unix_ns: int,
    action: str,
    *,
    scope: Scope,
    record_id: str = "",
    standing: Standing | None = None,
    source: Source | None = None,
    detail: dict[str, JsonValue] | None = None,
) -> None:
    """Adds one entry inside the caller's transaction."""
    payload: dict[str, JsonValue] = {
        "action": action,
        "agent": scope.agent,
        "at_unix_ns": str(now_unix_ns),
        "principal": scope.principal,
        "purpose": scope.purpose,
        "record_id": record_id,
        "workspace": scope.workspace,
        **(detail or {}),
    }
    if standing is not None:
        payload["state"] = str(standing.state)
        payload["trust"] = str(standing.trust)
        payload["taints"] = [str(taint) for taint in standing.taints]
        payload["reasons"] = list(standing.reasons)
    if source is not None:
        payload["source"] = {
            "binding": str(source.binding),
            "source_id": source.source_id,
            "type": str(source.type),
        }
    conn.execute(
        "INSERT INTO mem_audit (namespace_id, payload_json) VALUES (?, ?)",
        (namespace_id, json.dumps(payload, sort_keys=True, ensure_ascii=False)),
    )


def entries(conn: sqlite3.Connection, namespace_id: int) -> Iterator[tuple[str, bytes]]:
    """(stable id, JSON with sorted keys) of every entry of a namespace, oldest first."""
    for sequence, payload in conn.execute(
        "SELECT sequence, payload_json FROM mem_audit WHERE namespace_id = ? ORDER BY sequence",
        (namespace_id,),
    ):
        yield f"audit-{sequence}", payload.encode("utf-8")
