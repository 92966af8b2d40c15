"""Narrative memories that say the wrong thing; each is the reference but for one wrong."""

import hashlib
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from memqual.v1 import narrative_pb2
from services.memory.narrative.servicer import NarrativeServicer

if TYPE_CHECKING:
    from services.memory.narrative.memory import Memory

__all__ = [
    "AnswersAtRandom",
    "AnswersByNamespace",
    "AnswersEmpty",
    "AnswersInTurn",
    "AnswersOutOfAll",
    "DeclinesEverything",
    "KeepsSuperseded",
]

# Candidates that are taken for answers to the same question.
_NEAR = 6


def _copied(request: narrative_pb2.AskRequest, **changes: str) -> narrative_pb2.AskRequest:
    copy = narrative_pb2.AskRequest()
    copy.CopyFrom(request)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


class AnswersOutOfAll(NarrativeServicer):
    """Takes no notice of who asks."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """As for a question without a speaker."""
        return super().reply(_copied(request, speaker=""))


class DeclinesEverything(NarrativeServicer):
    """Knows nothing, whatever it was told."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Declined."""
        response = super().reply(request)
        response.answer.ClearField("text")
        response.answer.ClearField("fact_ids")
        response.answer.declined = True
        return response


class AnswersEmpty(NarrativeServicer):
    """Answers with nothing, and does not say so."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """No text, and not declined."""
        response = super().reply(request)
        response.answer.ClearField("text")
        response.answer.declined = False
        return response


class KeepsSuperseded(NarrativeServicer):
    """Knows nothing as outdated: the best of what was told earlier is told beside the answer."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The reference's answer, and a candidate of an earlier turn that comes near it."""
        response = super().reply(request)
        answer = response.answer
        told = {fact.fact_id: fact for _, fact in self._memory().facts(request.namespace)}
        times = [told[fact_id].time for fact_id in answer.trace.converged_fact_ids]
        for fact_id in answer.trace.candidate_fact_ids[:_NEAR]:
            fact = told[fact_id]
            if times and fact.time < max(times) and fact.text not in answer.text:
                answer.text = f"{answer.text} {fact.text}"
                break
        return response


class _Alternatives(NarrativeServicer):
    """Knows other answers to a question: the candidates that it ranks lower."""

    def other(self, request: narrative_pb2.AskRequest, place: int) -> narrative_pb2.AskResponse:
        """The reference's answer for place 0, else what lies so many candidates below it."""
        response = super().reply(request)
        candidates = response.answer.trace.candidate_fact_ids
        if place and response.answer.text and len(candidates) > 1:
            chosen = candidates[1 + (place - 1) % (len(candidates) - 1)]
            texts = {fact.fact_id: fact.text for _, fact in self._memory().facts(request.namespace)}
            response.answer.text = texts[chosen]
            response.answer.fact_ids[:] = [chosen]
        return response


class AnswersAtRandom(_Alternatives):
    """Draws one of its candidates."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Any of the first hundred."""
        return self.other(request, secrets.randbelow(100))


class AnswersInTurn(_Alternatives):
    """Tells another candidate each time that a question is asked in one life of its process."""

    def __init__(self, memory: "Callable[[], Memory]") -> None:
        super().__init__(memory)
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str, str]] = Counter()

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The best first, then the next one."""
        key = (request.namespace, request.speaker, request.question)
        with self._lock:
            place = self._asked[key]
            self._asked[key] += 1
        return self.other(request, place)


class AnswersByNamespace(_Alternatives):
    """Lets the name of the namespace decide which of its candidates it tells."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """One of the first eight."""
        digest = hashlib.sha256(request.namespace.encode("utf-8", "surrogatepass")).digest()
        return self.other(request, digest[0] % 8)
