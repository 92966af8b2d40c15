"""publish_document: real bytes in a folder (DESIGN §10: staged, committed, renamed idempotently).

    documents/<folder of the workflow>/<path>     what is published
    staging/<random name>                         written and synced, not yet published

The staged file's name is committed with the effect; the rename follows. A crash in between leaves
the staged file and its row, from which `recover` repeats the rename. A staged file without a row
was never committed.
"""

import os
import re
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from services.common import platform
from services.common.canonical import JsonObject, JsonValue, sha256_hex
from services.common.database import DatabaseError
from services.destination.tools.base import Action, Tool, ToolModule, ToolRefusal, text_argument

__all__ = ["Documents", "workflow_folder"]

ARGUMENTS = frozenset({"path", "content"})
PATH_BYTES = 120
PATH_SEGMENTS = 8
# Names that every file system of the three platforms takes and tells apart, and no step up.
_SEGMENT = re.compile(r"[a-z0-9_][a-z0-9._-]*", re.ASCII)
_WINDOWS_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.ASCII)


def workflow_folder(workflow_id: str) -> str:
    """The name of a workflow's folder: ids are opaque, names of folders are not."""
    return sha256_hex(workflow_id.encode("utf-8"))[:32]


class Documents(ToolModule):
    """Documents of each workflow, in one folder a workflow."""

    name = "documents"

    def __init__(self, data_dir: Path) -> None:
        self._published = data_dir / "documents"
        self._staging = data_dir / "staging"

    def tools(self) -> Sequence[Tool]:
        """publish_document({"path": relative name, "content": text})."""
        return (Tool(name="publish_document", read_only=False, prepare=self._prepare),)

    def create(self, connection: sqlite3.Connection) -> None:
        """Creates the folders and the table where they are missing."""
        self._published.mkdir(exist_ok=True)
        self._staging.mkdir(exist_ok=True)
        platform.fsync_dir(self._staging.parent)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS documents (workflow_id TEXT NOT NULL, "
            "path TEXT NOT NULL, size_bytes INTEGER NOT NULL, staged_name TEXT NOT NULL UNIQUE, "
            "PRIMARY KEY (workflow_id, path))"
        )

    def state(self, connection: sqlite3.Connection, workflow_id: str | None) -> JsonValue:
        """Digest of each file's bytes by its path below the documents' folder."""
        top = self._published
        if workflow_id is not None:
            top = top / workflow_folder(workflow_id)
        return {
            path.relative_to(self._published).as_posix(): sha256_hex(path.read_bytes())
            for path in _files(top)
        }

    def recover(self, connection: sqlite3.Connection, *, starting: bool) -> None:
        """Repeats the renames that a crash cut off; at the start also drops uncommitted files."""
        for staged in sorted(self._staging.iterdir()):
            row = connection.execute(
                "SELECT workflow_id, path FROM documents WHERE staged_name = ?", (staged.name,)
            ).fetchone()
            if row is not None:
                _rename(staged, self._final(row[0], row[1]))
            elif starting:
                staged.unlink()
        if starting:
            self._check_published(connection)

    def _check_published(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute("SELECT workflow_id, path, size_bytes FROM documents")
        for workflow_id, path, size_bytes in rows:
            final = self._final(workflow_id, path)
            if not final.is_file() or final.stat().st_size != size_bytes:
                raise DatabaseError(
                    f"a document of the journal is missing or cut in {final.parent.name}; keep the "
                    "volume as evidence and start on a fresh one",
                    transient=False,
                )

    def _final(self, workflow_id: str, path: str) -> Path:
        return self._published / workflow_folder(workflow_id) / path

    def _prepare(self, workflow_id: str, arguments: JsonObject) -> Action:
        if set(arguments) != ARGUMENTS:
            raise ToolRefusal("bad_arguments", "the arguments are path and content")
        path = _checked_path(text_argument(arguments, "path"))
        content = text_argument(arguments, "content").encode("utf-8")
        staged = self._staging / secrets.token_hex(16)
        with staged.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        platform.fsync_dir(self._staging)
        return _Publish(workflow_id, path, content, staged, self._final(workflow_id, path))


class _Publish(Action):
    def __init__(
        self, workflow_id: str, path: str, content: bytes, staged: Path, final: Path
    ) -> None:
        self._workflow_id = workflow_id
        self._path = path
        self._size_bytes = len(content)
        self._digest = sha256_hex(content)
        self._staged = staged
        self._final = final

    def apply(self, connection: sqlite3.Connection, *, guard: bool) -> JsonObject:
        exists = self._is_published(connection, self._path)
        if exists and guard:
            raise ToolRefusal("already_exists", "a document with this path is published")
        if not exists and self._crosses_folder(connection):
            raise ToolRefusal("path_taken", "a document and a folder cannot have the same path")
        connection.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)",
            (self._workflow_id, self._path, self._size_bytes, self._staged.name),
        )
        return {
            "path": self._path,
            "content_digest": self._digest,
            "size_bytes": self._size_bytes,
        }

    def finish(self) -> None:
        _rename(self._staged, self._final)

    def discard(self) -> None:
        self._staged.unlink(missing_ok=True)

    def _is_published(self, connection: sqlite3.Connection, path: str) -> bool:
        row = connection.execute(
            "SELECT 1 FROM documents WHERE workflow_id = ? AND path = ?", (self._workflow_id, path)
        ).fetchone()
        return row is not None

    def _crosses_folder(self, connection: sqlite3.Connection) -> bool:
        # '0' follows '/': the range holds exactly what lies below the path.
        below = connection.execute(
            "SELECT 1 FROM documents WHERE workflow_id = ? AND path > ? || '/' "
            "AND path < ? || '0' LIMIT 1",
            (self._workflow_id, self._path, self._path),
        ).fetchone()
        segments = self._path.split("/")
        above = ("/".join(segments[:count]) for count in range(1, len(segments)))
        return below is not None or any(self._is_published(connection, path) for path in above)


def _checked_path(path: str) -> str:
    segments = path.split("/")
    fits = len(path.encode("utf-8")) <= PATH_BYTES and len(segments) <= PATH_SEGMENTS
    if not fits or not all(_is_portable(segment) for segment in segments):
        raise ToolRefusal(
            "bad_path",
            f"a path is relative: at most {PATH_BYTES} bytes and {PATH_SEGMENTS} names of "
            "lower-case letters, digits, '.', '_' and '-', none starting with '.' or '-' or ending "
            "with '.'",
        )
    return path


def _is_portable(segment: str) -> bool:
    return (
        _SEGMENT.fullmatch(segment) is not None
        and not segment.endswith(".")
        and _WINDOWS_DEVICES.fullmatch(segment) is None
    )


def _rename(staged: Path, final: Path) -> None:
    """Puts a staged file in its place; nothing is left to do when that happened before."""
    final.parent.mkdir(parents=True, exist_ok=True)
    # Not synced here: until the file system has the rename, the staged file is found again.
    if staged.exists():
        staged.replace(final)


def _files(top: Path) -> Iterator[Path]:
    if top.is_dir():
        for path in sorted(top.rglob("*")):
            if path.is_file():
                yield path
