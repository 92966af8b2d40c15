"""Damage to a checkpoint file that an evaluator asks for, as a failing disk would do it."""

import contextlib
import os
import sqlite3
from pathlib import Path

__all__ = ["cut_in_half"]

_BUSY_SECONDS = 5.0


def cut_in_half(path: Path) -> tuple[int, int]:
    """Cuts a file in half; returns bytes before and after.

    SQLite's log is folded into the file first: half of a file beside a whole log may be read well.

    Raises:
        OSError: it cannot be written to.
        sqlite3.Error: its log cannot be folded in.
    """
    with contextlib.closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    size = path.stat().st_size
    os.truncate(path, size // 2)
    return size, size // 2
