"""Narrative memories that lose what they acknowledged, or cannot read it any more.

What such a memory would keep in RAM only is undone at its next start: a reader cannot tell the two
apart.
"""

import hashlib
import os
import sqlite3
import threading
import uuid
from collections.abc import Iterable
from contextlib import suppress

from memqual.v1 import narrative_pb2
from services.common.canonical import JsonValue
from services.common.database import Database
from services.controls.narrative_parts import (
    AFTER_KILL,
    INDEPENDENT,
    INGEST,
    STATE,
    FlawedNarrative,
    forget_all,
    of_part,
)
from services.memory.narrative.part import Narrative
from services.memory.narrative.servicer import NarrativeServicer

__all__ = ["FLAWS", "BoundToConfiguration", "DigestsItsLife", "ForgetsAtStart", "WritesLater"]

# Longer than any turn takes, shorter than a trial.
_LATE_SECONDS = 1.0
_UNDERWAY = (
    "CREATE TABLE IF NOT EXISTS control_underway"
    " (namespace TEXT, speaker TEXT, text TEXT, PRIMARY KEY (namespace, speaker, text))"
)
_CONFIGURATION = "CREATE TABLE IF NOT EXISTS control_configuration (digest TEXT PRIMARY KEY)"
# What the memory's start takes from its environment, and no answer may depend on.
_VARIABLES = ("LANG", "LC_ALL", "PYTHONHASHSEED", "TZ")


class ForgetsAtStart(Narrative):
    """Keeps turns for as long as its process lives."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        forget_all(database)


class _LateServicer(NarrativeServicer):
    """Acknowledges a turn a while before it is written; a question waits for what is underway."""

    database: Database

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """As the reference's; that the turn is not written yet is known from a side table."""
        key = (turn.namespace, turn.speaker, turn.text)
        with self.database.transaction() as conn:
            conn.execute("INSERT OR IGNORE INTO control_underway VALUES (?, ?, ?)", key)
        response = super().take(turn)
        writing = threading.Timer(_LATE_SECONDS, self._write_if_open)
        writing.daemon = True
        writing.start()
        return response

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """As the reference's, when everything is written."""
        self._write()
        return super().reply(request)

    def _write_if_open(self) -> None:
        # The process may have ended by then.
        with suppress(sqlite3.ProgrammingError):
            self._write()

    def _write(self) -> None:
        with self.database.transaction() as conn:
            conn.execute("DELETE FROM control_underway")


class WritesLater(FlawedNarrative):
    """Loses at its start what was acknowledged and not yet written."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, _LateServicer)
        assert isinstance(self.servicer, _LateServicer)  # as it was just made
        self.servicer.database = database
        with database.transaction() as conn:
            conn.execute(_UNDERWAY)
            _lose_underway(conn)


def _lose_underway(conn: sqlite3.Connection) -> None:
    conn.execute(
        "DELETE FROM nar_turns WHERE EXISTS (SELECT 1 FROM control_underway u WHERE"
        " u.namespace = nar_turns.namespace AND u.speaker = nar_turns.speaker"
        " AND u.text = nar_turns.text)"
    )
    conn.execute("DELETE FROM control_underway")


class BoundToConfiguration(Narrative):
    """Has nothing of what was told to a process with other settings."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        settings = "\n".join(f"{name}={os.environ.get(name, '')}" for name in _VARIABLES)
        digest = hashlib.sha256(settings.encode()).hexdigest()
        with database.transaction() as conn:
            conn.execute(_CONFIGURATION)
            kept = conn.execute("SELECT digest FROM control_configuration").fetchall()
        if kept == [(digest,)]:
            return
        forget_all(database)
        with database.transaction() as conn:
            conn.execute("DELETE FROM control_configuration")
            conn.execute("INSERT INTO control_configuration VALUES (?)", (digest,))


class DigestsItsLife(Narrative):
    """Digests what is no content: when it was started."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._life = uuid.uuid4().hex

    def digest_parts(self, namespace: str) -> Iterable[JsonValue]:
        """The reference's, and this life's name where there is any."""
        parts = list(super().digest_parts(namespace))
        yield from [*parts, self._life] if parts else []


FLAWS = {
    "narrative_in_memory": of_part(
        "narrative_in_memory",
        ForgetsAtStart,
        "keeps what it is told for as long as its process lives",
        AFTER_KILL,
        # It loses everything, whoever ends it and in the midst of whatever.
        (STATE, INGEST, INDEPENDENT),
    ),
    "narrative_digests_its_life": of_part(
        "narrative_digests_its_life",
        DigestsItsLife,
        "digests the name of its life with what it was told",
        STATE,
    ),
    "narrative_writes_later": of_part(
        "narrative_writes_later",
        WritesLater,
        "acknowledges a turn a second before it is written",
        INGEST,
    ),
    "narrative_bound_to_configuration": of_part(
        "narrative_bound_to_configuration",
        BoundToConfiguration,
        "cannot read what a process with another locale, time zone or hash seed was told",
        INDEPENDENT,
    ),
}
