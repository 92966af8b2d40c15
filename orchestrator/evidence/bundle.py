"""Reads a finished bundle and changes nothing in it, not even a lock (DESIGN §8).

A bundle comes from somebody else: every read has a bound, and whatever does not fit is an
EvidenceError that names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from memqual.v1 import common_pb2, interposer_pb2
from orchestrator.errors import EvidenceError, RunDirectoryError
from orchestrator.evidence.records import BatchEvidence, message_from_json
from orchestrator.model import TrialRecord

__all__ = ["ALTERED", "OTHER_VERSION", "Bundle", "TrialLine"]

ALTERED = (
    "The bundle was altered after the run, or its copy is damaged: get it again from its maker."
)
"""Next step where evidence contradicts itself."""

OTHER_VERSION = (
    "It was altered, or made by another version: check out the commit in its manifest.json."
)
"""Next step where a file does not have the form that this version writes."""

DOCUMENT_BYTES_MAX = 512 * 1024 * 1024
LINE_BYTES_MAX = 64 * 1024 * 1024
_EVIDENCE_ID = re.compile(r"[0-9a-z]{1,64}", re.ASCII)

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class TrialLine:
    """One line of trials.jsonl.

    Attributes:
        number: From 1.
        text: Without its newline.
        record: What it says.
    """

    number: int
    text: str
    record: TrialRecord


class Bundle:
    """One run's folder, read-only.

    Raises:
        RunDirectoryError: There is no such folder.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise RunDirectoryError(
                f"{root} is no folder.",
                next_step="Give the folder of a run, such as runs/<run id>.",
            )
        self.root = root

    def has(self, name: str) -> bool:
        """Whether the bundle has a file."""
        return (self.root / name).is_file()

    def document(self, name: str) -> bytes:
        """A whole file.

        Raises:
            EvidenceError: It is missing, or larger than any file of a bundle is.
        """
        path = self.root / name
        try:
            if path.stat().st_size > DOCUMENT_BYTES_MAX:
                raise EvidenceError(
                    f"{name} has more than {DOCUMENT_BYTES_MAX} bytes.", next_step=ALTERED
                )
            return path.read_bytes()
        except OSError as error:
            raise _unreadable(name, error) from error

    def model(self, name: str, kind: type[_Model]) -> _Model:
        """A JSON file as what it is.

        Raises:
            EvidenceError: It is missing, or is no such thing.
        """
        try:
            return kind.model_validate_json(self.document(name))
        except ValidationError as error:
            raise EvidenceError(
                f"{name} is no {kind.__name__}: {_first(error)}.", next_step=OTHER_VERSION
            ) from error

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a .jsonl file, without newlines.

        Raises:
            EvidenceError: It is missing, ends in the middle of a line, or a line is no text.
        """
        number = 0
        try:
            with (self.root / name).open("rb") as file:
                while raw := file.readline(LINE_BYTES_MAX + 1):
                    number += 1
                    if not raw.endswith(b"\n"):
                        raise EvidenceError(
                            f"{name} line {number} has no end, or more than {LINE_BYTES_MAX} "
                            "bytes.",
                            next_step=ALTERED,
                        )
                    yield raw[:-1].decode()
        except UnicodeDecodeError as error:
            raise EvidenceError(f"{name} line {number} is no text.", next_step=ALTERED) from error
        except OSError as error:
            raise _unreadable(name, error) from error

    def trials(self) -> Iterator[TrialLine]:
        """Every line of trials.jsonl, in order.

        Raises:
            EvidenceError: As `lines`, or a line is no trial record.
        """
        for number, text in enumerate(self.lines("trials.jsonl"), start=1):
            try:
                record = TrialRecord.model_validate_json(text)
            except ValidationError as error:
                raise EvidenceError(
                    f"trials.jsonl line {number} is no trial record: {_first(error)}.",
                    next_step=OTHER_VERSION,
                ) from error
            yield TrialLine(number, text, record)

    def batch_ids(self) -> list[str]:
        """Ids of the batches that have a record, sorted."""
        return self.ids("batches", ".json")

    def ids(self, folder: str, suffix: str) -> list[str]:
        """Ids that name the files of one folder, sorted.

        Raises:
            EvidenceError: A file has a name that no run gives.
        """
        path = self.root / folder
        names = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
        found = []
        for name in names:
            identity = name.removesuffix(suffix)
            if not name.endswith(suffix) or _EVIDENCE_ID.fullmatch(identity) is None:
                raise EvidenceError(
                    f"{folder}/{name} does not belong into a bundle.", next_step=ALTERED
                )
            found.append(identity)
        return found

    def batch(self, batch_id: str) -> BatchEvidence:
        """A batch's record.

        Raises:
            EvidenceError: It is missing, malformed, or another batch's.
        """
        name = f"batches/{batch_id}.json"
        evidence = self.model(name, BatchEvidence)
        if evidence.batch.batch_id != batch_id:
            raise EvidenceError(f"{name} is of batch {evidence.batch.batch_id}.", next_step=ALTERED)
        return evidence

    def trace(self, batch_id: str) -> Iterator[interposer_pb2.TraceRecord]:
        """The interposer's records of a batch.

        Raises:
            EvidenceError: The file is missing or malformed.
        """
        name = f"traces/{batch_id}.jsonl"
        for number, line in enumerate(self.lines(name), start=1):
            yield message_from_json(line, interposer_pb2.TraceRecord, f"{name} line {number}")

    def journal(self, batch_id: str) -> Iterator[common_pb2.JournalRecord]:
        """The destination's records of a batch.

        Raises:
            EvidenceError: The file is missing or malformed.
        """
        name = f"journals/{batch_id}.jsonl"
        for number, line in enumerate(self.lines(name), start=1):
            yield message_from_json(line, common_pb2.JournalRecord, f"{name} line {number}")


def _unreadable(name: str, error: OSError) -> EvidenceError:
    return EvidenceError(
        f"{name} cannot be read: {error.strerror}.",
        next_step="Get the whole bundle; one of a run that was cut: continue it with RESUME=<run>.",
    )


def _first(error: ValidationError) -> str:
    """Where the first field stands that does not fit, and why."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the whole"
    return f"{where}: {first['msg']}"
