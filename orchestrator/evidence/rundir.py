"""One run's folder: created once, appended to durably, never rewritten (DESIGN §8).

Raw evidence of a batch is written and fsynced before the trials that are scored from it, so a
crash at any moment leaves either both or a batch without trials, which a resumed run does again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from orchestrator.errors import EvidenceError, RunDirectoryError
from orchestrator.model import TrialRecord
from services.common.platform import atomic_write_bytes, fsync_dir

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["RunDirectory", "json_bytes", "read_json_lines"]

_Model = TypeVar("_Model", bound=BaseModel)

_LOCK_FILE = ".lock"
_PIECE_BYTES = 64 * 1024
_TRIALS_FILE = "trials.jsonl"
_FOLDERS = ("batches", "traces", "journals", "integrity", "narrative", "logs")


def read_json_lines(path: Path) -> Iterator[str]:
    """Yield the complete lines of a .jsonl file; a torn last line (no newline) is left out.

    Args:
        path: The file; a missing file has no lines.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield line[:-1]


def json_bytes(value: BaseModel | object) -> bytes:
    """The bytes of a JSON file of the bundle: the same value gives the same bytes."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


class RunDirectory:
    """The folder of one run, locked for as long as this object is open.

    Use as a context manager. `create` refuses an existing folder, `reopen` wants one.
    """

    def __init__(self, root: Path, lock: FileLock) -> None:
        self.root = root
        self._lock = lock
        self._trials = (root / _TRIALS_FILE).open("a", encoding="utf-8", newline="\n")

    @classmethod
    def create(cls, root: Path) -> RunDirectory:
        """Make a new run folder.

        Raises:
            RunDirectoryError: The folder exists.
        """
        try:
            root.mkdir(parents=True)
        except FileExistsError:
            raise RunDirectoryError(
                f"The run directory {root} exists already.",
                next_step="Choose another run id, or continue that run with RESUME=<its id>.",
            ) from None
        for folder in _FOLDERS:
            (root / folder).mkdir()
        return cls(root, _acquire(root))

    @classmethod
    def reopen(cls, root: Path) -> RunDirectory:
        """Open a run that was cut, for `RESUME=`.

        Raises:
            RunDirectoryError: No such run, no manifest in it, or another process is using it.
        """
        if not (root / "manifest.json").is_file():
            raise RunDirectoryError(
                f"{root} is no run directory: it has no manifest.json.",
                next_step="List runs/ and give the id of a run that was started: RESUME=<run id>.",
            )
        lock = _acquire(root)
        for folder in _FOLDERS:
            (root / folder).mkdir(exist_ok=True)
        _cut_torn_line(root / _TRIALS_FILE)
        return cls(root, lock)

    def __enter__(self) -> RunDirectory:
        """Return this directory."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files and give the lock back."""
        self.close()

    def close(self) -> None:
        """Close the files and give the lock back; safe to call twice."""
        self._trials.close()
        self._lock.release()

    def write_json(self, name: str, value: BaseModel | object) -> None:
        """Write a file of the bundle atomically and durably.

        Args:
            name: Path relative to the run folder, with forward slashes.
            value: A pydantic model, or plain JSON data.
        """
        atomic_write_bytes(self.root / name, json_bytes(value))

    def write_text(self, name: str, text: str) -> None:
        """Write a text file of the bundle atomically and durably."""
        atomic_write_bytes(self.root / name, text.encode())

    def read_model(self, name: str, kind: type[_Model]) -> _Model:
        """Read a file of the bundle back.

        Raises:
            EvidenceError: It is missing or no such record.
        """
        try:
            return kind.model_validate_json((self.root / name).read_bytes())
        except (OSError, ValidationError) as error:
            raise EvidenceError(
                f"{name} of the run {self.root.name} cannot be read: {error}.",
                next_step="The bundle was altered or is of another version: `memqual verify`.",
            ) from error

    def write_lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a .jsonl file atomically and durably; each line without its newline."""
        atomic_write_bytes(self.root / name, "".join(line + "\n" for line in lines).encode())

    def append_trials(self, trials: Iterable[TrialRecord]) -> None:
        """Append finished trials and fsync: what this returns from is never lost."""
        self._trials.write("".join(trial.model_dump_json() + "\n" for trial in trials))
        self._trials.flush()
        os.fsync(self._trials.fileno())
        fsync_dir(self.root)

    def trials(self) -> Iterator[TrialRecord]:
        """Yield the finished trials in the order in which they ended.

        Raises:
            EvidenceError: A line is no trial record.
        """
        for number, line in enumerate(read_json_lines(self.root / _TRIALS_FILE), start=1):
            try:
                yield TrialRecord.model_validate_json(line)
            except ValidationError as error:
                raise EvidenceError(
                    f"{_TRIALS_FILE} line {number} is no trial record: "
                    f"{error.error_count()} fields do not fit.",
                    next_step="It was altered or is of another version: run `memqual verify`.",
                ) from error


def _acquire(root: Path) -> FileLock:
    lock = FileLock(root / _LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunDirectoryError(
            f"Another process is using the run directory {root}.",
            next_step="Wait until it ends, or stop it; a killed process holds no lock.",
        ) from None
    return lock


def _cut_torn_line(path: Path) -> None:
    """Remove what a crash left of an unfinished line, so that the next one starts afresh.

    Read backward, a piece at a time: the file can be larger than memory.
    """
    if not path.exists():
        return
    with path.open("r+b") as file:
        size = end = file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - _PIECE_BYTES)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            file.truncate(end)
            file.flush()
            os.fsync(file.fileno())
