"""Weekdays in a turn: this, next and last ones, bare ones, "a week on Friday"."""

import datetime as dt
import re

from services.memory.narrative import timewords as words
from services.memory.narrative.moments import Moment, Rule, Scene
from services.memory.narrative.tense import Lean
from services.memory.narrative.timewords import COUNT, PART, WEEKDAY

__all__ = ["RULES"]

_LATER = rf"(?:\s+(?P<part>{PART}))?\b"
_WEEK = dt.timedelta(days=7)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}", re.IGNORECASE)


def _part(match: "re.Match[str]") -> str:
    return (match.groupdict().get("part") or "").lower()


def _made(match: "re.Match[str]", day: dt.date) -> Moment:
    return Moment(match.start(), match.end(), day, part=_part(match))


def _in_week(today: dt.date, which: str, weekday: int) -> dt.date:
    shift = {"last": -1, "this": 0, "next": 1, "the following": 1}[which]
    return words.monday_of(today) + dt.timedelta(days=7 * shift + weekday)


def _lean_day(scene: Scene, match: "re.Match[str]", weekday: int) -> dt.date:
    """A bare weekday, as its clause looks."""
    if scene.lean(match.start(), match.end()) is Lean.PAST:
        return words.past(scene.today, weekday)
    return words.coming(scene.today, weekday)


def _weekday_of_week(scene: Scene, match: "re.Match[str]") -> Moment:
    """Read "Wednesday next week", "Thursday this week", "last week Tuesday"."""
    which = " ".join(match["which"].lower().split())
    return _made(match, _in_week(scene.today, which, words.weekday_of(match["weekday"])))


