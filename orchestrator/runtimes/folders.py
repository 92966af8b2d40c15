"""Reading a folder that a running service writes to: what is there now, in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator.errors import StackError

__all__ = ["PIECE_BYTES", "files_of"]

PIECE_BYTES = 1024 * 1024


def files_of(folder: Path) -> Iterator[bytes]:
    """Each file's path within the folder, then its content in pieces; files in order of names.

    A file that goes while it is looked for is left out: it holds nothing any more.

    Raises:
        StackError: a file is there and cannot be read.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        yield f"\n{path.relative_to(folder).as_posix()}\n".encode()
        try:
            with path.open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    yield piece
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StackError(
                f"The data folder's file {path.name!r} cannot be read: {error.strerror}.",
                next_step="Close what holds it, and run again.",
            ) from error
