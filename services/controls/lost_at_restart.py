"""Ways to lose at a restart what was right until then; each is the reference but for that.

What such a memory would keep in RAM only is kept in a side table here and undone at the next start:
a reader cannot tell the two apart, and no rule of recall has to be doubled.
"""

import json
import sqlite3
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from services.common.challenges import load_public_keys
from services.common.database import Database
from services.common.settings import SettingsError
from services.memory.records import lineage, places, postings, store
from services.memory.records.desk import Desk
from services.memory.records.index import Index
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import Scope, Standing, State, Taint, Trust
from services.memory.records.policy import Policy
from services.memory.records.postings import Shelf
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records, create
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.store import Stored
from services.memory.records.text import read
from services.memory.records.writing import Writing

__all__ = [
    "KeepsTaintsInMemory",
    "RevivesSuperseded",
    "forgetting_quarantines",
    "needing_a_clean_end",
    "restoring_indexes",
]

_QUARANTINES = (
    "CREATE TABLE IF NOT EXISTS control_quarantines (row INTEGER PRIMARY KEY, standing TEXT)"
)
_POSTINGS = (
    "CREATE TABLE IF NOT EXISTS control_postings"
    " (row INTEGER PRIMARY KEY, circle_id INTEGER, tier INTEGER, terms TEXT)"
)
_MARK = "not-ended"


class _QuarantinesInMemory(Lifecycle):
    """Takes records out of authority for as long as this process lives."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        with desk.database.transaction() as conn:
            conn.execute(_QUARANTINES)
            now_unix_ns = places.advance_clock(conn)
            for row, text in conn.execute("SELECT row, standing FROM control_quarantines"):
                stored = store.load(conn, row)
                if stored.standing.state is State.QUARANTINED:
                    desk.change(conn, stored, _standing(text), "restarted", now_unix_ns)
            conn.execute("DELETE FROM control_quarantines")

    def quarantine(self, scope: Scope, record_id: str, reason: str) -> list[str]:
        """Takes a record and its descendants out of authority; returns ids of what changed."""
        with self._desk.database.transaction() as conn:
            named = self._desk.visible(conn, scope, record_id)
            for row in (named.row, *lineage.descendants(conn, named.row)):
                conn.execute(
                    "INSERT OR IGNORE INTO control_quarantines VALUES (?, ?)",
                    (row, json.dumps(asdict(store.load(conn, row).standing))),
                )
        return super().quarantine(scope, record_id, reason)


def _standing(text: str) -> Standing:
    fields = json.loads(text)
    return Standing(
        State(fields["state"]),
        Trust(fields["trust"]),
        tuple(Taint(taint) for taint in fields["taints"]),
        tuple(fields["reasons"]),
    )


class KeepsTaintsInMemory(Lifecycle):
    """Knows doubts for as long as this process lives; what has none any more stays where it is."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        for stored in _chosen(desk, "taints <> ''"):
            _change(desk, stored, replace(stored.standing, taints=()), stored.record.superseded_by)


class RevivesSuperseded(Lifecycle):
    """Knows what has a successor for as long as this process lives."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        for stored in _chosen(desk, "state = 'superseded'"):
            _change(desk, stored, replace(stored.standing, state=State.ACTIVE), "")


def _chosen(desk: Desk, condition: str) -> list[Stored]:
    with desk.database.read() as conn:
        rows = conn.execute(f"SELECT row FROM mem_records WHERE {condition}").fetchall()
        return [store.load(conn, row) for (row,) in rows]


def _change(desk: Desk, stored: Stored, standing: Standing, successor: str) -> None:
    with desk.database.transaction() as conn:
        now_unix_ns = places.advance_clock(conn)
        desk.change(conn, stored, standing, "restarted", now_unix_ns, superseded_by=successor)


class _KeepsPostings(Index):
    """Takes a forgotten record's words out of the index until the next start."""

    def bury(self, conn: sqlite3.Connection, stored: Stored) -> None:
        """Removes a record whose content goes."""
        tier = postings.AUTHORITATIVE if stored.authoritative else postings.OTHER
        words = read(stored.record.content or "").terms
        conn.execute(
            "INSERT OR REPLACE INTO control_postings VALUES (?, ?, ?, ?)",
            (stored.row, stored.place.circle_id, tier, json.dumps(words)),
        )
        super().bury(conn, stored)


def restoring_indexes(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part whose index of words is, after a restart, the one from before Forget."""
    policy = Policy()
    desk = Desk(database, policy)
    desk.index = _KeepsPostings(policy, desk.key)
    with database.transaction() as conn:
        conn.execute(_POSTINGS)
        for row, circle_id, tier, text in conn.execute("SELECT * FROM control_postings"):
            postings.put(conn, Shelf(circle_id, tier), row, Counter(json.loads(text)))
        conn.execute("DELETE FROM control_postings")
    return _assembled(desk, Lifecycle(desk), reviewer_keys_path)


def forgetting_quarantines(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part whose quarantines end with its process."""
    desk = Desk(database, Policy())
    return _assembled(desk, _QuarantinesInMemory(desk), reviewer_keys_path)


def needing_a_clean_end(database: Database, reviewer_keys_path: Path | None) -> Records:
    """The records part that does not start on the volume of a process that was killed.

    Raises:
        SettingsError: it was.
    """
    mark = database.path.with_name(_MARK)
    if mark.exists():
        raise SettingsError("the store was not closed; it cannot be opened again")
    mark.touch()
    return create(database, reviewer_keys_path)


def _assembled(desk: Desk, lifecycle: Lifecycle, reviewer_keys_path: Path | None) -> Records:
    review = Review(desk, load_public_keys(reviewer_keys_path))
    return Records(desk, MemoryServicer(Writing(desk), Recalling(desk), lifecycle, review))
