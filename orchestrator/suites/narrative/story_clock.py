"""Makes local date-times of the loose times that ATANT's published stories have.

`Monday 9:00 AM`, `Day 3, evening` or `Week 2 Friday 18:30` name no date. The contract wants one,
so they are laid on a calendar that begins on a fixed Monday, each at the first moment that it can
mean and that is not before the turn before it. The order and the distances are the story's; the
dates are not, so nothing that a published story says of time is scored.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

__all__ = ["StoryClock", "iso_local"]

# A Monday far from any change of year.
_START = datetime(2026, 3, 2)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PARTS = {
    "midnight": 0,
    "early": 6,
    "morning": 9,
    "noon": 12,
    "lunch": 12,
    "afternoon": 15,
    "evening": 19,
    "late": 22,
    "night": 22,
}
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b|\b(\d{1,2}):(\d\d)\b", re.IGNORECASE)
_WEEK = re.compile(r"\bweek\s+(\d{1,3})\b", re.IGNORECASE)
_DAY = re.compile(r"\bday\s+(\d{1,4})\b", re.IGNORECASE)
_HALF_DAY = 12
_HOURS = 24
_MINUTES = 60


def iso_local(text: str) -> datetime | None:
    """The local date-time that `YYYY-MM-DDTHH:MM[:SS]` says; None: that is none."""
    if not text.isascii() or not _ISO.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


class StoryClock:
    """Reads the times of one story's turns, in order."""

    def __init__(self) -> None:
        self._last = _START
        self._first = True

    def read(self, text: str) -> tuple[str, bool]:
        """The ISO local date-time of the next turn, and whether the words were understood.

        What is not understood becomes a day after the turn before it.
        """
        exact = iso_local(text)
        try:
            moment = exact or self._guess(text)
            understood = moment is not None
            if moment is None:
                moment = self._last if self._first else self._last + timedelta(days=1)
        except OverflowError:
            # After the last day of the calendar.
            moment, understood = self._last, False
        self._last, self._first = moment, False
        return (text if exact else moment.isoformat(timespec="minutes")), understood

    def _guess(self, text: str) -> datetime | None:
        clock, day = _clock(text), self._day(text)
        if clock is None and day is None:
            return None
        hour, minute = clock or (self._last.hour, self._last.minute)
        date, step = day or (self._last, timedelta(days=1))
        moment = date.replace(hour=hour, minute=minute)
        if moment < self._last:
            moment += step * -((moment - self._last) // step)
        return moment

    def _day(self, text: str) -> tuple[datetime, timedelta] | None:
        """The first day that is meant, and after how long it comes again."""
        lower = text.lower()
        week, day = _WEEK.search(lower), _DAY.search(lower)
        weekday = next((n for n, name in enumerate(_DAYS) if name[:3] in _words(lower)), None)
        if day and not week:
            return _START + timedelta(days=int(day[1]) - 1), timedelta(days=1)
        if week:
            inside = weekday if weekday is not None else (int(day[1]) - 1 if day else 0)
            return _START + timedelta(weeks=int(week[1]) - 1, days=inside), timedelta(weeks=1)
        if weekday is None:
            return None
        ahead = (weekday - self._last.weekday()) % len(_DAYS)
        return self._last + timedelta(days=ahead), timedelta(weeks=1)


def _words(lower: str) -> set[str]:
    """Names of weekdays, whole or of three letters, by their first three."""
    return {
        word[:3]
        for word in re.findall(r"[a-z]+", lower)
        if len(word) == 3 or word in _DAYS or word in ("tues", "thur", "thurs")
    }


def _clock(text: str) -> tuple[int, int] | None:
    found = _CLOCK.search(text)
    if found is None:
        part = next((hour for name, hour in _PARTS.items() if name in text.lower()), None)
        return None if part is None else (part, 0)
    if found[3]:
        hour, minute = int(found[1]) % _HALF_DAY, int(found[2] or 0)
        hour += _HALF_DAY if found[3].lower() == "p" else 0
    else:
        hour, minute = int(found[4]), int(found[5])
    return (hour, minute) if hour < _HOURS and minute < _MINUTES else None
