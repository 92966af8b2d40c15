"""Quarantine and Forget: what leaves authority, what leaves for good, and what goes with it."""

import sqlite3
from dataclasses import replace

import grpc

from services.common.errors import ServiceError
from services.memory.records import lineage, places, review_store, store
from services.memory.records.desk import Desk
from services.memory.records.model import Reason, Scope, State
from services.memory.records.store import Stored
from services.memory.records.text import terms

__all__ = ["Lifecycle"]

_SAME_WORD = (
    "SELECT o.row FROM mem_records r JOIN mem_records o ON o.circle_id = r.circle_id"
    " AND o.statement = r.statement AND o.kind = r.kind AND o.source_type = r.source_type"
    " AND o.source_binding = r.source_binding AND o.content IS NOT NULL"
    " WHERE r.row = ? ORDER BY o.row DESC"
)


class Lifecycle:
    """Changes what records stand for; each call is one durable transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._policy = desk.policy

    def quarantine(self, scope: Scope, record_id: str, reason: str) -> list[str]:
        """Takes a record and its descendants out of authority; returns ids of what changed.

        Raises:
            ServiceError: NOT_FOUND; FAILED_PRECONDITION for a record that is not kept.
        """
        with self._desk.database.transaction() as conn:
            stored = self._desk.visible(conn, scope, record_id)
            if not self._policy.kept(stored.standing):
                raise ServiceError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"the record is {stored.standing.state}; only kept records can be quarantined",
                )
            now_unix_ns = places.advance_clock(conn)
            changed: list[str] = []
            standing = self._policy.quarantined(stored.standing, reason)
            if standing != stored.standing:
                stored = self._desk.change(conn, stored, standing, "quarantined", now_unix_ns)
                changed.append(record_id)
            for row in lineage.descendants(conn, stored.row):
                child = store.load(conn, row)
                if self._lower(conn, stored, child, Reason.ANCESTOR_QUARANTINED, now_unix_ns):
                    changed.append(child.record.record_id)
            return changed

    def forget(self, scope: Scope, record_id: str) -> list[str]:
        """Removes a record's content for good; returns ids of what changed.

        Earlier records of the same words by the same kind of source in the same circle go with it.
        Descendants lose authority, and those that still hold its words lose their content, too.

        Raises:
            ServiceError: NOT_FOUND.
        """
        changed: list[str] = []
        with self._desk.database.transaction() as conn:
            named = self._desk.visible(conn, scope, record_id)
            if named.record.content is not None:
                now_unix_ns = places.advance_clock(conn)
                for (row,) in conn.execute(_SAME_WORD, (named.row,)).fetchall():
                    stored = store.load(conn, row)
                    # It may have gone as a descendant of the one before.
                    if stored.record.content is not None:
                        changed += self._forget(conn, stored, now_unix_ns)
                review_store.void(conn, named.place.namespace_id, frozenset(changed))
        if changed:
            self._desk.cut_log()
        return list(dict.fromkeys(changed))

    def _forget(self, conn: sqlite3.Connection, stored: Stored, now_unix_ns: int) -> list[str]:
        words = frozenset(terms(stored.record.content or ""))
        rows = lineage.descendants(conn, stored.row)
        others = _words_of_others(conn, stored.row, rows)
        standing = self._policy.forgotten(stored.standing)
        tombstone = self._desk.change(
            conn, self._erase(conn, stored), standing, "forgotten", now_unix_ns
        )
        changed = [stored.record.record_id]
        for row in rows:
            child = store.load(conn, row)
            lowered = self._lower(conn, tombstone, child, Reason.ANCESTOR_FORGOTTEN, now_unix_ns)
            child = lowered or child
            mine = frozenset(terms(child.record.content or ""))
            erased = self._policy.carries(mine, words, others[row])
            if erased:
                reasons = (*child.standing.reasons, str(Reason.CONTENT_ERASED))
                standing = replace(child.standing, reasons=reasons)
                self._desk.change(conn, self._erase(conn, child), standing, "erased", now_unix_ns)
            if lowered is not None or erased:
                changed.append(child.record.record_id)
        return changed

    def _erase(self, conn: sqlite3.Connection, stored: Stored) -> Stored:
        self._desk.index.bury(conn, stored)
        return store.erase(conn, stored)

    def _lower(
        self,
        conn: sqlite3.Connection,
        ancestor: Stored,
        child: Stored,
        reason: Reason,
        now_unix_ns: int,
    ) -> Stored | None:
        """Brings an ancestor's doubts to a descendant; None when it has them already."""
        standing = self._policy.under(ancestor.standing, child.standing, reason)
        if standing == child.standing or child.standing.state is State.FORGOTTEN:
            return None
        return self._desk.change(conn, child, standing, str(reason), now_unix_ns)


def _words_of_others(
    conn: sqlite3.Connection, forgotten: int, descendants: list[int]
) -> dict[int, frozenset[str]]:
    """For each descendant, the terms of its ancestors that are not made of the forgotten record."""
    made_of_it = {forgotten, *descendants}
    origins = {
        row: [other for other in lineage.ancestors(conn, row) if other not in made_of_it]
        for row in descendants
    }
    words = {
        row: frozenset(terms(other.record.content or ""))
        for row, other in store.load_many(conn, set().union(*origins.values())).items()
    }
    return {
        row: frozenset().union(*(words[other] for other in others))
        for row, others in origins.items()
    }
