"""A store whose commits are durable at once, but for those of some calls (DESIGN §6)."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.common.database import Database, Synchronous

__all__ = ["LateSyncs"]

_late = threading.local()


class LateSyncs(Database):
    """Syncs its log after each commit, unless a rule said within it that it may wait.

    The death of the process takes nothing; a loss of power takes what nobody synced since.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, synchronous=Synchronous.NORMAL)
        self._log = path.with_name(f"{path.name}-wal")

    @staticmethod
    def wait() -> None:
        """Let the commit of this thread's transaction go unsynced."""
        _late.may_wait = True

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """As the reference's; durable on exit unless `wait` was called within."""
        _late.may_wait = False
        with super().transaction() as connection:
            yield connection
        if not _late.may_wait:
            self._sync()

    def _sync(self) -> None:
        if not self._log.exists():
            return
        # SQLite's locks are on other files: closing this descriptor takes none of them away.
        descriptor = os.open(self._log, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
