"""Rows of records: inserted, read, changed and erased inside the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from services.common.canonical import canonical_json, sha256_hex
from services.memory.records.model import (
    Binding,
    Kind,
    Media,
    Record,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
)
from services.memory.records.places import Place

__all__ = [
    "Draft",
    "Stored",
    "erase",
    "find",
    "insert",
    "load",
    "load_many",
    "record_id_of",
    "save_standing",
    "sql_list",
    "statement_of",
]

CHUNK = 500
_COLUMNS = (
    "r.row, r.record_id, n.name, p.name, c.agent, c.workspace, c.purpose, r.kind, r.content,"
    " r.content_digest, r.source_type, r.source_binding, r.source_id, r.media_type, r.media_data,"
    " r.event_unix_ns, r.labels_json, r.method, r.state, r.trust, r.taints, r.reasons_json,"
    " r.superseded_by, r.revision, r.namespace_id, r.principal_id, r.circle_id, r.ordinal,"
    " r.recency, r.authoritative, r.parents"
)
SELECT = (
    f"SELECT {_COLUMNS} FROM mem_records r JOIN mem_circles c ON c.id = r.circle_id"
    " JOIN mem_principals p ON p.id = r.principal_id JOIN mem_namespaces n ON n.id = r.namespace_id"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that is about to be kept.

    Attributes:
        content: None for a rejected one, of which nothing is kept but `statement`.
        statement: keyed digest of what is said (normal form and media).
    """

    scope: Scope
    kind: Kind
    content: str | None
    source: Source
    media: Media | None
    event_unix_ns: int
    labels: tuple[str, ...]
    method: str
    statement: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """A record with where it is kept.

    Attributes:
        ordinal: position in its namespace; recency: when a trusted source last said it.
        authoritative: as decided by the policy when its standing was saved.
    """

    record: Record
    place: Place
    ordinal: int
    recency: int
    authoritative: bool

    @property
    def row(self) -> int:
        """Position in the store."""
        return self.record.row

    @property
    def standing(self) -> Standing:
        """The memory's judgement of it."""
        return self.record.standing


def record_id_of(namespace: str, ordinal: int) -> str:
    """Id of the n-th record of a namespace: equal calls in equal order give equal ids.

    Knowing an id opens nothing: every call checks the scope.
    """
    return "rec_" + sha256_hex(canonical_json([namespace, ordinal]))[:32]


def insert(
    conn: sqlite3.Connection,
    place: Place,
    draft: Draft,
    standing: Standing,
    *,
    ordinal: int,
    authoritative: bool,
    now_unix_ns: int,
) -> Stored:
    """Keeps a new record."""
    record_id = record_id_of(draft.scope.namespace, ordinal)
    digest = "" if draft.content is None else sha256_hex(draft.content.encode("utf-8"))
    media = draft.media or Media("", b"")
    row = conn.execute(
        "INSERT INTO mem_records (record_id, namespace_id, principal_id, circle_id, ordinal,"
        " recency, kind, content, content_digest, statement, source_type, source_binding,"
        " source_id, media_type, media_data, event_unix_ns, written_unix_ns, labels_json, method,"
        " state, trust, taints, reasons_json, superseded_by, revision, parents, authoritative)"
        " VALUES"
        " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 1, 0, ?)",
        (
            record_id,
            place.namespace_id,
            place.principal_id,
            place.circle_id,
            ordinal,
            ordinal,
            draft.kind,
            draft.content,
            digest,
            draft.statement,
            draft.source.type,
            draft.source.binding,
            draft.source.source_id,
            media.media_type,
            media.data,
            draft.event_unix_ns,
            now_unix_ns,
            json.dumps(draft.labels, ensure_ascii=False),
            draft.method,
            standing.state,
            standing.trust,
            ",".join(standing.taints),
            json.dumps(standing.reasons),
            authoritative,
        ),
    ).lastrowid
    assert row is not None  # an INSERT that did not raise has a row id
    record = Record(
        row=row,
        record_id=record_id,
        scope=draft.scope,
        kind=draft.kind,
        content=draft.content,
        content_digest=digest,
        source=draft.source,
        media=draft.media,
        event_unix_ns=draft.event_unix_ns,
        labels=draft.labels,
        method=draft.method,
        standing=standing,
        parent_ids=(),
        superseded_by="",
        revision=1,
    )
    return Stored(record, place, ordinal, ordinal, authoritative)


