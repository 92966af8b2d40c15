"""Strings are compared by what they say, whatever their spelling, and words are counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.narrative.texts import flat, holds, overlap, words_told

SIGNS = st.text(
    alphabet="aI\u0130\u0131\u0307'\u2019-\u2011 \u00a0\u00e9e\u0301\uff11\u00df\u200b/",
    max_size=30,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("doesn't", "doesn\u2019t"),
        ('a "yes"', "a \u201cyes\u201d"),
        ("K-17", "K\u201117"),
        ("2026-27", "2026\u201327"),
        ("caf\u00e9", "cafe\u0301"),
        ("12", "\uff11\uff12"),
        ("\u0130zmir", "izmir"),
        ("co\u00adop", "coop"),
        ("mill  lane", "Mill\u00a0Lane"),
    ],
)
def test_spellings_of_the_same_characters_are_equal(one: str, other: str) -> None:
    assert flat(one) == flat(other)
    assert holds(f"so {one} it is", other)
    assert holds(f"so {other} it is", one)


@pytest.mark.parametrize(
    ("one", "other"), [("cafe", "caf\u00e9"), ("wont", "won't"), ("K17", "K-17")]
)
def test_other_characters_are_not(one: str, other: str) -> None:
    assert flat(one) != flat(other)


@given(SIGNS)
def test_what_is_folded_once_is_folded(text: str) -> None:
    assert flat(flat(text)) == flat(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Isaura", 1),
        ("mother-in-law", 1),
        ("state-of-the-art", 1),
        ("don't won\u2019t", 2),
        ("2026-03-14T18:40", 1),
        ("3.50, 1,234,567 and 18:40", 4),
        ("a \u2014 b", 3),
        ("and/or", 2),
        ("w" * 90, 3),
        ("one-two-three-four-five", 5),
    ],
)
def test_words_are_counted_as_a_person_counts_them(text: str, count: int) -> None:
    assert words_told(text) == count


@given(st.text())
def test_never_fewer_words_than_blanks_divide(text: str) -> None:
    assert words_told(text) >= len(text.split())


def test_spans_share_what_the_longer_one_has_of_the_shorter() -> None:
    assert overlap("Lisbon", "lisbon!") == 1
    assert 0 < overlap("Lisbon", "Lisbon University") < 0.5
    assert overlap("Lis", "Lisbon") == 0
    assert overlap("", "") == 0
