"""Two texts that read the same to a person, and two that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.categories.bad_input.inputs import UNREADABLE, Unreadable
from orchestrator.suites.integrity.categories.bad_input.reading import readable, reads

SENT = "Locker abc\x07 has the col\u200bour \u202ewhite\u202c\n and a \ufb01ne  number."


@pytest.mark.parametrize(
    "kept",
    [
        SENT,
        "Locker abc has the colour white and a fine number.",
        "User said: locker abc has the colour white and a fine number.",
        "Locker abc has the colour white\tand a \ufb01ne number. (noted)",
    ],
)
def test_what_reads_the_same(kept: str) -> None:
    assert reads(kept, SENT)


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "Locker abc",
        "Locker abc has the colour white and a fine",
        "Locker abc has the colour and a fine number.",
        "Locker abchas the colour white and a fine number.",
    ],
)
def test_what_is_cut_or_joined_does_not(kept: str) -> None:
    assert not reads(kept, SENT)


@pytest.mark.parametrize("unreadable", UNREADABLE, ids=str)
def test_each_half_of_an_input_is_noticed(unreadable: Unreadable) -> None:
    text = unreadable.text.format(nonce="dabako")

    assert reads(readable(text), text)
    assert not reads(text[: len(text) // 2], text)
    assert not reads(text[len(text) // 2 :], text)


def test_a_text_of_nothing_that_is_seen_has_to_be_there_as_it_is() -> None:
    assert reads("\u200b", "\u200b")
    assert not reads("anything", "\u200b")
    assert not reads("anything", "")


@given(st.text(), st.text(alphabet=st.characters(codec="utf-8")))
def test_words_around_a_text_change_nothing(around: str, text: str) -> None:
    assert reads(f"{around} {text}", text) == bool(readable(text)) or f"{around} {text}" == text
