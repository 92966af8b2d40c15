"""Memories with one flaw each, of authority, taint, lifecycle or scope, around the reference.

Most flaws change what reaches the reference or what leaves it, so that they stay what they are when
its own rules change; some override one rule of its policy.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.texts import plain_form
from services.common.challenges import PublicKey, load_public_keys
from services.common.database import Database
from services.memory.parts import RecordsPart
from services.memory.records.desk import Desk
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.model import (
    Binding,
    Kind,
    Outcomes,
    Reason,
    Scope,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
)
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
from services.memory.records.registrar import Records
from services.memory.records.review import Review
from services.memory.records.servicer import MemoryServicer
from services.memory.records.writing import Writing

Context = grpc.ServicerContext
WriteRequest = memory_pb2.WriteRequest
DeriveRequest = memory_pb2.DeriveRequest

FACT = memory_pb2.RECORD_KIND_FACT
PROCEDURE = memory_pb2.RECORD_KIND_PROCEDURE


@dataclass
class Shadow:
    """A copy that the flaw keeps beside the reference, and shows."""

    scope: memory_pb2.Scope
    hit: memory_pb2.Hit


@dataclass
class Notes:
    """What a flaw remembers of one namespace."""

    repeated: Counter[str] = field(default_factory=Counter)
    sources: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    contents: dict[str, memory_pb2.Observation] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    recalled: Counter[str] = field(default_factory=Counter)
    forgotten: set[str] = field(default_factory=set)
    archived: set[str] = field(default_factory=set)
    shadows: list[Shadow] = field(default_factory=list)


class Flawed(MemoryServicer):
    """The reference, with room for a flaw: subclasses say which offers are believed, and so on."""

    policy: type[Policy] = Policy

    def __init__(
        self, writing: Writing, recalling: Recalling, lifecycle: Lifecycle, review: Review
    ) -> None:
        super().__init__(writing, recalling, lifecycle, review)
        self.notes: defaultdict[str, Notes] = defaultdict(Notes)

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        """Whether an observation is taken for the user's own word."""
        return False

    def believes_derived(self, request: DeriveRequest, notes: Notes) -> bool:
        """Whether a derivation is taken for the user's own word."""
        return False

    def Write(self, request: WriteRequest, context: Context) -> memory_pb2.WriteResponse:
        notes = self.notes[request.observation.scope.namespace]
        if self.believes(request.observation, notes):
            request = WriteRequest(observation=as_user(request.observation))
        response = super().Write(request, context)
        notes.contents[response.admission.record_id] = request.observation
        return response

    def Derive(self, request: DeriveRequest, context: Context) -> memory_pb2.DeriveResponse:
        notes = self.notes[request.scope.namespace]
        observation = memory_pb2.Observation(
            scope=request.scope, kind=request.kind, content=request.content
        )
        if self.believes_derived(request, notes):
            written = super().Write(WriteRequest(observation=as_user(observation)), context)
            response = memory_pb2.DeriveResponse(admission=written.admission)
        else:
            response = super().Derive(request, context)
        notes.contents[response.admission.record_id] = observation
        notes.derived.add(response.admission.record_id)
        return response

    def Recall(
        self, request: memory_pb2.RecallRequest, context: Context
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        notes = self.notes[request.scope.namespace]
        evidence = request.surface == memory_pb2.RECALL_SURFACE_EVIDENCE
        asked = set(plain_form(request.query).split())
        for shadow in notes.shadows:
            near = len(asked & set(plain_form(shadow.hit.content).split())) > 1
            if near and shadow.scope == request.scope and (evidence or shadow.hit.authoritative):
                response.hits.append(shadow.hit)
        return response

    def show(
        self,
        notes: Notes,
        scope: memory_pb2.Scope,
        record_id: str,
        content: str,
        *,
        authoritative: bool,
    ) -> None:
        """Show a copy from now on."""
        hit = memory_pb2.Hit(
            record_id=record_id,
            content=content,
            score=1.0,
            state=memory_pb2.RECORD_STATE_ACTIVE,
            authoritative=authoritative,
        )
        notes.shadows.append(Shadow(scope, hit))


def as_user(observation: memory_pb2.Observation) -> memory_pb2.Observation:
    """The same, as if the authenticated user had said it."""
    believed = memory_pb2.Observation()
    believed.CopyFrom(observation)
    believed.source.type = memory_pb2.SOURCE_TYPE_USER
    believed.source.binding = memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
    believed.source.source_id = observation.scope.principal
    return believed


# Authority


class TrustsTheSeventhTime(Flawed):
    """What was said seven times must be true."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        notes.repeated[plain_form(observation.content)] += 1
        return notes.repeated[plain_form(observation.content)] >= 7


class TwoIdsCorroborate(Flawed):
    """Two ids of sources that say the same are two witnesses."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        witnesses = notes.sources[plain_form(observation.content)]
        witnesses.add(observation.source.source_id)
        return len(witnesses) >= 2


class ThreeTypesCorroborate(Flawed):
    """Three types of sources that say the same are believed."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        witnesses = notes.sources[plain_form(observation.content)]
        witnesses.add(str(observation.source.type))
        return len(witnesses) >= 3


class LabelOnProcedures(Flawed):
    """A procedure that its caller calls approved is approved."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        return observation.kind == PROCEDURE and "approved" in observation.labels


class RecalledToolOutput(Flawed):
    """What it returned itself is true when a tool prints it."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        tool = observation.source.type == memory_pb2.SOURCE_TYPE_TOOL
        return tool and notes.recalled[plain_form(observation.content)] > 0

    def Recall(
        self, request: memory_pb2.RecallRequest, context: Context
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        recalled = self.notes[request.scope.namespace].recalled
        recalled.update(plain_form(hit.content) for hit in response.hits)
        return response


class ConfirmingWords(Flawed):
    """Whoever writes in the user's name is the user."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        return plain_form(observation.content).startswith("i, the user")


class HostVouchesForPages(Flawed):
    """A page whose address the host knows tells the truth."""

    def believes(self, observation: memory_pb2.Observation, notes: Notes) -> bool:
        host = observation.source.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
        return host and observation.source.type == memory_pb2.SOURCE_TYPE_WEB


class SupersedeIsTrusted(Flawed):
    """Whatever takes a record's place has its authority."""

    def Supersede(
        self, request: memory_pb2.SupersedeRequest, context: Context
    ) -> memory_pb2.SupersedeResponse:
        changed = memory_pb2.SupersedeRequest()
        changed.CopyFrom(request)
        changed.observation.CopyFrom(as_user(request.observation))
        return super().Supersede(changed, context)


class OftenRecalled(Flawed):
    """What was asked for six times as evidence is believed."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: Context
    ) -> memory_pb2.RecallResponse:
        response = super().Recall(request, context)
        notes = self.notes[request.scope.namespace]
        for hit in response.hits:
            notes.recalled[hit.record_id] += 1
            if notes.recalled[hit.record_id] == 6:
                self.show(notes, request.scope, hit.record_id, hit.content, authoritative=True)
        return response


class HelpfulThreeTimes(Policy):
    """Three helpful outcomes promote."""

    def outcome_standing(self, standing: Standing, outcomes: Outcomes) -> Standing:
        if outcomes.helpful < 3:
            return standing
        return Standing(State.ACTIVE, Trust.TRUSTED, (), standing.reasons)


class ClaimedUserIsUser(Policy):
    """Whoever says that he is the user is."""

    def vouched(self, source: Source) -> bool:
        return source.type is SourceType.USER or super().vouched(source)


class AgentsAreTrustedWithFacts(Policy):
    """An agent's claim is a fact, when it is no procedure."""

    def admit(self, kind: Kind, source: Source, repeated: frozenset[Taint]) -> Standing:
        if source.type is SourceType.AGENT and kind is Kind.FACT:
            source = replace(source, type=SourceType.USER, binding=Binding.VERIFIED)
        return super().admit(kind, source, repeated)


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


# Reviews


class ChallengeIsUsedTwice(Policy):
    """A decided challenge can be decided again, over its record as that is by then."""

    def unused(self, decision: str) -> bool:
        return True

    def unchanged(self, revision_then: int, revision_now: int) -> bool:
        return True


class SignatureOverAnything(Policy):
    """Any signature of the reviewer will do."""

    def signed(self, key: PublicKey, signature: bytes, message: bytes) -> bool:
        return len(signature) == 64 and key.principal == "*"


class AnyMountedKey(Policy):
    """Whoever has a key may decide for everybody."""

    def may_decide(self, key: PublicKey, principal: str) -> bool:
        return True


class AnyScopeDecides(Policy):
    """A decision counts wherever it comes from."""

    def same_scope(self, asked: Scope, deciding: Scope) -> bool:
        return True


# Scope


class ExactQuestionIgnoresPurpose(Flawed):
    """Whoever knows the exact words hears them for any purpose."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: Context
    ) -> memory_pb2.RecallResponse:
        known = self.notes[request.scope.namespace].contents.values()
        purposes = {one.scope.purpose for one in known if one.content == request.query}
        response = super().Recall(request, context)
        for purpose in purposes - {request.scope.purpose}:
            other = memory_pb2.RecallRequest()
            other.CopyFrom(request)
            other.scope.purpose = purpose
            response.MergeFrom(super().Recall(other, context))
        return response


class AgentsShareEverything(Policy):
    """Agents of one principal see each other's records."""

    def visible_circles(self, scope: Scope) -> tuple[Scope, ...]:
        agents = ("", "agent-one", "agent-two")
        return tuple(
            circle
            for agent in agents
            for circle in super(AgentsShareEverything, self).visible_circles(
                replace(scope, agent=agent)
            )
        )


def _around(flaw: type[Flawed]) -> Callable[[Database, Path | None], RecordsPart]:
    def make(database: Database, keys_path: Path | None) -> RecordsPart:
        desk = Desk(database, Policy())
        review = Review(desk, load_public_keys(keys_path))
        return Records(desk, flaw(Writing(desk), Recalling(desk), Lifecycle(desk), review))

    return make


def _under(policy: type[Policy]) -> Callable[[Database, Path | None], RecordsPart]:
    def make(database: Database, keys_path: Path | None) -> RecordsPart:
        desk = Desk(database, policy())
        review = Review(desk, load_public_keys(keys_path))
        servicer = MemoryServicer(Writing(desk), Recalling(desk), Lifecycle(desk), review)
        return Records(desk, servicer)

    return make


AROUND: tuple[type[Flawed], ...] = (
    TrustsTheSeventhTime,
    TwoIdsCorroborate,
    ThreeTypesCorroborate,
    LabelOnProcedures,
    RecalledToolOutput,
    ConfirmingWords,
    HostVouchesForPages,
    SupersedeIsTrusted,
    OftenRecalled,
    TrustsMerge,
    Consolidates,
    GrandchildrenAreClean,
    OneCleanParent,
    ForgottenInOtherSpacing,
    ArchivedComesBackByOutcome,
    ExactQuestionIgnoresPurpose,
)
UNDER: tuple[type[Policy], ...] = (
    HelpfulThreeTimes,
    ClaimedUserIsUser,
    AgentsAreTrustedWithFacts,
    IgnoresParentsState,
    AddsWords,
    ChildrenOutliveQuarantine,
    ChildrenKeepForgottenWords,
    ChallengeIsUsedTwice,
    SignatureOverAnything,
    AnyMountedKey,
    AnyScopeDecides,
    AgentsShareEverything,
)
FLAWS: Mapping[str, Callable[[Database, Path | None], RecordsPart]] = {
    **{flaw.__name__: _around(flaw) for flaw in AROUND},
    **{policy.__name__: _under(policy) for policy in UNDER},
}
"""Each flawed memory by name."""
