"""Times told from now: tomorrow, last night, in three days, two weeks ago."""

import datetime as dt
import re

from services.memory.narrative import timewords as words
from services.memory.narrative.model import TemporalStatus
from services.memory.narrative.moments import Moment, Rule, Scene
from services.memory.narrative.tense import Lean
from services.memory.narrative.timewords import COUNT, PART, UNIT

__all__ = ["RULES"]

_LATER = rf"(?:\s+(?P<part>{PART}))?\b"
# Beyond so many units nobody counts days.
_TOO_FAR = 4_000


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}", re.IGNORECASE)


_SHIFTS = {
    "today": 0,
    "tonight": 0,
    "this": 0,
    "yesterday": -1,
    "last": -1,
    "tomorrow": 1,
}
_AS_WRITTEN = {
    "2morrow": "tomorrow",
    "tmrw": "tomorrow",
    "tommorow": "tomorrow",
    "tommorrow": "tomorrow",
    "tomorow": "tomorrow",
    "2nite": "tonight",
    "tonite": "tonight",
    "2day": "today",
    "yesturday": "yesterday",
    "yday": "yesterday",
}


def _deictic(scene: Scene, match: "re.Match[str]") -> Moment:
    told = " ".join(_AS_WRITTEN.get(word, word) for word in match["word"].lower().split())
    last = told.split()[-1]
    if "after t" in told or told == "overmorrow":
        shift = 2
    elif "before" in told:
        shift = -2
    else:
        shift = _SHIFTS.get(told.split()[0], _SHIFTS.get(last, 0))
    part = (match["part"] or "").lower()
    if not part and told.startswith(("this", "last", "earlier")):
        part = last
    if told == "tonight":
        part = "evening"
    day = scene.today + dt.timedelta(days=shift)
    return Moment(match.start(), match.end(), day, part=part)


def _in_the_night(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Read "died in the night", told the next morning."""
    if scene.at.hour > 14 or scene.lean(match.start(), match.end()) is not Lean.PAST:
        return None
    return Moment(match.start(), match.end(), scene.today, part="night", status=TemporalStatus.PAST)


def _amount(match: "re.Match[str]") -> float:
    told = match.groupdict()
    count = 0.5 if (told.get("half") and not told.get("count")) else words.count_of(told["count"])
    return count + (0.5 if told.get("more") else 0)


def _span(scene: Scene, match: "re.Match[str]", sign: int) -> Moment | None:
    """So many units from now, or from a day that is told with them."""
    count, unit = _amount(match), match["unit"]
    if count > _TOO_FAR:
        return None
    base = match.groupdict().get("base")
    start = dt.datetime.combine(scene.today, scene.at.time())
    if base:
        start += dt.timedelta(
            days={"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}[base.lower()]
        )
    day, clock = words.shifted(start, sign * count, unit)
    return Moment(match.start(), match.end(), day, clock=clock)


def _within(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Read "in three days": a date ahead, but a duration where the clause looks back."""
    if scene.lean(match.start(), match.end()) is Lean.PAST and not match["time"]:
        return None
    if _RECORD.search(scene.text, max(0, match.start() - 30), match.start()):
        return None
    if match["time"] is None and scene.noun_follows(match.start(), match.end()):
        return None
    return _span(scene, match, 1)


# "the first rain in three years": how long, not when.
_RECORD = re.compile(r"\b(?:first|only|last|best|worst|once|twice|times?|most)\b[^.!?]*$", re.I)


def _ago(scene: Scene, match: "re.Match[str]") -> Moment | None:
    return _span(scene, match, -1)


def _ahead(scene: Scene, match: "re.Match[str]") -> Moment | None:
    return _span(scene, match, 1)


_COUNTED = (
    rf"(?:(?P<half>half)\s+an?|(?:(?:about|around|roughly|exactly|just|only)\s+)?(?P<count>{COUNT}))"
    rf"\s+(?P<unit>{UNIT})\b(?P<more>\s+and\s+a\s+half)?"
)
# What a turn must hold before the patterns below are worth a search.
_DEICTIC = re.compile(r"day|night|nite|morrow|morow|this|last|tmrw", re.IGNORECASE)
_UNITS = re.compile(rf"\bin\s.{{0,40}}?{UNIT}\b", re.IGNORECASE)
_AGO = re.compile(r"\b(?:ago|back)\b", re.IGNORECASE)
_HENCE = re.compile(r"\bhence\b|\bfrom\s+(?:now|to)", re.IGNORECASE)
_NIGHT = re.compile(r"the night", re.IGNORECASE)

RULES: tuple[Rule, ...] = (
    Rule(
        _compiled(rf"{_COUNTED}\s+(?:from\s+(?P<base>now|today|tomorrow)|hence)\b"), _ahead, _HENCE
    ),
    Rule(_compiled(rf"in\s+{_COUNTED}(?P<time>['\u2019]?s?['\u2019]?\s+time\b)?"), _within, _UNITS),
    Rule(_compiled(rf"{_COUNTED}\s+(?:ago|back)\b(?!\s+(?:and|then)\b)"), _ago, _AGO),
    Rule(
        _compiled(
            r"(?P<word>(?:the )?day after (?:tomorrow|tommorow|tomorow)"
            r"|(?:the )?day before yesterday|overmorrow|(?:the )?night before last"
            r"|earlier today|later today|today|tonight|yesterday|tomorrow"
            rf"|{'|'.join(_AS_WRITTEN)}"
            r"|(?:earlier |later )?this (?:morning|lunchtime|afternoon|teatime|evening)"
            rf"|last (?:night|evening)){_LATER}"
        ),
        _deictic,
        _DEICTIC,
    ),
    Rule(_compiled(r"(?:in|during) the night\b"), _in_the_night, _NIGHT),
)
