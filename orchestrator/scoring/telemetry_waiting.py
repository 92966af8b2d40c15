"""Whether a memory's answers wait for the observer's, by the interposer's trace (DESIGN §4).

The same questions are asked before, while and after the observer keeps its answers back. A memory
waits when each of its answers of that time comes only after its own telemetry has ended, when the
fastest of them is slower than every undisturbed one, and when the difference is a good part of what
the telemetry took. A memory that is slow for other reasons is slow undisturbed, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from chaos.telemetry_faults import EMIT
from chaos.windows import BEGIN, RECORD_RECEIPT
from memqual.v1 import interposer_pb2
from orchestrator.suites.continuity.families.telemetry import PHASE_MARK

__all__ = ["marks_of", "waited_for"]

_FORWARDED = interposer_pb2.TRACE_KIND_REQUEST_FORWARDED
_ANSWERED = interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
_ENDS = frozenset(
    {
        interposer_pb2.TRACE_KIND_CLIENT_GONE,
        interposer_pb2.TRACE_KIND_DROPPED,
        interposer_pb2.TRACE_KIND_RESPONSE_DELIVERED,
    }
)
_GOOD_PART = 0.5
_SEEN_LATE = 0.1
_NS_A_MILLISECOND = 1_000_000


@dataclass(frozen=True)
class _Span:
    """One call: when it was under way."""

    phase: str
    first_ns: int
    last_ns: int

    @property
    def took_ns(self) -> int:
        return self.last_ns - self.first_ns

    def held_up_by(self, telemetry: _Span) -> bool:
        """Whether a call of the memory's telemetry ended while it was under way.

        Which operation the telemetry names is not asked: that is the memory's own word, it may
        name a workflow only, and whoever waits for somebody else's event waits, too. A sender that
        gives up answers at once, so that its answer may be seen just before its end.
        """
        just_before_ns = telemetry.last_ns - _SEEN_LATE * telemetry.took_ns
        return self.first_ns <= telemetry.last_ns and just_before_ns <= self.last_ns


def marks_of(trace: Sequence[interposer_pb2.TraceRecord], kind: str) -> list[dict[str, Any]]:
    """The evaluator's marks of one kind, in order."""
    marks = (
        json.loads(record.mark_json)
        for record in trace
        if record.kind == interposer_pb2.TRACE_KIND_MARK
    )
    return [mark for mark in marks if mark.get("kind") == kind]


def waited_for(trace: Sequence[interposer_pb2.TraceRecord]) -> str:
    """How long answers waited for the observer, in words; empty when they did not."""
    answers = list(_answers(trace))
    slow = [one for one in answers if one.phase == "slow"]
    quick = [one for one in answers if one.phase in ("before", "after")]
    telemetry = list(_telemetry(trace))
    ended = [[sent for sent in telemetry if one.held_up_by(sent)] for one in slow]
    if not slow or not quick or not all(ended):
        return ""
    took_ns = median(sent.took_ns for found in ended for sent in found)
    slow_ns, quick_ns = (median(one.took_ns for one in part) for part in (slow, quick))
    apart = min(one.took_ns for one in slow) > max(one.took_ns for one in quick)
    if not apart or slow_ns - quick_ns < _GOOD_PART * took_ns:
        return ""
    return (
        f"{len(slow)} answers came after their telemetry had ended, in {_ms(slow_ns)} where "
        f"{_ms(quick_ns)} is usual; the telemetry took {_ms(took_ns)}"
    )


def _answers(trace: Sequence[interposer_pb2.TraceRecord]) -> Iterator[_Span]:
    """Begin and RecordReceipt as the evaluator asked them, with the part that they are of."""
    phase, open_calls = "", dict[int, tuple[str, int]]()
    for record in trace:
        if record.kind == interposer_pb2.TRACE_KIND_MARK:
            mark = json.loads(record.mark_json)
            phase = str(mark["phase"]) if mark.get("kind") == PHASE_MARK else phase
        elif record.method not in (BEGIN, RECORD_RECEIPT):
            continue
        elif record.kind == _FORWARDED:
            open_calls[record.call_id] = (phase, record.monotonic_ns)
        elif record.kind == _ANSWERED and record.call_id in open_calls:
            asked_in, since_ns = open_calls.pop(record.call_id)
            yield _Span(asked_in, since_ns, record.monotonic_ns)


def _telemetry(trace: Sequence[interposer_pb2.TraceRecord]) -> Iterator[_Span]:
    """The memory's Emit calls that the observer kept waiting, until their client gave up."""
    began: dict[int, int] = {}
    held: set[int] = set()
    for record in trace:
        if record.method != EMIT or record.edge.source != "memory":
            continue
        if record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
            began[record.call_id] = record.monotonic_ns
        elif record.kind == interposer_pb2.TRACE_KIND_HELD:
            held.add(record.call_id)
        elif record.kind in _ENDS and record.call_id in held and record.call_id in began:
            yield _Span("", began.pop(record.call_id), record.monotonic_ns)


def _ms(nanoseconds: float) -> str:
    return f"{nanoseconds / _NS_A_MILLISECOND:.0f} ms"
