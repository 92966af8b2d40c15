"""Write, Supersede and Derive: what becomes of an offer; each is one durable transaction (§4)."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

import grpc

from services.common.errors import ServiceError
from services.memory.records import audit, flow, lineage, offers, places, store
from services.memory.records.admitting import SAME_KEPT, Admitting, Judged
from services.memory.records.model import Observation, Reason, Scope, Standing
from services.memory.records.offers import Admitted, Derivation, Offer
from services.memory.records.places import Place
from services.memory.records.store import Draft, Stored

__all__ = ["Writing"]


@dataclass(frozen=True, slots=True)
class _Landed:
    """Where an observation ended.

    Attributes:
        kept: the record that stands for it, new or known; None when nothing of it is kept.
        replaced: what it may take the place of, or None.
    """

    admitted: Admitted
    kept: Stored | None = None
    replaced: Stored | None = None


class Writing(Admitting):
    """Takes observations and derivations in."""

    def write(self, observation: Observation) -> Admitted:
        """Admits one observation."""
        offer = offers.observed(self._policy, self._desk.key, observation)
        if offer.refusal is not None and offer.traceless:
            return Admitted("", offer.refusal)
        with self._desk.database.transaction() as conn:
            return self._admit(conn, offer, None).admitted

    def supersede(self, scope: Scope, record_id: str, observation: Observation) -> Admitted:
        """Admits one observation in place of a record, if its source may.

        It ends as Write would end it. Where it has the authority, the record is SUPERSEDED, what
        was made of it loses authority, and the reasons hold "supersedes"; elsewhere the record is
        untouched and the reasons say why: "may_not_supersede", or "same_statement" for its own
        words.

        Raises:
            ServiceError: NOT_FOUND; FAILED_PRECONDITION: the record is out of use or erased, of
                another kind, or of another circle than the observation.
        """
        offer = offers.observed(self._policy, self._desk.key, observation)
        with self._desk.database.transaction() as conn:
            old = self._desk.visible(conn, scope, record_id)
            self._require_replaceable(old, observation)
            if offer.refusal is not None and offer.traceless:
                return Admitted("", offer.refusal)
            same = store.statement_of(conn, old.row) == offer.draft.statement
            landed = self._admit(conn, offer, None if same else old)
            if landed.kept is None:
                return landed.admitted
            if same:
                return _because(landed.admitted, Reason.SAME_STATEMENT)
            if landed.replaced is None:
                self._note_refusal(conn, old, landed.kept)
                return _because(landed.admitted, Reason.MAY_NOT_SUPERSEDE)
            self._replace(conn, old, landed.kept)
            return _because(landed.admitted, Reason.SUPERSEDES)

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
            if offer.refusal is not None and offer.traceless:
                return Admitted("", offer.refusal)
            place = places.make_place(conn, derivation.scope)
            if offer.refusal is not None:
                return self._refuse(conn, place, offer, offer.refusal)
            return self._derive(conn, place, offer, parents)

    def _admit(self, conn: sqlite3.Connection, offer: Offer, old: Stored | None) -> _Landed:
        """Admits an observation; `old` is the record that it is to replace."""
        draft = offer.draft
        place = places.make_place(conn, draft.scope)
        if offer.refusal is not None:
            return _Landed(self._refuse(conn, place, offer, offer.refusal))
        judged = self._judge(conn, draft)
        same = self._same(conn, place, draft, SAME_KEPT)
        if same:
            known = store.load(conn, same[0])
            if self._repeated_by(known, judged):
                replaced = self._replaced(old, known.standing, judged)
                return _Landed(self._repeat(conn, known), known, replaced)
        kinds = self._completes_secret(conn, place, offer)
        if kinds:
            return _Landed(self._refuse_parts(conn, place, offer, kinds))
        # An earlier, unproven copy of a proven receipt is no doubt about it.
        own = same if judged.doubt is None else ()
        followed = self._followed(conn, place, offer, *own)
        if followed.forgotten and not judged.attested:
            return _Landed(self._refuse_forgotten(conn, place, offer, followed.forgotten[0]))
        standing = self._standing(conn, draft, judged, followed)
        replaced = self._replaced(old, standing, judged)
        # What an attesting source says is its own statement and has no other origin; what takes
        # the place of a record is no child of it.
        contained = [row for row in followed.contained if replaced is None or row != replaced.row]
        found = () if judged.attested else self._shown(conn, draft, contained)
        admitted, kept = self._keep(conn, place, offer, standing, found=found)
        return _Landed(admitted, kept, replaced)

    def _standing(
        self, conn: sqlite3.Connection, draft: Draft, judged: Judged, followed: flow.Followed
    ) -> Standing:
        """Standing of a new observation."""
        repeated = frozenset() if judged.attested else self._taints(conn, followed.doubted)
        standing = self._policy.admit(draft.kind, judged.source, repeated)
        if judged.doubt is None:
            return standing
        return replace(standing, reasons=(*standing.reasons, str(judged.doubt)))

    def _replaced(self, old: Stored | None, new: Standing, judged: Judged) -> Stored | None:
        if old is not None and self._policy.may_supersede(old.standing, new, judged.attested):
            return old
        return None

    def _require_replaceable(self, old: Stored, observation: Observation) -> None:
        record = old.record
        if record.content is None or not self._policy.supersedable(old.standing):
            raise _failed(f"the record is {old.standing.state}; only records in use are superseded")
        if not self._policy.kinds_fit(record.kind, observation.kind):
            raise _failed(f"a {record.kind} is superseded by a {record.kind} only")
        if record.scope != observation.scope:
            raise _failed("a record is superseded in its own circle; name its exact scope")

    def _replace(self, conn: sqlite3.Connection, old: Stored, new: Stored) -> None:
        now_unix_ns = places.advance_clock(conn)
        standing = self._policy.superseded(old.standing)
        past = self._desk.change(
            conn, old, standing, "superseded", now_unix_ns, superseded_by=new.record.record_id
        )
        self._desk.lower_descendants(conn, past, Reason.ANCESTOR_SUPERSEDED, now_unix_ns)

    def _note_refusal(self, conn: sqlite3.Connection, old: Stored, new: Stored) -> None:
        audit.append(
            conn,
            old.place.namespace_id,
            places.advance_clock(conn),
            "supersede_refused",
            scope=old.record.scope,
            record_id=old.record.record_id,
            detail={"newcomer": new.record.record_id},
        )

    def _derive(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, parents: Sequence[Stored]
    ) -> Admitted:
        draft = offer.draft
        rows = tuple(parent.row for parent in parents)
        for row in self._same(conn, place, draft, SAME_KEPT):
            if lineage.declared_parents(conn, row) == rows:
                return self._repeat(conn, store.load(conn, row))
        kinds = self._completes_secret(conn, place, offer)
        if kinds:
            return self._refuse_parts(conn, place, offer, kinds)
        followed = self._followed(conn, place, offer, *rows)
        # What is made out of a text that is gone for good would only bring it back.
        gone = [parent.row for parent in parents if self._policy.gone(parent.record)]
        forgotten = (*followed.forgotten, *gone)
        if forgotten:
            return self._refuse_forgotten(conn, place, offer, forgotten[0])
        said = offers.said_by([parent.record.content or "" for parent in parents])
        standing = self._policy.admit_derived(
            draft.kind,
            self._inherited(parent.standing for parent in parents),
            self._taints(conn, followed.doubted),
            self._policy.supported(offer.reading.claims, said),
        )
        found = self._shown(conn, draft, followed.contained)
        return self._keep(conn, place, offer, standing, declared=rows, found=found)[0]


def _because(admitted: Admitted, reason: Reason) -> Admitted:
    """What became of an offer, with one reason more than the record itself keeps."""
    reasons = (*admitted.standing.reasons, str(reason))
    return replace(admitted, standing=replace(admitted.standing, reasons=reasons))


def _failed(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.FAILED_PRECONDITION, message)
