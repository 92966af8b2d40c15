"""Finds expressions of time in a turn and resolves them against the turn's own time (CP9).

A grammar of its own, since dates decide answers: each expression is found by a pattern, and read by
a function that knows the turn's day and which way the clause looks (`tense`). Conventions, where
English has several: "next Tuesday" is the Tuesday of next week, weeks begin on Monday; 04/03 is 4
March unless the turn writes "March 4"; a stretch (a month, a weekend, 7 to 10 May) resolves to its
first day and is active while it lasts; one to six without a.m. or p.m. are in the afternoon. What
recurs ("every Monday", "on Fridays") is no date.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from services.memory.narrative import (
    anchorgrammar,
    daygrammar,
    holidays,
    nowgrammar,
    spangrammar,
    weekdaygrammar,
)
from services.memory.narrative.clocks import Clock, find_clocks
from services.memory.narrative.model import TemporalReference, TemporalStatus
from services.memory.narrative.moments import Moment, Scene
from services.memory.narrative.tense import Lean, clause_lean

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["find_times"]

# Nobody tells more times in one turn; a text made to be slow does.
_FOUND_MAX = 400
# In order of precedence: what an earlier one took is taken; anchored times come last.
_RULES = (
    *daygrammar.RULES,
    *holidays.RULES,
    *weekdaygrammar.RULES,
    *nowgrammar.RULES,
    *spangrammar.RULES,
    *anchorgrammar.RULES,
)
_BETWEEN = re.compile(
    r"[\s,(]*(?:(?:at|around|about|by|from|between|since|for|until|till)\s+)?(?:about\s+|around\s+)?",
    re.IGNORECASE,
)
_BETWEEN_BACK = re.compile(r"[\s,]*(?:(?:on|of|this|in)\s+)?(?:the\s+)?", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\b(?:on|from|since|by|until|till|before|after|for|to)\s+$", re.IGNORECASE
)
_LOOSE_REACH = 30
_EVENING = 18
_NOON = 12
_CLOCK_REACH = 60


def find_times(doc: "Doc", at: dt.datetime) -> tuple[TemporalReference, ...]:
    """The times that a turn names, in order of their places.

    A clock time that stands with its date makes one expression with it; beside "this morning" and
    "today" the date stands alone, too, since it is active while the hour may be past.

    Args:
        doc: the parsed turn.
        at: the turn's own time.
    """
    scene = Scene(doc, at.replace(tzinfo=None), doc.text)
    _find_days(scene)
    scene.found.sort(key=lambda moment: moment.start)
    clocks = find_clocks(scene.text)
    found = list(_joined(scene, clocks))
    found.sort(key=lambda reference: (reference.start, reference.end))
    return tuple(found)


def _find_days(scene: Scene) -> None:
    taken = bytearray(len(scene.text))
    held: dict[re.Pattern[str], bool] = {}
    for rule in _RULES:
        if rule.needs not in held:
            held[rule.needs] = rule.needs.search(scene.text) is not None
        if not held[rule.needs]:
            continue
        for match in rule.pattern.finditer(scene.text):
            if len(scene.found) >= _FOUND_MAX:
                return
            if taken.find(1, match.start(), match.end()) >= 0:
                continue
            try:
                moment = rule.read(scene, match)
            except (OverflowError, ValueError):
                # A day that the calendar does not have (31 June, the year 10000).
                continue
            if moment is not None:
                taken[moment.start : moment.end] = b"\1" * (moment.end - moment.start)
                scene.found.append(moment)


def _joined(scene: Scene, clocks: Iterable[Clock]) -> Iterator[TemporalReference]:
    """Dates with the clock times that belong to them, and clock times that stand alone."""
    mine: dict[int, Clock] = {}
    for clock in list(clocks)[:_FOUND_MAX]:
        if any(moment.start < clock.end and clock.start < moment.end for moment in scene.found):
            continue
        index = _owner(scene, clock, mine)
        if index is None:
            yield from _alone(scene, clock)
        else:
            mine[index] = clock
    for index, moment in enumerate(scene.found):
        yield from _told(scene, moment, mine.get(index))


def _owner(scene: Scene, clock: Clock, owned: dict[int, Clock]) -> int | None:
    """The date that a clock time belongs to: it stands beside it, or soon before it."""
    best: int | None = None
    for index, moment in enumerate(scene.found):
        if index in owned or moment.clock is not None:
            continue
        if moment.last is not None and (moment.last - moment.day).days > 1:
            continue
        if moment.end <= clock.start:
            gap = scene.text[moment.end : clock.start]
            if len(gap) <= _LOOSE_REACH and _BETWEEN.fullmatch(gap):
                return index
            if clock.explicit and len(gap) <= _LOOSE_REACH and not re.search(r"[.!?;]|\d", gap):
                best = index
        elif clock.end <= moment.start:
            gap = scene.text[clock.end : moment.start]
            if len(gap) <= 12 and _BETWEEN_BACK.fullmatch(gap):
                return index
    return best


def _told(scene: Scene, moment: Moment, clock: Clock | None) -> Iterator[TemporalReference]:
    if clock is None or clock.next_day:
        yield _reference(scene, moment, moment.clock)
        if clock is not None:
            yield _clock_reference(scene, clock, clock.on(moment.day, moment.part))
        return
    when = clock.on(moment.day, moment.part)
    if moment.part == "night" and not clock.sure and clock.hour < 6:
        when += dt.timedelta(days=1)
    beside = _BETWEEN.fullmatch(scene.text, moment.end, max(moment.end, clock.start))
    close = clock.end <= moment.start or beside is not None
    if moment.day == scene.today or not close:
        yield _reference(scene, moment, None if moment.day == scene.today else when.time())
    if close:
        start = min(moment.start, clock.start)
        if moment.start <= clock.start:
            lead = _PREPOSITION.search(scene.text, max(0, start - 8), start)
            start = lead.start() if lead else start
        whole = moment.widened(start, max(moment.end, clock.end))
        yield _reference(scene, replace(whole, day=when.date()), when.time())
    elif moment.day == scene.today:
        yield _clock_reference(scene, clock, when)


def _alone(scene: Scene, clock: Clock) -> Iterator[TemporalReference]:
    """A clock time without a date: of the hours that were, or of those ahead."""
    if not clock.explicit or _HABIT.search(
        scene.text, max(0, clock.start - _CLOCK_REACH), clock.end + 20
    ):
        return
    lean = clause_lean(scene.doc, clock.start, clock.end)
    when = clock.on(scene.today, "")
    if lean is Lean.PAST:
        morning = when - dt.timedelta(hours=12)
        if when > scene.at and not clock.sure and morning.date() == scene.today:
            when = morning
        if clock.next_day:
            when -= dt.timedelta(days=1)
        if when > scene.at and clock.hour >= _EVENING and scene.at.hour < _NOON:
            # Told in the morning, of the evening before.
            when -= dt.timedelta(days=1)
        if when <= scene.at:
            yield _clock_reference(scene, clock, when)
    elif lean is Lean.FUTURE and when > scene.at and _PLAN.search(scene.text, 0, clock.start):
        yield _clock_reference(scene, clock, when)


_HABIT = re.compile(
    r"\b(?:every|each|always|usually|daily|nightly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|mornings|evenings|nights)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(r"(?:\b(?:will|going to|shall)\b|['\u2019]ll\b)", re.IGNORECASE)


def _clock_reference(scene: Scene, clock: Clock, when: dt.datetime) -> TemporalReference:
    moment = Moment(clock.start, clock.end, when.date())
    return _reference(scene, moment, when.time())


def _reference(scene: Scene, moment: Moment, clock: dt.time | None) -> TemporalReference:
    resolved = moment.day.isoformat()
    if clock is not None:
        resolved += clock.strftime("T%H:%M")
    return TemporalReference(
        scene.text[moment.start : moment.end],
        moment.start,
        moment.end,
        resolved,
        moment.status or _status(scene, moment, clock),
    )


def _status(scene: Scene, moment: Moment, clock: dt.time | None) -> TemporalStatus:
    """Where it lies; of today, an hour that is over is past, unless something lasts since then."""
    today = scene.today
    if moment.day > today:
        return TemporalStatus.UPCOMING
    if (moment.last or moment.day) < today:
        return TemporalStatus.PAST
    if clock is None or moment.last is not None:
        return TemporalStatus.ACTIVE
    now = scene.at.time()
    if clock < now:
        since = scene.word_before(moment.start) == "since"
        return TemporalStatus.ACTIVE if since else TemporalStatus.PAST
    return TemporalStatus.UPCOMING if clock > now else TemporalStatus.ACTIVE