def _weeks_on(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Read "a week on Friday", "Friday week", "a fortnight on Monday", "three weeks today"."""
    told = match.groupdict()
    unit = (told.get("unit") or "week").lower()
    count = words.count_of(told["count"]) if told.get("count") else 1
    if not told.get("weekday") and _is_duration(scene, match, count):
        return None
    days = count * (14 if unit.startswith("fortnight") else 7)
    base = told["base"].lower() if told.get("base") else ""
    if told.get("weekday"):
        day = words.coming(scene.today, words.weekday_of(told["weekday"]))
    else:
        day = scene.today + dt.timedelta(days={"today": 0, "tomorrow": 1, "yesterday": -1}[base])
    sign = -1 if base == "yesterday" else 1
    return _made(match, day + sign * dt.timedelta(days=days))


def _is_duration(scene: Scene, match: "re.Match[str]", count: int) -> bool:
    """Tell "thirty weeks today", which is how long, from "a week today"."""
    since = _SINCE.match(scene.text, match.end()) is not None
    return count > 2 or since or scene.lean(match.start(), match.end()) is Lean.UNKNOWN


_SINCE = re.compile(r"[^.!?]{0,20}\b(?:since|that|old)\b", re.IGNORECASE)


def _weeks_ago_on(scene: Scene, match: "re.Match[str]") -> Moment:
    """Read "a week ago on Friday", "two weeks last Tuesday"."""
    day = words.past(scene.today, words.weekday_of(match["weekday"]))
    return _made(match, day - words.count_of(match["count"]) * _WEEK)


def _modified(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """A weekday with this, next, last, coming, gone and the like."""
    told = match.groupdict()
    which = " ".join((told.get("which") or told.get("after") or "").lower().split())
    weekday = words.weekday_of(match["weekday"])
    if which.startswith("the following"):
        anchor = scene.before(match.start())
        base = scene.today if anchor is None else anchor.day
        return _made(match, words.coming(base, weekday))
    if which in {"next", "next week's", "next weeks"}:
        return _made(match, _in_week(scene.today, "next", weekday))
    if which == "after next":
        return _made(match, _in_week(scene.today, "next", weekday) + _WEEK)
    if which == "before last":
        return _made(match, words.past(scene.today, weekday) - _WEEK)
    if which == "this":
        return _this(scene, match, weekday)
    back = which.split()[-1] in {"past", "last", "gone", "week's"}
    near = words.past if back else words.coming
    return _made(match, near(scene.today, weekday))


def _this(scene: Scene, match: "re.Match[str]", weekday: int) -> Moment:
    if weekday == scene.today.weekday():
        return _made(match, scene.today)
    return _made(match, _lean_day(scene, match, weekday))


_RECURRING = re.compile(
    r"(?:\b(?:every|each|alternate|other|second|most|any|all|some|a|an|weekly|those|these|many|per|my"
    r"|whole|only|half|usual|normal|typical|of)\s+|[$£€]|\bon\s+a\s+)$",
    re.IGNORECASE,
)
_PAIR_AFTER = re.compile(
    rf"\s*(?:to|till|through|thru|-|\u2013|\u2014|and|&|or|,)\s*{WEEKDAY}\b", re.I
)
_PAIR_BEFORE = re.compile(
    rf"\b{WEEKDAY}\s*(?:to|till|through|thru|-|\u2013|\u2014|and|&|or|,)\s*$", re.I
)
_TODAY_IS = re.compile(
    r"\b(?:it|today|it\u2019s|it's|today's|today\u2019s|this)\s*(?:is|being|was)?\s+(?:a\s+)?$",
    re.I,
)
_SPOKEN_SHORT = frozenset(("mon", "sat", "sun", "wed"))


def _bare(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """A weekday alone: as its clause looks, unless it recurs, is a name or describes a noun."""
    name = match["weekday"]
    if not _is_weekday(scene, match, name) or _recurs(scene, match):
        return None
    weekday = words.weekday_of(name)
    start = match.start("weekday")
    if weekday == scene.today.weekday() and _is_today(scene, start, match.end()):
        return _made(match, scene.today)
    if match["own"] is None and not _part(match) and scene.noun_follows(match.start(), match.end()):
        return None
    return _made(match, _lean_day(scene, match, weekday))


def _is_today(scene: Scene, start: int, end: int) -> bool:
    """Tell "it being Sunday", or "Sunday." as a sentence, said on a Sunday."""
    if _TODAY_IS.search(scene.text, max(0, start - 20), start):
        return True
    return _ENDS.match(scene.text, end) is not None and not scene.text[:start].rstrip(
        " \n"
    ).endswith(tuple("abcdefghijklmnopqrstuvwxyz,:;-\u2013\u2014"))


_ENDS = re.compile(r"\s*(?:[.!]|$)")


def _is_weekday(scene: Scene, match: "re.Match[str]", name: str) -> bool:
    short = name.rstrip(".")
    if short.lower() in _SPOKEN_SHORT:
        before = scene.word_before(match.start("weekday"))
        if not short[:1].isupper() or before not in {"on", "by", "until", "till", "since", "from"}:
            return False
    return not scene.in_name(match.start("weekday"), match.end("weekday"))


def _recurs(scene: Scene, match: "re.Match[str]") -> bool:
    start, end = match.start("weekday"), match.end()
    if _RECURRING.search(scene.text, max(0, start - 24), start):
        return True
    paired = _PAIR_AFTER.match(scene.text, end) or _PAIR_BEFORE.search(
        scene.text, max(0, start - 20), start
    )
    return paired is not None and scene.lean(match.start(), match.end()) is not Lean.PAST


# What a turn must hold before a search is worth it.
_WEEKS = re.compile(r"week|fortnight", re.IGNORECASE)
_PARTED = rf"(?P<weekday>{WEEKDAY}){_LATER}"

RULES: tuple[Rule, ...] = (
    Rule(
        _compiled(rf"(?P<count>{COUNT})\s+weeks?\s+(?:ago(?:\s+on|\s+last)?|last)\s+{_PARTED}"),
        _weeks_ago_on,
        _WEEKS,
    ),
    Rule(
        _compiled(
            rf"(?P<count>{COUNT})\s+(?P<unit>weeks?|fortnights?)\s+"
            rf"(?:(?:on|from|this|next|come|this coming)\s+)?{_PARTED}"
        ),
        _weeks_on,
        _WEEKS,
    ),
    Rule(
        _compiled(
            rf"(?:(?P<count>{COUNT})\s+)?(?P<unit>weeks?|fortnights?)\s+"
            rf"(?P<base>today|tomorrow|yesterday)\b{_LATER}"
        ),
        _weeks_on,
        _WEEKS,
    ),
    Rule(
        _compiled(
            rf"(?P<weekday>{WEEKDAY})\s+(?P<unit>week|fortnight)\b"
            r"(?!['\u2019]s)"
        ),
        _weeks_on,
        _WEEKS,
    ),
    Rule(
        _compiled(rf"{_PARTED},?\s+(?:of\s+)?(?P<which>next|last|this)\s+week\b"),
        _weekday_of_week,
        _WEEKS,
    ),
    Rule(
        _compiled(
            r"(?P<which>next|last|this|the following)\s+week(?:['\u2019]s)?,?\s+(?:on\s+)?"
            rf"{_PARTED}"
        ),
        _weekday_of_week,
        _WEEKS,
    ),
    Rule(
        _compiled(rf"(?:the\s+)?{_PARTED}\s+(?P<after>after next|before last)\b"),
        _modified,
        words.HAS_WEEKDAY,
    ),
    Rule(
        _compiled(
            r"(?P<which>this coming|the coming|this upcoming|coming|this very next|the very next"
            r"|this past|the past|this last|past|this|next|last|the following)\s+"
            rf"{_PARTED}"
        ),
        _modified,
        words.HAS_WEEKDAY,
    ),
    Rule(
        _compiled(
            rf"{_PARTED}\s+(?P<after>coming|just gone|gone|last|just past|past|next)\b"
            rf"(?!\s+(?:week|month|year|{PART}))"
        ),
        _modified,
        words.HAS_WEEKDAY,
    ),
    Rule(
        _compiled(rf"(?:the\s+)?(?P<weekday>{WEEKDAY})(?![\w-])(?P<own>['\u2019]s)?{_LATER}"),
        _bare,
        words.HAS_WEEKDAY,
    ),
)
