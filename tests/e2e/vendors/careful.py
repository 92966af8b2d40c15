"""The reference memory with another good habit about its volume: what a memory may well do.

python -m tests.e2e.vendors.careful --how ends_without_room
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from services.common import logging, settings
from services.common.database import Database, DatabaseError
from services.memory.process import Composition, run

EXIT_CODE = 4
_FRAME_BYTES = 4096 + 24
_LOG_HEADER_BYTES = 32


class _EndsWithoutRoom(Database):
    """Ends the process when a commit finds no room: a new life starts from what is durable."""

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            with super().transaction() as connection:
                yield connection
        except DatabaseError as error:
            if "full" in str(error):
                os._exit(EXIT_CODE)
            raise


def _refuses_torn(path: Path) -> Database:
    """Does not start where the log ends within a record."""
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size and (size - _LOG_HEADER_BYTES) % _FRAME_BYTES:
        sys.exit(EXIT_CODE)
    return Database(path)


def _journal_in_place(path: Path) -> Database:
    """Keeps a rollback journal: pages are written in place, and folders are synced."""
    return _InPlace(path)


class _InPlace(Database):
    def _open(self) -> sqlite3.Connection:
        connection = super()._open()
        connection.execute("PRAGMA journal_mode=DELETE")
        # FULL does not sync the folder from which the journal is removed: EXTRA does.
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection


HOWS: dict[str, Callable[[Path], Database]] = {
    "ends_without_room": _EndsWithoutRoom,
    "refuses_torn": _refuses_torn,
    "journal_in_place": _journal_in_place,
}


def main() -> None:
    """Serves until SIGTERM."""
    logging.configure("memory")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--how", choices=sorted(HOWS), required=True)
    run(Composition("careful", open_database=HOWS[parser.parse_args().how]))


if __name__ == "__main__":
    settings.run(main)
