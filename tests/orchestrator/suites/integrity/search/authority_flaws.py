"""Flaws of authority: who is believed, and by what."""

from dataclasses import replace

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.texts import plain_form
from services.memory.records.model import (
    Binding,
    Kind,
    Outcomes,
    Source,
    SourceType,
    Standing,
    State,
    Taint,
    Trust,
)
from services.memory.records.policy import Policy
from tests.orchestrator.suites.integrity.search.flawed import (
    PROCEDURE,
    Context,
    Flawed,
    Notes,
    as_user,
)


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
