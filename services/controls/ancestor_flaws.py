"""Flaws of descent: what an ancestor is, or becomes, does not reach all that was made of it (N)."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace

from services.controls.flaw import Flaw, Parts, of_parts, of_policy
from services.memory.records.flow import Followed
from services.memory.records.model import Reason, Standing, Taint
from services.memory.records.offers import Offer
from services.memory.records.places import Place
from services.memory.records.policy import Policy
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]


class _TaintsOneGeneration(Policy):
    """Doubts go from a parent to its child and no further."""

    def inherited_taints(self, parent: Standing) -> frozenset[Taint]:
        """Nothing from a parent that has its doubts from another one."""
        if Taint.TAINTED_PARENT in parent.taints:
            return frozenset()
        return super().inherited_taints(parent)


class _Outvotes(Writing):
    """A child has its parents' doubts unless most of them are clean."""

    def _inherited(self, parents: Iterable[Standing]) -> frozenset[Taint]:
        standings = tuple(parents)
        doubted = sum(bool(self._policy.inherited_taints(parent)) for parent in standings)
        return super()._inherited(standings) if 2 * doubted >= len(standings) else frozenset()


class _FollowsNoText(Writing):
    """Knows the parents that it is told of, and does not notice a text that comes again."""

    def _followed(
        self, conn: sqlite3.Connection, place: Place, offer: Offer, *without: int
    ) -> Followed:
        return replace(super()._followed(conn, place, offer, *without), doubted=())


class _Spares(Policy):
    """What was made of a record keeps its standing whatever becomes of the record."""

    change = Reason.ANCESTOR_QUARANTINED

    def under(self, parent: Standing, standing: Standing, reason: Reason) -> Standing:
        """The standing as it was, for one kind of change."""
        return standing if reason is self.change else super().under(parent, standing, reason)


class _SparesForgotten(_Spares):
    """The same, when the record is forgotten."""

    change = Reason.ANCESTOR_FORGOTTEN


FLAWS: Mapping[str, Flaw] = {
    "taints_one_generation": of_policy(
        "taints_one_generation",
        _TaintsOneGeneration,
        "hands taints on to children, and not to grandchildren",
        "integrity.N.safety.grandchild",
    ),
    "outvotes_tainted_parents": of_parts(
        "outvotes_tainted_parents",
        Parts(writing=_Outvotes),
        "a child of mostly clean parents is clean",
        "integrity.N.safety.mixed",
    ),
    "follows_no_text": of_parts(
        "follows_no_text",
        Parts(writing=_FollowsNoText),
        "a tainted text that comes again under another parent is clean",
        "integrity.N.safety.content_flow",
    ),
    "quarantine_spares_children": of_policy(
        "quarantine_spares_children",
        _Spares,
        "Quarantine takes the record out of authority, and not what was derived from it",
        "integrity.N.safety.parent_quarantined",
        # Where the record of that case ends by being quarantined.
        "integrity.J.safety.children",
    ),
    "forget_spares_children": of_policy(
        "forget_spares_children",
        _SparesForgotten,
        "Forget removes the record, and what was derived from it keeps its authority",
        "integrity.N.safety.parent_forgotten",
    ),
}
