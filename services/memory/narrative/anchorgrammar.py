"""Times told from another one: the day before, two days later, the day after the wedding."""

import datetime as dt
import re

from services.memory.narrative import timewords as words
from services.memory.narrative.moments import Moment, Rule, Scene
from services.memory.narrative.timewords import COUNT

__all__ = ["RULES"]

# How far, in characters, an anchor may be.
_ANCHOR_REACH = 200


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}", re.IGNORECASE)


def _beside(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """Read "the day before": told from the date before it, or from one that follows."""
    told = match.groupdict()
    anchor = _following_anchor(scene, match) if told.get("side") else None
    end = match.end()
    if anchor is not None:
        end = anchor.end
    else:
        if _UNANCHORED.match(scene.text, match.end()):
            return None
        anchor = scene.before(match.start())
        if anchor is None or match.start() - anchor.end > _ANCHOR_REACH:
            return None
    side = (told.get("side") or told.get("late") or "after").lower()
    count = words.count_of(told["count"]) if told.get("count") else 1
    sign = -1 if side in {"before", "earlier", "previous"} else 1
    base = dt.datetime.combine(anchor.day, dt.time())
    day, _ = words.shifted(base, sign * count, match["unit"])
    return Moment(match.start(), end, day)


_UNANCHORED = re.compile(
    r"\s+(?!(?:and|but|or|so|at|in|to|for|with|by)\b)(?:(?:the|my|our|his|her|their|that|this)\s+)?[a-z]",
    re.IGNORECASE,
)
_EVENT = re.compile(r"\s+(?:the|my|our|his|her|their|that)\s+([a-z]+)\b", re.IGNORECASE)


def _following_anchor(scene: Scene, match: "re.Match[str]") -> Moment | None:
    """The date right behind, or the one that an event named behind had in this turn."""
    for moment in scene.found:
        gap = scene.text[match.end() : moment.start]
        if match.end() <= moment.start and len(gap) <= 5 and gap.strip() in {"", "on", "the"}:
            return moment
    event = _EVENT.match(scene.text, match.end())
    if event is None:
        return None
    place = scene.text.lower().rfind(event[1].lower(), 0, match.start())
    if place < 0:
        return None
    near = [
        m for m in scene.found if abs(m.start - place) <= _ANCHOR_REACH and m.end <= match.start()
    ]
    chosen = min(near, key=lambda moment: abs(moment.start - place), default=None)
    return None if chosen is None else chosen.widened(chosen.start, event.end())


# What a turn must hold before the patterns below are worth a search.
_BESIDE = re.compile(r"\b(?:before|after|later|earlier|next|following|previous)\b", re.IGNORECASE)

RULES: tuple[Rule, ...] = (
    Rule(
        _compiled(
            rf"(?:the|(?P<count>{COUNT}))\s+(?P<unit>days?|weeks?|months?|years?|nights?)\s+"
            r"(?P<side>before|after)\b"
        ),
        _beside,
        _BESIDE,
    ),
    Rule(
        _compiled(
            rf"(?P<count>{COUNT})\s+(?P<unit>days?|weeks?|months?|years?)\s+"
            r"(?P<late>later|earlier)\b"
        ),
        _beside,
        _BESIDE,
    ),
    Rule(
        _compiled(r"the (?P<late>next|following|previous)\s+(?P<unit>day|week|month|night)\b"),
        _beside,
        _BESIDE,
    ),
)
