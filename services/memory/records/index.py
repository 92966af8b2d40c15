"""Keeps what is derived from a record's content in step with its standing: postings and flow."""

import sqlite3

from services.memory.records import flow, postings
from services.memory.records.fingerprints import FingerprintKey, kept_fingerprints
from services.memory.records.flow import Doubt
from services.memory.records.model import Standing, ordered, severity
from services.memory.records.policy import Policy
from services.memory.records.postings import Shelf
from services.memory.records.store import Stored
from services.memory.records.text import Reading, read

__all__ = ["Index"]


class Index:
    """Both derived indexes; every method runs inside the caller's transaction."""

    def __init__(self, policy: Policy, key: FingerprintKey) -> None:
        self._policy = policy
        self._key = key

    def put(self, conn: sqlite3.Connection, stored: Stored, reading: Reading) -> None:
        """Enters a record that has content, as it was read."""
        postings.put(conn, _shelf(stored), stored.row, reading.terms)
        prints = kept_fingerprints(self._key, reading.words)
        flow.put(conn, stored.place, stored.row, prints, self._doubt(stored.standing))

    def bury(self, conn: sqlite3.Connection, stored: Stored) -> None:
        """Removes a record whose content goes; keyed hashes stay to know it when it comes again."""
        reading = _reading(stored)
        postings.drop(conn, _shelf(stored), stored.row, reading.terms)
        prints = kept_fingerprints(self._key, reading.words)
        flow.drop(conn, stored.place, stored.row, prints, self._doubt(stored.standing))
        flow.bury(conn, stored.place, stored.row, prints)

    def move(self, conn: sqlite3.Connection, before: Stored, after: Stored) -> None:
        """Follows a change of standing."""
        old, new = self._doubt(before.standing), self._doubt(after.standing)
        if _shelf(before) == _shelf(after) and old == new:
            return
        reading = _reading(before)
        if _shelf(before) != _shelf(after):
            postings.drop(conn, _shelf(before), before.row, reading.terms)
            postings.put(conn, _shelf(after), after.row, reading.terms)
        if old != new:
            prints = kept_fingerprints(self._key, reading.words)
            flow.drop(conn, before.place, before.row, prints, old)
            flow.put(conn, after.place, after.row, prints, new)

    def _doubt(self, standing: Standing) -> Doubt:
        rank = severity(ordered(self._policy.inherited_taints(standing)))
        return Doubt(rank, everywhere=self._policy.doubted_by_all(standing))


def _shelf(stored: Stored) -> Shelf:
    tier = postings.AUTHORITATIVE if stored.authoritative else postings.OTHER
    return Shelf(stored.place.circle_id, tier)


def _reading(stored: Stored) -> Reading:
    if stored.record.content is None:
        raise ValueError(f"{stored.record.record_id} has no content to index")
    return read(stored.record.content)
