"""Clocks that are wrong: the memory's, a host's, the destination's, one or several (DESIGN §5)."""

from __future__ import annotations

from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.families import clock_others
from orchestrator.suites.continuity.families.model import Account, FamilyCase, Need, Weight

__all__ = ["CASES"]

_MEMORY = frozenset({Need.MEMORY_CLOCK})
_BOTH = frozenset({Need.MEMORY_CLOCK, Need.OTHER_CLOCKS})
_KEYED = (CapabilityVariant.IDEMPOTENT,)
_OPERATIONS = 10
_ONCE, _TWICE = ("clock:memory",), ("clock:memory",) * 2
_BACK_AND_FORTH = ("clock:memory",) * 4


def _memory(
    name: str,
    title: str,
    receipts: tuple[str, ...],
    *,
    requirement_id: str = "MQ-C-45",
    capabilities: tuple[CapabilityVariant, ...] = tuple(CapabilityVariant),
    weight: Weight = Weight.STANDARD,
) -> FamilyCase:
    """A case in which the memory's clock alone is wrong."""
    return FamilyCase(
        name=f"clock.{name}",
        title=title,
        requirement_id=requirement_id,
        capabilities=capabilities,
        needs=_MEMORY,
        receipts=receipts,
        weight=weight,
        operations=_OPERATIONS,
    )


def _together(
    name: str,
    title: str,
    receipts: tuple[str, ...],
    *,
    capabilities: tuple[CapabilityVariant, ...] = tuple(CapabilityVariant),
    account: Account = Account.NOBODY,
    weight: Weight = Weight.STANDARD,
) -> FamilyCase:
    """A case in which the destination's clock is wrong, beside the memory's or not."""
    return FamilyCase(
        name=f"clock.{name}",
        title=title,
        requirement_id="MQ-C-49",
        capabilities=capabilities,
        needs=_BOTH,
        receipts=receipts,
        account=account,
        weight=weight,
        operations=_OPERATIONS,
    )


def _host(name: str, title: str, weight: Weight) -> FamilyCase:
    """A case in which the host's clock is wrong. Its checkpoints are named by its clock."""
    return FamilyCase(
        name=f"clock.{name}",
        title=title,
        requirement_id="MQ-C-48",
        needs=_BOTH,
        receipts=("clock:agent", "clock:agent", *_TWICE),
        weight=weight,
        operations=_OPERATIONS,
        own_stack=True,
    )


_OF_LEASES = (
    _memory(
        "around_lease_end",
        "The memory's clock stands one second before the lease's end, then one second after it.",
        _TWICE,
    ),
    _memory(
        "across_lease_end",
        "The lease's end falls between question and answer.",
        _TWICE,
        weight=Weight.FULL,
    ),
    _memory("memory_ahead_5_minutes", "The memory's clock jumps ahead by five minutes.", _ONCE),
    _memory(
        "memory_ahead_1_day",
        "The memory's clock jumps ahead by a day: leases and keys are over.",
        _ONCE,
    ),
)


def _set_back(
    ago: str, words: str, weight: Weight, behind: str = ", behind its mark"
) -> tuple[FamilyCase, FamilyCase]:
    """The clock behind its mark, in one life of the memory and over its death.

    Of one second nobody can say whether it is behind: the oracle's grain is a second, and a clock
    has caught up with that much when the memory is back.
    """
    back = _memory(
        f"memory_back_{ago}",
        f"The memory's clock is set back by {words}{behind}, and put right again.",
        _BACK_AND_FORTH,
        requirement_id="MQ-C-46",
        weight=weight,
    )
    restarted = _memory(
        f"restart_back_{ago}",
        f"The memory dies and starts with its clock set back by {words}{behind}.",
        (*_BACK_AND_FORTH, "restart:memory"),
        requirement_id="MQ-C-46",
        weight=weight,
    )
    return back, restarted


_OF_MARKS = (
    *_set_back("1_second", "one second", Weight.FULL, ""),
    *_set_back("5_minutes", "five minutes", Weight.STANDARD),
    *_set_back("1_day", "a day", Weight.FULL),
)

_OF_RATES = (
    _memory(
        "memory_fast",
        "The memory's clock runs forty times too fast: the lease is over in seconds.",
        ("drift:memory", *_ONCE),
        requirement_id="MQ-C-47",
    ),
    _memory(
        "memory_slow",
        "The memory's clock loses time: the lease lasts longer than its seconds.",
        ("drift:memory", *_TWICE),
        requirement_id="MQ-C-47",
    ),
)

_OF_KEYS = (
    _memory(
        "key_covers_by_1_second",
        "One second before a retry no longer fits under the key, counted from the first grant.",
        _TWICE,
        requirement_id="MQ-C-49",
        capabilities=_KEYED,
    ),
    _memory(
        "key_short_by_1_second",
        "One second after a retry fits under the key, counted from the first grant.",
        _TWICE,
        requirement_id="MQ-C-49",
        capabilities=_KEYED,
    ),
    _together(
        "key_over_at_destination",
        "The destination's clock is a day ahead: it has forgotten the key that still counts.",
        ("clock:destination", *_ONCE),
        capabilities=_KEYED,
        account=Account.CLOCK,
    ),
    _together(
        "memory_set_back_above_mark",
        "The key's time passes, and the memory's clock is set back, still ahead of its mark.",
        ("clock:destination", *_TWICE, "clock:memory"),
        capabilities=_KEYED,
        account=Account.CLOCK,
    ),
)

_OF_DESTINATIONS = (
    _together(
        "deadline_destination_ahead",
        "The destination's clock passes the deadline of dispatches under way, and it refuses them.",
        ("clock:destination", *_ONCE),
    ),
    _together(
        "deadline_destination_ahead_memory_back",
        "The same while the memory's clock is set back by five minutes.",
        ("clock:destination", *_TWICE, "clock:memory"),
        weight=Weight.FULL,
    ),
    _together(
        "deadline_destination_behind",
        "The destination enforces deadlines by a clock that is five minutes behind.",
        ("clock:destination", "clock:destination"),
        weight=Weight.FULL,
    ),
)

_OF_HOSTS = (
    _host("agent_ahead_1_day", "The host's clock is a day ahead.", Weight.STANDARD),
    _host("agent_back_1_day", "The host's clock is a day behind.", Weight.FULL),
    _host("agent_ahead_5_minutes", "The host's clock is five minutes ahead.", Weight.FULL),
    _host("agent_back_5_minutes", "The host's clock is five minutes behind.", Weight.STANDARD),
)

CASES = (
    *_OF_LEASES,
    *_OF_MARKS,
    *_OF_RATES,
    *_OF_KEYS,
    *_OF_DESTINATIONS,
    *_OF_HOSTS,
    *clock_others.CASES,
)
