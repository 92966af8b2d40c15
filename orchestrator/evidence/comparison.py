"""What differs between what was kept and what came out again, in words."""

from __future__ import annotations

import json

from pydantic import JsonValue

from orchestrator.model import Check, TrialRecord
from orchestrator.scoring.run import Aggregate

__all__ = ["aggregate_differences", "record_differences"]

_SHOWN_FIELDS = 6
_VALUE_CHARACTERS = 200

# The destination's account first, then the interposer's, then what was concluded.
_ORDER = (
    "effects",
    "tool_errors",
    "dispatches",
    "decisions",
    "unsafe_decisions",
    "needless_decisions",
    "checks",
    "verdict",
    "subtype",
    "cause",
)


def record_differences(kept: TrialRecord, again: TrialRecord) -> str:
    """The fields in which two records of one trial differ, the destination's first."""
    names = sorted(
        TrialRecord.model_fields,
        key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER),
    )
    told = []
    for name in names:
        before, now = getattr(kept, name), getattr(again, name)
        if before == now:
            continue
        if name == "checks":
            told.append(_check_differences(kept.checks, again.checks))
        else:
            told.append(f"{name} was {_short(before)}, is {_short(now)}")
    if not told:
        return "the same record in another form of text"
    left = len(told) - _SHOWN_FIELDS
    return "; ".join(told[:_SHOWN_FIELDS]) + (f"; and {left} more fields" if left > 0 else "")


def aggregate_differences(data: bytes, again: Aggregate) -> str:
    """The entries in which a kept aggregate.json differs from one that came out again."""
    try:
        kept: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        return "is no JSON"
    now: dict[str, JsonValue] = again.model_dump(mode="json")
    if not isinstance(kept, dict):
        return "is no JSON object"
    told = [
        f"{name} was {_short(kept.get(name))}, is {_short(now.get(name))}"
        for name in sorted({*kept, *now})
        if kept.get(name) != now.get(name) or (name in kept) != (name in now)
    ]
    return "; ".join(told[:_SHOWN_FIELDS]) or "the same content in another form of text"


def _check_differences(kept: tuple[Check, ...], again: tuple[Check, ...]) -> str:
    before = {check.check_id: check for check in kept}
    now = {check.check_id: check for check in again}
    for check_id in (*now, *before):
        old, new = before.get(check_id), now.get(check_id)
        if old != new:
            return f"check {check_id} was {_outcome(old)}, is {_outcome(new)}"
    return "checks stand in another order, or twice"


def _outcome(check: Check | None) -> str:
    if check is None:
        return "not there"
    return (
        f"{check.outcome.value} ({_short(check.actual)})" if check.actual else check.outcome.value
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_CHARACTERS else text[: _VALUE_CHARACTERS - 1] + "…"
