"""Flaws of what should be gone or the same: resurrection, re-entry, paths, secrets (J, R, S, T)."""

import sqlite3
from collections.abc import Mapping
from dataclasses import replace

from services.controls import secret_flaws
from services.controls.flaw import Flaw, Parts, of_parts, of_policy
from services.memory.records import offers, places, store
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Binding,
    Kind,
    Observation,
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
)
from services.memory.records.offers import Admitted
from services.memory.records.places import Place
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling, Viewed
from services.memory.records.store import Draft, Stored
from services.memory.records.writing import Writing

__all__ = ["FLAWS"]

WITHDRAWN = "withdrawn_by_user"

_ENDED_STATES = "('superseded', 'forgotten', 'archived', 'quarantined')"
_SAID = (
    "SELECT r.row FROM mem_records r JOIN mem_namespaces n ON n.id = r.namespace_id"
    " WHERE n.name = ? AND r.statement = ? AND r.source_type = 'user'"
    " AND r.source_binding <> 'caller_asserted' AND {} LIMIT 1"
)
_ARCHIVED_PROCEDURES = (
    "SELECT row FROM mem_records WHERE circle_id = ? AND kind = 'procedure' AND state = 'archived'"
    " AND trust = 'reviewed'"
)
_KNOWN = (
    "SELECT 1 FROM mem_records WHERE circle_id = ? AND statement = ? AND authoritative = 1 LIMIT 1"
)
_SAID_BY_ALL = (
    "SELECT o.record_id, p.name FROM mem_records r"
    " JOIN mem_records o ON o.namespace_id = r.namespace_id AND o.statement = r.statement"
    " JOIN mem_principals p ON p.id = o.principal_id"
    " WHERE r.record_id = ? AND o.content IS NOT NULL"
)


class _BelievesEverybody(Policy):
    """Admits whatever it is offered as if an authenticated user had said it."""

    def believed(self, source: Source, doubt: object) -> Source:
        """Everybody is an authenticated user."""
        return replace(source, type=SourceType.USER, binding=Binding.HOST_AUTHENTICATED)

    def attests(self, source: Source) -> bool:
        """Whatever is said is the source's own statement."""
        return True


class _StaysInForce(Policy):
    """What is in one state of those out of use has authority all the same."""

    state = State.SUPERSEDED

    def authoritative(self, kind: Kind, source: Source, standing: Standing) -> bool:
        """As the reference, with one state more."""
        if standing.state is self.state:
            standing = replace(standing, state=State.ACTIVE)
        return super().authoritative(kind, source, standing)


class _ArchiveStaysInForce(_StaysInForce):
    """The same, of archived records."""

    state = State.ARCHIVED


class _ForgetsWithoutIndex(Lifecycle):
    """Removes a record's content and leaves its words in the index."""

    def _erase(self, conn: sqlite3.Connection, stored: Stored) -> Stored:
        return store.erase(conn, stored)


class _ReleasesAtRestart(Lifecycle):
    """What a user had quarantined is quarantined for as long as the process lives."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        with desk.database.transaction() as conn:
            rows = conn.execute(
                "SELECT row FROM mem_records WHERE state = 'quarantined' AND trust = 'trusted'"
                " AND instr(reasons_json, ?)",
                (WITHDRAWN,),
            ).fetchall()
            for (row,) in rows:
                stored = store.load(conn, row)
                active = replace(stored.standing, state=State.ACTIVE)
                desk.change(conn, stored, active, "released", places.advance_clock(conn))


class _ListsWhatWasArchived(Recalling):
    """A procedure that was approved once can still be followed when it is archived."""

    def procedures(self, scope: Scope) -> list[Viewed]:
        """The active ones, and those that were in force once."""
        with self._desk.database.read() as conn:
            found = [
                self._view(conn, store.load(conn, row))
                for circle_id in self._circles(conn, scope)
                for (row,) in conn.execute(_ARCHIVED_PROCEDURES, (circle_id,)).fetchall()
            ]
        return super().procedures(scope) + found


class _DerivesFromEnded(Policy):
    """A child of what is out of use is as good as the record was."""

    def inherited_taints(self, parent: Standing) -> frozenset[Taint]:
        """No doubt comes from a parent's being superseded or archived."""
        if parent.state in (State.SUPERSEDED, State.ARCHIVED):
            parent = replace(parent, state=State.ACTIVE)
        return super().inherited_taints(parent)


class _EndsWithoutChildren(Policy):
    """What was made of a record keeps its standing when the record goes out of use."""

    def under(self, parent: Standing, standing: Standing, reason: Reason) -> Standing:
        """The standing as it was, when the ancestor was superseded or archived."""
        if reason in (Reason.ANCESTOR_SUPERSEDED, Reason.ANCESTOR_ARCHIVED):
            return standing
        return super().under(parent, standing, reason)


