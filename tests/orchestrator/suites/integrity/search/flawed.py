"""The reference with room for a flaw: what the test-only flaws of the search are made of."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import grpc

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.texts import plain_form
from services.memory.records.lifecycle import Lifecycle
from services.memory.records.policy import Policy
from services.memory.records.recalling import Recalling
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
