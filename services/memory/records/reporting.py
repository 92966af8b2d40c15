"""What Vendor asks of the records part: every surface in full, and what enters StateHash."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import asdict, astuple
from itertools import groupby

from memqual.v1 import vendor_pb2
from services.common.canonical import JsonValue, canonical_json
from services.common.database import Database
from services.memory.records import audit, outcome_store, places, store
from services.memory.records.model import Outcomes, Record
from services.memory.records.store import Stored

__all__ = ["digest_parts", "export"]

EXCERPT_CHARACTERS = 160
PAGE = 500

_Item = tuple[str, bytes]


def export(
    database: Database, namespace: str, surface: vendor_pb2.Surface.ValueType
) -> Iterator[_Item]:
    """(item id, raw content) of all that is kept of a namespace on one surface."""
    reader = _SURFACES.get(surface)
    if reader is None:
        return
    with database.read() as conn:
        namespace_id = places.find_namespace(conn, namespace)
        if namespace_id is not None:
            yield from reader(conn, namespace_id)


def digest_parts(database: Database, namespace: str) -> Iterator[JsonValue]:
    """Records in their order, by what they say and stand for; no times, tokens or nonces.

    Records are named by their numbers, so that equal calls give equal parts in every namespace.
    """
    with database.read() as conn:
        namespace_id = places.find_namespace(conn, namespace)
        if namespace_id is None:
            return
        numbers: dict[str, int] = dict(
            conn.execute(
                "SELECT record_id, ordinal FROM mem_records WHERE namespace_id = ?",
                (namespace_id,),
            )
        )
        for stored, outcomes in _counted(conn, namespace_id):
            record = stored.record
            yield {
                **_described(record),
                "outcomes": list(astuple(outcomes)),
                "parent_ids": [numbers[parent_id] for parent_id in record.parent_ids],
                "record": stored.ordinal,
                "superseded_by": numbers.get(record.superseded_by, 0),
            }


def _canonical(conn: sqlite3.Connection, namespace_id: int) -> Iterator[_Item]:
    """Each record's fields, and its content byte for byte."""
    for stored, outcomes in _counted(conn, namespace_id):
        record = stored.record
        fields: dict[str, JsonValue] = {
            **_described(record),
            "event_unix_ns": str(record.event_unix_ns),
            "outcomes": asdict(outcomes),
            "record_id": record.record_id,
            "revision": record.revision,
        }
        yield record.record_id, canonical_json(fields)
        if record.content is not None:
            yield f"{record.record_id}.content", record.content.encode("utf-8")


def _graph(conn: sqlite3.Connection, namespace_id: int) -> Iterator[_Item]:
    """Each record as a node, by the beginning of its content, with its edges to its parents."""
    for stored in _records(conn, namespace_id):
        record = stored.record
        excerpt = (record.content or "")[:EXCERPT_CHARACTERS]
        fields: dict[str, JsonValue] = {
            "excerpt": excerpt,
            "kind": str(record.kind),
            "parent_ids": list(record.parent_ids),
            "record_id": record.record_id,
            "state": str(record.standing.state),
            "superseded_by": record.superseded_by,
        }
        yield record.record_id, canonical_json(fields)


def _index(conn: sqlite3.Connection, namespace_id: int) -> Iterator[_Item]:
    """Each term as it lies in the index, with the records that have it."""
    circles = conn.execute(
        "SELECT c.id FROM mem_circles c JOIN mem_principals p ON p.id = c.principal_id"
        " WHERE p.namespace_id = ? ORDER BY c.id",
        (namespace_id,),
    ).fetchall()
    for (circle_id,) in circles:
        postings = conn.execute(
            "SELECT o.tier, o.term, r.record_id FROM mem_postings o"
            " JOIN mem_records r ON r.row = o.row WHERE o.circle_id = ?"
            " ORDER BY o.tier, o.term, o.row",
            (circle_id,),
        )
        for number, ((tier, term), found) in enumerate(groupby(postings, key=lambda p: p[:2])):
            lines = [term, *(record_id for _, _, record_id in found)]
            yield f"term-{circle_id}-{tier}-{number}", "\n".join(lines).encode("utf-8")


def _media(conn: sqlite3.Connection, namespace_id: int) -> Iterator[_Item]:
    for stored in _records(conn, namespace_id):
        if stored.record.media is not None:
            yield stored.record.record_id, stored.record.media.data


def _records(conn: sqlite3.Connection, namespace_id: int) -> Iterator[Stored]:
    for page in _pages(conn, namespace_id):
        yield from page


def _counted(conn: sqlite3.Connection, namespace_id: int) -> Iterator[tuple[Stored, Outcomes]]:
    for page in _pages(conn, namespace_id):
        counters = outcome_store.load_many(conn, [stored.row for stored in page])
        yield from ((stored, counters.get(stored.row, Outcomes())) for stored in page)


def _pages(conn: sqlite3.Connection, namespace_id: int) -> Iterator[list[Stored]]:
    ordinal = 0
    while True:
        rows = conn.execute(
            "SELECT row, ordinal FROM mem_records WHERE namespace_id = ? AND ordinal > ?"
            " ORDER BY ordinal LIMIT ?",
            (namespace_id, ordinal, PAGE),
        ).fetchall()
        if not rows:
            return
        loaded = store.load_many(conn, [row for row, _ in rows])
        yield [loaded[row] for row, _ in rows]
        ordinal = rows[-1][1]


def _described(record: Record) -> dict[str, JsonValue]:
    scope, source, standing = record.scope, record.source, record.standing
    return {
        "content_digest": record.content_digest,
        "kind": str(record.kind),
        "labels": list(record.labels),
        "media_type": record.media.media_type if record.media else "",
        "method": record.method,
        "parent_ids": list(record.parent_ids),
        "reasons": list(standing.reasons),
        "scope": [scope.principal, scope.agent, scope.workspace, scope.purpose],
        "source": [str(source.type), str(source.binding), source.source_id],
        "state": str(standing.state),
        "superseded_by": record.superseded_by,
        "taints": [str(taint) for taint in standing.taints],
        "trust": str(standing.trust),
    }


_SURFACES: dict[int, Callable[[sqlite3.Connection, int], Iterator[_Item]]] = {
    vendor_pb2.SURFACE_CANONICAL: _canonical,
    vendor_pb2.SURFACE_GRAPH: _graph,
    vendor_pb2.SURFACE_INDEX: _index,
    vendor_pb2.SURFACE_AUDIT: audit.entries,
    vendor_pb2.SURFACE_MEDIA: _media,
}
