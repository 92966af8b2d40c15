"""Times of day in a turn: half six, quarter past 7, 19:30, at ten, noon."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from services.memory.narrative import timewords as words
from services.memory.narrative.timewords import HOUR

__all__ = ["Clock", "find_clocks"]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day.

    Attributes:
        start: its first character in the turn.
        end: one past its last.
        hour: 0 to 23 where `sure`, else 1 to 12.
        minute: 0 to 59.
        sure: False where morning or evening is not told.
        explicit: True where it is a time of day wherever it stands ("19:30", "half six").
        next_day: True for midnight at the end of a day.
    """

    start: int
    end: int
    hour: int
    minute: int
    sure: bool
    explicit: bool
    next_day: bool = False

    def on(self, day: dt.date, part: str) -> dt.datetime:
        """The moment on a day; `part` (morning, evening, …) decides where the clock does not."""
        hour = self.hour if self.sure else _guess(self.hour, part)
        moment = dt.datetime.combine(day, dt.time(hour, self.minute))
        return moment + dt.timedelta(days=1) if self.next_day else moment


def _guess(hour: int, part: str) -> int:
    """Without a.m. or p.m.: one to six are in the afternoon, the others in the morning."""
    noon = 12
    if part == "morning":
        return hour % noon
    if part in {"afternoon", "teatime", "lunchtime"}:
        return hour % noon + noon if hour < 11 or hour == noon else hour
    if part == "evening":
        return hour % noon + noon if hour != noon else 0
    if part == "night":
        return hour if hour < 6 else hour % noon + (noon if hour != noon else 0)
    return hour % noon + noon if hour <= 6 or hour == noon else hour