class _Believing(Writing):
    """Takes some offers for an authenticated user's word; which ones, a control says."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.believing = Writing(Desk(desk.database, _BelievesEverybody()))

    def said(self, observation: Observation, which: str) -> bool:
        """Whether a user has said the same before, in a record of which a condition holds."""
        statement = offers.observed(self._policy, self._desk.key, observation).draft.statement
        with self._desk.database.read() as conn:
            values = (observation.scope.namespace, statement)
            return conn.execute(_SAID.format(which), values).fetchone() is not None


class _RevivesRewritten(_Believing):
    """Who writes again what a user said and withdrew, speaks for him."""

    def write(self, observation: Observation) -> Admitted:
        """Believes a text that is known from a record that ended."""
        if self.said(observation, f"r.state IN {_ENDED_STATES}"):
            return self.believing.write(observation)
        return super().write(observation)


class _TrustsToolsThatAgree(_Believing):
    """A tool that says what is known has confirmed it."""

    def write(self, observation: Observation) -> Admitted:
        """Believes a tool's output that says what has authority."""
        tool = observation.source.type is SourceType.TOOL
        if tool and self.said(observation, "r.authoritative = 1"):
            return self.believing.write(observation)
        return super().write(observation)


class _TrustsSuccessors(_Believing):
    """What is offered in the place of a record is believed."""

    def supersede(self, scope: Scope, record_id: str, observation: Observation) -> Admitted:
        """As if an authenticated user had said it."""
        return self.believing.supersede(scope, record_id, observation)


class _KeepsEveryCopy(Writing):
    """Whoever says what is known to be true has said something new each time."""

    def _same(self, conn: sqlite3.Connection, place: Place, draft: Draft, select: str) -> list[int]:
        known = (place.circle_id, draft.statement)
        agrees = not self._policy.vouched(draft.source) and conn.execute(_KNOWN, known).fetchone()
        return [] if agrees else super()._same(conn, place, draft, select)


class _ForgetsForAll(Lifecycle):
    """Forgets a text for everybody who said it."""

    def forget(self, scope: Scope, record_id: str) -> list[str]:
        """As the reference, once for each principal of the namespace."""
        with self._desk.database.read() as conn:
            found = conn.execute(_SAID_BY_ALL, (record_id,)).fetchall()
        for other_id, principal in found:
            if principal != scope.principal:
                super().forget(replace(scope, principal=principal), other_id)
        return super().forget(scope, record_id)


FLAWS: Mapping[str, Flaw] = {
    "superseded_stays_in_force": of_policy(
        "superseded_stays_in_force",
        _StaysInForce,
        "a record that has a successor keeps its authority",
        "integrity.J.safety.superseded",
    ),
    "forget_keeps_index": of_parts(
        "forget_keeps_index",
        Parts(lifecycle=_ForgetsWithoutIndex),
        "the words of a forgotten text stay in the index",
        "integrity.J.safety.forgotten",
        "integrity.S.residue.forgotten",
    ),
    "archived_stays_in_force": of_policy(
        "archived_stays_in_force",
        _ArchiveStaysInForce,
        "an archived record keeps its authority",
        "integrity.J.safety.archived",
        "integrity.J.safety.procedures",
    ),
    "restart_releases_quarantine": of_parts(
        "restart_releases_quarantine",
        Parts(lifecycle=_ReleasesAtRestart),
        "what a user had quarantined has authority again after a restart",
        "integrity.J.safety.quarantined",
    ),
    "rewriting_revives": of_parts(
        "rewriting_revives",
        Parts(writing=_RevivesRewritten),
        "anybody who writes an ended text again brings it back",
        "integrity.J.safety.rewritten",
    ),
    "lists_what_was_archived": of_parts(
        "lists_what_was_archived",
        Parts(recalling=_ListsWhatWasArchived),
        "an approved procedure stays on the active list when it is archived",
        "integrity.J.safety.procedures",
    ),
    "ends_without_children": of_policy(
        "ends_without_children",
        _EndsWithoutChildren,
        "what was derived from a record outlives its being superseded or archived",
        "integrity.J.safety.children",
    ),
    "derives_from_ended": of_policy(
        "derives_from_ended",
        _DerivesFromEnded,
        "what is derived from a superseded or archived record has authority",
        "integrity.J.safety.late_children",
    ),
    "forgets_for_all": of_parts(
        "forgets_for_all",
        Parts(lifecycle=_ForgetsForAll),
        "one principal's Forget removes the same text of every other",
        "integrity.J.utility.collateral",
    ),
    "trusts_tools_that_agree": of_parts(
        "trusts_tools_that_agree",
        Parts(writing=_TrustsToolsThatAgree),
        "what was recalled and comes back as a tool's output is trusted",
        "integrity.R.safety",
        "integrity.R.utility",
    ),
    "keeps_every_copy": of_parts(
        "keeps_every_copy",
        Parts(writing=_KeepsEveryCopy),
        "keeps a copy of what was recalled each time that it is written back",
        "integrity.R.safety.copies",
    ),
    "trusts_successors": of_parts(
        "trusts_successors",
        Parts(writing=_TrustsSuccessors),
        "what comes in by Supersede is believed, whoever says it",
        "integrity.T.safety",
    ),
    **secret_flaws.FLAWS,
}
"""One flaw or more for each case of J, R, S and T."""
