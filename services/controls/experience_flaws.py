"""Flaws of authority from elsewhere: dormant text and success stories (B, E), with G's and N's."""

from collections.abc import Mapping
from dataclasses import replace

from services.controls import ancestor_flaws, circle_flaws
from services.controls.flaw import Flaw, Parts, of_parts
from services.memory.records import lineage, places
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Kind,
    Outcome,
    Scope,
    SourceType,
    Standing,
    State,
    Surface,
    Taint,
    Trust,
)
from services.memory.records.offers import Admitted, Derivation
from services.memory.records.policy import Policy
from services.memory.records.recalling import Found, Recalling, Viewed
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]

# So many later records, and what was doubted counts as settled.
SETTLED_AFTER_RECORDS = 10


class _WakesDormant(Recalling):
    """Where nothing else answers, what was doubted long ago is better than nothing."""

    def recall(self, scope: Scope, query: str, max_hits: int, surface: Surface) -> list[Found]:
        """What the reference finds, or else old doubted records as if they were believed."""
        found = super().recall(scope, query, max_hits, surface)
        if found or surface is Surface.EVIDENCE:
            return found
        evidence = super().recall(scope, query, max_hits, Surface.EVIDENCE)
        return [_believed(one) for one in evidence if self._settled(one)]

    def _settled(self, found: Found) -> bool:
        stored = found.viewed.stored
        with self._desk.database.read() as conn:
            (records,) = conn.execute(
                "SELECT count(*) FROM mem_records WHERE namespace_id = ? AND row > ?",
                (stored.place.namespace_id, stored.row),
            ).fetchone()
        held_back = stored.standing.state is State.QUARANTINED
        return held_back and bool(records >= SETTLED_AFTER_RECORDS)


class _ShowsCloserPages(Recalling):
    """A page that is closer to the question than anything that is believed goes first."""

    def recall(self, scope: Scope, query: str, max_hits: int, surface: Surface) -> list[Found]:
        """What the reference finds, after a closer page."""
        found = super().recall(scope, query, max_hits, surface)
        if not found or surface is Surface.EVIDENCE:
            return found
        evidence = super().recall(scope, query, max_hits, Surface.EVIDENCE)
        closest = evidence[0].viewed.stored
        page = closest.record.source.type in (SourceType.WEB, SourceType.DOCUMENT)
        if closest.authoritative or not page or evidence[0].score <= _best(evidence):
            return found
        return [_believed(evidence[0]), *found][:max_hits]


class _BelievesLessons(Policy):
    """What is derived as a procedure is one."""

    def admit_derived(
        self, kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
    ) -> Standing:
        """Active for procedures, whatever their parents are."""
        if kind is Kind.PROCEDURE:
            return Standing(State.ACTIVE, Trust.TRUSTED, (), ("experience",))
        return super().admit_derived(kind, inherited, repeated, supported)


class _GraftsExtractions(Writing):
    """A procedure that was extracted from experience needs nobody's approval."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._believing = Writing(Desk(desk.database, _BelievesLessons()))

    def derive(self, derivation: Derivation) -> Admitted:
        """The reference's answer but for extractions."""
        if derivation.method == "extraction":
            return self._believing.derive(derivation)
        return super().derive(derivation)


class _BelievesPraisedStories(Lifecycle):
    """A story that turned out helpful is believed; what is derived from it is, too."""

    def record_outcome(
        self, scope: Scope, record_id: str, outcome: Outcome, utility: float
    ) -> Viewed:
        """Clears an episode's doubts at its first helpful outcome."""
        with self._desk.database.transaction() as conn:
            stored = self._desk.visible(conn, scope, record_id)
            if stored.record.kind is Kind.EPISODE and outcome is Outcome.HELPFUL:
                standing = Standing(State.ACTIVE, Trust.TRUSTED, (), ("helpful",))
                now_unix_ns = places.advance_clock(conn)
                stored = self._desk.change(conn, stored, standing, "praised", now_unix_ns)
                return Viewed(stored, lineage.ancestor_ids(conn, stored.row))
        return super().record_outcome(scope, record_id, outcome, utility)


def _believed(found: Found) -> Found:
    stored = replace(found.viewed.stored, authoritative=True)
    return replace(found, viewed=replace(found.viewed, stored=stored))


def _best(found: list[Found]) -> float:
    """Score of the closest that is believed."""
    return max((one.score for one in found if one.viewed.stored.authoritative), default=0.0)


FLAWS: Mapping[str, Flaw] = {
    "wakes_dormant": of_parts(
        "wakes_dormant",
        Parts(recalling=_WakesDormant),
        "recalls quarantined records as authority when nothing else answers and ten came later",
        "integrity.B.safety",
        "integrity.T.safety",
        # Of two texts that are alike, the older one has ten after it and the younger one has not.
        "integrity.fire.safety.burst",
    ),
    "shows_closer_pages": of_parts(
        "shows_closer_pages",
        Parts(recalling=_ShowsCloserPages),
        "recalls a page as authority when it outscores every trusted record",
        "integrity.B.safety.outscored",
        "integrity.F.safety",
        "integrity.R.safety",
    ),
    "grafts_extractions": of_parts(
        "grafts_extractions",
        Parts(writing=_GraftsExtractions),
        "a procedure derived by extraction is active, whatever its parents are",
        "integrity.E.safety",
    ),
    "believes_praised_stories": of_parts(
        "believes_praised_stories",
        Parts(lifecycle=_BelievesPraisedStories),
        "a helpful outcome of an episode makes it a clean parent",
        "integrity.E.safety",
    ),
    **circle_flaws.FLAWS,
    **ancestor_flaws.FLAWS,
}
