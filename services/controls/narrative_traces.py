"""Narrative memories that lie about how they came to an answer; the answer is the reference's."""

from memqual.v1 import narrative_pb2
from services.memory.narrative.servicer import NarrativeServicer

__all__ = ["CitesOthers", "InventsFacts", "PredictsInVain"]

# Asks for nothing that anybody tells of oneself.
_IN_VAIN = "How many moons does the seventh planet have?"


class PredictsInVain(NarrativeServicer):
    """Predicts a question for every fact, and finds no fact by a question that it predicted."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """The trace's predicted queries are all the same one."""
        response = super().take(turn)
        for fact in response.trace.facts:
            fact.predicted_queries[:] = [_IN_VAIN]
        return response

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The reference's, but that nothing comes near to that question."""
        response = super().reply(request)
        if request.question == _IN_VAIN:
            response.answer.trace.ClearField("candidate_fact_ids")
        return response


class InventsFacts(NarrativeServicer):
    """Traces an answer back to facts that it never told of."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The candidates' ids are of nothing."""
        response = super().reply(request)
        trace = response.answer.trace
        for ids in (trace.candidate_fact_ids, trace.converged_fact_ids, response.answer.fact_ids):
            ids[:] = [f"{fact_id}.invented"[:64] for fact_id in ids]
        return response


class CitesOthers(NarrativeServicer):
    """Rests a speaker's answer on what another one told, too."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The first fact of somebody else's is among those that the answer joins."""
        response = super().reply(request)
        if response.answer.text and request.speaker:
            for speaker, fact in self._memory().facts(request.namespace):
                if speaker != request.speaker:
                    response.answer.fact_ids.append(fact.fact_id)
                    break
        return response
