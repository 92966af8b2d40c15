"""Quarantine, Archive, Forget: what leaves authority or for good, and what goes with it.

And RecordOutcome, which changes nothing but counters.
"""

import sqlite3
from dataclasses import asdict, replace

import grpc

from services.common.errors import ServiceError
from services.memory.records import audit, lineage, outcome_store, places, review_store, store
from services.memory.records.carrying import run_words, traits
from services.memory.records.desk import Desk
from services.memory.records.model import Kind, Outcome, Reason, Scope
from services.memory.records.recalling import Viewed
from services.memory.records.secret_pieces import drop_read_texts
from services.memory.records.store import Stored

__all__ = ["Lifecycle"]

# So many reports of one procedure enter the audit trail one by one; later ones are counted only.
AUDITED_OUTCOMES_MAX = 100

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
            reason_below = Reason.ANCESTOR_QUARANTINED
            return changed + self._desk.lower_descendants(conn, stored, reason_below, now_unix_ns)

    def archive(self, scope: Scope, record_id: str) -> None:
        """Puts a record out of use and keeps it as evidence; its descendants lose authority.

        Archiving an archived record changes nothing.

        Raises:
            ServiceError: NOT_FOUND; FAILED_PRECONDITION for a superseded, rejected or forgotten
                record, which is out of use already.
        """
        with self._desk.database.transaction() as conn:
            stored = self._desk.visible(conn, scope, record_id)
            if not self._policy.archivable(stored.standing):
                raise ServiceError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"the record is {stored.standing.state}; only records in use can be archived",
                )
            standing = self._policy.archived(stored.standing)
            if standing == stored.standing:
                return
            now_unix_ns = places.advance_clock(conn)
            archived = self._desk.change(conn, stored, standing, "archived", now_unix_ns)
            self._desk.lower_descendants(conn, archived, Reason.ANCESTOR_ARCHIVED, now_unix_ns)

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
            drop_read_texts()
            self._desk.cut_log()
        return list(dict.fromkeys(changed))

    def record_outcome(
        self, scope: Scope, record_id: str, outcome: Outcome, utility: float
    ) -> Viewed:
        """Counts one report of a procedure (utility 0.0..1.0) and returns it as it stands.

        Counters only: no report changes state, trust, taints, revision, rank or authority.

        Raises:
            ServiceError: NOT_FOUND; FAILED_PRECONDITION for what is no kept procedure.
        """
        with self._desk.database.transaction() as conn:
            stored = self._desk.visible(conn, scope, record_id)
            if stored.record.kind is not Kind.PROCEDURE or not self._policy.kept(stored.standing):
                raise ServiceError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    f"the record is a {stored.standing.state} {stored.record.kind};"
                    " outcomes are those of kept procedures",
                )
            before = outcome_store.load(conn, stored.row)
            outcomes = self._policy.counted(before, outcome, utility)
            outcome_store.save(conn, stored.row, outcomes)
            now_unix_ns = places.advance_clock(conn)
            if outcomes.total <= AUDITED_OUTCOMES_MAX:
                audit.append(
                    conn,
                    stored.place.namespace_id,
                    now_unix_ns,
                    "outcome_recorded",
                    scope=stored.record.scope,
                    record_id=record_id,
                    detail={"outcome": str(outcome), "outcomes": asdict(outcomes)},
                )
            standing = self._policy.outcome_standing(stored.standing, outcomes)
            if standing != stored.standing:
                stored = self._desk.change(conn, stored, standing, "outcome_judged", now_unix_ns)
            return Viewed(stored, lineage.ancestor_ids(conn, stored.row))

    def _forget(self, conn: sqlite3.Connection, stored: Stored, now_unix_ns: int) -> list[str]:
        content = stored.record.content or ""
        run_length = run_words(content)
        said = traits(content, run_length)
        rows = lineage.descendants(conn, stored.row)
        others = _said_by_others(conn, stored.row, rows, run_length)
        standing = self._policy.forgotten(stored.standing)
        tombstone = self._desk.change(
            conn, self._erase(conn, stored), standing, "forgotten", now_unix_ns
        )
        changed = [stored.record.record_id]
        for row in rows:
            child = store.load(conn, row)
            lowered = self._desk.lower(
                conn, tombstone, child, Reason.ANCESTOR_FORGOTTEN, now_unix_ns
            )
            child = lowered or child
            mine = traits(child.record.content or "", run_length)
            erased = self._policy.carries(mine, said, others[row])
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


def _said_by_others(
    conn: sqlite3.Connection, forgotten: int, descendants: list[int], run_length: int
) -> dict[int, frozenset[str]]:
    """For each descendant, what its ancestors say that are not made of the forgotten record."""
    made_of_it = {forgotten, *descendants}
    origins = {
        row: [other for other in lineage.ancestors(conn, row) if other not in made_of_it]
        for row in descendants
    }
    said = {
        row: traits(other.record.content or "", run_length)
        for row, other in store.load_many(conn, set().union(*origins.values())).items()
    }
    return {
        row: frozenset().union(*(said[other] for other in others))
        for row, others in origins.items()
    }
