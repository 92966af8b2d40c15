"""What the loose times of ATANT's published stories say: a day, a distance, an hour, a part of day.

`Monday 9:00 AM`, `Day 3, early evening`, `2 weeks later, Friday 18:30`, `March 14, 2026 at noon`.
Each kind of word is taken out of the text where it is found, so that what is left over tells
whether everything was understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType

__all__ = ["PartOfDay", "SaidTime", "said_time"]

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_UNITS = ("minute", "hour", "day", "week", "month", "year")
_HALF_DAY = 12
_HOURS = 24
_MINUTES = 60


@dataclass(frozen=True, slots=True)
class PartOfDay:
    """A part of a day, in hours: from, usually at, and up to (midnight is 24)."""

    first: int
    usual: int
    end: int


_PARTS: Mapping[str, PartOfDay] = MappingProxyType(
    {
        "midnight": PartOfDay(0, 0, 1),
        "dawn": PartOfDay(4, 6, 8),
        "early": PartOfDay(0, 6, 9),
        "early morning": PartOfDay(4, 6, 9),
        "morning": PartOfDay(5, 9, 12),
        "late morning": PartOfDay(10, 11, 12),
        "breakfast": PartOfDay(6, 8, 10),
        "noon": PartOfDay(12, 12, 14),
        "midday": PartOfDay(11, 12, 14),
        "lunch": PartOfDay(11, 12, 15),
        "lunchtime": PartOfDay(11, 12, 15),
        "early afternoon": PartOfDay(12, 13, 15),
        "afternoon": PartOfDay(12, 15, 18),
        "late afternoon": PartOfDay(15, 17, 19),
        "early evening": PartOfDay(17, 18, 20),
        "evening": PartOfDay(17, 19, 24),
        "dinner": PartOfDay(17, 19, 22),
        "late evening": PartOfDay(20, 21, 24),
        "tonight": PartOfDay(18, 20, 24),
        "night": PartOfDay(20, 22, 24),
        "late night": PartOfDay(21, 23, 24),
        "late": PartOfDay(20, 22, 24),
    }
)


@dataclass(frozen=True, slots=True)
class SaidTime:
    """What a text says of a time; what it does not say is None, 0 or False.

    Attributes:
        date: A day of the calendar.
        month_day: Month and day of a date without a year.
        month, week, day: Numbers, counted from 1: `Month 2`, `Week 3`, `Day 5`.
        weekday: 0 is Monday.
        later: How many of which unit after the time before: (2, "week").
        same_day: The day of the time before.
        clock: Hour and minute.
        part: A part of the day, where there is no clock.
        understood: Whether nothing is left over that may be of a time.
    """

    date: date | None = None
    month_day: tuple[int, int] | None = None
    month: int = 0
    week: int = 0
    day: int = 0
    weekday: int | None = None
    later: tuple[int, str] | None = None
    same_day: bool = False
    clock: tuple[int, int] | None = None
    part: PartOfDay | None = None
    understood: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return self == SaidTime(understood=self.understood)


_MONTH_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?:t(?=\d))?(?!\d)")
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_NAMES}|sept)\b\.?(?:,?\s+(\d{{4}})\b)?"
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH_NAMES}|sept)\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(\d{{4}})\b(?!:))?"
)
_CLOCK_12 = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s*([ap])\.?m\b\.?")
_CLOCK_24 = re.compile(r"\b(\d{1,2}):(\d\d)(?::\d\d)?\b")
_COUNT = rf"(\d{{1,4}}|an?|{'|'.join(_NUMBERS)})"
_UNIT = rf"({'|'.join(_UNITS)})s?\b"
_LATER = re.compile(rf"\b{_COUNT}\s+{_UNIT}\s+(?:later|after|afterwards|on)\b")
_AFTER = re.compile(rf"(?:\b(?:after|in)\s+|\+\s*){_COUNT}\s+{_UNIT}")
_NEXT = re.compile(rf"\b(?:the\s+)?(?:next|following)\s+({'|'.join(_UNITS)})\b")
_NEXT_PART = re.compile(
    r"\b(?:the\s+)?(?:next|following)\s+(?=(?:morning|afternoon|evening|night)\b)"
    r"|\btomorrow\b|\bthe\s+day\s+after\b"
)
_SAME_DAY = re.compile(
    r"\b(?:later\s+)?(?:the\s+)?(?:same|that)\s+(?:day\b|(?=morning|afternoon|evening|night))"
)
_NUMBERED = {unit: re.compile(rf"\b{unit}\s+(\d{{1,4}})\b") for unit in ("month", "week", "day")}
_WEEKDAY = re.compile(
    r"\b(mon|tue(?:s)?|wed|thu(?:rs?)?|fri|sat|sun|" + "|".join(_DAYS) + r")\b\.?"
)
_PART = re.compile(
    r"\b(?:(early|late|mid)[\s-]*)?(morning|afternoon|evening|night|midnight|dawn|breakfast|noon"
    r"|midday|lunchtime|lunch|dinner|tonight)\b|\b(early|late)\b"
)
_LEFT = re.compile(
    rf"\d|\b(?:{'|'.join(_UNITS)})s?\b|\b(?:later|before|ago|earlier|yesterday|weekend|next|last"
    rf"|spring|summer|autumn|winter|fall|fortnight|{'|'.join(_MONTHS)})\b"
)


def said_time(text: str) -> SaidTime:
    """Reads a loose time; never fails."""
    rest, said = _Rest(text.lower()), SaidTime()
    for take in (_take_date, _take_clock, _take_distance, _take_numbered, _take_day):
        said = take(rest, said)
    return replace(said, understood=_LEFT.search(rest.text) is None and not rest.doubted)


@dataclass(slots=True)
class _Rest:
    """What was not yet understood of a text."""

    text: str
    doubted: bool = False

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first match, which is then gone from the text."""
        found = pattern.search(self.text)
        if found:
            self.text = f"{self.text[: found.start()]} ; {self.text[found.end() :]}"
        return found


