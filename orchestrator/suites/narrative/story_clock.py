"""Makes local date-times of the loose times that ATANT's published stories have.

`Monday 9:00 AM`, `Day 3, evening` or `two weeks later` name no date. The contract wants one, so
they are laid on a calendar that begins on a fixed Monday, each at the first moment that it can mean
and that is not before the turn before it. The order and the distances are the story's; the dates
are not, so nothing that a published story says of time is scored.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import datetime, timedelta

from orchestrator.suites.narrative.time_words import SaidTime, said_time

__all__ = ["StoryClock", "iso_local"]

# A Monday far from any change of year.
_START = datetime(2026, 3, 2)
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_WEEK_DAYS = 7
_YEAR_MONTHS = 12
# A day that the calendar has only now and then comes again within so many years.
_YEARS_MAX = 8


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
            moment, understood = (exact, True) if exact else self._guess(said_time(text))
        except (OverflowError, ValueError):
            # Beyond the calendar's last day.
            moment, understood = self._last, False
        self._last, self._first = moment, False
        return (text if exact else moment.isoformat(timespec="minutes")), understood

    def _guess(self, said: SaidTime) -> tuple[datetime, bool]:
        if said.empty:
            return (self._last if self._first else self._last + timedelta(days=1)), False
        day, step = self._day(said)
        hour, minute = said.clock or (day.hour, day.minute)
        if said.part and not said.clock:
            hour, minute = said.part.usual, 0
        moment = day.replace(hour=hour, minute=minute)
        if moment >= self._last:
            return moment, said.understood
        part = said.part
        if part and moment.date() == self._last.date() and part.first <= self._last.hour < part.end:
            # The turn before was in this part of the day already, and this one is not before it.
            return self._last, said.understood
        if self._first and (said.date or said.month_day):
            # The calendar of a story that names its days begins with the first of them.
            return moment, said.understood
        if step is None:
            return self._last, False
        return moment + step * -((moment - self._last) // step), said.understood

    def _day(self, said: SaidTime) -> tuple[datetime, timedelta | None]:
        """The first day that is meant, and after how long it comes again; None: never."""
        last = self._last
        if said.date:
            return datetime.combine(said.date, last.time()), None
        if said.month_day:
            return self._yearly(*said.month_day), None
        if said.later:
            later = _later(last, *said.later)
            return (later if said.weekday is None else _ahead(later, said.weekday)), None
        if said.month or said.week or said.day:
            return self._numbered(said)
        if said.weekday is not None:
            return _ahead(last, said.weekday), timedelta(weeks=1)
        return last, None if said.same_day else timedelta(days=1)

    def _yearly(self, month: int, day: int) -> datetime:
        """The first such day that is not before the last turn's."""
        for year in range(self._last.year, self._last.year + _YEARS_MAX + 1):
            if day <= monthrange(year, month)[1]:
                moment = self._last.replace(year=year, month=month, day=day)
                if self._first or moment.date() >= self._last.date():
                    return moment
        return self._last

    def _numbered(self, said: SaidTime) -> tuple[datetime, timedelta]:
        """`Month 2, Week 3, Day 5` or a weekday in it, counted from the calendar's begin."""
        base = _later(_START, max(said.month, 1) - 1, "month")
        if said.week:
            base += timedelta(weeks=said.week - 1)
        if said.day:
            base += timedelta(days=said.day - 1)
        elif said.weekday is not None:
            base = _ahead(base, said.weekday)
        # A turn without an hour is at the hour of the one before.
        base = datetime.combine(base.date(), self._last.time())
        return base, timedelta(weeks=1) if said.week and not said.day else timedelta(days=1)


def _ahead(moment: datetime, weekday: int) -> datetime:
    return moment + timedelta(days=(weekday - moment.weekday()) % _WEEK_DAYS)


def _later(moment: datetime, count: int, unit: str) -> datetime:
    """So many units after a moment; the last day of a month that is too short.

    Raises:
        OverflowError, ValueError: that is beyond the calendar.
    """
    if unit in ("month", "year"):
        months = count * (_YEAR_MONTHS if unit == "year" else 1) + moment.month - 1
        year, month = moment.year + months // _YEAR_MONTHS, months % _YEAR_MONTHS + 1
        day = min(moment.day, monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day)
    return moment + timedelta(**{f"{unit}s": count})