def find(conn: sqlite3.Connection, record_id: str) -> Stored | None:
    """The record of an id, whoever may see it."""
    found = conn.execute(f"{SELECT} WHERE r.record_id = ?", (record_id,)).fetchone()
    return None if found is None else _stored(conn, found)


def load(conn: sqlite3.Connection, row: int) -> Stored:
    """The record at a row that exists."""
    return _stored(conn, conn.execute(f"{SELECT} WHERE r.row = ?", (row,)).fetchone())


def load_many(conn: sqlite3.Connection, rows: Iterable[int]) -> dict[int, Stored]:
    """Records by row; rows that do not exist are left out."""
    found: dict[int, Stored] = {}
    for chunk in _chunks(tuple(rows)):
        for values in conn.execute(f"{SELECT} WHERE r.row IN ({sql_list(len(chunk))})", chunk):
            found[values[0]] = _stored(conn, values)
    return found


def save_standing(
    conn: sqlite3.Connection,
    stored: Stored,
    standing: Standing,
    authoritative: bool,
    superseded_by: str,
) -> Stored:
    """Changes a record's standing and its successor's id, and raises its revision."""
    conn.execute(
        "UPDATE mem_records SET state = ?, trust = ?, taints = ?, reasons_json = ?,"
        " authoritative = ?, superseded_by = ?, revision = revision + 1 WHERE row = ?",
        (
            standing.state,
            standing.trust,
            ",".join(standing.taints),
            json.dumps(standing.reasons),
            authoritative,
            superseded_by,
            stored.row,
        ),
    )
    record = replace(
        stored.record,
        standing=standing,
        superseded_by=superseded_by,
        revision=stored.record.revision + 1,
    )
    return replace(stored, record=record, authoritative=authoritative)


def erase(conn: sqlite3.Connection, stored: Stored) -> Stored:
    """Removes everything that a caller gave; keeps ids, scope, kind, source type and standing."""
    conn.execute(
        "UPDATE mem_records SET content = NULL, content_digest = '', media_type = '',"
        " media_data = x'', labels_json = '[]', method = '', source_id = '', event_unix_ns = 0"
        " WHERE row = ?",
        (stored.row,),
    )
    conn.execute("DELETE FROM mem_outcomes WHERE row = ?", (stored.row,))
    record = replace(
        stored.record,
        content=None,
        content_digest="",
        media=None,
        labels=(),
        method="",
        source=replace(stored.record.source, source_id=""),
        event_unix_ns=0,
    )
    return replace(stored, record=record)


def statement_of(conn: sqlite3.Connection, row: int) -> bytes:
    """The keyed digest of what the record at a row says."""
    found = conn.execute("SELECT statement FROM mem_records WHERE row = ?", (row,)).fetchone()
    return bytes(found[0])


def sql_list(count: int) -> str:
    """Placeholders for so many values."""
    return ",".join("?" * count)


def _chunks(values: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def _stored(conn: sqlite3.Connection, values: tuple[Any, ...]) -> Stored:
    (row, record_id, namespace, principal, agent, workspace, purpose, kind, content, digest) = (
        values[:10]
    )
    (source_type, binding, source_id, media_type, media_data, event, labels, method) = values[10:18]
    (state, trust, taints, reasons, superseded_by, revision) = values[18:24]
    (namespace_id, principal_id, circle_id, ordinal, recency, authoritative, parents) = values[24:]
    standing = Standing(
        State(state),
        Trust(trust),
        tuple(Taint(taint) for taint in taints.split(",") if taint),
        tuple(json.loads(reasons)),
    )
    record = Record(
        row=row,
        record_id=record_id,
        scope=Scope(namespace, principal, agent, workspace, purpose),
        kind=Kind(kind),
        content=content,
        content_digest=digest,
        source=Source(SourceType(source_type), Binding(binding), source_id),
        media=Media(media_type, media_data) if media_type else None,
        event_unix_ns=event,
        labels=tuple(json.loads(labels)),
        method=method,
        standing=standing,
        parent_ids=_parent_ids(conn, row) if parents else (),
        superseded_by=superseded_by,
        revision=revision,
    )
    place = Place(namespace_id, principal_id, circle_id)
    return Stored(record, place, ordinal, recency, bool(authoritative))


def _parent_ids(conn: sqlite3.Connection, row: int) -> tuple[str, ...]:
    return tuple(
        record_id
        for (record_id,) in conn.execute(
            "SELECT r.record_id FROM mem_edges e JOIN mem_records r ON r.row = e.parent"
            " WHERE e.child = ? ORDER BY e.position",
            (row,),
        )
    )
