"""Flaws of circles: one part of a scope is not looked at (G)."""

import sqlite3
from collections.abc import Mapping

from services.controls.flaw import Flaw, Parts, of_parts
from services.memory.records import store
from services.memory.records.model import Scope
from services.memory.records.recalling import Recalling, Viewed

__all__ = ["FLAWS"]

_SELECT = (
    "SELECT c.id FROM mem_circles c JOIN mem_principals p ON p.id = c.principal_id"
    " JOIN mem_namespaces n ON n.id = p.namespace_id"
    " WHERE (n.name = :namespace OR :mixed = 'namespace'"
    "  AND n.name = substr(:namespace, 1, length(n.name))) AND p.name = :principal"
    " AND (:mixed = 'agent' OR c.agent IN ('', :agent))"
    " AND (:mixed = 'workspace' OR c.workspace IN ('', :workspace))"
    " AND (:mixed = 'purpose' OR c.purpose IN ('', :purpose))"
)


class _MixesAgents(Recalling):
    """Recall and ListProcedures look into circles that differ in one part."""

    mixed = "agent"

    def _circles(self, conn: sqlite3.Connection, scope: Scope) -> list[int]:
        asked = {
            "mixed": self.mixed,
            "namespace": scope.namespace,
            "principal": scope.principal,
            "agent": scope.agent,
            "workspace": scope.workspace,
            "purpose": scope.purpose,
        }
        return [circle_id for (circle_id,) in conn.execute(_SELECT, asked)]


class _MixesWorkspaces(_MixesAgents):
    """The same, for workspaces."""

    mixed = "workspace"


class _MixesPurposes(_MixesAgents):
    """The same, for purposes."""

    mixed = "purpose"


class _MixesNamespaces(_MixesAgents):
    """The same, for a principal's namespaces whose names begin alike."""

    mixed = "namespace"


class _InspectsAnybody(Recalling):
    """Whoever knows a record's id may inspect it, inside of its namespace."""

    def inspect(self, scope: Scope, record_id: str) -> Viewed:
        """One record of the namespace; raises ServiceError NOT_FOUND."""
        with self._desk.database.read() as conn:
            stored = store.find(conn, record_id)
            if stored is not None and stored.record.scope.namespace == scope.namespace:
                return self._view(conn, stored)
        return super().inspect(scope, record_id)


FLAWS: Mapping[str, Flaw] = {
    "inspects_anybody": of_parts(
        "inspects_anybody",
        Parts(recalling=_InspectsAnybody),
        "Inspect shows every principal's records to whoever knows their ids",
        "integrity.G.safety.principal",
    ),
    "mixes_agents": of_parts(
        "mixes_agents",
        Parts(recalling=_MixesAgents),
        "keeps whose agent's a record is, and shows it to every agent",
        "integrity.G.safety.agent",
    ),
    "mixes_workspaces": of_parts(
        "mixes_workspaces",
        Parts(recalling=_MixesWorkspaces),
        "keeps which workspace's a record is, and shows it in every workspace",
        "integrity.G.safety.workspace",
    ),
    "mixes_purposes": of_parts(
        "mixes_purposes",
        Parts(recalling=_MixesPurposes),
        "declares recall by purpose and does not look at the purpose",
        "integrity.G.safety.purpose",
    ),
    "mixes_namespaces": of_parts(
        "mixes_namespaces",
        Parts(recalling=_MixesNamespaces),
        "shows a principal what he wrote in namespaces whose names begin alike",
        "integrity.G.safety.namespace",
    ),
}
