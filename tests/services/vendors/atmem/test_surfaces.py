"""Every row on disk is on exactly one surface, and the state's digest has no ids or times."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from services.common.canonical import JsonValue, sha256_hex
from services.vendors.atmem.surfaces import (
    Plane,
    household_items,
    household_state,
    vault_items,
    vault_state,
)

SCHEMA = """
    CREATE TABLE records (id TEXT, subject_id TEXT, content TEXT, status TEXT, trust_tier TEXT,
                          fact_key TEXT, supersedes_id TEXT, raw TEXT, created_at TEXT);
    CREATE TABLE episodes (id TEXT, message TEXT, source_type TEXT);
    CREATE TABLE memory_lifecycle (record_id TEXT, state TEXT);
    CREATE TABLE retrieval_exclusions (record_id TEXT);
    CREATE TABLE memory_proposals (subject_id TEXT, memory_class TEXT, review_state TEXT,
                                   proposal TEXT);
    CREATE TABLE audit_log (payload TEXT);
    CREATE TABLE edges (label TEXT);
    CREATE TABLE graph_fts_data (block BLOB);
    CREATE TABLE media_artifacts (sha TEXT);
    CREATE TABLE a_table_of_tomorrow (note TEXT);
"""


def _household(
    folder: Path, record_id: str = "rec_1", at: str = "09:00", content: str = "Opens at nine."
) -> Path:
    path = folder / "memory.db"
    raw = {"source_ids": ["alice.1"], "related_record_ids": [], "taint_labels": []}
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.execute(
            "INSERT INTO records VALUES (?, 'alice', ?, 'active', 'trusted_user', NULL, NULL,"
            " ?, ?)",
            (record_id, content, json.dumps(raw), at),
        )
        connection.execute("INSERT INTO episodes VALUES ('ep_1', 'what was said', 'website')")
        connection.execute("INSERT INTO audit_log VALUES ('what was done')")
        connection.execute("INSERT INTO edges VALUES ('near')")
        connection.execute("INSERT INTO graph_fts_data VALUES (x'6e696e65')")
        connection.execute("INSERT INTO media_artifacts VALUES ('digest')")
        connection.execute("INSERT INTO a_table_of_tomorrow VALUES ('new')")
    return path


def test_every_row_is_on_one_surface(tmp_path: Path) -> None:
    path = _household(tmp_path)
    found = {plane: dict(household_items(path, plane)) for plane in Plane}
    assert set(found[Plane.CANONICAL]) == {"records/0", "episodes/0", "a_table_of_tomorrow/0"}
    assert set(found[Plane.GRAPH]) == {"edges/0", "provenance/rec_1"}
    assert set(found[Plane.AUDIT]) == {"audit_log/0"}
    assert set(found[Plane.MEDIA]) == {"media_artifacts/0"}
    assert set(found[Plane.INDEX]) == {"graph_fts_data/0"}
    # Retained and told, but no scored surface.
    assert b"what was said" not in found[Plane.CANONICAL]["episodes/0"]
    assert sha256_hex(b"what was said").encode() in found[Plane.CANONICAL]["episodes/0"]
    assert b"alice.1" in found[Plane.GRAPH]["provenance/rec_1"]
    # Bytes are given in hexadecimal, in which a scan looks, too.
    assert b"nine".hex().encode() in found[Plane.INDEX]["graph_fts_data/0"]


def test_the_vector_file_belongs_to_the_index(tmp_path: Path) -> None:
    path = _household(tmp_path)
    with closing(sqlite3.connect(f"{path}.vectors.db")) as connection, connection:
        connection.execute("CREATE TABLE vector_entries (vector BLOB)")
        connection.execute("INSERT INTO vector_entries VALUES (x'00')")
    assert "vectors.vector_entries/0" in dict(household_items(path, Plane.INDEX))
    assert "vectors.vector_entries/0" not in dict(household_items(path, Plane.CANONICAL))


def test_nothing_is_made_by_reading_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert [list(household_items(path, plane)) for plane in Plane] == [[]] * len(Plane)
    assert household_state(path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_state_is_the_content_and_its_standing(tmp_path: Path) -> None:
    states = []
    for name, arguments in {
        "one": {},
        "another id and time": {"record_id": "rec_9", "at": "10:00"},
        "another text": {"content": "Opens at ten."},
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        states.append(household_state(_household(folder, **arguments)))
    assert states[0] == states[1]
    assert states[0] != states[2]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE records SET status = 'quarantined'",
        "INSERT INTO retrieval_exclusions VALUES ('rec_1')",
        "INSERT INTO memory_lifecycle VALUES ('rec_1', 'archived')",
        "INSERT INTO memory_proposals VALUES ('alice', 'procedure', 'pending_review', '{}')",
    ],
)
def test_the_state_changes_with_the_standing(tmp_path: Path, change: str) -> None:
    path = _household(tmp_path)
    before = household_state(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    assert household_state(path) != before


def _document(revision: int, status: str, **changes: JsonValue) -> Mapping[str, JsonValue]:
    call: dict[str, JsonValue] = {
        "status": status,
        "lease_hash": f"hash of {revision}",
        "lease_until": 100.0 + revision,
        "attempts": [{"attempt_id": "a", "run_id": "r", "mode": "execute", "started": 1.0}],
        "receipt": None,
        **changes,
    }
    return {
        "record_type": "continuity",
        "object_id": f"obj_{revision}",
        "recorded_at": str(revision),
        "workflow": {"workflow_id": "wf_1", "workflow_key": "call_1", "operations": [call]},
    }


def test_the_vaults_state_is_its_latest_without_secrets_and_times() -> None:
    early = [_document(1, "uncertain")]
    again = [_document(1, "pending"), _document(2, "uncertain")]
    assert vault_state(iter(early)) == vault_state(iter(again))
    done = [*early, _document(3, "completed", receipt={"operation_id": "op_1", "result": {}})]
    assert vault_state(iter(done)) != vault_state(iter(early))


def test_looks_are_audit_and_all_else_is_canonical() -> None:
    documents: list[Mapping[str, JsonValue]] = [
        _document(1, "pending"),
        {"record_type": "access", "object_id": "obj_2"},
        {"record_type": "continuity_event", "object_id": "obj_3"},
    ]
    found = {plane: [item for item, _ in vault_items(iter(documents), plane)] for plane in Plane}
    assert found[Plane.CANONICAL] == ["vault/obj_1", "vault/obj_3"]
    assert found[Plane.AUDIT] == ["vault/obj_2"]
    assert found[Plane.GRAPH] == found[Plane.INDEX] == found[Plane.MEDIA] == []
