"""Everything that atmem has on disk for a namespace, row by row (read only).

Every table of the household and of its vector index belongs to one surface; a table that no rule
names is canonical, so that nothing of a later schema escapes. One thing is not given in full:
the text of a captured source (transcripts.py). The continuity vault is sealed: its documents are
opened with its own key and exported as they are inside.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Final

from services.common.canonical import JsonValue, digest_hex, sha256_hex
from services.vendors.atmem.transcripts import scored_row

__all__ = ["Item", "Plane", "household_items", "household_state", "vault_items", "vault_state"]

Item = tuple[str, bytes]


class Plane(Enum):
    """What a part of atmem's storage is, in the contract's words."""

    CANONICAL = "canonical"
    GRAPH = "graph"
    INDEX = "index"
    AUDIT = "audit"
    MEDIA = "media"


# By the beginning of a table's name; the first that fits counts.
_PLANES: Final = (
    ("audit_", Plane.AUDIT),
    ("investigation_", Plane.AUDIT),
    ("memory_reviews", Plane.AUDIT),
    ("memory_lifecycle_transitions", Plane.AUDIT),
    ("media_", Plane.MEDIA),
    ("governed_media_", Plane.MEDIA),
    ("formation_media_", Plane.MEDIA),
    ("protected_formation_media", Plane.MEDIA),
    ("graph_fts", Plane.INDEX),
    ("graph_", Plane.GRAPH),
    ("entities", Plane.GRAPH),
    ("entity_", Plane.GRAPH),
    ("edges", Plane.GRAPH),
    ("edge_", Plane.GRAPH),
    ("memory_lineage", Plane.GRAPH),
    ("records_fts", Plane.INDEX),
    ("record_search_terms", Plane.INDEX),
    ("retrieval_", Plane.INDEX),
    ("semantic_", Plane.INDEX),
    ("context_", Plane.INDEX),
    ("protocol_candidate_sets", Plane.INDEX),
    ("protocol_preparations", Plane.INDEX),
    ("protocol_exposures", Plane.INDEX),
)
_AUDITED: Final = frozenset({"access", "settings"})
_TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table'"
    " AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
)


def household_items(path: Path, plane: Plane) -> Iterator[Item]:
    """(item id, row as JSON) of one plane; nothing when there is no household.

    The graph has one item more for each record with content: what it came from.
    """
    if not path.exists():
        return
    yield from _rows(path, lambda table: _plane_of(table) is plane)
    if plane is Plane.GRAPH:
        yield from _provenance(path)
    vectors = path.with_name(path.name + ".vectors.db")
    if plane is Plane.INDEX and vectors.exists():
        yield from _rows(vectors, lambda table: True, prefix="vectors.")


def vault_items(documents: Iterator[Mapping[str, JsonValue]], plane: Plane) -> Iterator[Item]:
    """(item id, document as JSON) of one plane of a continuity vault."""
    for document in documents:
        audited = document.get("record_type") in _AUDITED
        if plane is (Plane.AUDIT if audited else Plane.CANONICAL):
            yield f"vault/{document.get('object_id', '')}", _json(document)


def household_state(path: Path) -> list[JsonValue]:
    """Digests of what the records say and how they stand, without ids and times, sorted."""
    if not path.exists():
        return []
    with closing(_connect(path)) as connection:
        excluded = {
            row[0] for row in connection.execute("SELECT record_id FROM retrieval_exclusions")
        }
        rows = connection.execute(
            "SELECT id, subject_id, content, status, trust_tier, fact_key, raw FROM records"
        ).fetchall()
        archived = {
            row[0]
            for row in connection.execute(
                "SELECT record_id FROM memory_lifecycle WHERE state = 'archived'"
            )
        }
        pending = connection.execute(
            "SELECT subject_id, memory_class, review_state, proposal FROM memory_proposals"
        ).fetchall()
    contents = {row["id"]: sha256_hex(row["content"].encode()) for row in rows}
    digests = [
        _record_digest(row, (row["id"] in excluded, row["id"] in archived), contents)
        for row in rows
    ]
    for row in pending:
        fact = json.loads(row["proposal"]).get("fact") or ""
        digests.append(
            digest_hex([row["subject_id"], row["memory_class"], row["review_state"], fact])
        )
    return [*sorted(digests)]


def vault_state(documents: Iterator[Mapping[str, JsonValue]]) -> list[JsonValue]:
    """Digests of what the operations are and how they stand, without tokens and times, sorted."""
    latest: dict[str, Mapping[str, JsonValue]] = {}
    for document in documents:
        workflow = document.get("workflow")
        if document.get("record_type") == "continuity" and isinstance(workflow, Mapping):
            latest[str(workflow.get("workflow_id"))] = workflow
    return [*sorted(_workflow_digest(workflow) for workflow in latest.values())]


def _record_digest(row: sqlite3.Row, apart: tuple[bool, bool], contents: Mapping[str, str]) -> str:
    """Of one record; `apart` says whether it is excluded from recall, and archived."""
    raw = json.loads(row["raw"])
    parents = [contents.get(one, "") for one in raw.get("related_record_ids") or ()]
    scope = raw.get("authority_scope") or {}
    return digest_hex(
        {
            "circle": [row["subject_id"], scope.get("agent_id"), scope.get("workspace_id")],
            "content": contents[row["id"]],
            "standing": [row["status"], row["trust_tier"], *apart, row["fact_key"]],
            "class": raw.get("memory_class"),
            "taints": raw.get("taint_labels") or [],
            "parents": sorted(parents),
        }
    )


def _workflow_digest(workflow: Mapping[str, JsonValue]) -> str:
    operations = workflow.get("operations")
    calls = (
        [one for one in operations if isinstance(one, Mapping)]
        if isinstance(operations, list)
        else []
    )
    return digest_hex(
        {
            "key": workflow.get("workflow_key"),
            "definitions": workflow.get("definitions"),
            "enabled": workflow.get("enabled"),
            "operations": [
                {
                    "status": call.get("status"),
                    "attempts": _attempts(call.get("attempts")),
                    "receipt": _without_native_id(call.get("receipt")),
                }
                for call in calls
            ],
        }
    )


def _attempts(value: JsonValue) -> list[JsonValue]:
    found = [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
    return [
        [one.get("attempt_id"), one.get("run_id"), one.get("mode"), one.get("outcome")]
        for one in found
    ]


def _without_native_id(receipt: JsonValue) -> JsonValue:
    if not isinstance(receipt, Mapping):
        return receipt
    return {name: value for name, value in receipt.items() if name != "operation_id"}


def _plane_of(table: str) -> Plane:
    return next((plane for start, plane in _PLANES if table.startswith(start)), Plane.CANONICAL)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _rows(path: Path, wanted: Callable[[str], bool], prefix: str = "") -> Iterator[Item]:
    with closing(_connect(path)) as connection:
        tables = [row["name"] for row in connection.execute(_TABLES)]
        for table in filter(wanted, tables):
            for number, row in enumerate(connection.execute(f'SELECT * FROM "{table}"')):
                yield f"{prefix}{table}/{number}", _json(scored_row(table, dict(row)))


def _provenance(path: Path) -> Iterator[Item]:
    """What each record came from, which atmem keeps in the record: the edges of a node."""
    with closing(_connect(path)) as connection:
        for row in connection.execute("SELECT id, supersedes_id, status, raw FROM records"):
            raw = json.loads(row["raw"])
            node = {
                "record_id": row["id"],
                "status": row["status"],
                "supersedes_id": row["supersedes_id"],
                "related_record_ids": raw.get("related_record_ids") or [],
                "source_ids": raw.get("source_ids") or [],
                "proposal_id": raw.get("proposal_id"),
            }
            yield f"provenance/{row['id']}", _json(node)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_hex).encode(
        "utf-8", "surrogatepass"
    )


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
