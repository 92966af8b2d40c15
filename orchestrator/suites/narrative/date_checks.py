"""Whether a resolved date can be what its words say: simple words only, and no guesses.

`yesterday`, `in three days`, `two weeks ago`, weekdays and days of months have little room; what
is not of these kinds is not judged. A contradiction is a warning: words have second meanings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta

from orchestrator.suites.narrative.vocabulary import TemporalStatus

__all__ = ["MONTHS", "WEEKDAYS", "contradictions", "possible_days", "resolved", "status_for"]

_RESOLVED = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b")
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)")
# `the day after Monday` names a weekday and means another; `7 to 10 May` has two ends.
_RELATED = re.compile(
    r"\b(after|before|from|since|until|till|eve|following)\b|\d( to |[-\u2013])\d"
)
_FIXED = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
_FIXED_WORD = re.compile(r"(today|tonight|tomorrow|yesterday)( (morning|afternoon|evening|night))?")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT = rf"(\d{{1,3}}|a|an|{'|'.join(_NUMBERS)})"
_AHEAD = re.compile(rf"in {_COUNT} (day|week)s?")
_AGO = re.compile(rf"{_COUNT} (day|week)s? ago")
_NEAR = {
    **_FIXED,
    "the day after tomorrow": 2,
    "the day before yesterday": -2,
    "last night": -1,
}
_WEEKEND = ("saturday", "sunday")
# `last Monday` and `Monday week`: a weekday is never further from its turn.
_WEEKDAY_REACH_DAYS = 14


def resolved(text: str) -> datetime | None:
    """The moment of `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM`; None: no such day, or another form."""
    if not text.isascii() or not _RESOLVED.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def status_for(day: date, turn: date) -> TemporalStatus:
    """Where a day lies, seen from the day of a turn; the turn's own day is open to any status."""
    if day == turn:
        return TemporalStatus.ACTIVE
    return TemporalStatus.PAST if day < turn else TemporalStatus.UPCOMING


def contradictions(text: str, day: date, turn: date) -> Iterator[str]:
    """Why a day cannot be what the words say at a turn's time, in words for a person.

    Args:
        text: Words of the turn that name a time.
        day: The day that they are said to mean.
        turn: The day of the turn.
    """
    said = " ".join(text.casefold().split())
    distance = _distance(said)
    if distance is not None and day != turn + timedelta(days=distance):
        yield f"{text!r} from {turn} is {turn + timedelta(days=distance)}, not {day}"
    if _RELATED.search(said):
        return
    named = [name for name in WEEKDAYS if re.search(rf"\b{name}\b", said)]
    if len(named) == 1 and WEEKDAYS[day.weekday()] != named[0]:
        yield f"{day} is a {WEEKDAYS[day.weekday()].capitalize()}, not a {named[0].capitalize()}"
    for found_day, found_month in _dates(said):
        if (found_day, found_month) != (day.day, day.month):
            yield f"{text!r} is not {day}"


def possible_days(text: str, turn: date) -> Iterator[date]:
    """Every day that simple words of a text may mean, said at a turn's day; some of them twice.

    The counterpart of `contradictions`: where words have several meanings, each is told.
    """
    said = " ".join(text.casefold().split())
    distances = [far for words, far in _NEAR.items() if re.search(rf"\b{words}\b", said)]
    for pattern, sign in ((_AHEAD, 1), (_AGO, -1)):
        for found in pattern.finditer(said):
            distances.append(sign * _count(found[1]) * (7 if found[2] == "week" else 1))
    named = {day for day in WEEKDAYS if re.search(rf"\b{day}s?\b", said)}
    if re.search(r"\bweekend\b", said):
        named.update(_WEEKEND)
    reach = range(-_WEEKDAY_REACH_DAYS, _WEEKDAY_REACH_DAYS + 1)
    distances += [far for far in reach if WEEKDAYS[(turn.weekday() + far) % 7] in named]
    for far in distances:
        with suppress(OverflowError):
            yield turn + timedelta(days=far)
    spelled = [(int(day), _month(month)) for day, month in _DAY_MONTH.findall(said)]
    spelled += [(int(day), _month(month)) for month, day in _MONTH_DAY.findall(said)]
    for day, month in spelled:
        for year in (turn.year - 1, turn.year, turn.year + 1):
            with suppress(ValueError):
                yield date(year, month, day)


def _distance(said: str) -> int | None:
    """Days from the turn, where the words are nothing but such a distance."""
    fixed = _FIXED_WORD.fullmatch(said)
    if fixed:
        return _FIXED[fixed[1]]
    signs: tuple[tuple[re.Pattern[str], Callable[[int], int]], ...]
    signs = ((_AHEAD, int.__pos__), (_AGO, int.__neg__))
    for pattern, sign in signs:
        found = pattern.fullmatch(said)
        if found:
            return sign(_count(found[1]) * (7 if found[2] == "week" else 1))
    return None


def _count(word: str) -> int:
    if word in ("a", "an"):
        return 1
    return int(word) if word.isdigit() else _NUMBERS.index(word)


def _dates(said: str) -> list[tuple[int, int]]:
    """Day and month of the one date that is named; of a span none is judged."""
    found = [(int(day), _month(month)) for day, month in _DAY_MONTH.findall(said)]
    found = found or [(int(day), _month(month)) for month, day in _MONTH_DAY.findall(said)]
    return found if len(found) == 1 else []


def _month(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, start=1) if month.startswith(name[:3]))
