"""Reports outcomes, and compares each record before and after: nothing may change but counters."""

from __future__ import annotations

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.search.calling import Subject
from orchestrator.suites.integrity.search.looking import Looker
from orchestrator.suites.integrity.search.moves import RecordOutcome
from orchestrator.suites.integrity.search.oracle import Breach, Oracle, Place, shown_record

__all__ = ["Outcomes"]


class Outcomes:
    """The reports of one playing.

    Args:
        subject: The memory.
        namespace: The playing's own.
        looker: Looks at records.
        oracle: Says what is wrong.
    """

    def __init__(self, subject: Subject, namespace: str, looker: Looker, oracle: Oracle) -> None:
        self._subject = subject
        self._namespace = namespace
        self._looker = looker
        self._oracle = oracle
        self._reported: dict[str, memory_pb2.MemoryRecord] = {}

    def start_anew(self) -> None:
        """Something else happened: what the last reports answered may be old."""
        self._reported.clear()

    def report(self, move: RecordOutcome, record_id: str) -> tuple[str, Breach | None]:
        """Report one outcome; returns the status, and the rule that was broken."""
        before = self._reported.get(record_id)
        if before is None:
            before = self._looker.inspected(move.circle, record_id)
        request = memory_pb2.RecordOutcomeRequest(
            scope=move.circle.scope(self._namespace),
            record_id=record_id,
            outcome=memory_pb2.ProcedureOutcome.Value(f"PROCEDURE_OUTCOME_{move.outcome.upper()}"),
            utility=move.utility,
        )
        outcome = self._subject.call(request)
        if not outcome.ok or before is None:
            return outcome.status, None
        after = outcome.read(memory_pb2.RecordOutcomeResponse).record
        if after.record_id != record_id:
            return outcome.status, None
        self._reported[record_id] = after
        lost = sorted(set(before.taints) - set(after.taints))
        then, now = shown_record(before, Place.INSPECT), shown_record(after, Place.INSPECT)
        return outcome.status, self._oracle.outcome(then, now, lost)
