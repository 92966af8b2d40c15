"""Memories that trust their volume, or distrust it, at the wrong moment; each breaks one rule."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from memqual.v1 import vendor_pb2
from services.common.database import Database, DatabaseError, Synchronous
from services.controls.flaw import Flaw, named
from services.controls.late_commits import WriteBehind
from services.controls.late_syncs import LateSyncs
from services.memory.answers import (
    QueryCall,
    RecordStep,
    Refused,
    RenewCall,
    RenewStep,
    ResolveCall,
)
from services.memory.decisions import DecisionRules
from services.memory.model import LeaseClock, Operation
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = ["FLAWS"]

_FRAME_BYTES = 4096 + 24
_LOG_HEADER_BYTES = 32
_STARTS_MAX = 3
_CHANGES = ("write", "derive", "supersede", "quarantine", "forget", "decide")
# A kill within the commit of a change shows in the cases on records, too.
_UNDER_FIRE = (
    *(f"integrity.fire.safety.{change}_underway" for change in _CHANGES),
    "integrity.fire.safety.burst",
)


class _IgnoresFull(Database):
    """Takes a commit for done that found no room."""

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """As the reference's, but for the error."""
        try:
            with super().transaction() as connection:
                yield connection
        except DatabaseError as error:
            if "full" not in str(error):
                raise


class _RemovesItsJournal(Database):
    """Commits by removing a rollback journal from a folder that is not synced after."""

    def _open(self) -> sqlite3.Connection:
        connection = super()._open()
        # With FULL, SQLite syncs file and journal, and not the journal's removal.
        connection.execute("PRAGMA journal_mode=DELETE")
        return connection


def _detects_rollback(described: vendor_pb2.DescribeResponse) -> vendor_pb2.DescribeResponse:
    for one in described.capabilities:
        if one.capability == vendor_pb2.CAPABILITY_ROLLBACK_DETECTION:
            one.status = vendor_pb2.CAPABILITY_STATUS_SUPPORTED
            one.enforcement = vendor_pb2.ENFORCEMENT_NATIVE
    return described


def _empty(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _starts_empty_when_torn(path: Path) -> Database:
    """A log that does not end with a whole record is taken for a damaged database."""
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size and (size - _LOG_HEADER_BYTES) % _FRAME_BYTES:
        _empty(path)
    return Database(path)


def _marks_before_it_is_made(path: Path) -> Database:
    """The volume is marked as used first, and its database is made after."""
    marker = path.with_suffix(".made")
    if marker.exists() and not path.exists():
        raise DatabaseError(f"{path.name} is gone", transient=False)
    marker.touch()
    return Database(path)


def _gives_up_on_its_volume(path: Path) -> Database:
    """After a few starts that came to no end, the volume is held to be the cause."""
    tries = path.with_suffix(".tries")
    count = len(tries.read_bytes()) if tries.exists() else 0
    if count >= _STARTS_MAX:
        _empty(path)
        count = 0
    tries.write_bytes(b"." * (count + 1))
    database = Database(path)
    tries.unlink()
    return database


class _LateRenewals(DecisionRules):
    """Acknowledges a renewal before it is durable."""

    def renew(
        self, operation: Operation, clock: LeaseClock, call: RenewCall
    ) -> RenewStep | Refused:
        """As the reference's."""
        LateSyncs.wait()
        return super().renew(operation, clock, call)


class _LateAnswers(RecordingRules):
    """Acknowledges a destination's answer before it is durable."""

    def query(self, operation: Operation, call: QueryCall) -> RecordStep | Refused:
        """As the reference's."""
        LateSyncs.wait()
        return super().query(operation, call)


class _LateWords(RecordingRules):
    """Acknowledges an operator's word before it, and its challenge's use, are durable."""

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """As the reference's."""
        LateSyncs.wait()
        return super().resolve(operation, call)


def _flaw(
    flaw: str,
    open_database: Callable[[Path], Database],
    wrong: str,
    primary_check: str = "unsafe_decision",
    *consequences: str,
    **rules: Any,
) -> Flaw:
    composition = Composition(named(flaw), open_database=open_database, **rules)
    # A receipt that is lost with its volume shows as a needless WAIT.
    lost = ("needless_decision",) if primary_check == "unsafe_decision" else ()
    return Flaw(composition, wrong, primary_check, "N or C lost", (*lost, *consequences))


FLAWS: Mapping[str, Flaw] = {
    "detects_no_rollback": Flaw(
        Composition(named("detects_no_rollback"), declared=_detects_rollback),
        "declares that it notices an older copy of its volume, and licenses on it what it had done",
        "unsafe_decision",
        "C lost",
    ),
    "commits_without_fsync": _flaw(
        "commits_without_fsync",
        partial(Database, synchronous=Synchronous.NORMAL),
        "commits are on the volume, and not synced until a checkpoint",
    ),
    "commits_by_a_removal": _flaw(
        "commits_by_a_removal",
        _RemovesItsJournal,
        "commits by removing its journal, and does not sync the folder",
    ),
    "renews_before_it_syncs": _flaw(
        "renews_before_it_syncs",
        LateSyncs,
        "acknowledges renewals, and syncs them with its next commit",
        decisions=_LateRenewals,
    ),
    "answers_before_it_syncs": _flaw(
        "answers_before_it_syncs",
        LateSyncs,
        "acknowledges a destination's answers, and syncs them with its next commit",
        "needless_decision",
        recordings=_LateAnswers(),
    ),
    "resolves_before_it_syncs": _flaw(
        "resolves_before_it_syncs",
        LateSyncs,
        "acknowledges an operator's word, and syncs it with its next commit",
        "continuity.storage.word",
        "unsafe_decision",
        recordings=_LateWords(),
    ),
    "acknowledges_before_commit": _flaw(
        "acknowledges_before_commit",
        WriteBehind,
        "acknowledges up to 100 ms before it commits",
        "unsafe_decision",
        *_UNDER_FIRE,
    ),
    "ignores_full_volume": _flaw(
        "ignores_full_volume",
        _IgnoresFull,
        "acknowledges what found no room on the volume",
    ),
    "starts_empty_when_torn": _flaw(
        "starts_empty_when_torn",
        _starts_empty_when_torn,
        "starts with an empty database where the log's last record is torn",
        "unsafe_decision",
        *_UNDER_FIRE,
    ),
    "marks_before_it_is_made": _flaw(
        "marks_before_it_is_made",
        _marks_before_it_is_made,
        "marks a volume as used before its database is there, and does not start on it again",
        "continuity.alive",
    ),
    "gives_up_on_its_volume": _flaw(
        "gives_up_on_its_volume",
        _gives_up_on_its_volume,
        "starts with an empty database after three starts that were cut",
    ),
}
