"""Loose times of published stories become dates in the story's order."""

from datetime import datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.suites.narrative.story_clock import StoryClock, iso_local


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (["Monday 9:00 AM", "Wednesday 3:30 PM"], ["2026-03-02T09:00", "2026-03-04T15:30"]),
        (["Friday 6 pm", "Monday 8am"], ["2026-03-06T18:00", "2026-03-09T08:00"]),
        # The same weekday at an earlier hour is that of the week after.
        (["Tuesday 10:00 AM", "Tuesday 9:00 AM"], ["2026-03-03T10:00", "2026-03-10T09:00"]),
        (["Day 1, morning", "Day 3, 18:30"], ["2026-03-02T09:00", "2026-03-04T18:30"]),
        (["Week 1 Monday 9 AM", "Week 3 Friday"], ["2026-03-02T09:00", "2026-03-20T09:00"]),
        (["Week 2, Day 3, noon"], ["2026-03-11T12:00"]),
        (["12:15 AM", "12:15 PM"], ["2026-03-02T00:15", "2026-03-02T12:15"]),
        (["9:00 PM", "8:00 AM"], ["2026-03-02T21:00", "2026-03-03T08:00"]),
        (["Mon 9:00", "Thurs 9:00"], ["2026-03-02T09:00", "2026-03-05T09:00"]),
        (["2027-01-31T23:59", "Monday 9 AM"], ["2027-01-31T23:59", "2027-02-01T09:00"]),
        (["Monday 1:00 PM", "Monday afternoon"], ["2026-03-02T13:00", "2026-03-02T15:00"]),
        (["Monday 5:00 PM", "Monday afternoon"], ["2026-03-02T17:00", "2026-03-02T17:00"]),
        (["Monday 2:00 PM", "Monday early evening"], ["2026-03-02T14:00", "2026-03-02T18:00"]),
        (["Monday late night", "Tuesday, late morning"], ["2026-03-02T23:00", "2026-03-03T11:00"]),
        (
            ["Day 1 morning", "2 days later", "three weeks later, evening", "a month later"],
            ["2026-03-02T09:00", "2026-03-04T09:00", "2026-03-25T19:00", "2026-04-25T19:00"],
        ),
        (["Day 2, 8 AM", "the next morning"], ["2026-03-03T08:00", "2026-03-04T09:00"]),
        (["Day 2, 8 AM", "later that day"], ["2026-03-03T08:00", "2026-03-03T08:00"]),
        (["Day 2, 8 AM", "the same evening"], ["2026-03-03T08:00", "2026-03-03T19:00"]),
        (["Day 2, 8 AM", "after two weeks, Friday"], ["2026-03-03T08:00", "2026-03-20T08:00"]),
        (["2026-03-14 09:00", "2026-03-28 09:00"], ["2026-03-14T09:00", "2026-03-28T09:00"]),
        (["2024-03-14, morning", "Friday"], ["2024-03-14T09:00", "2024-03-15T09:00"]),
        (
            ["March 14, 2026 9:00 AM", "2 April, noon", "Jan 3rd at 18:00"],
            ["2026-03-14T09:00", "2026-04-02T12:00", "2027-01-03T18:00"],
        ),
        (["Month 1, 9 AM", "Month 3, 9 AM"], ["2026-03-02T09:00", "2026-05-02T09:00"]),
    ],
)
def test_times_are_the_first_that_can_be_meant(said: list[str], meant: list[str]) -> None:
    clock = StoryClock()
    assert [clock.read(text) for text in said] == [(text, True) for text in meant]


def test_words_that_say_no_time_are_a_day_later_and_not_understood() -> None:
    clock = StoryClock()
    assert clock.read("Monday 9:00 AM") == ("2026-03-02T09:00", True)
    assert clock.read("whenever") == ("2026-03-03T09:00", False)
    assert clock.read("25:99") == ("2026-03-04T09:00", False)


@pytest.mark.parametrize(
    "text",
    [
        *("Monday, 14:99", "30 February 2026", "2026-02-30 10:00", "Friday, 3 or so", "13 PM"),
        *("Monday the week before", "spring, morning", "Day 0", "9999999 weeks later"),
    ],
)
def test_what_is_left_over_of_a_time_is_said(text: str) -> None:
    assert not StoryClock().read(text)[1]


def test_a_day_that_is_over_is_not_gone_back_to() -> None:
    clock = StoryClock()
    assert clock.read("14 March 2026, 9 AM") == ("2026-03-14T09:00", True)
    assert clock.read("10 March 2026, 9 AM") == ("2026-03-14T09:00", False)


_PARTS = (
    *("Monday", "Fri", "Day", "week", "Month", "1", "3", "9999", "07:30", "9:00", "PM", "noon"),
    *("later", "days", "years", "early", "evening", "May", "29 February", "2026-01-05", "same day"),
)
_WORDS = st.lists(st.sampled_from(_PARTS), max_size=6).map(" ".join)


@given(
    first=st.sampled_from(["2026-03-04T10:00", "0001-01-01T00:00", "9999-12-31T23:00"]),
    said=st.lists(_WORDS | st.text(max_size=20), min_size=1, max_size=8),
)
@settings(deadline=None)
def test_loose_times_never_go_back_and_are_local_times(first: str, said: list[str]) -> None:
    assume(not any(iso_local(text) for text in said))
    clock = StoryClock()
    read = [clock.read(text)[0] for text in (first, *said)]
    assert all(iso_local(text) for text in read)
    assert read == sorted(read)


@pytest.mark.parametrize(
    "text",
    [
        *("", "2026-03-02", "2026-03-02 10:00", "2026-13-02T10:00", "2026-03-02T24:00"),
        *("2026-03-02T10:00Z", "2026-03-02T10:00+01:00", "٢٠٢٦-03-02T10:00", "2026-3-2T10:00"),
    ],
)
def test_only_local_iso_times_are_exact(text: str) -> None:
    assert iso_local(text) is None


def test_an_exact_time_may_have_seconds() -> None:
    assert iso_local("2026-03-02T10:00:07") == datetime(2026, 3, 2, 10, 0, 7)