_MERIDIEM = r"(?:\s*(?P<half>[ap]m\b|[ap]\.m\b\.?))"
_PART_AFTER = (
    r"(?P<part>\s+in the (?:morning|afternoon|evening)|\s+at night"
    r"|\s+(?:this|that|tomorrow|yesterday|last)\s+(?:morning|afternoon|evening|night)\b|\s+tonight\b)"
)
_MINUTES = r"(?:quarter|half|five|ten|twenty|twenty[- ]five|\d{1,2})"
_LEAD = r"(?:at|by|from|until|till|around|about|before|after|since|for|to|between|and)"
_SIGN_BEFORE = re.compile(r"[\d£$€₹.,/:]$")
_NO_CLOCK_AFTER = re.compile(
    r"\s*(?:[%°£$€]|per\b|an?\s+(?:hour|day|week|month|year|piece|head|kilo)\b|[-\u2013]?\s*(?:of|hours?|minutes?|mins?|days?"
    r"|weeks?|months?|years?|people|euros?|pounds?|dollars?|bucks?|rupees?|quid|kg|km|grams?|g|mg|metres?|meters?"
    r"|miles?|percent|degrees?|pieces?|times|each|thousand|million|hundred)\b|[\d/:]|[.,]\d)",
    re.IGNORECASE,
)
# "at 9.25 a pound", "by 2.5 each" are rates.
_NO_CLOCK_AFTER_POINT = re.compile(
    rf"{_NO_CLOCK_AFTER.pattern}|\s*(?:an?|the|per)\s", re.IGNORECASE
)
_BARE_MAY_FOLLOW = re.compile(
    r"\s*(?:$|[.,;:!?)\]…\u2014\u2013-]|(?:on|in|at|and|or|but|so|with|to|till|until|for|from|every|sharp|because|when|by|if"
    r"|tomorrow|today|tonight|this|last|next|instead|now|then|again|already|mon|tue|wed|thu|fri|sat|sun)\w*\b)",
    re.IGNORECASE,
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_DIGITAL = _compiled(
    rf"\b(?:(?P<lead>{_LEAD})\s+)?(?P<hour>[01]?\d|2[0-4])(?P<sign>[:.h])(?P<minute>[0-5]\d)(?!\w*\d)"
    rf"(?:{_MERIDIEM}|{_PART_AFTER})?"
)
_MERIDIAN = _compiled(rf"\b(?P<hour>{HOUR}){_MERIDIEM}")
_SPOKEN = _compiled(
    rf"(?<![\w-])(?:(?:a\s+)?(?P<minute>{_MINUTES})(?:\s+minutes?)?\s+(?P<side>past|to|before|after)"
    rf"|(?P<bare>half))\s+(?P<hour>{HOUR}\b|midnight|noon|midday)(?:{_MERIDIEM}|{_PART_AFTER})?"
)
_OCLOCK = _compiled(rf"\b(?P<hour>{HOUR})\s*o['\u2019]\s?clock\b{_PART_AFTER}?")
_NAMED = _compiled(r"\b(?P<name>noon|midday|midnight)\b")
_PARTED = _compiled(rf"\b(?P<hour>{HOUR}){_PART_AFTER}")
_BARE = _compiled(rf"\b(?P<lead>{_LEAD})\s+(?P<hour>{HOUR}|1[3-9]|2[0-3])\b(?:\s+sharp\b)?")


def find_clocks(text: str) -> list[Clock]:
    """All times of day of a text, without overlaps, in order of their places."""
    found: list[Clock] = []
    taken = bytearray(len(text))
    for clock in _all(text):
        if not any(taken[clock.start : clock.end]):
            taken[clock.start : clock.end] = b"\1" * (clock.end - clock.start)
            found.append(clock)
    return sorted(found, key=lambda clock: clock.start)


def _all(text: str) -> Iterator[Clock]:
    for match in _DIGITAL.finditer(text):
        yield from _digital(text, match)
    for match in _SPOKEN.finditer(text):
        yield from _spoken(text, match)
    for pattern in (_MERIDIAN, _OCLOCK, _PARTED):
        for match in pattern.finditer(text):
            if not _SIGN_BEFORE.search(text, max(0, match.start() - 1), match.start()):
                yield _hourly(match)
    for match in _NAMED.finditer(text):
        midnight = match["name"].lower() == "midnight"
        hour = 0 if midnight else 12
        yield Clock(match.start(), match.end(), hour, 0, True, True, next_day=midnight)
    for match in _BARE.finditer(text):
        after = match.end()
        if not _NO_CLOCK_AFTER.match(text, after) and _BARE_MAY_FOLLOW.match(text, after):
            start = match.start("hour")
            hour = words.hour_of(match["hour"])
            yield Clock(start, after, hour % 24, 0, hour > 12, False)


def _half_day(match: "re.Match[str]") -> str:
    """morning, afternoon, evening or night where the expression tells it."""
    half = (match.groupdict().get("half") or "").lower()
    if half:
        return "morning" if half.startswith("a") else "afternoon"
    part = (match.groupdict().get("part") or "").lower()
    if "tonight" in part:
        return "evening"
    return next((p for p in ("morning", "afternoon", "evening", "night") if p in part), "")


def _told(start: int, end: int, hour: int, minute: int, half: str) -> Clock:
    if half in {"morning", "afternoon"}:
        # With a.m. and p.m. every hour is sure, eleven in the afternoon, too.
        hour = hour % 12 + (12 if half == "afternoon" else 0)
    elif half:
        hour = _guess(hour, half)
    return Clock(start, end, hour % 24, minute, bool(half), True)


def _digital(text: str, match: "re.Match[str]") -> Iterator[Clock]:
    start = match.start("hour")
    half = _half_day(match)
    hour, minute = int(match["hour"]), int(match["minute"])
    if match["sign"] != ":" and not (half or match["lead"]) and match["sign"] != "h":
        return
    if match["sign"] == "h" and not (match["lead"] or half or hour > 12):
        return
    if _SIGN_BEFORE.search(text, max(0, start - 1), start) or (
        match["sign"] == "." and _NO_CLOCK_AFTER_POINT.match(text, match.end())
    ):
        return
    if half and hour <= 12:
        yield _told(start, _end(match), hour, minute, half)
    else:
        unsure = 1 <= hour <= 6 and not match["hour"].startswith("0")
        yield Clock(start, _end(match), hour % 24, minute, not unsure, True)


def _spoken(text: str, match: "re.Match[str]") -> Iterator[Clock]:
    if _NO_CLOCK_AFTER.match(text, match.end()):
        return
    name = match["hour"].lower()
    told = (match["minute"] or "").lower().replace("-", " ")
    minute = {"quarter": 15, "half": 30, "": 30}.get(told)
    minute = words.number_of(told) if minute is None else minute
    # "three to one" is a score, "three minutes to one" a time.
    odd = minute % 5 and "minute" not in match[0].lower()
    if minute > 59 or odd:
        return
    back = (match["side"] or "").lower() in {"to", "before"}
    half = _half_day(match)
    named = name in {"midnight", "noon", "midday"}
    hour = (0 if name == "midnight" else 12) if named else words.hour_of(name)
    if back:
        hour, minute = (hour - 1) % 24 if named else (hour - 2) % 12 + 1, 60 - minute
    if named:
        late = name == "midnight" and not back
        yield Clock(match.start(), _end(match), hour, minute % 60, True, True, next_day=late)
    else:
        yield _told(match.start(), _end(match), hour, minute % 60, half)


def _hourly(match: "re.Match[str]") -> Clock:
    return _told(match.start(), _end(match), words.hour_of(match["hour"]), 0, _half_day(match))


def _end(match: "re.Match[str]") -> int:
    """Where the time ends: the morning of "four this morning" belongs to the date."""
    part = match.groupdict().get("part")
    if part and " in the " not in part.lower() and " at night" not in part.lower():
        return match.start("part")
    return match.end()
