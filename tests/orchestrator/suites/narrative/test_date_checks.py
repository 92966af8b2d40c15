"""Dates that cannot be what their words say."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.suites.narrative.date_checks import contradictions, resolved, status_for
from orchestrator.suites.narrative.vocabulary import TemporalStatus

# A Wednesday.
TURN = date(2026, 3, 11)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-03-11"),
        ("tomorrow morning", "2026-03-12"),
        ("Yesterday", "2026-03-10"),
        ("in three days", "2026-03-14"),
        ("in 2 weeks", "2026-03-25"),
        ("a week ago", "2026-03-04"),
        ("10 days ago", "2026-03-01"),
        ("this coming Saturday", "2026-03-14"),
        ("last Friday at noon", "2026-03-06"),
        ("on 4 March", "2026-03-04"),
        ("the 21st of June", "2026-06-21"),
        ("Sept 3rd", "2026-09-03"),
        # Not judged: other words have other meanings.
        ("the day after Monday", "2026-03-10"),
        ("from 7 to 10 May", "2026-05-07"),
        ("Monday to Friday", "2026-03-18"),
        ("last night", "2026-03-10"),
        ("in a few days", "2026-03-20"),
        ("mayor 5", "2026-03-20"),
    ],
)
def test_what_fits_or_is_not_judged_is_let_be(text: str, day: str) -> None:
    assert list(contradictions(text, date.fromisoformat(day), TURN)) == []


@pytest.mark.parametrize(
    ("text", "day", "said"),
    [
        ("tomorrow", "2026-03-13", "'tomorrow' from 2026-03-11 is 2026-03-12, not 2026-03-13"),
        ("in three days", "2026-03-15", "is 2026-03-14, not 2026-03-15"),
        ("two weeks ago", "2026-02-26", "is 2026-02-25, not 2026-02-26"),
        ("this coming Saturday", "2026-03-13", "2026-03-13 is a Friday, not a Saturday"),
        ("on 4 March", "2026-03-05", "'on 4 March' is not 2026-03-05"),
        ("March 4th", "2026-04-04", "'March 4th' is not 2026-04-04"),
    ],
)
def test_what_contradicts_is_told(text: str, day: str, said: str) -> None:
    (found,) = contradictions(text, date.fromisoformat(day), TURN)
    assert said in found


@given(days=st.integers(0, 300), turn=st.dates(date(1990, 1, 1), date(2090, 1, 1)))
@settings(deadline=None)
def test_a_distance_fits_its_own_day_only(days: int, turn: date) -> None:
    for text, sign in ((f"in {days} days", 1), (f"{days} days ago", -1)):
        day = turn + timedelta(days=sign * days)
        assert not list(contradictions(text, day, turn))
        assert list(contradictions(text, day + timedelta(days=1), turn))


@given(text=st.text(max_size=40))
@settings(deadline=None)
def test_any_words_can_be_judged(text: str) -> None:
    assert all(isinstance(said, str) for said in contradictions(text, TURN, TURN))


def test_a_day_is_past_active_or_upcoming() -> None:
    assert [status_for(TURN + timedelta(days=n), TURN) for n in (-1, 0, 1)] == [
        TemporalStatus.PAST,
        TemporalStatus.ACTIVE,
        TemporalStatus.UPCOMING,
    ]


@pytest.mark.parametrize(
    "text", ["2026-02-29", "2026-3-1", "20260301", "2026-03-01T25:00", "", "x"]
)
def test_what_is_no_day_resolves_to_nothing(text: str) -> None:
    assert resolved(text) is None


def test_a_day_may_have_a_minute() -> None:
    assert resolved("2028-02-29T07:05") is not None
    assert resolved("2028-02-29") is not None
