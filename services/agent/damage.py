"""Damage to a checkpoint file that an evaluator asks for, as a failing disk would do it."""

import os
from pathlib import Path

__all__ = ["cut_in_half"]


def cut_in_half(path: Path) -> tuple[int, int]:
    """Cuts a file, and SQLite's log beside it, in half; returns bytes before and after.

    Raises:
        OSError: it cannot be written to.
    """
    files = [path, path.with_name(f"{path.name}-wal")]
    sizes = [file.stat().st_size if file.exists() else 0 for file in files]
    for file, size in zip(files, sizes, strict=True):
        if size:
            os.truncate(file, size // 2)
    return sum(sizes), sum(size // 2 for size in sizes)
