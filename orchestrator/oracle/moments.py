"""When a memory can have taken a call, and what time it then went by (DESIGN §6, row B).

A memory keeps a durable high-water mark of its clock. It goes by its clock, or by the mark when the
clock is behind it. How eagerly the mark follows the clock is the memory's affair: it is at least
the time of the latest grant and at most the latest time that the clock ever showed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.zone import Instant, Zone

if TYPE_CHECKING:
    from orchestrator.oracle.frame import Frame
    from orchestrator.oracle.view import Call
    from orchestrator.oracle.worlds import World

__all__ = ["Moment", "moments", "moments_of", "places", "settled"]


@dataclass(frozen=True)
class Moment:
    """One way in which a call can have met the clock.

    Attributes:
        zone: The bounds, with NEXT_POINT and (when timed) NOW set.
        segment: Index of the clock's segment.
        behind: The clock was behind the mark, and NOW is the mark.
    """

    zone: Zone
    segment: int
    behind: bool = False


def places(
    zone: Zone, segment: int, first_ns: int, last_ns: int | None, clock: ClockMap
) -> Iterator[Moment]:
    """Where a call can be placed when no time matters to it: after POINT, within its bounds.

    Args:
        zone: Bounds after the call before.
        segment: Segment of the call before; the clock never returns to an earlier one.
        first_ns: The call was not taken before (interposer time).
        last_ns: The call was not taken after; None without a bound.
        clock: The memory's clock.
    """
    placed = zone.at_least(Instant.NEXT_POINT, Instant.POINT, 0)
    placed = placed and placed.at_least(Instant.NEXT_POINT, Instant.ZERO, first_ns)
    if placed and last_ns is not None:
        placed = placed.at_most(Instant.NEXT_POINT, Instant.ZERO, last_ns)
    if placed is None:
        return
    for index in range(segment, len(clock.segments)):
        current = clock.segments[index]
        inside = placed.within(Instant.NEXT_POINT, Instant.ZERO, current.first_ns, current.last_ns)
        if inside is not None:
            yield Moment(inside, index)


def moments(
    zone: Zone,
    segment: int,
    first_ns: int,
    last_ns: int | None,
    clock: ClockMap,
    *,
    mark_ns: int | None = None,
) -> Iterator[Moment]:
    """Every way in which a timed call can have met the clock.

    Arguments as for `places`, and the least that the mark is by what other operations show.
    """
    if mark_ns is not None:
        zone = zone.at_least(Instant.NOW, Instant.ZERO, mark_ns) or zone
    for place in places(zone, segment, first_ns, last_ns, clock):
        current = clock.segments[place.segment]
        by_clock = place.zone.within(
            Instant.NOW, Instant.NEXT_POINT, current.low_ns, current.high_ns
        )
        by_clock = by_clock and by_clock.at_least(Instant.NOW, Instant.MARK, 0)
        if by_clock:
            yield Moment(by_clock, place.segment)
        # A clock that loses time falls behind what it showed in the very same segment.
        for earlier in clock.segments[: place.segment + (current.peak_ns is not None)]:
            by_mark = place.zone.within(
                Instant.NOW, Instant.NEXT_POINT, current.low_ns + 1, earlier.high_ns - 1
            )
            by_mark = by_mark and by_mark.at_least(Instant.NOW, Instant.MARK, 0)
            by_mark = by_mark and by_mark.at_most(Instant.NOW, Instant.ZERO, earlier.highest_ns)
            if by_mark:
                yield Moment(by_mark.assign(Instant.MARK, Instant.NOW, 0), place.segment, True)


def settled(moment: Moment) -> Zone:
    """The bounds after the call: POINT moves on, and what was the call's alone is forgotten."""
    moved = moment.zone.assign(Instant.POINT, Instant.NEXT_POINT, 0)
    return moved.forget((Instant.NOW, Instant.NEXT_POINT))


def moments_of(world: World, call: Call, frame: Frame) -> Iterator[Moment]:
    """When a memory in this world can have taken the call."""
    return moments(
        world.zone,
        world.segment,
        call.forwarded_ns,
        call.last_ns,
        frame.clock,
        mark_ns=call.mark_ns,
    )
