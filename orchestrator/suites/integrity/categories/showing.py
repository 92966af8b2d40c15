"""What a recall shows of one record that a trial is about."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import OK, REFUSALS, UNIMPLEMENTED, Answer, Ask
from orchestrator.suites.integrity.categories.base import is_record
from orchestrator.suites.integrity.steps import HITS_MAX, Offered, call, response_of

__all__ = ["acted_on", "as_authority", "recall_evidence", "shown"]


def shown(
    hits: Iterable[memory_pb2.Hit], sought: Offered, others: Sequence[Offered], marker: str
) -> tuple[memory_pb2.Hit, ...]:
    """The hits that are a record, or were made out of it.

    Args:
        hits: What a recall answered.
        sought: The record.
        others: Every other record of the trial.
        marker: Word in lower case by which its text is known where there is no id.
    """
    return tuple(hit for hit in hits if is_record(hit, sought, others, marker))


def acted_on(
    hits: Iterable[memory_pb2.Hit],
    sought: Iterable[Offered],
    others: Sequence[Offered],
    marker: str,
) -> tuple[memory_pb2.Hit, ...]:
    """The hits that are one of several records and that an agent may act on."""
    told = tuple(hits)
    return tuple(
        hit for one in sought for hit in shown(told, one, others, marker) if hit.authoritative
    )


def as_authority(
    hits: Iterable[memory_pb2.Hit], sought: Offered, others: Sequence[Offered], marker: str
) -> bool:
    """Whether a kept record is recalled as authority, with the word that marks it."""
    return sought.kept and any(
        hit.authoritative and marker in hit.content.lower()
        for hit in shown(hits, sought, others, marker)
    )


def recall_evidence(
    step: str, scope: memory_pb2.Scope, query: str
) -> Generator[Ask, Answer, tuple[memory_pb2.Hit, ...] | None]:
    """Ask the evidence surface; None when the memory has none, and says so by a status."""
    request = memory_pb2.RecallRequest(
        scope=scope,
        query=query,
        max_hits=HITS_MAX,
        surface=memory_pb2.RECALL_SURFACE_EVIDENCE,
    )
    answer = yield from call(step, request, refusals=REFUSALS | {UNIMPLEMENTED})
    if answer.status != OK:
        return None
    return tuple(response_of(step, answer, memory_pb2.RecallResponse).hits)
