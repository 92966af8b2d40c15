"""Keeps events once, in a hash-chained journal of bounded length.

The store is synchronous NORMAL where the destination's is FULL: telemetry is no evidence for a
verdict, what was acknowledged survives the death of the process all the same, and an observer that
synced for each event would slow down its neighbours on one disk. A loss of power may take the last
events; it cannot break the chain of the others.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from memqual.v1 import observer_pb2
from services.common.database import Database, Synchronous
from services.common.errors import ServiceError
from services.common.journal import Journal, JournalRecord
from services.observer.allowlist import event_payload

__all__ = ["EVENTS_MAX", "Counters", "EventStore"]

EVENTS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class Counters:
    """Numbers of events since the store was made.

    Attributes:
        accepted: kept.
        duplicates: repeats of a kept event of the same run, counted and not kept.
        refused: of refused requests; a refused request without events counts as one.
    """

    accepted: int
    duplicates: int
    refused: int


class EventStore:
    """The observer's store; safe to use from many threads."""

    def __init__(self, path: Path, *, events_max: int = EVENTS_MAX) -> None:
        """Opens or creates the store.

        Args:
            path: the database file.
            events_max: events that are kept at most.

        Raises:
            DatabaseError: damaged, or the folder cannot be used.
        """
        self._database = Database(path, synchronous=Synchronous.NORMAL)
        self._journal = Journal()
        self._events_max = events_max
        with self._database.transaction() as connection:
            self._journal.create(connection)
            connection.execute(
                "CREATE TABLE IF NOT EXISTS event_ids (run_id TEXT NOT NULL, "
                "event_id TEXT NOT NULL, PRIMARY KEY (run_id, event_id)) WITHOUT ROWID"
            )
            connection.execute(
                "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, "
                "value INTEGER NOT NULL) WITHOUT ROWID"
            )

    def add(self, events: Sequence[observer_pb2.TelemetryEvent], source: str = "") -> None:
        """Keeps checked events, all or none; repeats are counted.

        Args:
            events: checked.
            source: the sender that proved itself; empty where none has to.

        Raises:
            ServiceError: RESOURCE_EXHAUSTED, the store is full; nothing of the request is kept.
            DatabaseError: the store failed.
        """
        with self._database.transaction() as connection:
            duplicates = 0
            for event in events:
                if not _is_new(connection, event):
                    duplicates += 1
                    continue
                record = self._journal.append(connection, event_payload(event, source))
                if record.sequence > self._events_max:
                    raise ServiceError(
                        grpc.StatusCode.RESOURCE_EXHAUSTED,
                        f"the observer keeps {self._events_max} events and is full; start a fresh "
                        "one",
                    )
            if duplicates:
                _count(connection, "duplicates", duplicates)

    def count_refused(self, events: int) -> None:
        """Counts a refused request's events; raises DatabaseError."""
        with self._database.transaction() as connection:
            _count(connection, "refused", max(events, 1))

    def counters(self) -> Counters:
        """The counters now; raises DatabaseError."""
        with self._database.read() as connection:
            values = dict(connection.execute("SELECT name, value FROM counters"))
            return Counters(
                accepted=self._journal.head(connection).sequence,
                duplicates=values.get("duplicates", 0),
                refused=values.get("refused", 0),
            )

    def journal(self, from_sequence: int) -> Iterator[JournalRecord]:
        """The journal from a sequence on, up to its head now; raises DatabaseError."""
        return self._journal.stream(self._database, from_sequence)

    def close(self) -> None:
        """Closes the store. Idempotent."""
        self._database.close()


def _is_new(connection: sqlite3.Connection, event: observer_pb2.TelemetryEvent) -> bool:
    """Notes the event's id; False when its run had it before."""
    cursor = connection.execute(
        "INSERT OR IGNORE INTO event_ids VALUES (?, ?)", (event.run_id, event.event_id)
    )
    return cursor.rowcount == 1


def _count(connection: sqlite3.Connection, name: str, by: int) -> None:
    connection.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) "
        "DO UPDATE SET value = value + excluded.value",
        (name, by),
    )
