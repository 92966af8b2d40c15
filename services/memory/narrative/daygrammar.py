"""Dates of the calendar in a turn: 4 March, March 4th, the 4th, 04/03, 2026-03-04, feasts."""

import datetime as dt
import re
from collections.abc import Iterator

from services.memory.narrative import timewords as words
from services.memory.narrative.moments import Moment, Rule, Scene
from services.memory.narrative.timewords import DAY_NUMBER, MONTH, ORDINAL, PART, WEEKDAY, YEAR

__all__ = ["RULES"]

_END = r"(?:st|nd|rd|th)"
_DAY = rf"(?:{DAY_NUMBER}{_END}?|{ORDINAL})"
_OPEN = rf"(?:(?P<weekday>{WEEKDAY})(?:\s+(?:last|next|coming|gone))?,?\s+)?"
_TO = r"(?:\s*(?:-|\u2013|\u2014|/|&)\s*|\s+(?:to|until|till|through|and|or)\s+(?:the\s+)?)"
_OF_YEAR = rf"(?:,?\s+(?P<year>{YEAR})\b|\s+(?P<which>this|next|last) year)?"
_LATER = rf"(?:\s+(?P<part>{PART}))?"
_NO_DATE_AFTER = (
    r"(?![\d%:/]|[.,]\d"
    r"|\s*(?:a\.?m|p\.?m|o'clock|per\s?cent|%|km|kg|miles?|euros?|pounds?|dollars?)\b)"
)
# How far a year's turn is looked beyond when a weekday must fit.
_YEARS = (-1, 0, 1)
_MONTHS_AROUND = range(-11, 12)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}", re.IGNORECASE)


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def _fitting(days: list[dt.date], weekday: str | None) -> Iterator[dt.date]:
    """Those on the weekday that was told, else all."""
    if weekday is None:
        return iter(days)
    fits = [day for day in days if day.weekday() == words.weekday_of(weekday)]
    return iter(fits or days)


def _month_day(
    scene: Scene, match: "re.Match[str]", month: int, day: int, end: int | None = None
) -> Moment | None:
    """A day of a month, with or without its year; `end` is the last day of a range."""
    told = match.groupdict()
    year = told.get("year")
    which = told.get("which")
    if year or which:
        shift = {"last": -1, "this": 0, "next": 1}[which.lower()] if which else 0
        exact = _date(int(year) if year else scene.today.year + shift, month, day)
    else:
        around = (_date(scene.today.year + shift, month, day) for shift in _YEARS)
        known = [date for date in around if date is not None]
        exact = scene.chosen(_fitting(known, told.get("weekday")), match)
    if exact is None:
        return None
    last = _date(exact.year, month, end) if end is not None and end > day else None
    part = (told.get("part") or "").lower()
    return Moment(match.start(), match.end(), exact, last=last, part=part)


def _iso(scene: Scene, match: "re.Match[str]") -> Moment | None:
    day = _date(int(match["year"]), int(match["month"]), int(match["day"]))
    if day is None:
        return None
    hour, minute = match["hour"], match["minute"]
    clock = (
        dt.time(int(hour), int(minute)) if hour and int(hour) < 24 and int(minute) < 60 else None
    )
    return Moment(match.start(), match.end(), day, clock=clock)


