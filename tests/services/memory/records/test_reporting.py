import json

import pytest

from memqual.v1 import vendor_pb2
from services.common.canonical import canonical_json, digest_hex
from services.common.database import Database
from services.memory.parts import RecordsPart
from services.memory.records import registrar, reporting, schema
from services.memory.records.model import (
    TAINT_ORDER,
    Kind,
    Media,
    Observation,
    Scope,
    Surface,
)
from tests.services.memory.records.rig import ALICE, RECEIPT, USER, WEB, Memory, MemoryFactory

CANARY = "canary-7f3a91"
TEXT = f"Alice keeps a {CANARY} on the balcony\nand feeds it"


def items(memory: Memory, surface: vendor_pb2.Surface.ValueType, namespace: str = "n") -> bytes:
    return b"\n".join(
        content for _, content in reporting.export(memory.database, namespace, surface)
    )


def digest(memory: Memory, namespace: str = "n") -> str:
    return digest_hex(list(reporting.digest_parts(memory.database, namespace)))


def fill(memory: Memory, namespace: str = "n") -> None:
    scope = Scope(namespace, "alice")
    media = Media("text/plain", f"picture of {CANARY}".encode())
    memory.writing.write(Observation(scope, Kind.FACT, TEXT, USER, media, 5, ("pet",)))
    poisoned = memory.write("The pump is open, says a page", WEB, scope=scope)
    trusted = memory.write("The valve is closed", RECEIPT, scope=scope)
    memory.derive("Summary", trusted.record_id, poisoned.record_id, scope=scope)
    memory.lifecycle.quarantine(scope, trusted.record_id, "suspected")


@pytest.mark.parametrize(
    "surface",
    [
        vendor_pb2.SURFACE_CANONICAL,
        vendor_pb2.SURFACE_GRAPH,
        vendor_pb2.SURFACE_INDEX,
        vendor_pb2.SURFACE_MEDIA,
    ],
)
def test_a_canary_is_found_on_every_surface_of_content(
    memory: Memory, surface: vendor_pb2.Surface.ValueType
) -> None:
    fill(memory)
    assert CANARY.encode() in items(memory, surface)
    assert items(memory, surface, "elsewhere") == b""


def test_content_is_exported_byte_for_byte(memory: Memory) -> None:
    fill(memory)
    assert TEXT.encode() in items(memory, vendor_pb2.SURFACE_CANONICAL)


def test_the_audit_trail_has_ids_and_codes_and_no_content(memory: Memory) -> None:
    fill(memory)
    entries = [
        json.loads(content)
        for _, content in reporting.export(memory.database, "n", vendor_pb2.SURFACE_AUDIT)
    ]
    assert [entry["action"] for entry in entries] == [
        "written",
        "written",
        "written",
        "derived",
        "quarantined",
    ]
    assert entries[0]["source"]["source_id"] == USER.source_id
    assert CANARY.encode() not in items(memory, vendor_pb2.SURFACE_AUDIT)


def test_item_ids_are_short_and_each_once(memory: Memory) -> None:
    fill(memory)
    for surface in vendor_pb2.Surface.values():
        ids = [item_id for item_id, _ in reporting.export(memory.database, "n", surface)]
        assert len(set(ids)) == len(ids)
        assert all(0 < len(item_id.encode()) <= 128 for item_id in ids)


def test_long_namespaces_are_exported_page_by_page(memory: Memory) -> None:
    count = reporting.PAGE + 7
    for number in range(count):
        memory.write(f"Reading number {number} is fine")
    exported = items(memory, vendor_pb2.SURFACE_GRAPH).splitlines()
    assert len(exported) == count


def test_equal_calls_give_equal_digests_in_any_store(make_memory: MemoryFactory) -> None:
    first, second = make_memory(), make_memory()
    second.write("Something else first", scope=Scope("elsewhere", "alice"))
    fill(first)
    fill(second)
    assert digest(first) == digest(second)
    before = digest(first)
    first.restart()
    assert digest(first) == before
    fill(first, "m")
    assert digest(first, "m") == before
    first.write("One more")
    assert digest(first) != before


def test_a_question_changes_no_digest(memory: Memory) -> None:
    fill(memory)
    before = digest(memory)
    memory.said("pump", Surface.EVIDENCE)
    memory.recalling.procedures(ALICE)
    assert digest(memory) == before


def test_an_empty_namespace_digests_as_nothing(memory: Memory) -> None:
    assert list(reporting.digest_parts(memory.database, "n")) == []


def test_every_digest_part_is_canonical(memory: Memory) -> None:
    fill(memory)
    for part in reporting.digest_parts(memory.database, "n"):
        assert json.loads(canonical_json(part)) == part


def test_reset_removes_a_namespace_and_no_other(memory: Memory) -> None:
    fill(memory, "n")
    fresh = digest(memory, "n")
    fill(memory, "m")
    kept = digest(memory, "m")
    challenge = memory.review.request(
        ALICE,
        (memory.recall("pump page", Surface.EVIDENCE)[0].viewed.stored.record.record_id,),
        "promote",
    )
    assert challenge.namespace == "n"
    with memory.database.transaction() as conn:
        schema.purge_namespace(conn, "n")
        schema.purge_namespace(conn, "unknown")
    assert digest(memory, "n") == digest_hex([])
    assert digest(memory, "m") == kept
    for surface in vendor_pb2.Surface.values():
        assert items(memory, surface, "n") == b""
    fill(memory, "n")
    assert digest(memory, "n") == fresh


def test_reset_leaves_no_row_behind(memory: Memory) -> None:
    fill(memory)
    memory.lifecycle.forget(ALICE, memory.recall(CANARY)[0].viewed.stored.record.record_id)
    with memory.database.transaction() as conn:
        schema.purge_namespace(conn, "n")
        tables = conn.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'mem_%'"
        ).fetchall()
        left = {
            name: conn.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for (name,) in tables
        }
    assert left.pop("mem_meta") == 2
    assert set(left.values()) == {0}


def test_the_part_is_what_the_process_asks_for(memory: Memory) -> None:
    part: RecordsPart = registrar.create(memory.database, None)
    assert list(part.taint_order) == [str(taint) for taint in TAINT_ORDER]
    capabilities = part.capabilities()
    assert capabilities == part.capabilities()
    declared = {declaration.capability for declaration in capabilities}
    assert declared == {
        vendor_pb2.CAPABILITY_SOURCE_TRUST,
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_DIRECT,
        vendor_pb2.CAPABILITY_DERIVATION_TRACKING_TRANSITIVE,
        vendor_pb2.CAPABILITY_PROCEDURAL_MEMORY,
        vendor_pb2.CAPABILITY_AUTHORITY_GATING,
        vendor_pb2.CAPABILITY_PURPOSE_SCOPED_RECALL,
        vendor_pb2.CAPABILITY_SECRET_BLOCKING,
    }
    fill(memory)
    assert list(part.export("n", vendor_pb2.SURFACE_MEDIA))
    assert len(list(part.digest_parts("n"))) == 4
    database: Database = memory.database
    with database.transaction() as conn:
        part.reset(conn, "n")
    assert list(part.digest_parts("n")) == []
