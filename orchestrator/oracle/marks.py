"""What a memory's own grants say of its clock's high-water mark (DESIGN §6, row B).

A memory has one clock and one mark. A grant is durable with its time before it is told, so that
from its answer on the mark is no less, whichever operation it was of. What else raises the mark is
the memory's affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.messages import DecisionKind, DecisionTold
from orchestrator.oracle.outcomes import GRAIN_NS
from orchestrator.oracle.view import Call, OperationView

__all__ = ["with_marks"]


def with_marks(views: Iterable[OperationView], clock: ClockMap) -> tuple[OperationView, ...]:
    """The views, each call with the least that the mark can be when it is taken.

    A grant that tells a time which the clock did not show then says nothing of the mark.

    Args:
        views: Every operation of one memory.
        clock: Its lease clock over the same time.
    """
    operations = tuple(views)
    grants = sorted(
        (call.last_ns, told.granted_at_ns - GRAIN_NS)
        for view in operations
        for call in view.calls
        if call.last_ns is not None
        and isinstance(told := call.answer, DecisionTold)
        and told.kind is DecisionKind.EXECUTE
        and _shown(told.granted_at_ns, call, clock)
    )
    return tuple(
        replace(
            view, calls=tuple(replace(call, mark_ns=_mark(call, grants)) for call in view.calls)
        )
        for view in operations
    )


def _mark(call: Call, grants: Sequence[tuple[int, int]]) -> int | None:
    """The highest time of a grant that was answered before a call was forwarded."""
    return max((at_ns for seen_ns, at_ns in grants if seen_ns <= call.forwarded_ns), default=None)


def _shown(at_ns: int, call: Call, clock: ClockMap) -> bool:
    """Whether the clock can have shown a time while a call was under way."""
    last_ns = call.forwarded_ns if call.last_ns is None else call.last_ns
    return any(
        current.low_ns + call.forwarded_ns - GRAIN_NS
        <= at_ns
        <= current.high_ns + last_ns + GRAIN_NS
        for current in clock.segments
        if current.first_ns <= last_ns and current.last_ns >= call.forwarded_ns
    )