def _numeric(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Day first, unless only the other reading is a date or the turn writes "March 4"."""
    one, two = int(match["one"]), int(match["two"])
    year = match["year"]
    if not year and scene.word_before(match.start()) not in _DATE_PREPOSITIONS:
        return None
    if not year and (one, two) == (24, 7):
        return None
    american = _AMERICAN.search(scene.text) is not None
    pairs = [(one, two), (two, one)] if american else [(two, one), (one, two)]
    for month, day in pairs:
        if 1 <= month <= 12 and 1 <= day <= 31:
            if not year:
                return _month_day(scene, match, month, day)
            full = int(year) + (2000 if len(year) == 2 else 0)
            exact = _date(full, month, day)
            return None if exact is None else Moment(match.start(), match.end(), exact)
    return None


_DATE_PREPOSITIONS = frozenset(
    ("on", "by", "until", "till", "from", "since", "before", "after", "dated", "due", "to", "is")
)


def _range(scene: Scene, match: "re.Match[str]") -> Moment | None:
    first, last = words.ordinal_of(match["day"]), words.ordinal_of(match["last"])
    return _month_day(scene, match, words.month_of(match["month"]), first, last)


def _day_month(scene: Scene, match: "re.Match[str]") -> Moment | None:
    spelled = not match["day"][:1].isdigit()
    if spelled and not re.search(r"\bof\b", match[0], re.IGNORECASE):
        return None
    if match["month"] == "may" and _VERB_AFTER_MAY.match(scene.text, match.end("month")):
        return None
    return _month_day(scene, match, words.month_of(match["month"]), words.ordinal_of(match["day"]))


# "the other 4 may not come".
_VERB_AFTER_MAY = re.compile(
    r"\s+(?:be|have|not|also|well|even|still|never|come|go|do|get|take|need|want|stay)\b"
)
_OTHER_WORDS = frozenset(("may", "march", "mar", "dec"))


def _american(scene: Scene, match: "re.Match[str]") -> Moment | None:
    month, day = match["month"], match["day"]
    if month.rstrip(".") in _OTHER_WORDS and day.isdecimal():
        # "you may 4 times", "they march 5 miles".
        if scene.word_before(match.start()) not in _DATE_PREPOSITIONS:
            return None
    elif scene.in_name(*match.span("month")):
        return None
    return _month_day(scene, match, words.month_of(month), words.ordinal_of(day))


def _the_nth(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """A day of this month or of one beside it: "the 4th", "Monday the 9th"."""
    told, weekday = match["day"], match.groupdict().get("weekday")
    day = words.ordinal_of(told)
    if not weekday:
        loose = not told[:1].isdigit()
        before = scene.word_before(match.start())
        if scene.noun_follows(match.start(), match.end()) or before in _NO_DAY_BEFORE:
            return None
        if loose and (day < 4 or before not in _DATE_PREPOSITIONS):
            return None
    around = _MONTHS_AROUND if weekday else (-2, -1, 0, 1, 2)
    first = scene.today.replace(day=1)
    months = [words.add_months(first, shift) for shift in around]
    known = [_date(month.year, month.month, day) for month in months]
    exact = scene.chosen(_fitting([d for d in known if d is not None], weekday), match, strict=True)
    if exact is None:
        return None
    return Moment(match.start(), match.end(), exact, part=(match["part"] or "").lower())


# "in the 20th century", "came in the 4th", "finished on the 2nd": places and ranks are no days.
_NO_DAY_BEFORE = frozenset(
    ("in", "into", "came", "finished", "placed", "ranked", "grade", "year", "class", "floor")
)


_AMERICAN = _compiled(rf"{MONTH}\s+{DAY_NUMBER}(?:{_END})?\b(?!\s+(?:19|20)\d\d)")

# What a turn must hold before the patterns below are worth a search.
_SLASH = re.compile(r"\d[/]\d|\d[.-]\d")
_THE = re.compile(r"\bthe\s+(?:\d|[a-z-]+(?:th|st|nd|rd)\b)", re.IGNORECASE)

RULES: tuple[Rule, ...] = (
    Rule(
        _compiled(
            r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
            r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d))?\b"
        ),
        _iso,
        words.HAS_DIGIT,
    ),
    Rule(
        _compiled(r"(?P<one>\d{1,2})/(?P<two>\d{1,2})(?:/(?P<year>\d{4}|\d{2}))?\b(?![/\d%])"),
        _numeric,
        _SLASH,
    ),
    Rule(
        _compiled(r"(?P<one>\d{1,2})(?P<sign>[.-])(?P<two>\d{1,2})(?P=sign)(?P<year>\d{4})\b"),
        _numeric,
        words.HAS_DIGIT,
    ),
    Rule(
        _compiled(
            rf"{_OPEN}(?:the\s+)?(?P<day>{_DAY}){_TO}(?P<last>{_DAY})\s+(?:of\s+)?"
            rf"(?P<month>{MONTH})\b{_OF_YEAR}"
        ),
        _range,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            rf"{_OPEN}(?P<month>{MONTH})\s+(?P<day>{_DAY})"
            rf"(?:\s*[-\u2013\u2014]\s*|\s+(?:to|through)\s+)(?P<last>{_DAY})\b"
            rf"{_NO_DATE_AFTER}{_OF_YEAR}"
        ),
        _range,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            rf"{_OPEN}(?:the\s+)?(?P<day>{_DAY})[.-]?\s*(?:day\s+)?(?:of\s+)?-?"
            rf"(?P<month>{MONTH})\b{_OF_YEAR}{_LATER}"
        ),
        _day_month,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            rf"{_OPEN}(?P<month>{MONTH})\s+(?:the\s+)?(?P<day>{_DAY})\b"
            rf"{_NO_DATE_AFTER}{_OF_YEAR}{_LATER}"
        ),
        _american,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            rf"(?P<weekday>{WEEKDAY})(?:\s+(?:last|next|coming|gone))?,?\s+"
            rf"(?:the\s+(?P<day>{_DAY}))\b{_LATER}"
        ),
        _the_nth,
        words.HAS_WEEKDAY,
    ),
    Rule(
        _compiled(rf"(?P<weekday>{WEEKDAY})\s+(?P<day>{DAY_NUMBER}{_END})\b{_LATER}"),
        _the_nth,
        words.HAS_WEEKDAY,
    ),
    Rule(_compiled(rf"the\s+(?P<day>{DAY_NUMBER}{_END}|{ORDINAL})\b{_LATER}"), _the_nth, _THE),
)
