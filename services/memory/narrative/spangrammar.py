"""Stretches of time: weekends, weeks, months, years, and their ends."""

import datetime as dt
import re

from services.memory.narrative import timewords as words
from services.memory.narrative.moments import Moment, Rule, Scene, nearest
from services.memory.narrative.tense import Lean
from services.memory.narrative.timewords import MONTH, YEAR

__all__ = ["RULES"]

_SATURDAY = 5
_DECEMBER = 12
# "in June" is told of a past year more often than a day of June.
_MONTH_BIAS = 4.0


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}", re.IGNORECASE)


def _stretch(match: "re.Match[str]", first: dt.date, last: dt.date) -> Moment:
    return Moment(match.start(), match.end(), first, last=last)


def _days(count: int) -> dt.timedelta:
    return dt.timedelta(days=count)


def _weekend(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Its Saturday; the one that runs is this one."""
    which = " ".join((match["which"] or "").lower().split())
    monday = scene.today - _days(scene.today.weekday())
    this = monday + _days(_SATURDAY)
    if which in {"last", "this past", "the past", "this last"}:
        first = this - _days(7)
    elif which == "next":
        first = this + _days(7)
    elif which == "the following":
        anchor = scene.before(match.start())
        base = scene.today if anchor is None else anchor.day
        first = base - _days(base.weekday()) + _days(_SATURDAY + (7 if base.weekday() >= 5 else 0))
    elif which in {"this", "this coming", "the coming"} or which.startswith(
        ("at", "over", "on", "by")
    ):
        back = scene.lean(match.start(), match.end()) is Lean.PAST
        first = this - _days(7) if back and scene.today.weekday() < _SATURDAY else this
        if which.endswith("coming") and scene.today.weekday() >= _SATURDAY:
            first = this + _days(7)
    else:
        return None
    shift = {"after next": 7, "before last": -7}.get((match["more"] or "").lower(), 0)
    if match["more"] and which not in {"next", "last"}:
        first = this + _days(14) if shift > 0 else this - _days(14)
    return _stretch(match, first, first + _days(1))


def _period(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """This, next or last week, month or year: its first day."""
    shift = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    if match["more"]:
        shift *= 2
    first, last = _bounds(scene.today, match["unit"].lower(), shift)
    return _stretch(match, first, last)


def _bounds(today: dt.date, unit: str, shift: int) -> tuple[dt.date, dt.date]:
    if unit == "week":
        monday = today - _days(today.weekday()) + _days(7 * shift)
        return monday, monday + _days(6)
    if unit == "month":
        first = words.add_months(today.replace(day=1), shift)
        return first, words.last_of_month(first)
    if unit == "quarter":
        start = today.replace(month=3 * ((today.month - 1) // 3) + 1, day=1)
        first = words.add_months(start, 3 * shift)
        return first, words.last_of_month(words.add_months(first, 2))
    year = today.year + shift
    return dt.date(year, 1, 1), dt.date(year, _DECEMBER, 31)


def _month_of(scene: Scene, match: "re.Match[str]") -> tuple[dt.date, dt.date] | None:
    """First and last day of a month that is named, in the year that is meant."""
    month = words.month_of(match["month"])
    told = match.groupdict()
    which = (told.get("which") or "").lower()
    if told.get("year"):
        first = dt.date(int(told["year"]), month, 1)
        return first, words.last_of_month(first)
    today = scene.today
    this = dt.date(today.year, month, 1)
    past = this if this <= today else this.replace(year=today.year - 1)
    ahead = this if words.last_of_month(this) >= today else this.replace(year=today.year + 1)
    if which in {"last", "this past"}:
        first = past if words.last_of_month(past) < today else past.replace(year=past.year - 1)
    elif which in {"next", "this coming"}:
        first = ahead if ahead > today else ahead.replace(year=ahead.year + 1)
    else:
        lean = scene.lean(match.start(), match.end())
        first = past if past == ahead else nearest(past, ahead, today, lean, _MONTH_BIAS)
    return first, words.last_of_month(first)


_EDGES = {
    "start": "first", "beginning": "first", "early": "first",
    "middle": "middle", "mid": "middle", "end": "last", "last day": "last", "late": "late",
}  # fmt: skip


def _edge(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """The start, middle or end of a month, week or year."""
    told = match.groupdict()
    edge = _EDGES[" ".join(match["edge"].lower().split())]
    if told.get("month"):
        if not match["month"][:1].isupper():
            return None
        bounds = _month_of(scene, match)
    else:
        which = (told.get("which") or "this").lower()
        bounds = _bounds(scene.today, match["unit"].lower(), {"last": -1, "next": 1}.get(which, 0))
    if bounds is None:
        return None
    first, last = bounds
    if edge == "late":
        return Moment(match.start(), match.end(), first, last=last)
    middle = first + (last - first) // 2 if told.get("unit") else first.replace(day=15)
    day = {"first": first, "last": last, "middle": middle}[edge]
    return Moment(match.start(), match.end(), day)


_MONTH_PREPOSITIONS = frozenset(
    ("in", "by", "since", "until", "till", "from", "during", "before", "after", "of")
)


def _month(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """A month alone: its first day."""
    name = match["month"]
    if not name[:1].isupper() or scene.in_name(*match.span("month")):
        return None
    marked = match["which"] or match["year"]
    if not marked and scene.word_before(match.start()) not in _MONTH_PREPOSITIONS:
        return None
    if not marked and scene.noun_follows(match.start(), match.end()):
        return None
    bounds = _month_of(scene, match)
    return None if bounds is None else _stretch(match, *bounds)


def _year(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Read "in 2019": its first day."""
    if scene.noun_follows(*match.span("year")):
        return None
    year = int(match["year"])
    start, end = match.span("year")
    return Moment(start, end, dt.date(year, 1, 1), last=dt.date(year, _DECEMBER, 31))


# What a turn must hold before the patterns below are worth a search.
_WEEKEND = re.compile(r"weekend", re.IGNORECASE)
_EDGED = re.compile(r"\bof\s+(?:the|next|last|this)\s", re.IGNORECASE)
_PERIODS = re.compile(r"week|month|year|quarter", re.IGNORECASE)
_YEARS = re.compile(r"\b(?:19|20)\d\d")

RULES: tuple[Rule, ...] = (
    Rule(
        _compiled(
            r"(?P<which>this coming|the coming|this past|the past|this last|this|next|last"
            r"|the following|(?:at|over|on|by) (?:the|this)|the)\s+weekend\b"
            r"(?:\s+(?P<more>after next|before last))?"
        ),
        _weekend,
        _WEEKEND,
    ),
    Rule(
        _compiled(
            rf"(?:the\s+)?(?P<edge>start|beginning|middle|end|last day|late|mid|early)"
            r"(?:\s+of\s+|\s+|-)"
            rf"(?:(?P<which>next|last|this)\s+)?(?P<month>{MONTH})\b(?:\s+(?P<year>{YEAR})\b)?"
        ),
        _edge,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            r"(?:the\s+)?(?P<edge>start|beginning|middle|end|last day)\s+of\s+"
            r"(?:the\s+|(?P<which>next|last|this)\s+)(?P<unit>week|month|year|quarter)\b"
        ),
        _edge,
        _EDGED,
    ),
    Rule(
        _compiled(
            r"(?P<which>this|next|last)\s+(?P<unit>week|month|year|quarter)\b"
            r"(?!['\u2019]s)(?P<more>\s+but one)?"
        ),
        _period,
        _PERIODS,
    ),
    Rule(
        _compiled(
            rf"(?:(?P<which>next|last|this past|this coming|this)\s+)?(?P<month>{MONTH})"
            rf"(?![\w'\u2019-])(?:,?\s+(?:of\s+)?(?P<year>{YEAR})\b)?"
        ),
        _month,
        words.HAS_MONTH,
    ),
    Rule(
        _compiled(
            rf"(?:in|since|from|until|till|by|before|after|of)\s+(?P<year>{YEAR})\b(?![-\u2013.,]\d)"
        ),
        _year,
        _YEARS,
    ),
)
