"""Write and Derive: what becomes of an offer; each is one durable transaction (DESIGN §4)."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from services.memory.records import audit, flow, lineage, offers, places, store
from services.memory.records.desk import Desk
from services.memory.records.model import (
    Observation,
    Reason,
    Standing,
    State,
    Taint,
    Trust,
)
from services.memory.records.offers import Admitted, Derivation, Offer
from services.memory.records.places import Place
from services.memory.records.store import Draft, Stored

__all__ = ["Writing"]

_SAME = (
    "SELECT row FROM mem_records WHERE circle_id = ? AND statement = ? AND kind = ?"
    " AND source_type = ? AND source_binding = ? AND {} ORDER BY row DESC LIMIT 20"
)
_SAME_KEPT = _SAME.format("content IS NOT NULL")
_SAME_REJECTED = _SAME.format("state = 'rejected'")


class Writing:
    """Takes observations and derivations in."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._policy = desk.policy

    def write(self, observation: Observation) -> Admitted:
        """Admits one observation."""
        offer = offers.observed(self._policy, self._desk.key, observation)
        if offer.refusal is not None:
            return self._reject(offer, offer.refusal)
        attested = self._policy.attests(observation.source)
        with self._desk.database.transaction() as conn:
            place = places.make_place(conn, observation.scope)
            for row in self._same(conn, place, offer.draft, _SAME_KEPT)[:1]:
                known = store.load(conn, row)
                if known.standing.state is State.ACTIVE or not attested:
                    return self._repeat(conn, known)
            followed = flow.follow(conn, place, offer.asked)
            if followed.forgotten and not attested:
                return self._refuse_forgotten(conn, place, offer, followed.forgotten[0])
            repeated = self._taints(conn, followed.doubted)
            standing = self._policy.admit(observation.kind, observation.source, repeated)
            # What an attesting source says is its own statement and has no other origin.
            found = () if attested else self._shown(conn, offer.draft, followed.contained)
            return self._keep(conn, place, offer, standing, found=found)

    def derive(self, derivation: Derivation) -> Admitted:
        """Admits one derivation.

        Raises:
            ServiceError: NOT_FOUND: a parent is not in the scope.
        """
        offer = offers.derived(self._policy, self._desk.key, derivation)
        with self._desk.database.transaction() as conn:
            parents = [
                self._desk.visible(conn, derivation.scope, parent_id)
                for parent_id in dict.fromkeys(derivation.parent_ids)
            ]
            if offer.refusal is None:
                place = places.make_place(conn, derivation.scope)
                return self._derive(conn, place, offer, parents)
        return self._reject(offer, offer.refusal)

    def _derive(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, parents: Sequence[Stored]
    ) -> Admitted:
        draft = offer.draft
        rows = tuple(parent.row for parent in parents)
        for row in self._same(conn, place, draft, _SAME_KEPT):
            if lineage.declared_parents(conn, row) == rows:
                return self._repeat(conn, store.load(conn, row))
        followed = flow.follow(conn, place, offer.asked)
        # What is made out of a text that is gone for good would only bring it back.
        gone = [parent.row for parent in parents if self._policy.gone(parent.record)]
        forgotten = (*followed.forgotten, *gone)
        if forgotten:
            return self._refuse_forgotten(conn, place, offer, forgotten[0])
        said = offers.said_by([parent.record.content or "" for parent in parents])
        standing = self._policy.admit_derived(
            draft.kind,
            self._inherited(parent.standing for parent in parents),
            self._taints(conn, [row for row in followed.doubted if row not in rows]),
            self._policy.supported(offer.reading.claims, said),
        )
        contained = [row for row in followed.contained if row not in rows]
        found = self._shown(conn, draft, contained)
        return self._keep(conn, place, offer, standing, declared=rows, found=found)

    def _reject(self, offer: Offer, refusal: Standing) -> Admitted:
        """Keeps that something was refused, and why; nothing of what it was."""
        if offer.traceless:
            return Admitted("", refusal)
        with self._desk.database.transaction() as conn:
            place = places.make_place(conn, offer.draft.scope)
            for row in self._same(conn, place, offer.draft, _SAME_REJECTED)[:1]:
                return self._repeat(conn, store.load(conn, row))
            return self._keep(conn, place, offer, refusal)

    def _same(self, conn: sqlite3.Connection, place: Place, draft: Draft, select: str) -> list[int]:
        """Records that say the same, from the same kind of source, in this circle; latest first."""
        source = draft.source
        found = conn.execute(
            select, (place.circle_id, draft.statement, draft.kind, source.type, source.binding)
        )
        return [row for (row,) in found]

    def _repeat(self, conn: sqlite3.Connection, known: Stored) -> Admitted:
        """Saying it again adds no record and no weight."""
        if self._policy.trusts(known.record.source):
            # What was said last is the latest word, also when it had been said before.
            recency = places.next_ordinal(conn, known.place.namespace_id)
            conn.execute("UPDATE mem_records SET recency = ? WHERE row = ?", (recency, known.row))
        reasons = (*known.standing.reasons, str(Reason.DUPLICATE))
        return Admitted(known.record.record_id, replace(known.standing, reasons=reasons))

    def _refuse_forgotten(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, row: int
    ) -> Admitted:
        """Answers with the tombstone, where the caller sees it; the text is not kept again."""
        tombstone = store.load(conn, row).record
        scope = offer.draft.scope
        shown = tombstone.scope in self._policy.visible_circles(scope)
        record_id = tombstone.record_id if shown else ""
        state = State.FORGOTTEN if shown else State.REJECTED
        standing = Standing(state, Trust.UNTRUSTED, (), (str(Reason.FORGOTTEN_CONTENT),))
        audit.append(
            conn,
            place.namespace_id,
            places.advance_clock(conn),
            "refused_forgotten",
            scope=scope,
            record_id=record_id,
            standing=standing,
        )
        return Admitted(record_id, standing)

    def _shown(
        self, conn: sqlite3.Connection, draft: Draft, rows: Sequence[int]
    ) -> tuple[int, ...]:
        """Those of the found parents that the child's circle sees; others stay unnamed."""
        circles = self._policy.visible_circles(draft.scope)
        found = store.load_many(conn, rows)
        return tuple(row for row in rows if row in found and found[row].record.scope in circles)

    def _taints(self, conn: sqlite3.Connection, rows: Sequence[int]) -> frozenset[Taint]:
        return self._inherited(stored.standing for stored in store.load_many(conn, rows).values())

    def _inherited(self, parents: Iterable[Standing]) -> frozenset[Taint]:
        return frozenset(
            taint for parent in parents for taint in self._policy.inherited_taints(parent)
        )

    def _keep(
        self,
        conn: sqlite3.Connection,
        place: Place,
        offer: Offer,
        standing: Standing,
        *,
        declared: Sequence[int] = (),
        found: Sequence[int] = (),
    ) -> Admitted:
        draft = offer.draft
        if found and Reason.REPEATS_TAINTED_CONTENT not in standing.reasons:
            reasons = (*standing.reasons, str(Reason.REPEATS_KNOWN_CONTENT))
            standing = replace(standing, reasons=reasons)
        now_unix_ns = places.advance_clock(conn)
        authoritative = self._policy.authoritative(draft.kind, draft.source, standing)
        ordinal = places.next_ordinal(conn, place.namespace_id)
        stored = store.insert(
            conn,
            place,
            draft,
            standing,
            ordinal=ordinal,
            authoritative=authoritative,
            now_unix_ns=now_unix_ns,
        )
        if declared or found:
            lineage.add_edges(conn, stored.row, declared, found)
        if draft.content is not None:
            self._desk.index.put(conn, stored, offer.reading)
        audit.append(
            conn,
            place.namespace_id,
            now_unix_ns,
            "derived" if declared else "written",
            scope=draft.scope,
            record_id=stored.record.record_id,
            standing=standing,
            source=draft.source,
            detail={"statement": draft.statement.hex()},
        )
        return Admitted(stored.record.record_id, standing)
