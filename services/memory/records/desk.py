"""What every operation on records shares: store, policy, scoped look-up, changed standings."""

import sqlite3
from pathlib import Path

import grpc
import structlog
import tenacity

from services.common.database import Database
from services.common.errors import ServiceError
from services.memory.records import audit, schema, store
from services.memory.records.index import Index
from services.memory.records.model import Scope, Standing
from services.memory.records.policy import Policy
from services.memory.records.store import Stored

__all__ = ["Desk"]

TRUNCATE_TRIES = 3
TRUNCATE_WAIT_SECONDS = 0.2
TRUNCATE_BUSY_MS = 1_000

_log = structlog.get_logger(__name__)


class _Busy(Exception):
    """A reader still needs the log; it can be cut when it is done."""


class Desk:
    """The records part's state: its tables are created here.

    Attributes:
        database: the memory's file, shared with the other parts.
        policy: the rules that decide.
        key: the store's own secret for keyed hashes.
        index: what is derived from content.
    """

    def __init__(self, database: Database, policy: Policy) -> None:
        self.database = database
        self.policy = policy
        with database.transaction() as conn:
            schema.create_tables(conn)
            self.key = schema.load_key(conn)
        self.index = Index(policy, self.key)

    def visible(self, conn: sqlite3.Connection, scope: Scope, record_id: str) -> Stored:
        """The record, if the scope sees it.

        Raises:
            ServiceError: NOT_FOUND; whether it exists elsewhere is not told.
        """
        stored = store.find(conn, record_id)
        if stored is None or stored.record.scope not in self.policy.visible_circles(scope):
            raise ServiceError(
                grpc.StatusCode.NOT_FOUND, "no such record in this scope; check id and scope"
            )
        return stored

    def change(
        self,
        conn: sqlite3.Connection,
        stored: Stored,
        standing: Standing,
        action: str,
        now_unix_ns: int,
    ) -> Stored:
        """Saves a new standing, moves the record in the indexes, and writes the audit entry."""
        record = stored.record
        authoritative = self.policy.authoritative(record.kind, record.source, standing)
        after = store.save_standing(conn, stored, standing, authoritative)
        if record.content is not None:
            self.index.move(conn, stored, after)
        audit.append(
            conn,
            stored.place.namespace_id,
            now_unix_ns,
            action,
            scope=record.scope,
            record_id=record.record_id,
            standing=standing,
        )
        return after

    def cut_log(self) -> None:
        """Folds the write-ahead log into the file and cuts it, so that erased text leaves it, too.

        Waits for readers that began before; after a bounded wait it logs and leaves the log to
        SQLite's next checkpoint.
        """
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRUNCATE_TRIES),
            wait=tenacity.wait_fixed(TRUNCATE_WAIT_SECONDS),
            retry=tenacity.retry_if_exception_type(_Busy),
            before_sleep=lambda state: _log.warning(
                "log_cut_retried", attempt=state.attempt_number
            ),
            reraise=True,
        )
        try:
            retrying(_truncate, self.database.path)
        except _Busy:
            _log.error("log_not_cut", next_step="a long read holds it; the next Forget cuts it")


def _truncate(path: Path) -> None:
    conn = sqlite3.connect(path, timeout=TRUNCATE_BUSY_MS / 1_000, isolation_level=None)
    try:
        busy = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        conn.close()
    if busy:
        raise _Busy
