"""What gives another speaker away, and what one's own story may be answered with."""

from __future__ import annotations

from datetime import date

import pytest

from orchestrator.suites.narrative.date_checks import possible_days
from orchestrator.suites.narrative.properties.disambiguation import foreign_words
from orchestrator.suites.narrative.stories import Batch, Question, Story, Temporal
from orchestrator.suites.narrative.vocabulary import Category, TemporalStatus

OWN = Story(
    story_id="r1-01",
    story_name="The recital",
    category=Category.LEARNING,
    narrator="Wendeline Achterberg",
    batches=(
        Batch(
            batch=1,
            time="2026-03-09T18:05",
            user_input="My recital is this coming Saturday, and I practised with Isaura yesterday.",
            expected_temporal=(
                Temporal(
                    text="this coming Saturday",
                    resolves_to="2026-03-14",
                    status=TemporalStatus.UPCOMING,
                ),
            ),
        ),
    ),
    questions=(),
)


@pytest.mark.parametrize(
    "own",
    [
        *("2026-03-14", "2026-03", "Saturday", "14 March", "March 14th", "March"),
        # The turn's own day and time, and what its other words mean.
        *("2026-03-09", "2026-03-09T18:05", "Monday", "18:05", "2026-03-08", "Sunday"),
        *("Wendeline Achterberg", "Isaura"),
    ],
)
def test_what_ones_own_story_means_gives_nobody_away(own: str) -> None:
    question = Question(question_id="q", question="When is it?", expected_contains=(own,))
    assert foreign_words(OWN, question, f"It is {own}.") == ()


@pytest.mark.parametrize(
    "other", ["2026-03-15T10:00", "2026-04-02", "Tuesday", "2 April", "18:40", "Osric", "K-17"]
)
def test_what_it_does_not_mean_does(other: str) -> None:
    question = Question(question_id="q", question="When is it?", expected_contains=(other,))
    assert foreign_words(OWN, question, f"It is {other}.") == (other,)
    assert foreign_words(OWN, question, "It is not known.") == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("We met the day before yesterday.", {"2026-03-07", "2026-03-08"}),
        ("In three days, or a week ago?", {"2026-03-12", "2026-03-02"}),
        ("On Tuesdays.", {"2026-02-24", "2026-03-03", "2026-03-10", "2026-03-17"}),
        ("By 29 February", set()),
        ("By 4 April", {"2025-04-04", "2026-04-04", "2027-04-04"}),
        ("Nothing at all, in time.", set()),
    ],
)
def test_every_day_that_simple_words_may_mean_is_told(text: str, days: set[str]) -> None:
    found = {day.isoformat() for day in possible_days(text, date(2026, 3, 9))}
    assert found == days


def test_days_beyond_the_calendar_are_left_out() -> None:
    assert list(possible_days("tomorrow, and 4 March", date(9999, 12, 31))) == [
        date(9998, 3, 4),
        date(9999, 3, 4),
    ]
