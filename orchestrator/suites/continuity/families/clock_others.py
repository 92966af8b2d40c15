"""Clocks of a host and of the destination, and two clocks against each other (DESIGN §5).

Each of the three clocks stands apart by a second, five minutes and a day, and drifts: alone and
against each other one. `families.clock` has what the memory's own clock does alone.
"""

from __future__ import annotations

from itertools import permutations

from orchestrator.model import CapabilityVariant, Frozen
from orchestrator.suites.continuity.families.model import FamilyCase, Need, Weight

__all__ = ["CASES", "DRIFTS", "OFFSETS", "Clock"]

AGENT, DESTINATION, MEMORY = "agent", "destination", "memory"
_AMOUNTS = {
    "1_second": (1, "one second"),
    "5_minutes": (300, "five minutes"),
    "1_day": (86_400, "a day"),
}
_FAST, _SLOW = 40.0, 0.1
_BASIC = (CapabilityVariant.NONE, CapabilityVariant.QUERY_FENCED, CapabilityVariant.IDEMPOTENT)
_OPERATIONS = 2


class Clock(Frozen):
    """A clock that is wrong.

    Attributes:
        service: Whose; `agent` is the active host.
        by: Seconds that it is ahead, below 0 behind; or its rate, where it drifts.
    """

    service: str
    by: float


def _owner(service: str) -> str:
    return "host" if service == AGENT else service


def _offsets() -> dict[str, tuple[str, tuple[Clock, ...]]]:
    """By the case's name: its title, and how far each clock stands apart."""
    found: dict[str, tuple[str, tuple[Clock, ...]]] = {}
    for amount, (seconds, words) in _AMOUNTS.items():
        for service in (AGENT, DESTINATION):
            for way, sign in (("ahead", 1), ("back", -1)):
                if service == AGENT and amount != "1_second":
                    continue  # families.clock compares these with a right clock
                where = "ahead" if sign > 0 else "behind"
                title = f"The {_owner(service)}'s clock is {words} {where}."
                clocks = (Clock(service=service, by=sign * seconds),)
                found[f"clock.{service}_{way}_{amount}"] = (title, clocks)
        for first, second in permutations((AGENT, DESTINATION, MEMORY), 2):
            title = (
                f"The {_owner(first)}'s clock is {words} ahead, "
                f"and the {_owner(second)}'s {words} behind."
            )
            both = (Clock(service=first, by=seconds), Clock(service=second, by=-seconds))
            found[f"clock.{first}_ahead_{second}_behind_{amount}"] = (title, both)
    return found


def _drifts() -> dict[str, tuple[str, tuple[Clock, ...]]]:
    """By the case's name: its title, and at which rate each clock runs."""
    found: dict[str, tuple[str, tuple[Clock, ...]]] = {}
    for service in (AGENT, DESTINATION):
        owner = _owner(service)
        fast, slow = Clock(service=service, by=_FAST), Clock(service=service, by=_SLOW)
        found[f"clock.{service}_fast"] = (
            f"The {owner}'s clock runs forty times too fast around the lease's end.",
            (fast,),
        )
        found[f"clock.{service}_slow"] = (
            f"The {owner}'s clock loses time around the lease's end.",
            (slow,),
        )
    for first, second in permutations((AGENT, DESTINATION, MEMORY), 2):
        title = (
            f"The {_owner(first)}'s clock runs forty times too fast, "
            f"while the {_owner(second)}'s loses time."
        )
        clocks = (Clock(service=first, by=_FAST), Clock(service=second, by=_SLOW))
        found[f"clock.{first}_fast_{second}_slow"] = (title, clocks)
    return found


_OFFSET_CASES, _DRIFT_CASES = _offsets(), _drifts()
OFFSETS = {name: clocks for name, (_, clocks) in _OFFSET_CASES.items()}
"""How far clocks stand apart, by case."""
DRIFTS = {name: clocks for name, (_, clocks) in _DRIFT_CASES.items()}
"""At which rates clocks run, by case."""

_STANDARD = frozenset(
    {
        "clock.agent_fast",
        "clock.destination_fast",
        "clock.agent_ahead_1_second",
        "clock.destination_ahead_1_second",
        "clock.destination_ahead_5_minutes",
        "clock.destination_ahead_1_day",
        "clock.memory_ahead_destination_behind_5_minutes",
        "clock.destination_ahead_memory_behind_5_minutes",
        "clock.memory_ahead_agent_behind_5_minutes",
        "clock.agent_ahead_destination_behind_5_minutes",
    }
)


def _case(
    name: str, title: str, clocks: tuple[Clock, ...], receipts: tuple[str, ...]
) -> FamilyCase:
    services = {one.service for one in clocks}
    return FamilyCase(
        name=name,
        title=title,
        requirement_id="MQ-C-48" if services == {AGENT} else "MQ-C-49",
        capabilities=tuple(CapabilityVariant) if DESTINATION in services else _BASIC,
        needs=frozenset({Need.MEMORY_CLOCK, Need.OTHER_CLOCKS}),
        receipts=receipts,
        weight=Weight.STANDARD if name in _STANDARD else Weight.FULL,
        operations=_OPERATIONS,
        # Its checkpoints are named by its clock.
        own_stack=AGENT in services,
    )


def _there_and_back(clocks: tuple[Clock, ...]) -> tuple[str, ...]:
    """Each clock is moved and put back; the memory's goes on from there to the leases' end."""
    moved = [f"clock:{one.service}" for one in clocks for _ in range(1 + (one.service != MEMORY))]
    return (*moved, "clock:memory")


CASES = (
    *(
        _case(name, title, clocks, _there_and_back(clocks))
        for name, (title, clocks) in _OFFSET_CASES.items()
    ),
    *(
        _case(
            name,
            title,
            clocks,
            (*(f"drift:{one.service}" for one in clocks), "clock:memory"),
        )
        for name, (title, clocks) in _DRIFT_CASES.items()
    ),
)
