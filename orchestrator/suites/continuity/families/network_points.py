"""What the cases of `families.network` do to which messages and edges (DESIGN §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from chaos.network_faults import Action, Direction, Edge, edges_between
from chaos.windows import AGENT, REQUEST, RESPONSE, WINDOWS, BarrierHold, RuleHold
from memqual.v1 import continuity_pb2, destination_pb2
from memqual.v1 import interposer_pb2 as pb

__all__ = [
    "ALL_POINTS",
    "EDGES_ALONE",
    "MESSAGES",
    "PARTITIONS",
    "QUERY_POINTS",
    "RECORD_QUERY",
    "RENEWALS",
    "STANDS",
    "STOOD_MARK",
    "Messages",
    "Partition",
    "Point",
    "Stand",
    "point_of",
    "rule_id_of",
]

_CONTINUITY = continuity_pb2.DESCRIPTOR.services_by_name["ContinuityService"].full_name
_DESTINATION = destination_pb2.DESCRIPTOR.services_by_name["DestinationService"].full_name
RECORD_QUERY = f"/{_CONTINUITY}/RecordQuery"
RENEW = f"/{_CONTINUITY}/Renew"
DESCRIBE_TOOL = f"/{_DESTINATION}/DescribeTool"
QUERY_EFFECT = f"/{_DESTINATION}/QueryEffect"

STOOD_MARK = "stood"
"""Kind of the mark that tells which operation stood at which of its host's own windows."""

_Place = TypeVar("_Place")

BEYOND_DEADLINE_MS = 11_000
"""Longer than the host waits for an answer (DESIGN §4: 10 s)."""
OVERTAKEN_MS = 300
"""How long a reordered message waits at most for another to overtake it."""


@dataclass(frozen=True)
class Point:
    """One message of an operation.

    Attributes:
        name: As in a window's name, or the method's and which message.
        hold: Which message it is.
    """

    name: str
    hold: RuleHold


@dataclass(frozen=True)
class Stand:
    """Where an operation stands while edges are cut.

    Attributes:
        name: As in the window's name.
        hold: What keeps it there.
    """

    name: str
    hold: RuleHold | BarrierHold


def _both(name: str, source: str, target: str, method: str) -> tuple[Point, Point]:
    def point(phase: pb.MessagePhase.ValueType, which: str) -> Point:
        return Point(f"{name}_{which}", RuleHold(source, target, method, phase))

    return point(REQUEST, "request"), point(RESPONSE, "response")


ALL_POINTS = tuple(
    Point(window.name, window.hold) for window in WINDOWS if isinstance(window.hold, RuleHold)
)
"""The six messages that windows are held at, in the order in which an operation passes them."""

STANDS = tuple(
    Stand(window.name, window.hold)
    for window in sorted(WINDOWS, key=lambda one: isinstance(one.hold, BarrierHold))
)
"""All nine windows: those that a message shows, then those inside the host."""

QUERY_POINTS = (
    *_both("describe_tool", AGENT, "destination", DESCRIBE_TOOL),
    *_both("query_effect", AGENT, "destination", QUERY_EFFECT),
    *_both("record_query", AGENT, "memory", RECORD_QUERY),
)
"""The messages that a host sends when it asks what became of a dead one's call."""

RENEWALS = _both("renew", "orchestrator", "memory", RENEW)


@dataclass(frozen=True)
class Messages:
    """A fault of single messages.

    Attributes:
        action: What is done to each.
        points: Which messages; the operations take them in turn.
        once: The destination applies one call of an attempt at most.
    """

    action: Action
    points: tuple[Point, ...]
    once: bool = False

    @property
    def delay_ms(self) -> int:
        """For how long a message is kept, at most."""
        return {"delayed": BEYOND_DEADLINE_MS, "reordered": OVERTAKEN_MS}.get(self.action, 0)

    @property
    def direction(self) -> Direction:
        """Which way the messages go."""
        phases = {point.hold.phase for point in self.points}
        if len(phases) > 1:
            return "both"
        return "requests" if phases == {REQUEST} else "responses"


@dataclass(frozen=True)
class Partition:
    """A cut of edges while the operations stand at their windows.

    Attributes:
        service: Whose edges: `memory`, `destination` or `observer`; `agent` for all of the hosts'.
            Or one edge alone, `agent_to_memory`.
        direction: Which way nothing passes.
        silent: The host hears of it only at its own deadline.
    """

    service: str
    direction: Direction
    silent: bool = False

    @property
    def edges(self) -> tuple[Edge, ...]:
        """What is cut: (source, target) of each, sources by role."""
        source, alone, target = self.service.partition("_to_")
        return ((source, target),) if alone else edges_between(source)


def point_of(points: tuple[_Place, ...], position: int) -> _Place:
    """The message or window that a batch's operation is met at, by its place in the batch."""
    return points[position % len(points)]


def rule_id_of(batch_id: str, point: Point | Stand) -> str:
    """The rule of one message in one batch."""
    return f"network-{batch_id}-{point.name}"


def _named(name: str) -> Point:
    return next(point for point in ALL_POINTS if point.name == name)


_BEGIN = (_named("before_intent"),)
_INVOKE = (_named("in_request"),)
_RECEIPT = (_named("after_response"),)

MESSAGES = {
    "network.lost": Messages("lost", ALL_POINTS),
    "network.delayed": Messages("delayed", ALL_POINTS),
    "network.reset": Messages("reset", ALL_POINTS),
    "network.reordered": Messages("reordered", ALL_POINTS),
    "network.duplicated.begin": Messages("duplicated", _BEGIN),
    "network.duplicated.receipt": Messages("duplicated", _RECEIPT),
    "network.duplicated.invoke": Messages("duplicated", _INVOKE),
    "network.duplicated.invoke_with_key": Messages("duplicated", _INVOKE),
    "network.duplicated.invoke_applied_once": Messages("duplicated", _INVOKE, once=True),
    "network.query.lost": Messages("lost", QUERY_POINTS),
    "network.query.delayed": Messages("delayed", QUERY_POINTS),
    "network.query.reset": Messages("reset", QUERY_POINTS),
    "network.query.duplicated": Messages(
        "duplicated", tuple(point for point in QUERY_POINTS if point.hold.phase == REQUEST)
    ),
    "network.renew.duplicated": Messages("duplicated", RENEWALS[:1]),
    "network.query.reordered": Messages("reordered", QUERY_POINTS),
    "network.renew.reset": Messages("reset", RENEWALS),
    "network.renew.lost": Messages("lost", RENEWALS),
    "network.renew.delayed": Messages("delayed", RENEWALS),
    "network.renew.reordered": Messages("reordered", RENEWALS),
}

_EVERY_WAY: tuple[Direction, ...] = ("requests", "responses", "both")
_BOTH: tuple[Direction, ...] = ("both",)

EDGES_ALONE = ("agent_to_memory", "agent_to_observer")
"""Those that a cut of a service takes with another; the destination has one edge only.

A memory tells the observer what it likes: that its edge alone is whole again, nobody could prove.
"""

PARTITIONS = {
    f"network.{'silent' if silent else 'cut'}.{service}.{direction}": Partition(
        service, direction, silent
    )
    for silent in (False, True)
    for service in ("memory", "destination", "observer", "agent", *EDGES_ALONE)
    for direction in (_BOTH if silent and service == "observer" else _EVERY_WAY)
    # Telemetry that waits for a silent observer is not sent again: nothing proves a finer cut.
    if not (silent and service == "agent_to_observer")
}
