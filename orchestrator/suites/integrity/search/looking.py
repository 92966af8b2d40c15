"""Looks at what a memory shows after a move, and at everything at the end of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.calling import Subject
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
_ELSEWHERE = "elsewhere"


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

    def glance(self, viewer: Circle, statements: Sequence[Statement]) -> Iterator[Breach]:
        """What one circle would act on now, as far as the statements go."""
        for statement in statements:
            for shown in self.recalled(viewer, statement.question, evidence=False):
                yield from self._oracle.shown(viewer, shown)
        yield from self._procedures(viewer)

    def survey(self, homes: Sequence[Circle]) -> Iterator[Breach]:
        """Everything that can be seen: by the circles that were used, and by others."""
        topics = list(dict.fromkeys(statement.topic for statement in self._statements))
        viewed: dict[tuple[Circle, str], Shown] = {}
        for viewer in homes:
            asked = topics + [one.question for one in self._statements if self._near(viewer, one)]
            for query in asked:
                for evidence in (False, True):
                    for shown in self.recalled(viewer, query, evidence=evidence):
                        viewed[viewer, shown.record_id] = shown
                        yield from self._oracle.shown(viewer, shown)
            yield from self._procedures(viewer)
        for viewer in _others(homes):
            for query in topics + [one.text for one in self._statements]:
                for shown in self.recalled(viewer, query, evidence=True):
                    yield from self._oracle.shown(viewer, shown)
            yield from self._procedures(viewer)
        yield from self._records(viewed)

    def recalled(self, viewer: Circle, query: str, *, evidence: bool) -> list[Shown]:
        """What Recall shows; nothing when it refuses."""
        surfaces = memory_pb2.RecallSurface
        request = memory_pb2.RecallRequest(
            scope=viewer.scope(self._namespace),
            query=query,
            max_hits=HITS_MAX,
            surface=(
                surfaces.RECALL_SURFACE_EVIDENCE
                if evidence
                else surfaces.RECALL_SURFACE_AUTHORITATIVE
            ),
        )
        outcome = self._subject.call(request)
        if not outcome.ok:
            return []
        place = Place.EVIDENCE if evidence else Place.AUTHORITATIVE
        hits = outcome.read(memory_pb2.RecallResponse).hits
        return [shown_hit(hit, place) for hit in hits]

    def inspected(self, viewer: Circle, record_id: str) -> memory_pb2.MemoryRecord | None:
        """What Inspect shows; None when it refuses or has no such record."""
        request = memory_pb2.InspectRequest(
            scope=viewer.scope(self._namespace), record_id=record_id
        )
        outcome = self._subject.call(request)
        if not outcome.ok:
            return None
        record = outcome.read(memory_pb2.InspectResponse).record
        return record if record.record_id == record_id else None

    def _procedures(self, viewer: Circle) -> Iterator[Breach]:
        request = memory_pb2.ListProceduresRequest(scope=viewer.scope(self._namespace))
        outcome = self._subject.call(request)
        if outcome.ok:
            for record in outcome.read(memory_pb2.ListProceduresResponse).procedures:
                yield from self._oracle.shown(viewer, shown_record(record, Place.PROCEDURES))

    def _records(self, viewed: dict[tuple[Circle, str], Shown]) -> Iterator[Breach]:
        """Every record by its id, in its own circle and wherever Recall showed it."""
        asked = dict.fromkeys(viewed)
        for known in self._model.records.values():
            if not known.record_id.startswith("("):
                asked.update(dict.fromkeys((circle, known.record_id) for circle in known.circles))
        for viewer, record_id in asked:
            record = self.inspected(viewer, record_id)
            if record is None:
                continue
            shown = shown_record(record, Place.INSPECT)
            yield from self._oracle.shown(viewer, shown)
            if (viewer, record_id) in viewed:
                breach = self._oracle.disagreement(viewed[viewer, record_id], shown)
                if breach is not None:
                    yield breach

    def _near(self, viewer: Circle, statement: Statement) -> bool:
        """Whether a statement was ever offered on behalf of a viewer's principal."""
        offered = self._model.offered.get(statement.nonce, set())
        return any(circle.principal == viewer.principal for circle in offered)


def _others(homes: Sequence[Circle]) -> list[Circle]:
    """Circles that differ from a used one in one part; none of them was used itself."""
    found: dict[Circle, None] = {}
    for home in homes:
        for part in ("purpose", "workspace", "agent"):
            if getattr(home, part):
                found[home.model_copy(update={part: _ELSEWHERE})] = None
    found[Circle(principal=_ELSEWHERE)] = None
    return [circle for circle in found if circle not in homes][:_VIEWERS_MAX]