def _take_date(rest: _Rest, said: SaidTime) -> SaidTime:
    if iso := rest.take(_ISO_DATE):
        return _dated(rest, said, int(iso[1]), int(iso[2]), int(iso[3]))
    if match := rest.take(_DAY_MONTH):
        return _dated(rest, said, _year(match[3]), _month(match[2]), int(match[1]))
    if match := rest.take(_MONTH_DAY):
        return _dated(rest, said, _year(match[3]), _month(match[1]), int(match[2]))
    return said


def _dated(rest: _Rest, said: SaidTime, year: int, month: int, day: int) -> SaidTime:
    try:
        # Without a year, 29 February is a day of some.
        meant = date(year or 2024, month, day)
    except ValueError:
        rest.doubted = True
        return said
    return replace(said, date=meant) if year else replace(said, month_day=(month, day))


def _year(text: str | None) -> int:
    return int(text) if text else 0


def _month(name: str) -> int:
    return next(at for at, each in enumerate(_MONTHS, start=1) if each.startswith(name[:3]))


def _take_clock(rest: _Rest, said: SaidTime) -> SaidTime:
    if match := rest.take(_CLOCK_12):
        hour, minute = int(match[1]) % _HALF_DAY, int(match[2] or 0)
        right = 1 <= int(match[1]) <= _HALF_DAY
        hour += _HALF_DAY if match[3] == "p" else 0
    elif match := rest.take(_CLOCK_24):
        hour, minute, right = int(match[1]), int(match[2]), True
    else:
        return said
    if right and hour < _HOURS and minute < _MINUTES:
        return replace(said, clock=(hour, minute))
    rest.doubted = True
    return said


def _take_distance(rest: _Rest, said: SaidTime) -> SaidTime:
    if match := rest.take(_LATER) or rest.take(_AFTER):
        return replace(said, later=(_count(match[1]), match[2]))
    if match := rest.take(_NEXT):
        return replace(said, later=(1, match[1]))
    if rest.take(_NEXT_PART):
        return replace(said, later=(1, "day"))
    return replace(said, same_day=True) if rest.take(_SAME_DAY) else said


def _count(text: str) -> int:
    if text in ("a", "an"):
        return 1
    return int(text) if text.isdigit() else _NUMBERS.index(text)


def _take_numbered(rest: _Rest, said: SaidTime) -> SaidTime:
    counts = {"month": 0, "week": 0, "day": 0}
    for unit, pattern in _NUMBERED.items():
        if match := rest.take(pattern):
            counts[unit] = int(match[1])
            rest.doubted |= counts[unit] < 1
    return replace(said, month=counts["month"], week=counts["week"], day=counts["day"])


def _take_day(rest: _Rest, said: SaidTime) -> SaidTime:
    if match := rest.take(_WEEKDAY):
        weekday = next(at for at, name in enumerate(_DAYS) if name.startswith(match[1][:3]))
        said = replace(said, weekday=weekday)
    if match := rest.take(_PART):
        name = match[2] or match[3]
        # `mid-morning` is the morning; `late noon` is noon.
        whole = f"{match[1]} {name}" if match[2] and match[1] else name
        if said.clock is None:
            said = replace(said, part=_PARTS.get(whole, _PARTS[name]))
    return said
