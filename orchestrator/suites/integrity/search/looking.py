"""Looks at what a memory shows after a move, and at everything at the end of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.calling import Outcome, Subject
from orchestrator.suites.integrity.search.model import Model
from orchestrator.suites.integrity.search.moves import Circle, Statement
from orchestrator.suites.integrity.search.oracle import (
    Breach,
    Oracle,
    Place,
    Shown,
    shown_hit,
    shown_record,
)

__all__ = ["HITS_MAX", "Looker"]

HITS_MAX = 50
_VIEWERS_MAX = 8
_FOREIGN_MAX = 4
_ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class _View:
    """One way to see something, and the call that takes it."""

    viewer: Circle
    place: Place
    request: Message


class Looker:
    """Asks a memory in every way in which it can show something.

    Args:
        subject: The memory.
        namespace: The playing's own.
        model: What is known of the playing; read only.
        statements: What is said in it; grows.
        oracle: Says what is wrong.
    """

    def __init__(
        self,
        subject: Subject,
        namespace: str,
        model: Model,
        statements: Sequence[Statement],
        oracle: Oracle,
    ) -> None:
        self._subject = subject
        self._namespace = namespace
        self._model = model
        self._statements = statements
        self._oracle = oracle

    def glance(
        self, viewer: Circle, statements: Sequence[Statement], *, procedures: bool
    ) -> Iterator[Breach]:
        """What one circle would act on now, as far as the statements go."""
        views = [self._question(viewer, one.question, evidence=False) for one in statements]
        if procedures:
            views.append(self._procedures(viewer))
        yield from self._look(views, {})

    def survey(self, homes: Sequence[Circle]) -> Iterator[Breach]:
        """Everything that can be seen: by the circles that were used, and by others."""
        topics = list(dict.fromkeys(statement.topic for statement in self._statements))
        views: list[_View] = []
        for viewer in homes:
            for query in topics:
                views.append(self._question(viewer, query, evidence=False))
                views.append(self._question(viewer, query, evidence=True))
            for statement in self._offered_in(viewer):
                views.append(self._question(viewer, statement.question, evidence=False))
            views.append(self._procedures(viewer))
        for viewer, home in _others(homes).items():
            for query in topics + [one.text for one in self._offered_in(home)]:
                views.append(self._question(viewer, query, evidence=True))
            views.append(self._procedures(viewer))
        recalled: dict[tuple[Circle, str], Shown] = {}
        yield from self._look(views, recalled)
        yield from self._records(recalled)

    def recalled(self, viewer: Circle, query: str, *, evidence: bool) -> list[Shown]:
        """What Recall shows; nothing when it refuses."""
        view = self._question(viewer, query, evidence=evidence)
        return _shown(view, self._subject.call(view.request))

    def inspected(self, viewer: Circle, record_id: str) -> memory_pb2.MemoryRecord | None:
        """What Inspect shows; None when it refuses or has no such record."""
        outcome = self._subject.call(self._record(viewer, record_id))
        if not outcome.ok:
            return None
        record = outcome.read(memory_pb2.InspectResponse).record
        return record if record.record_id == record_id else None

    def _question(self, viewer: Circle, query: str, *, evidence: bool) -> _View:
        surfaces = memory_pb2.RecallSurface
        surface = (
            surfaces.RECALL_SURFACE_EVIDENCE if evidence else surfaces.RECALL_SURFACE_AUTHORITATIVE
        )
        request = memory_pb2.RecallRequest(
            scope=viewer.scope(self._namespace), query=query, max_hits=HITS_MAX, surface=surface
        )
        return _View(viewer, Place.EVIDENCE if evidence else Place.AUTHORITATIVE, request)

    def _procedures(self, viewer: Circle) -> _View:
        request = memory_pb2.ListProceduresRequest(scope=viewer.scope(self._namespace))
        return _View(viewer, Place.PROCEDURES, request)

    def _look(
        self, views: Sequence[_View], recalled: dict[tuple[Circle, str], Shown]
    ) -> Iterator[Breach]:
        """Take the views; notes in `recalled` what Recall said of each record in each circle."""
        outcomes = self._subject.call_each([view.request for view in views])
        for view, outcome in zip(views, outcomes, strict=True):
            for shown in _shown(view, outcome):
                if view.place is not Place.PROCEDURES:
                    recalled[view.viewer, shown.record_id] = shown
                yield from self._oracle.shown(view.viewer, shown)

    def _records(self, recalled: Mapping[tuple[Circle, str], Shown]) -> Iterator[Breach]:
        """Every record by its id, in its own circle and wherever Recall showed it."""
        asked = dict.fromkeys(recalled)
        for known in self._model.records.values():
            if not known.record_id.startswith("("):
                asked.update(dict.fromkeys((circle, known.record_id) for circle in known.circles))
        latest = [record_id for _, record_id in asked][-_FOREIGN_MAX:]
        somebody = Circle(principal=_ELSEWHERE)
        asked.update(dict.fromkeys((somebody, record_id) for record_id in latest))
        views = [
            _View(viewer, Place.INSPECT, self._record(viewer, record_id))
            for viewer, record_id in asked
        ]
        outcomes = self._subject.call_each([view.request for view in views])
        for key, view, outcome in zip(asked, views, outcomes, strict=True):
            for shown in _shown(view, outcome):
                yield from self._oracle.shown(view.viewer, shown)
                if key in recalled and shown.record_id == key[1]:
                    breach = self._oracle.disagreement(recalled[key], shown)
                    if breach is not None:
                        yield breach

    def _record(self, viewer: Circle, record_id: str) -> memory_pb2.InspectRequest:
        return memory_pb2.InspectRequest(scope=viewer.scope(self._namespace), record_id=record_id)

    def _offered_in(self, circle: Circle) -> list[Statement]:
        """The statements that were ever offered in a circle."""
        offered = self._model.offered
        return [one for one in self._statements if circle in offered.get(one.nonce, set())]


def _others(homes: Sequence[Circle]) -> dict[Circle, Circle]:
    """Circles that differ from a used one in one part, with that one; none was used itself."""
    found: dict[Circle, Circle] = {}
    for home in homes:
        for part in ("purpose", "workspace", "agent"):
            if getattr(home, part):
                found[home.model_copy(update={part: _ELSEWHERE})] = home
        found[Circle(principal=_ELSEWHERE)] = home
    apart = {circle: home for circle, home in found.items() if circle not in homes}
    return dict(list(apart.items())[:_VIEWERS_MAX])


def _shown(view: _View, outcome: Outcome) -> list[Shown]:
    """What an answer shows; nothing when it refused."""
    if not outcome.ok:
        return []
    if view.place is Place.PROCEDURES:
        listed = outcome.read(memory_pb2.ListProceduresResponse).procedures
        return [shown_record(record, view.place) for record in listed]
    if view.place is Place.INSPECT:
        return [shown_record(outcome.read(memory_pb2.InspectResponse).record, view.place)]
    return [shown_hit(hit, view.place) for hit in outcome.read(memory_pb2.RecallResponse).hits]
