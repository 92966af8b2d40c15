"""Tables of the records part, in the memory's own database file (DESIGN §4).

Text of a record is in `mem_records` (once) and, as terms, in `mem_postings`; all else holds ids,
states and keyed hashes. An inverted index of our own instead of FTS5: FTS5 ranks by statistics over
every principal's records (a way to bleed), leaves deleted words in its segments until they are
merged (SQLite < 3.42 has no secure delete for it), and cannot stop early.
"""

import secrets
import sqlite3

from services.memory.records.fingerprints import FingerprintKey

__all__ = ["create_tables", "load_key", "purge_namespace"]

SECRET_BYTES = 32
WRITER_CACHE_KIB = 32 * 1024

_TABLES = """
CREATE TABLE IF NOT EXISTS mem_meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mem_namespaces (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, records INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS mem_principals (
    id INTEGER PRIMARY KEY, namespace_id INTEGER NOT NULL, name TEXT NOT NULL,
    UNIQUE (namespace_id, name));
CREATE TABLE IF NOT EXISTS mem_circles (
    id INTEGER PRIMARY KEY, principal_id INTEGER NOT NULL, agent TEXT NOT NULL,
    workspace TEXT NOT NULL, purpose TEXT NOT NULL,
    UNIQUE (principal_id, agent, workspace, purpose));

CREATE TABLE IF NOT EXISTS mem_records (
    row INTEGER PRIMARY KEY, record_id TEXT NOT NULL UNIQUE, namespace_id INTEGER NOT NULL,
    principal_id INTEGER NOT NULL, circle_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    recency INTEGER NOT NULL, kind TEXT NOT NULL, content TEXT,
    content_digest TEXT NOT NULL, statement BLOB NOT NULL,
    source_type TEXT NOT NULL, source_binding TEXT NOT NULL, source_id TEXT NOT NULL,
    media_type TEXT NOT NULL, media_data BLOB NOT NULL, event_unix_ns INTEGER NOT NULL,
    written_unix_ns INTEGER NOT NULL,
    labels_json TEXT NOT NULL, method TEXT NOT NULL, state TEXT NOT NULL, trust TEXT NOT NULL,
    taints TEXT NOT NULL, reasons_json TEXT NOT NULL, superseded_by TEXT NOT NULL,
    revision INTEGER NOT NULL, parents INTEGER NOT NULL,
    authoritative INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS mem_records_statement ON mem_records (circle_id, statement);
CREATE INDEX IF NOT EXISTS mem_records_said ON mem_records (principal_id, row)
    WHERE content IS NOT NULL;
CREATE INDEX IF NOT EXISTS mem_records_namespace ON mem_records (namespace_id, ordinal);
CREATE INDEX IF NOT EXISTS mem_procedures ON mem_records (circle_id, row)
    WHERE kind = 'procedure' AND authoritative = 1;

CREATE TABLE IF NOT EXISTS mem_edges (
    child INTEGER NOT NULL, position INTEGER NOT NULL, parent INTEGER NOT NULL,
    declared INTEGER NOT NULL, PRIMARY KEY (child, position)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mem_edges_parent ON mem_edges (parent, child);

CREATE TABLE IF NOT EXISTS mem_shelves (
    circle_id INTEGER NOT NULL, tier INTEGER NOT NULL, records INTEGER NOT NULL,
    terms INTEGER NOT NULL, PRIMARY KEY (circle_id, tier)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mem_postings (
    circle_id INTEGER NOT NULL, tier INTEGER NOT NULL, term TEXT NOT NULL, row INTEGER NOT NULL,
    count INTEGER NOT NULL, length INTEGER NOT NULL,
    PRIMARY KEY (circle_id, tier, term, row)) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mem_flow (
    fingerprint INTEGER NOT NULL, space INTEGER NOT NULL, rank INTEGER NOT NULL,
    row INTEGER NOT NULL, total INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, space, rank, row)) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mem_outcomes (
    row INTEGER PRIMARY KEY, helpful INTEGER NOT NULL, harmful INTEGER NOT NULL,
    neutral INTEGER NOT NULL, utility_micros INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS mem_challenges (
    challenge_id TEXT PRIMARY KEY, namespace_id INTEGER NOT NULL, challenge BLOB,
    scope_json TEXT NOT NULL, revisions_json TEXT NOT NULL, expires_unix_ns INTEGER NOT NULL,
    decision TEXT NOT NULL, key_id TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mem_challenges_namespace ON mem_challenges (namespace_id, decision);

CREATE TABLE IF NOT EXISTS mem_audit (
    sequence INTEGER PRIMARY KEY, namespace_id INTEGER NOT NULL, payload_json TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS mem_audit_namespace ON mem_audit (namespace_id, sequence);
"""

_PURGES = (
    "DELETE FROM mem_flow WHERE space = ?1 * 4",
    "DELETE FROM mem_flow WHERE space IN (SELECT id * 4 + 1 FROM mem_principals"
    " WHERE namespace_id = ?1 UNION ALL SELECT id * 4 + 2 FROM mem_principals"
    " WHERE namespace_id = ?1)",
    "DELETE FROM mem_postings WHERE circle_id IN (SELECT c.id FROM mem_circles c"
    " JOIN mem_principals p ON p.id = c.principal_id WHERE p.namespace_id = ?1)",
    "DELETE FROM mem_shelves WHERE circle_id IN (SELECT c.id FROM mem_circles c"
    " JOIN mem_principals p ON p.id = c.principal_id WHERE p.namespace_id = ?1)",
    "DELETE FROM mem_edges WHERE child IN (SELECT row FROM mem_records WHERE namespace_id = ?1)",
    "DELETE FROM mem_outcomes WHERE row IN (SELECT row FROM mem_records WHERE namespace_id = ?1)",
    "DELETE FROM mem_records WHERE namespace_id = ?1",
    "DELETE FROM mem_challenges WHERE namespace_id = ?1",
    "DELETE FROM mem_audit WHERE namespace_id = ?1",
    "DELETE FROM mem_circles WHERE principal_id IN"
    " (SELECT id FROM mem_principals WHERE namespace_id = ?1)",
    "DELETE FROM mem_principals WHERE namespace_id = ?1",
    "DELETE FROM mem_namespaces WHERE id = ?1",
)


def create_tables(conn: sqlite3.Connection) -> None:
    """Creates what is missing, inside the caller's transaction."""
    # Freed bytes are overwritten with zeros; a property of the (writer's) connection.
    conn.execute("PRAGMA secure_delete = ON")
    # Keyed hashes fall anywhere in their index; its inner pages should stay in memory.
    conn.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
    for statement in _TABLES.split(";"):
        if statement.strip():
            conn.execute(statement)
    conn.execute(
        "INSERT OR IGNORE INTO mem_meta VALUES ('secret', ?)", (secrets.token_bytes(SECRET_BYTES),)
    )
    conn.execute("INSERT OR IGNORE INTO mem_meta VALUES ('clock_unix_ns', 0)")


def load_key(conn: sqlite3.Connection) -> FingerprintKey:
    """The store's own secret for keyed hashes, made once a volume."""
    row = conn.execute("SELECT value FROM mem_meta WHERE name = 'secret'").fetchone()
    return FingerprintKey(bytes(row[0]))


def purge_namespace(conn: sqlite3.Connection, namespace: str) -> None:
    """Removes everything of a namespace inside the caller's transaction."""
    row = conn.execute("SELECT id FROM mem_namespaces WHERE name = ?", (namespace,)).fetchone()
    if row is None:
        return
    for statement in _PURGES:
        conn.execute(statement, (row[0],))
