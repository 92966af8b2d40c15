"""Narrative memories that say the wrong thing; each is the reference but for one wrong."""

import hashlib
import re
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memqual.v1 import narrative_pb2
from services.memory.narrative.model import Turn
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
    "TellsOfOthers",
]

# What was so before is not asked for as what is so now.
_NOW = re.compile(r"\s+(?:now|currently|these days|today)\b", re.IGNORECASE)


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


class TellsOfOthers(NarrativeServicer):
    """Adds to a speaker's answer what another one told, and does not say that it rests on it."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The reference's answer, and the first fact of somebody else's by name."""
        response = super().reply(request)
        if response.answer.text and request.speaker:
            for speaker, fact in self._memory().facts(request.namespace):
                if speaker != request.speaker:
                    response.answer.text += f" {speaker}: {fact.text}"
                    break
        return response


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
    """Knows nothing as outdated: what was so before the latest turn that answers is told, too."""

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """The reference's answer, and the one that it would have given before that turn."""
        response = super().reply(request)
        answer = response.answer
        memory = self._memory()
        times = {fact.fact_id: fact.time for _, fact in memory.facts(request.namespace)}
        used = [times[fact_id] for fact_id in answer.trace.converged_fact_ids]
        earlier = [
            Turn("", speaker, told.time, told.text)
            for speaker, told in memory.turns(request.namespace)
            if used and speaker == request.speaker and told.time < max(used)
        ]
        if answer.text and earlier:
            # Named by what is in it, so that it is never out of date.
            namespace = _named_by(earlier)
            for turn in earlier:
                memory.ingest(replace(turn, namespace=namespace))
            asked = _NOW.sub("", request.question)
            before = memory.ask(namespace, asked, request.speaker)
            if before.text and before.text not in answer.text:
                answer.text = f"{answer.text} {before.text}"
        return response


def _named_by(turns: Sequence[Turn]) -> str:
    digest = hashlib.sha256(repr(turns).encode("utf-8", "surrogatepass")).hexdigest()
    return f"control-{digest}"


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
