"""Flaws of taint and lifecycle: what gets lost on the way, and what comes back."""

from memqual.v1 import memory_pb2
from services.memory.records.model import (
    Kind,
    Reason,
    Standing,
    Taint,
)
from services.memory.records.policy import Policy
from tests.orchestrator.suites.integrity.search.flawed import (
    Context,
    DeriveRequest,
    Flawed,
    Notes,
    WriteRequest,
)

# Taint


class TrustsMerge(Flawed):
    """What was merged is checked."""

    def believes_derived(self, request: DeriveRequest, notes: Notes) -> bool:
        return request.method == "merge"


class Consolidates(Flawed):
    """Consolidation rewords what it finds as the user's own."""

    def believes_derived(self, request: DeriveRequest, notes: Notes) -> bool:
        return request.method == "consolidation" and len(request.parent_ids) > 1


class GrandchildrenAreClean(Flawed):
    """Taint reaches children and stops there."""

    def believes_derived(self, request: DeriveRequest, notes: Notes) -> bool:
        return not notes.derived.isdisjoint(request.parent_ids)


class OneCleanParent(Flawed):
    """One parent that the user said vouches for the others."""

    def believes_derived(self, request: DeriveRequest, notes: Notes) -> bool:
        said = [notes.contents.get(parent) for parent in request.parent_ids]
        trusted = memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
        return any(
            one is not None
            and one.source.type == memory_pb2.SOURCE_TYPE_USER
            and one.source.binding == trusted
            for one in said
        )


class IgnoresParentsState(Policy):
    """A quarantined parent's child is as good as any."""

    def inherited_taints(self, parent: Standing) -> frozenset[Taint]:
        return frozenset(parent.taints)


class AddsWords(Policy):
    """What a derivation adds to its parents is theirs."""

    def supported(self, child: object, parents: object) -> bool:
        return True

    def admit_derived(
        self, kind: Kind, inherited: frozenset[Taint], repeated: frozenset[Taint], supported: bool
    ) -> Standing:
        return super().admit_derived(kind, inherited, frozenset(), supported)


# Lifecycle


class ForgottenInOtherSpacing(Flawed):
    """A forgotten text comes back when its white space differs."""

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: Context
    ) -> memory_pb2.ForgetResponse:
        notes = self.notes[request.scope.namespace]
        known = notes.contents.get(request.record_id)
        response = super().Forget(request, context)
        if known is not None:
            notes.forgotten.add(known.content)
        return response

    def Write(self, request: WriteRequest, context: Context) -> memory_pb2.WriteResponse:
        response = super().Write(request, context)
        observation = request.observation
        notes = self.notes[observation.scope.namespace]
        content = observation.content
        forgotten = {" ".join(text.split()): text for text in notes.forgotten}
        if forgotten.get(" ".join(content.split()), content) != content:
            record_id = f"copy-{len(notes.shadows)}"
            self.show(notes, observation.scope, record_id, content, authoritative=False)
            response.admission.record_id = record_id
            response.admission.state = memory_pb2.RECORD_STATE_QUARANTINED
        return response


class ArchivedComesBackByOutcome(Flawed):
    """An outcome takes a record out of the archive."""

    def Archive(
        self, request: memory_pb2.ArchiveRequest, context: Context
    ) -> memory_pb2.ArchiveResponse:
        response = super().Archive(request, context)
        self.notes[request.scope.namespace].archived.add(request.record_id)
        return response

    def RecordOutcome(
        self, request: memory_pb2.RecordOutcomeRequest, context: Context
    ) -> memory_pb2.RecordOutcomeResponse:
        response = super().RecordOutcome(request, context)
        notes = self.notes[request.scope.namespace]
        known = notes.contents.get(request.record_id)
        if request.record_id in notes.archived and known is not None:
            content = known.content
            self.show(notes, request.scope, request.record_id, content, authoritative=True)
        return response


class ChildrenOutliveQuarantine(Policy):
    """Quarantine takes the record and leaves what was made of it."""

    def under(self, parent: Standing, standing: Standing, reason: Reason) -> Standing:
        if reason is Reason.ANCESTOR_QUARANTINED:
            return standing
        return super().under(parent, standing, reason)


class ChildrenKeepForgottenWords(Policy):
    """Forget takes the record and leaves its words in what was made of it."""

    def carries(self, child: object, forgotten: object, others: object) -> bool:
        return False
