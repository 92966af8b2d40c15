"""What can be drawn: each act with its weight and its variants."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.suites.continuity.explore.faults import CUTS, MESSAGE_FAULTS
from orchestrator.suites.continuity.explore.odd import RECEIPT_CHANGES, SPEC_CHANGES
from orchestrator.suites.continuity.explore.steps import Act
from orchestrator.suites.continuity.explore.wearing import LIMITS, LONG_LIMITS

__all__ = [
    "ASKED_LESS",
    "ASKED_MORE",
    "BACK",
    "COMPLETING",
    "FORWARD",
    "HALF",
    "LEFT_BEHIND",
    "LEFT_OPEN",
    "SHORT_LIMITS",
    "TIMELESS_KILLS",
    "VARIANTS",
    "WAKING",
    "WEIGHTS",
]

WEIGHTS: Mapping[Act, int] = {
    Act.BEGIN: 12,
    Act.AGAIN: 4,
    Act.TOGETHER: 2,
    Act.FOLLOW: 3,
    Act.LIFE: 2,
    Act.PEEK: 2,
    Act.DISPATCH: 4,
    Act.RECORD: 9,
    Act.ASK: 7,
    Act.RENEW: 4,
    Act.RESOLVE: 3,
    Act.WEAR_OUT: 1,
    Act.FAULT: 2,
    Act.RELEASE: 2,
    Act.JUMP: 14,
    Act.DRIFT: 2,
    Act.CUT: 2,
    Act.TELEMETRY: 1,
    Act.HOSTS: 2,
    Act.SLEEP: 1,
    Act.SET_BACK: 1,
    Act.KILL: 5,
    Act.KILL_AT_WORK: 2,
}

COMPLETING = frozenset({Act.DISPATCH, Act.RECORD, Act.FOLLOW, Act.RESOLVE, Act.WEAR_OUT})
"""What brings an operation to its end, or its limits to theirs. Without them it goes from lease to
lease, from question to question and from attempt to attempt."""

_PRESENT = tuple(f"present:{change}" for change in RECEIPT_CHANGES)
FORWARD = ("lease_end", "lease_almost", "minutes", "day", "key_almost")
BACK = ("back_second", "back_minutes", "back_day")
HALF = "half_lease"
TIMELESS_KILLS = (
    "memory",
    "memory",
    "agent",
    "destination",
    "observer",
    "agent+memory",
    "memory+destination",
    "all",
)
SHORT_LIMITS = tuple(name for name in LIMITS if name not in LONG_LIMITS)

VARIANTS: Mapping[Act, tuple[str, ...]] = {
    Act.BEGIN: ("", *SPEC_CHANGES),
    Act.PEEK: ("", *SPEC_CHANGES),
    Act.AGAIN: ("", "other_life"),
    Act.RECORD: ("", "token", "other_life", "attempt", "tool_error", *RECEIPT_CHANGES),
    Act.ASK: (
        "",
        "present",
        "absent_final",
        "absent_final",
        "absent_uncertain",
        "unknown",
        "ticket",
        "attempt",
        *_PRESENT,
    ),
    Act.RENEW: ("", "token", "other_life", "attempt"),
    Act.RESOLVE: (
        "did_not_happen",
        "did_not_happen",
        "happened",
        "abandon",
        "did_not_happen:stranger",
        "happened:stranger",
        "did_not_happen:again",
    ),
    Act.WEAR_OUT: SHORT_LIMITS,
    Act.FAULT: MESSAGE_FAULTS,
    Act.RELEASE: ("deliver", "drop"),
    Act.JUMP: (
        *("lease_end",) * 7,
        *FORWARD,
        *(HALF,) * 3,
        *BACK,
        "agent:minutes",
        "agent:back_day",
        "destination:day",
        "destination:back_minutes",
    ),
    Act.DRIFT: ("10", "0.1"),
    Act.CUT: CUTS,
    Act.TELEMETRY: ("drop", "delay", "duplicate", "reorder", "slow", "errors", ""),
    Act.KILL: (*TIMELESS_KILLS, *(f"memory:{how_far}" for how_far in ("lease_end", *BACK))),
}

WAKING: tuple[Act, ...] = (
    *(Act.BEGIN, Act.BEGIN, Act.BEGIN, Act.AGAIN),
    *(Act.RECORD, Act.ASK, Act.PEEK),
)
"""What a lane does first when something befell all: it asks, mostly."""

ASKED_MORE = 2.0
"""How much likelier an answer about the destination is where that can be asked."""
ASKED_LESS = 0.25
"""And where it cannot: a memory that asks nevertheless is to be met, too."""

LEFT_BEHIND: Mapping[Act, tuple[Act, ...]] = {
    Act.BEGIN: (Act.RECORD, Act.AGAIN, Act.RENEW, Act.PEEK),
    Act.RECORD: (Act.RECORD, Act.BEGIN),
    Act.ASK: (Act.BEGIN, Act.ASK),
    Act.RESOLVE: (Act.BEGIN,),
    Act.RENEW: (Act.RENEW, Act.BEGIN),
    Act.WEAR_OUT: (Act.RECORD, Act.BEGIN),
}
"""What meets what a step has left: reports of the same operation that differ, and questions."""

LEFT_OPEN: Mapping[Act, tuple[Act, ...]] = {
    **LEFT_BEHIND,
    Act.BEGIN: (Act.ASK, Act.ASK, *LEFT_BEHIND[Act.BEGIN]),
}
"""The same where a destination can be asked: a question may be open."""
