"""What Write, Supersede and Derive share: what an offer repeats, and how it is kept or refused.

One way in for all of them, so that the same content from the same source ends with the same
authority whichever call brings it. Every method runs inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from services.memory.records import audit, flow, lineage, offers, places, store
from services.memory.records.desk import Desk
from services.memory.records.model import Reason, Source, Standing, State, Taint, Trust
from services.memory.records.offers import Admitted, Offer
from services.memory.records.places import Place
from services.memory.records.receipts import Proof
from services.memory.records.store import Draft, Stored

__all__ = ["SAME_KEPT", "Admitting", "Judged"]

_SAME = (
    "SELECT row FROM mem_records WHERE circle_id = ? AND statement = ? AND kind = ?"
    " AND source_type = ? AND source_binding = ? AND {} ORDER BY row DESC LIMIT 20"
)
SAME_KEPT = _SAME.format("content IS NOT NULL")
SAME_REJECTED = _SAME.format("state = 'rejected'")
_EARLIER = (
    "SELECT content, labels_json, source_id FROM mem_records"
    " WHERE principal_id = ? AND content IS NOT NULL ORDER BY row DESC LIMIT ?"
)
_DOUBTED_RECEIPT = frozenset({Reason.RECEIPT_NOT_PROVEN, Reason.RECEIPT_CONTRADICTED})


@dataclass(frozen=True, slots=True)
class Judged:
    """A source as it counts for one text.

    Attributes:
        source: with the binding that is believed.
        attested: what it says is its own statement, wherever the words were before.
        doubt: why a receipt's binding does not count, or None.
    """

    source: Source
    attested: bool
    doubt: Reason | None


class Admitting:
    """The steps of an admission."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._policy = desk.policy

    def _judge(self, conn: sqlite3.Connection, draft: Draft) -> Judged:
        """How the source counts: receipts are held against the memory's own operations."""
        source = draft.source
        operation = self._desk.operation_of(conn, draft.scope, source)
        proof = Proof.UNKNOWN
        if operation is not None:
            proof = self._policy.receipt_proof(operation, draft.content or "")
        doubt = self._policy.receipt_doubt(source, proof)
        own_word = doubt is None and self._policy.receipt_is_own_word(source, proof)
        attested = self._policy.attests(source) or own_word
        return Judged(self._policy.believed(source, doubt), attested, doubt)

    def _completes_secret(
        self, conn: sqlite3.Connection, place: Place, offer: Offer
    ) -> tuple[str, ...]:
        """Kinds of secrets that lie partly in this text and partly in the principal's last ones."""
        draft = offer.draft
        # Texts end and begin with their content, so that one may go on in the next.
        earlier = [
            "\n".join(filter(None, (source_id, *json.loads(labels), content)))
            for content, labels, source_id in conn.execute(
                _EARLIER, (place.principal_id, self._policy.earlier_texts_max)
            )
        ]
        said = "\n".join(filter(None, (draft.content, *draft.labels, draft.source.source_id)))
        return self._policy.split_secret_kinds(said, earlier)

    def _refuse_parts(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, kinds: Sequence[str]
    ) -> Admitted:
        emptied, refusal = offers.refused_in_parts(offer, kinds)
        return self._refuse(conn, place, emptied, refusal)

    def _refuse(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, refusal: Standing
    ) -> Admitted:
        """Keeps that something was refused, and why; nothing of what it was."""
        for row in self._same(conn, place, offer.draft, SAME_REJECTED)[:1]:
            return self._repeat(conn, store.load(conn, row))
        return self._keep(conn, place, offer, refusal)[0]

    def _same(self, conn: sqlite3.Connection, place: Place, draft: Draft, select: str) -> list[int]:
        """Records that say the same, from the same kind of source, in this circle; latest first."""
        source = draft.source
        found = conn.execute(
            select, (place.circle_id, draft.statement, draft.kind, source.type, source.binding)
        )
        return [row for (row,) in found]

    def _repeated_by(self, known: Stored, judged: Judged) -> bool:
        """True when a known record of the same words answers for the new offer.

        An attesting source says anew what is out of authority; a receipt that was not proven when
        it came, and that nobody touched since, may come again with its proof.
        """
        if known.standing.state is State.ACTIVE:
            return True
        unproven = not _DOUBTED_RECEIPT.isdisjoint(known.standing.reasons)
        if unproven and known.record.revision == 1:
            return judged.doubt is not None
        return not judged.attested

    def _repeat(self, conn: sqlite3.Connection, known: Stored) -> Admitted:
        """Saying it again adds no record and no weight."""
        if known.standing.trust is not Trust.UNTRUSTED:
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

    def _followed(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, *without: int
    ) -> flow.Followed:
        """What a text repeats, apart from these rows."""
        found = flow.follow(conn, place, offer.asked)
        return flow.Followed(
            doubted=tuple(row for row in found.doubted if row not in without),
            contained=tuple(row for row in found.contained if row not in without),
            forgotten=found.forgotten,
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
    ) -> tuple[Admitted, Stored]:
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
        return Admitted(stored.record.record_id, standing), stored
