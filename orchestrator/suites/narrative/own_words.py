"""What a speaker's own story puts into anybody's answers: its words, and the days that it means.

A memory may tell a day in any of its forms: 2026-03-14, Saturday, 14 March. None of them gives
another speaker away where one's own story means that day, or may mean it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from orchestrator.suites.narrative.date_checks import (
    MONTHS,
    WEEKDAYS,
    possible_days,
    resolved,
)
from orchestrator.suites.narrative.stories import Story
from orchestrator.suites.narrative.story_clock import iso_local

__all__ = ["own_words"]

_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def own_words(story: Story) -> str:
    """All that may be said of a story: who tells it, its turns, and its days and times in words."""
    turns = [turn.user_input for turn in story.batches]
    days: dict[date, None] = {}
    clocks: dict[str, None] = {}
    for moment in _moments(story):
        days[moment.date()] = None
        clocks |= {moment.isoformat(timespec="minutes"): None, f"{moment:%H:%M}": None}
    for turn in story.batches:
        told = iso_local(turn.time)
        for day in possible_days(turn.user_input, told.date()) if told else ():
            days[day] = None
    named = (form for day in days for form in _forms(day))
    return "\n".join([story.speaker, *turns, *clocks, *dict.fromkeys(named)])


def _moments(story: Story) -> Iterator[datetime]:
    """The time of every turn, and every time that one is said to mean."""
    for turn in story.batches:
        moments = [iso_local(turn.time)]
        moments += [resolved(time.resolves_to) for time in turn.expected_temporal]
        yield from (moment for moment in moments if moment is not None)


def _forms(day: date) -> Iterator[str]:
    """A day as people write it."""
    month, number = MONTHS[day.month - 1], day.day
    # 11th to 13th, and not 11st.
    tens = number // 10
    nth = f"{number}{'th' if tens == 1 else _ORDINALS.get(number % 10, 'th')}"
    yield day.isoformat()
    yield WEEKDAYS[day.weekday()]
    for one in (str(number), nth):
        yield f"{one} {month} {day.year}"
        yield f"{month} {one}, {day.year}"
    yield f"{nth} of {month}"
