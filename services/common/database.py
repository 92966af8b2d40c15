"""A SQLite file that is durable before it answers (DESIGN §10: WAL, synchronous FULL).

One writer connection behind a lock, a bounded pool of read connections. What left `transaction()`
without an exception survives the death of the process; with Synchronous.FULL it is also synced.
"""

import enum
import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Database", "DatabaseError", "Synchronous"]

BUSY_TIMEOUT_MS = 5_000
READ_CONNECTIONS = 16
READ_WAIT_SECONDS = 30.0
JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024
PRIMARY_CODE_MASK = 0xFF
TRANSIENT_CODES = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
)
_FRESH_VOLUME = "keep it as evidence and start on a fresh volume"
_HELD = "another process holds the file; stop it"
NEXT_STEPS = {
    sqlite3.SQLITE_BUSY: _HELD,
    sqlite3.SQLITE_LOCKED: _HELD,
    sqlite3.SQLITE_FULL: "the volume is full; free some space",
    sqlite3.SQLITE_IOERR: "the volume cannot be read or written; check it",
    sqlite3.SQLITE_CORRUPT: f"the file is damaged; {_FRESH_VOLUME}",
    sqlite3.SQLITE_NOTADB: f"the file is no database; {_FRESH_VOLUME}",
    sqlite3.SQLITE_CANTOPEN: "the folder is missing or not writable; check the mount",
    sqlite3.SQLITE_READONLY: "the volume is read-only; check the mount",
}


class Synchronous(enum.Enum):
    """When SQLite syncs its log (the value of PRAGMA synchronous)."""

    FULL = "FULL"
    """At every commit: survives a loss of power."""
    NORMAL = "NORMAL"
    """At checkpoints only: survives the death of the process; power loss may take the last."""


class DatabaseError(Exception):
    """The store cannot do what it was asked; says why and what to do.

    Attributes:
        transient: True when the same call may succeed later (busy, full, input or output error).
    """

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient


class Database:
    """One SQLite file, shared by all threads of one process."""

    def __init__(self, path: Path, *, synchronous: Synchronous = Synchronous.FULL) -> None:
        """Opens or creates the file and checks it.

        Raises:
            DatabaseError: no database, damaged, or its folder cannot be used.
        """
        self._path = path
        self._synchronous = synchronous
        self._lock = threading.RLock()
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._readers: list[sqlite3.Connection] = []
        self._readers_lock = threading.Lock()
        try:
            self._writer = self._open()
            problem = self._writer.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            raise self._translate(error) from error
        if problem != "ok":
            self._writer.close()
            raise DatabaseError(
                f"{path.name} is damaged ({problem}); {_FRESH_VOLUME}",
                transient=False,
            )

    @property
    def path(self) -> Path:
        """The database file."""
        return self._path

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed and durable on exit, rolled back on any exception.

        Raises:
            DatabaseError: the store failed; a failure while committing leaves the outcome unknown
                until the next start, as with any failed write.
            RuntimeError: the calling thread is in a transaction already.
        """
        with self._lock:
            connection = self._writer
            if connection.in_transaction:
                raise RuntimeError("transactions do not nest")
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(connection)
                if isinstance(error, sqlite3.Error) and _is_store_failure(error):
                    raise self._translate(error) from error
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection on one consistent snapshot of everything committed before.

        Raises:
            DatabaseError: the store failed, or no read connection was free in 30 s.
        """
        connection = self._borrow()
        try:
            connection.execute("BEGIN")
            yield connection
        except sqlite3.Error as error:
            if _is_store_failure(error):
                raise self._translate(error) from error
            raise
        finally:
            self._roll_back(connection)
            self._idle.put(connection)

    def close(self) -> None:
        """Closes every connection; the last one folds the log into the file. Idempotent."""
        with self._readers_lock:
            for reader in self._readers:
                reader.close()
            self._readers.clear()
        with self._lock:
            self._writer.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_TIMEOUT_MS / 1_000,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self._synchronous.value}")
            connection.execute(f"PRAGMA journal_size_limit={JOURNAL_SIZE_LIMIT_BYTES}")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA temp_store=MEMORY")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            pass
        with self._readers_lock:
            if len(self._readers) < READ_CONNECTIONS:
                try:
                    reader = self._open()
                    reader.execute("PRAGMA query_only=ON")
                except sqlite3.Error as error:
                    raise self._translate(error) from error
                self._readers.append(reader)
                return reader
        try:
            return self._idle.get(timeout=READ_WAIT_SECONDS)
        except queue.Empty as error:
            raise DatabaseError(
                f"all {READ_CONNECTIONS} read connections were busy for {READ_WAIT_SECONDS:.0f} s; "
                "try again",
                transient=True,
            ) from error

    @staticmethod
    def _roll_back(connection: sqlite3.Connection) -> None:
        # SQLite has rolled back by itself after some failures; then there is nothing to undo.
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def _translate(self, error: sqlite3.Error) -> DatabaseError:
        code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE_MASK
        next_step = NEXT_STEPS.get(code, "see the service's log")
        return DatabaseError(
            f"{self._path.name}: {error}: {next_step}", transient=code in TRANSIENT_CODES
        )


def _is_store_failure(error: sqlite3.Error) -> bool:
    """True for failures of the store; constraint and usage errors stay the caller's own."""
    return type(error) in {sqlite3.OperationalError, sqlite3.DatabaseError}
