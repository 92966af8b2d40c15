"""What arrives at a NarrativeService, checked as narrative.proto wants it (DESIGN §4)."""

import abc
import datetime as dt
from dataclasses import dataclass

import grpc

from memqual.v1 import narrative_pb2, narrative_pb2_grpc
from services.common.errors import ServiceError
from services.common.limits import check_content, check_id, check_optional_id
from services.memory.narrative.model import Turn

__all__ = ["Asked", "CheckedServicer", "checked_question", "checked_turn"]

_QUESTION_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that may be answered; an empty speaker is none."""

    namespace: str
    question: str
    speaker: str


class CheckedServicer(narrative_pb2_grpc.NarrativeServiceServicer, abc.ABC):
    """Hands both calls on to methods that can be called without a server."""

    def Ingest(
        self, request: narrative_pb2.IngestRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.IngestResponse:
        """Takes one turn."""
        return self.take(request.turn)

    def Ask(
        self, request: narrative_pb2.AskRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.AskResponse:
        """Answers one question, or declines."""
        return self.reply(request)

    @abc.abstractmethod
    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Checks and takes a turn; raises ServiceError INVALID_ARGUMENT."""

    @abc.abstractmethod
    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Checks and answers a question; raises ServiceError INVALID_ARGUMENT."""


def checked_turn(turn: narrative_pb2.Turn) -> Turn:
    """The turn; raises ServiceError INVALID_ARGUMENT."""
    checked = Turn(
        namespace=check_id("turn.namespace", turn.namespace),
        speaker=check_id("turn.speaker", turn.speaker),
        time=_check_time("turn.time", turn.time),
        text=check_content("turn.text", turn.text),
    )
    if not checked.text.strip():
        raise _refuse("turn.text is empty; send what was said")
    return checked


def checked_question(request: narrative_pb2.AskRequest) -> Asked:
    """The question; raises ServiceError INVALID_ARGUMENT."""
    namespace = check_id("namespace", request.namespace)
    speaker = check_optional_id("speaker", request.speaker)
    if request.time:
        _check_time("time", request.time)
    size_bytes = len(request.question.encode("utf-8"))
    if not request.question.strip() or size_bytes > _QUESTION_BYTES:
        raise _refuse(f"question has {size_bytes} bytes; send 1 to {_QUESTION_BYTES}")
    return Asked(namespace, request.question, speaker)


def _refuse(message: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, message)


def _check_time(name: str, value: str) -> str:
    try:
        dt.datetime.fromisoformat(value)
    except ValueError as error:
        raise _refuse(f"{name} is no ISO 8601 date-time; send one like 2026-03-02T18:40") from error
    return value
