"""Finds expressions of time in a turn and resolves them against the turn's own time (CP9)."""

import datetime as dt
import re
from typing import TYPE_CHECKING

from services.memory.narrative.model import TemporalReference, TemporalStatus

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["find_times"]

_DAYS = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": -1, "tomorrow": 1}
_PATTERN = re.compile(r"\b(?:" + "|".join(_DAYS) + r")\b", re.IGNORECASE)


def find_times(doc: "Doc", at: dt.datetime) -> tuple[TemporalReference, ...]:
    """The times that a turn names, in order of their places.

    Args:
        doc: the parsed turn.
        at: the turn's own time.
    """
    found = []
    for match in _PATTERN.finditer(doc.text):
        shift = _DAYS[match[0].lower()]
        day = at.date() + dt.timedelta(days=shift)
        status = (
            TemporalStatus.PAST
            if shift < 0
            else TemporalStatus.UPCOMING
            if shift
            else TemporalStatus.ACTIVE
        )
        found.append(
            TemporalReference(match[0], match.start(), match.end(), day.isoformat(), status)
        )
    return tuple(found)
