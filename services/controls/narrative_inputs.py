"""Narrative memories that take the wrong thing: other times, other formats, or nothing unusual."""

import datetime as dt
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import grpc

from memqual.v1 import narrative_pb2
from services.common.errors import ServiceError
from services.common.limits import CONTENT_BYTES
from services.memory.narrative.servicer import NarrativeServicer

if TYPE_CHECKING:
    from services.memory.narrative.memory import Memory

__all__ = [
    "DatesByArrival",
    "DatesByMachine",
    "DiesOfNul",
    "FailsBeyondPlane",
    "RunsWhatItIsTold",
    "SaysExhausted",
    "TakesAnyLength",
    "TakesAnyTime",
]

_LAST_OF_PLANE = "\uffff"
_DROPS = "'); DROP TABLE"
_EPOCH = "1970-01-01T00:00:00"


def _copied(turn: narrative_pb2.Turn, **changes: str) -> narrative_pb2.Turn:
    copy = narrative_pb2.Turn()
    copy.CopyFrom(turn)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def _time_of(turn: narrative_pb2.Turn) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(turn.time).replace(tzinfo=None)
    except ValueError:
        return None


class DatesByMachine(NarrativeServicer):
    """Takes each turn for one of the day that the machine's clock shows."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """Today at the turn's time of the day; what is malformed is left to the reference."""
        time = _time_of(turn)
        if time is not None:
            # UTC, so that another zone of the machine is no second wrong.
            today = dt.datetime.now(dt.UTC).date()
            turn = _copied(turn, time=dt.datetime.combine(today, time.time()).isoformat())
        return super().take(turn)


class DatesByArrival(NarrativeServicer):
    """Takes what comes later for what was said later."""

    def __init__(self, memory: "Callable[[], Memory]") -> None:
        super().__init__(memory)
        self._lock = threading.Lock()

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """A turn of the past is filed a second after the latest one."""
        time = _time_of(turn)
        with self._lock:
            if time is not None and turn.namespace and turn.speaker:
                latest = self._latest(turn.namespace, turn.speaker)
                if latest is not None and time <= latest:
                    after = latest + dt.timedelta(seconds=1)
                    turn = _copied(turn, time=after.isoformat(timespec="seconds"))
            return super().take(turn)

    def _latest(self, namespace: str, speaker: str) -> dt.datetime | None:
        turns = self._memory().turns(namespace)
        times = [dt.datetime.fromisoformat(told.time) for name, told in turns if name == speaker]
        return max(times, default=None)


class TakesAnyLength(NarrativeServicer):
    """Keeps the first 64 KiB of a longer turn and acknowledges the whole."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """As the reference's, of what fits."""
        start = turn.text.encode("utf-8")[:CONTENT_BYTES].decode("utf-8", errors="ignore")
        return super().take(_copied(turn, text=start))


class TakesAnyTime(NarrativeServicer):
    """Takes a time that it cannot read for the beginning of the epoch."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """As the reference's, with a time that can be read."""
        return super().take(turn if _time_of(turn) else _copied(turn, time=_EPOCH))


class SaysExhausted(NarrativeServicer):
    """Refuses every malformed turn as if something had run out, so that callers wait and repeat."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """The reference's refusals under another status."""
        try:
            return super().take(turn)
        except ServiceError as error:
            raise ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, error.message) from error


class FailsBeyondPlane(NarrativeServicer):
    """Does not know of characters that take two units of UTF-16, such as emoji."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """An error of its own where there is one."""
        if any(character > _LAST_OF_PLANE for character in turn.text):
            raise ServiceError(grpc.StatusCode.INTERNAL, "a surrogate where none was expected")
        return super().take(turn)


class DiesOfNul(NarrativeServicer):
    """Ends its process at a NUL within a turn, as native code may that takes it for the end."""

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """As the reference's where there is none."""
        if "\0" in turn.text:
            os._exit(1)
        return super().take(turn)


class RunsWhatItIsTold(NarrativeServicer):
    """Takes a quote and a command within a turn for its own, as text that is pasted into SQL is."""

    def __init__(self, memory: "Callable[[], Memory]") -> None:
        super().__init__(memory)
        self._lock = threading.Lock()
        self._dropped: set[str] = set()

    def take(self, turn: narrative_pb2.Turn) -> narrative_pb2.IngestResponse:
        """As the reference's; a command to drop a table is carried out in its namespace."""
        response = super().take(turn)
        if _DROPS in turn.text:
            with self._lock:
                self._dropped.add(turn.namespace)
        return response

    def reply(self, request: narrative_pb2.AskRequest) -> narrative_pb2.AskResponse:
        """Declined where everything was dropped."""
        response = super().reply(request)
        with self._lock:
            dropped = request.namespace in self._dropped
        if dropped:
            response.answer.ClearField("text")
            response.answer.ClearField("fact_ids")
            response.answer.declined = True
        return response
