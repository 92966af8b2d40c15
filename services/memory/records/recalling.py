"""Recall, Inspect and ListProcedures: what is shown, and as what (DESIGN §4)."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from services.memory.records import lineage, places, postings, store
from services.memory.records.desk import Desk
from services.memory.records.model import Scope, Surface
from services.memory.records.postings import Match, Shelf
from services.memory.records.store import Stored
from services.memory.records.text import claims, terms

__all__ = ["Found", "Recalling", "Viewed"]

PROCEDURES_MAX = 1_000
# The first hits are checked against each other for later versions of one statement.
VERSIONS_LOOKED_AT = 32
# Two statements of which so many words are shared (of all words of both) are versions of one.
SAME_STATEMENT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Viewed:
    """A record with every ancestor's id, nearest first."""

    stored: Stored
    lineage: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A hit; a larger score is closer, within one answer."""

    viewed: Viewed
    score: float


class Recalling:
    """Reads; changes nothing."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._policy = desk.policy

    def recall(self, scope: Scope, query: str, max_hits: int, surface: Surface) -> list[Found]:
        """What answers a question, closest first; a later word before the one that it updates."""
        tiers = [postings.AUTHORITATIVE]
        if surface is Surface.EVIDENCE:
            tiers.append(postings.OTHER)
        with self._desk.database.read() as conn:
            shelves = [
                Shelf(circle_id, tier) for circle_id in self._circles(conn, scope) for tier in tiers
            ]
            wanted = _wanted(scope, query)
            matches = postings.search(conn, shelves, wanted, self._policy.answers)[:max_hits]
            loaded = store.load_many(conn, [match.row for match in matches])
            hits = [(match, loaded[match.row]) for match in matches]
            hits = [hit for hit in hits if self._shown(hit[1], surface)]
            ordered = _later_first(sorted(hits, key=_closeness))
            return _scored([(match, self._view(conn, stored)) for match, stored in ordered])

    def inspect(self, scope: Scope, record_id: str) -> Viewed:
        """One record of the scope; raises ServiceError NOT_FOUND."""
        with self._desk.database.read() as conn:
            return self._view(conn, self._desk.visible(conn, scope, record_id))

    def procedures(self, scope: Scope) -> list[Viewed]:
        """Active procedures of the scope, oldest first, at most 1,000."""
        with self._desk.database.read() as conn:
            circles = self._circles(conn, scope)
            rows = conn.execute(
                f"SELECT row FROM mem_records WHERE circle_id IN ({store.sql_list(len(circles))})"
                " AND kind = 'procedure' AND authoritative = 1 ORDER BY row LIMIT ?",
                (*circles, PROCEDURES_MAX),
            ).fetchall()
            loaded = store.load_many(conn, [row for (row,) in rows])
            return [self._view(conn, loaded[row]) for (row,) in rows]

    def _circles(self, conn: sqlite3.Connection, scope: Scope) -> list[int]:
        found = (places.find_circle(conn, s) for s in self._policy.visible_circles(scope))
        return [circle_id for circle_id in found if circle_id is not None]

    def _shown(self, stored: Stored, surface: Surface) -> bool:
        if surface is Surface.AUTHORITATIVE:
            return stored.authoritative
        return self._policy.kept(stored.standing)

    def _view(self, conn: sqlite3.Connection, stored: Stored) -> Viewed:
        ancestors = lineage.ancestor_ids(conn, stored.row) if stored.record.parent_ids else ()
        return Viewed(stored, ancestors)


def _wanted(scope: Scope, query: str) -> list[str]:
    """The question's terms; the principal's own name tells none of his records apart."""
    asked = terms(query)
    names = terms(scope.principal)
    return [term for term in asked if term not in names] or list(asked)


def _closeness(hit: tuple[Match, Stored]) -> tuple[float, bool, int]:
    match, stored = hit
    return (-match.score, not stored.authoritative, -stored.recency)


def _later_first(hits: Sequence[tuple[Match, Stored]]) -> list[tuple[Match, Stored]]:
    """Moves a later version of a statement before an earlier one, if it answers no less."""
    head = list(hits[:VERSIONS_LOOKED_AT])
    words = {stored.row: frozenset(claims(stored.record.content or "")) for _, stored in head}
    ordered: list[tuple[Match, Stored]] = []
    for hit in head:
        position = len(ordered)
        for earlier, other in enumerate(ordered):
            if _updates(hit, other, words):
                position = earlier
                break
        ordered.insert(position, hit)
    return ordered + list(hits[VERSIONS_LOOKED_AT:])


def _updates(
    hit: tuple[Match, Stored], other: tuple[Match, Stored], words: dict[int, frozenset[str]]
) -> bool:
    (match, stored), (other_match, other_stored) = hit, other
    if stored.recency < other_stored.recency or match.coverage < other_match.coverage:
        return False
    if stored.authoritative < other_stored.authoritative:
        return False
    mine, others = words[stored.row], words[other_stored.row]
    return len(mine & others) >= SAME_STATEMENT_SHARE * len(mine | others)


def _scored(ordered: Sequence[tuple[Match, Viewed]]) -> list[Found]:
    """Scores that fall with the order, so that the order can be read from them."""
    found: list[Found] = []
    best = max((match.score for match, _ in ordered), default=0.0)
    for match, viewed in ordered:
        best = min(best, match.score) if found else best
        found.append(Found(viewed, best))
    return found
