"""Words of time: numbers, weekdays, months and units, as pieces of regular expressions.

The pieces are for patterns that ignore case. Each has one reader, which takes what it matched.
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterable

__all__ = [
    "COUNT",
    "DAY_NUMBER",
    "HAS_DIGIT",
    "HAS_MONTH",
    "HAS_WEEKDAY",
    "HOUR",
    "MONTH",
    "ORDINAL",
    "PART",
    "UNIT",
    "WEEKDAY",
    "YEAR",
    "add_months",
    "coming",
    "count_of",
    "hour_of",
    "last_of_month",
    "monday_of",
    "month_of",
    "number_of",
    "ordinal_of",
    "past",
    "shifted",
    "weekday_of",
]


def _listed(text: str) -> list[str]:
    return text.split()


_SMALL = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve"
    " thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
_ORDINALS = _listed(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth"
    " nineteenth twentieth"
)
_MONTHS = _listed(
    "january february march april may june july august september october november december"
)
_WEEKDAYS = _listed("monday tuesday wednesday thursday friday saturday sunday")

_NUMBERS = {word: value for value, word in enumerate(_SMALL)} | _TENS
_NUMBERS |= {
    f"{ten}{sign}{_SMALL[unit]}": value + unit
    for ten, value in _TENS.items()
    for unit in range(1, 10)
    for sign in "- "
}
_COUNTS = _NUMBERS | {"a": 1, "an": 1, "couple of": 2, "a couple of": 2}
_ORDINAL_VALUES = {word: value for value, word in enumerate(_ORDINALS) if value}
_ORDINAL_VALUES |= {
    f"twenty{sign}{_ORDINALS[unit]}": 20 + unit for unit in range(1, 10) for sign in "- "
}
_ORDINAL_VALUES |= {"thirtieth": 30, "thirty-first": 31, "thirty first": 31}


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


COUNT = rf"(?:\d{{1,4}}|{_any(_COUNTS)})"
UNIT = r"(?:minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|fortnights?|months?|years?|yrs?)"
MONTH = rf"(?:{_any(_MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"  # "Sept."
WEEKDAY = rf"(?:{_any(_WEEKDAYS)}|(?:mon|tues?|weds?|thurs?|thu|fri|sat|sun)\b\.?)"
DAY_NUMBER = r"(?:3[01]|[12]\d|0?[1-9])"
ORDINAL = _any(_ORDINAL_VALUES)
YEAR = r"(?:19|20)\d\d"
HOUR = rf"(?:{_any(_SMALL[1:13])}|1[0-2]|0?[1-9])"
# What a turn holds if it holds a month, a weekday or a number: asked before costlier patterns.
HAS_MONTH = re.compile(rf"\b{MONTH}", re.IGNORECASE)
HAS_WEEKDAY = re.compile(rf"\b{WEEKDAY}", re.IGNORECASE)
HAS_DIGIT = re.compile(r"\d")
PART = r"(?:morning|lunchtime|afternoon|teatime|evening|night)"


def number_of(text: str) -> int:
    """The value of digits, or of a number in words."""
    word = " ".join(text.lower().split())
    return int(word) if word.isdecimal() else _COUNTS[word]


def count_of(text: str) -> int:
    """The value of what COUNT matched."""
    return number_of(text)


def hour_of(text: str) -> int:
    """The value of what HOUR matched, 1 to 12."""
    return number_of(text)


def ordinal_of(text: str) -> int:
    """The value of a day's number: digits with or without an ending, or an ordinal in words."""
    word = " ".join(text.lower().split())
    digits = word.rstrip("stndrh.")
    return int(digits) if digits.isdecimal() else _ORDINAL_VALUES[word]


def month_of(text: str) -> int:
    """1 to 12 of what MONTH matched."""
    return next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(text.lower()[:3]))


def weekday_of(text: str) -> int:
    """0 (Monday) to 6 of what WEEKDAY matched."""
    return next(i for i, name in enumerate(_WEEKDAYS) if name.startswith(text.lower()[:3]))


def monday_of(day: dt.date) -> dt.date:
    """The Monday of a day's week."""
    return day - dt.timedelta(days=day.weekday())


def coming(today: dt.date, weekday: int) -> dt.date:
    """The next such weekday after today."""
    return today + dt.timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def past(today: dt.date, weekday: int) -> dt.date:
    """The last such weekday before today."""
    return today - dt.timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


def last_of_month(day: dt.date) -> dt.date:
    """The last day of a day's month."""
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


def add_months(day: dt.date, months: int) -> dt.date:
    """The same day of another month, or that month's last; OverflowError outside of 1 to 9999."""
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError(f"year {year}")
    return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def shifted(at: dt.datetime, count: float, unit: str) -> tuple[dt.date, dt.time | None]:
    """A moment so many units later, earlier where negative; hours give a clock time, too."""
    kind = unit.lower()
    if kind.startswith(("min", "h")):
        minutes = count * (1 if kind.startswith("min") else 60)
        moment = at + dt.timedelta(minutes=minutes)
        return moment.date(), moment.time().replace(second=0, microsecond=0)
    if kind.startswith("m"):
        return add_months(at.date(), round(count)), None
    if kind.startswith("y"):
        return add_months(at.date(), round(count * 12)), None
    days = 7 if kind.startswith("w") else 14 if kind.startswith("f") else 1
    return at.date() + dt.timedelta(days=round(count * days)), None
