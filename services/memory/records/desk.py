"""What every operation on records shares: store, policy, scoped look-up, changed standings."""

import sqlite3
from pathlib import Path

import grpc
import structlog
import tenacity

from services.common.database import Database
from services.common.errors import ServiceError
from services.memory.known_operations import OwnOperations
from services.memory.records import audit, lineage, schema, store
from services.memory.records.index import Index
from services.memory.records.model import (
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
)
from services.memory.records.policy import Policy
from services.memory.records.receipts import KnownOperation, KnownOperations
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

    def __init__(
        self, database: Database, policy: Policy, operations: KnownOperations | None = None
    ) -> None:
        """Opens the part on a database.

        Args:
            database: the memory's file.
            policy: the rules that decide.
            operations: port to the continuity part; None reads its tables in the same file.
        """
        self.database = database
        self.policy = policy
        self._operations = OwnOperations() if operations is None else operations
        with database.transaction() as conn:
            schema.create_tables(conn)
            self.key = schema.load_key(conn)
        self.index = Index(policy, self.key)

    def operation_of(
        self, conn: sqlite3.Connection, scope: Scope, source: Source
    ) -> KnownOperation | None:
        """The operation that a receipt names, if this memory knows it as this principal's."""
        if source.type is not SourceType.RECEIPT:
            return None
        return self._operations.find(conn, scope, source.source_id)

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
        *,
        superseded_by: str | None = None,
    ) -> Stored:
        """Saves a new standing, moves the record in the indexes, and writes the audit entry.

        Args:
            conn: connection inside the caller's transaction.
            stored: the record as it was.
            standing: what it stands for from now on.
            action: stable code for the audit trail.
            now_unix_ns: the store's clock.
            superseded_by: id of its successor; None leaves what it has.
        """
        record = stored.record
        authoritative = self.policy.authoritative(record.kind, record.source, standing)
        successor = record.superseded_by if superseded_by is None else superseded_by
        after = store.save_standing(conn, stored, standing, authoritative, successor)
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
            detail={} if superseded_by is None else {"superseded_by": superseded_by},
        )
        return after

    def lower_descendants(
        self, conn: sqlite3.Connection, ancestor: Stored, reason: Reason, now_unix_ns: int
    ) -> list[str]:
        """Brings an ancestor's doubts to all that was made of it; ids of what changed."""
        lowered = (
            self.lower(conn, ancestor, store.load(conn, row), reason, now_unix_ns)
            for row in lineage.descendants(conn, ancestor.row)
        )
        return [child.record.record_id for child in lowered if child is not None]

    def lower(
        self,
        conn: sqlite3.Connection,
        ancestor: Stored,
        child: Stored,
        reason: Reason,
        now_unix_ns: int,
    ) -> Stored | None:
        """Brings an ancestor's doubts to a descendant; None when it has them already."""
        standing = self.policy.under(ancestor.standing, child.standing, reason)
        if standing == child.standing or child.standing.state is State.FORGOTTEN:
            return None
        return self.change(conn, child, standing, str(reason), now_unix_ns)

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
