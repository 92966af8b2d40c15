"""NarrativeService over the narrative part; every acknowledged turn is durable (DESIGN §4)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memqual.v1 import narrative_pb2
from services.memory.narrative.model import QueryClass, TemporalStatus, TurnClass, Warmth
from services.memory.narrative.requests import CheckedServicer, checked_question, checked_turn

if TYPE_CHECKING:
    from services.memory.narrative.facts import Fact
    from services.memory.narrative.memory import Answer, Memory, Taken

__all__ = ["NarrativeServicer"]

TURN_CLASSES = {
    TurnClass.STATEMENT: narrative_pb2.TURN_CLASS_STATEMENT,
    TurnClass.UPDATE: narrative_pb2.TURN_CLASS_UPDATE,
    TurnClass.QUESTION: narrative_pb2.TURN_CLASS_QUESTION,
    TurnClass.GENERAL_KNOWLEDGE: narrative_pb2.TURN_CLASS_GENERAL_KNOWLEDGE,
    TurnClass.NOISE: narrative_pb2.TURN_CLASS_NOISE,
}
QUERY_CLASSES = {
    QueryClass.FACTUAL: narrative_pb2.QUERY_CLASS_FACTUAL,
    QueryClass.TEMPORAL: narrative_pb2.QUERY_CLASS_TEMPORAL,
    QueryClass.EMOTIONAL: narrative_pb2.QUERY_CLASS_EMOTIONAL,
    QueryClass.SITUATION: narrative_pb2.QUERY_CLASS_SITUATION,
    QueryClass.CHANGE: narrative_pb2.QUERY_CLASS_CHANGE,
    QueryClass.NEGATION: narrative_pb2.QUERY_CLASS_NEGATION,
    QueryClass.GENERAL_KNOWLEDGE: narrative_pb2.QUERY_CLASS_GENERAL_KNOWLEDGE,
}
STATUSES = {
    TemporalStatus.PAST: narrative_pb2.TEMPORAL_STATUS_PAST,
    TemporalStatus.ACTIVE: narrative_pb2.TEMPORAL_STATUS_ACTIVE,
    TemporalStatus.UPCOMING: narrative_pb2.TEMPORAL_STATUS_UPCOMING,
}
WARMTHS = {
    Warmth.INCREASE: narrative_pb2.WARMTH_DIRECTION_INCREASE,
    Warmth.DECREASE: narrative_pb2.WARMTH_DIRECTION_DECREASE,
    Warmth.NEUTRAL: narrative_pb2.WARMTH_DIRECTION_NEUTRAL,
}


class NarrativeServicer(CheckedServicer):
    """Checks what arrives, calls the memory, answers; errors are those of narrative.proto."""

    def __init__(self, memory: "Callable[[], Memory]") -> None:
        """Serves the memory that is made at the first call."""
        self._memory = memory

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Checks and takes a turn; raises ServiceError INVALID_ARGUMENT."""
        taken = self._memory().ingest(checked_turn(turn))
        return narrative_pb2.IngestResponse(trace=_write_trace(taken))

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Checks and answers a question; raises ServiceError INVALID_ARGUMENT."""
        asked = checked_question(request)
        found = self._memory().ask(asked.namespace, asked.question, asked.speaker)
        return narrative_pb2.AskResponse(answer=_answer(found))


def _write_trace(taken: "Taken") -> narrative_pb2.WriteTrace:
    trace = narrative_pb2.WriteTrace(
        classification=TURN_CLASSES[taken.turn_class],
        facts=[_fact(fact) for fact in taken.facts],
        tags=[narrative_pb2.Tag(text=tag.text, type=str(tag.type)) for tag in taken.tags],
        temporal=[
            narrative_pb2.TemporalReference(
                text=time.text, resolves_to=time.resolves_to, status=STATUSES[time.status]
            )
            for time in taken.times
        ],
    )
    if taken.emotion is not None:
        trace.emotion.name = str(taken.emotion.name)
        trace.emotion.warmth_direction = WARMTHS[taken.emotion.warmth]
    return trace


def _fact(fact: "Fact") -> narrative_pb2.StoredFact:
    return narrative_pb2.StoredFact(
        fact_id=fact.fact_id, text=fact.text, predicted_queries=fact.queries
    )


def _answer(found: "Answer") -> narrative_pb2.Answer:
    return narrative_pb2.Answer(
        text=found.text,
        declined=found.declined,
        fact_ids=found.converged,
        trace=narrative_pb2.ReadTrace(
            query_class=QUERY_CLASSES[found.query_class],
            candidate_fact_ids=found.candidates,
            converged_fact_ids=found.converged,
        ),
    )
