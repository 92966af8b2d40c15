"""The memory's lease clock as a function of the interposer's clock, with bounds (DESIGN §5, §6).

The evaluator reads the memory's clocks (`VendorService.Now`) and marks each reading in the trace.
Readings that agree form a segment in which the lease clock runs at the interposer's rate; where two
readings disagree the clock was set in between, and from the first of them until the second both
segments are possible. While the clock drifts, which the evaluator marks, it takes every offset
between those of two readings on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from memqual.v1 import interposer_pb2, vendor_pb2
from orchestrator.oracle.errors import ViewError
from orchestrator.oracle.zone import UNBOUNDED

__all__ = [
    "DRIFT_BEGAN",
    "DRIFT_MARK",
    "ClockMap",
    "ClockReading",
    "ClockSegment",
    "readings_from_trace",
]

AGREEMENT_NS = 5_000_000
"""Readings whose offsets differ by less are of one segment: no fault sets a clock by so little."""

AGREEMENT_PARTS_PER_MILLION = 500
"""How fast a wall clock is slewed at most; added to the above for the time between readings."""

DRIFT_MARK = "clock_drift"
DRIFT_BEGAN = "began"
"""Kind, and first step, of the marks around a drift; whatever else its step is, it ends one."""

DRIFT_STEP_NS = 500_000_000
"""Longest time between two steps of a drift: by so much a clock may run ahead of its mean."""

_NOW_METHOD = "/memqual.v1.VendorService/Now"


class _MemoryClockMark(BaseModel):
    """The evaluator's mark for one reading of the memory's clocks; times in nanoseconds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    wall_unix_ns: int
    monotonic_ns: int
    asked_mono_ns: int
    answered_mono_ns: int


class _MarkKind(BaseModel):
    """What every mark has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str = ""
    service: str = ""
    step: str = ""


@dataclass(frozen=True)
class ClockReading:
    """One reading of the memory's lease clock.

    Attributes:
        asked_ns: Interposer time before which the reading was not taken.
        answered_ns: Interposer time after which the reading was not taken.
        value_ns: The lease clock at an instant between the two.
        drifts: From this reading to the next one, the clock may have run at another rate.
    """

    asked_ns: int
    answered_ns: int
    value_ns: int
    drifts: bool = False

    @property
    def low_offset_ns(self) -> int:
        """Least possible difference of lease clock and interposer clock."""
        return self.value_ns - self.answered_ns

    @property
    def high_offset_ns(self) -> int:
        """Greatest possible difference of lease clock and interposer clock."""
        return self.value_ns - self.asked_ns

    @property
    def peak_ns(self) -> int:
        """The most that the clock can have shown until the answer was seen."""
        return self.answered_ns + self.high_offset_ns


@dataclass(frozen=True)
class ClockSegment:
    """A time in which the lease clock is the interposer's clock plus an offset within bounds.

    Attributes:
        first_ns: First interposer time at which the segment can hold.
        last_ns: Last interposer time at which it can hold.
        low_ns: Least offset.
        high_ns: Greatest offset.
        peak_ns: The most that a clock showed which loses time by being set back a little again and
            again; None for one that only goes forward here.
    """

    first_ns: int
    last_ns: int
    low_ns: int
    high_ns: int
    peak_ns: int | None = None

    @property
    def highest_ns(self) -> int:
        """The most that the clock can have shown in it."""
        return self.last_ns + self.high_ns if self.peak_ns is None else self.peak_ns


@dataclass(frozen=True)
class ClockMap:
    """The lease clock over a whole trial: segments in order of time, at least one.

    Neighbouring segments overlap where it is not known when the clock was set; it never goes back
    to an earlier one.
    """

    segments: tuple[ClockSegment, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise ViewError("the memory's clock was never read, so no lease can be timed")

    @classmethod
    def from_readings(cls, readings: Iterable[ClockReading]) -> Self:
        """Builds the map.

        Raises:
            ViewError: No reading, or one that was answered before it was asked.
        """
        ordered = sorted(readings, key=lambda item: item.asked_ns)
        if any(reading.answered_ns < reading.asked_ns for reading in ordered):
            raise ViewError("a clock reading was answered before it was asked")
        groups: list[list[ClockReading]] = []
        for reading in ordered:
            if groups and not groups[-1][-1].drifts and _agree(groups[-1][-1], reading):
                groups[-1].append(reading)
            else:
                groups.append([reading])
        return cls(tuple(_segments(groups)))

    @property
    def jumps_back(self) -> bool:
        """Whether the clock was set back at least once."""
        return any(
            later.low_ns < earlier.high_ns
            for index, later in enumerate(self.segments)
            for earlier in self.segments[:index]
        )

    def lag_ns(self, segment: int, at_ns: int) -> int:
        """The most by which the clock can stand behind what it has shown before; never negative.

        Args:
            segment: Index of the segment that holds.
            at_ns: Interposer time; later, the clock can only have caught up.
        """
        current = self.segments[segment]
        shown = self.segments[: segment + (current.peak_ns is not None)]
        lags = (one.highest_ns - at_ns - current.low_ns for one in shown)
        return max(0, max(lags, default=0))

    def passed_ns(self, since_ns: int, until_ns: int) -> int:
        """The least that the clock can have gone on by between two instants of the interposer's.

        Negative where it was set back.
        """
        before = max(one.high_ns for one in self._possible(since_ns))
        after = min(one.low_ns for one in self._possible(until_ns))
        return until_ns + after - since_ns - before

    def _possible(self, at_ns: int) -> tuple[ClockSegment, ...]:
        """The segments that can hold at an instant; where none is known to, all of them."""
        found = tuple(one for one in self.segments if one.first_ns <= at_ns <= one.last_ns)
        return found or self.segments


def _segments(groups: Sequence[Sequence[ClockReading]]) -> Iterator[ClockSegment]:
    for index, group in enumerate(groups):
        before = groups[index - 1][-1] if index else None
        if before is not None and before.drifts:
            yield _drifting(before, group[0])
        after = groups[index + 1][0] if index + 1 < len(groups) else None
        low_ns, high_ns = _offset(group)
        yield ClockSegment(
            first_ns=_first_ns(before, group[0]),
            last_ns=_last_ns(group[-1], after),
            low_ns=low_ns,
            high_ns=high_ns,
        )


def _first_ns(before: ClockReading | None, reading: ClockReading) -> int:
    if before is None:
        return -UNBOUNDED
    return reading.asked_ns if before.drifts else before.asked_ns + 1


def _last_ns(reading: ClockReading, after: ClockReading | None) -> int:
    if after is None:
        return UNBOUNDED
    return reading.answered_ns if reading.drifts else after.answered_ns - 1


def _drifting(before: ClockReading, after: ClockReading) -> ClockSegment:
    """The time between two readings in which the offset moves from one's to the other's."""
    gains = after.low_offset_ns >= before.high_offset_ns
    return ClockSegment(
        first_ns=before.asked_ns + 1,
        last_ns=max(after.answered_ns - 1, before.asked_ns + 1),
        low_ns=min(before.low_offset_ns, after.low_offset_ns),
        high_ns=max(before.high_offset_ns, after.high_offset_ns),
        peak_ns=None if gains else max(before.peak_ns, after.peak_ns) + DRIFT_STEP_NS,
    )


def _offset(group: Sequence[ClockReading]) -> tuple[int, int]:
    """Bounds of the offset in one segment: what every reading allows, and the slewing in between.

    A reading that was answered late says little, and must not loosen what another one says.
    """
    slack_ns = _slewed(group[-1].answered_ns - group[0].asked_ns)
    low_ns = max(reading.low_offset_ns for reading in group)
    high_ns = min(reading.high_offset_ns for reading in group)
    return min(low_ns, high_ns) - slack_ns, max(low_ns, high_ns) + slack_ns


def _slewed(duration_ns: int) -> int:
    return duration_ns * AGREEMENT_PARTS_PER_MILLION // 1_000_000


def _agree(left: ClockReading, right: ClockReading) -> bool:
    slack = AGREEMENT_NS + _slewed(right.answered_ns - left.asked_ns)
    return (
        left.low_offset_ns <= right.high_offset_ns + slack
        and right.low_offset_ns <= left.high_offset_ns + slack
    )


def readings_from_trace(
    records: Sequence[interposer_pb2.TraceRecord], lease_clock: vendor_pb2.LeaseClock.ValueType
) -> tuple[ClockReading, ...]:
    """The readings of the memory's lease clock that a trace holds.

    The evaluator's marks are used; a trace without any (a recording of another tool) is read
    through the `Now` calls that passed the interposer.

    Args:
        records: Trace records in order of sequence.
        lease_clock: Which of the two clocks the memory's leases run on, as declared.

    Raises:
        ViewError: A mark of this kind is malformed.
    """
    wall = lease_clock != vendor_pb2.LEASE_CLOCK_MONOTONIC
    marks = tuple(_mark_readings(records, wall))
    return marks or tuple(_now_readings(records, wall))


def _mark_readings(
    records: Iterable[interposer_pb2.TraceRecord], wall: bool
) -> Iterator[ClockReading]:
    """The marked readings; a drift that began after one reaches to the next one at least."""
    latest: ClockReading | None = None
    drifting = False
    for record in records:
        if record.kind != interposer_pb2.TRACE_KIND_MARK:
            continue
        try:
            kind = _MarkKind.model_validate_json(record.mark_json)
            if kind.service not in ("", "memory"):
                continue
            if kind.kind == DRIFT_MARK and wall:
                drifting = kind.step == DRIFT_BEGAN
                if drifting and latest is not None:
                    latest = replace(latest, drifts=True)
            if kind.kind != "memory_clock":
                continue
            mark = _MemoryClockMark.model_validate_json(record.mark_json)
        except ValidationError as error:
            raise ViewError(f"trace record {record.sequence} is no readable mark") from error
        if latest is not None:
            yield latest
        value = mark.wall_unix_ns if wall else mark.monotonic_ns
        latest = ClockReading(mark.asked_mono_ns, mark.answered_mono_ns, value, drifting)
    if latest is not None:
        yield latest


def _now_readings(
    records: Iterable[interposer_pb2.TraceRecord], wall: bool
) -> Iterable[ClockReading]:
    asked: dict[int, int] = {}
    for record in records:
        if record.method != _NOW_METHOD or record.edge.target != "memory":
            continue
        if record.kind == interposer_pb2.TRACE_KIND_REQUEST_FORWARDED:
            asked[record.call_id] = record.monotonic_ns
        elif (
            record.kind == interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED
            and record.status_code == 0
            and record.call_id in asked
        ):
            clock = vendor_pb2.NowResponse.FromString(record.payload).clock
            value = clock.wall_unix_ns if wall else clock.monotonic_ns
            yield ClockReading(asked.pop(record.call_id), record.monotonic_ns, value)
