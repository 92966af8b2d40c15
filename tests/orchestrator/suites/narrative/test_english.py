"""Words, sentences and shapes of English, and of what is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.suites.narrative.english import (
    content_words,
    foreign_share,
    function_share,
    sentences,
    shape,
    words,
)


def test_words_are_folded_and_keep_apostrophes_and_numbers() -> None:
    said = "Don\u2019t pay O'Hara 1,250.50 at 7:30!"
    assert words(said) == ["don't", "pay", "o'hara", "1,250.50", "at", "7:30"]
    assert content_words(said) == ["pay", "o'hara"]


def test_sentences_end_at_their_marks() -> None:
    assert sentences("He left. \u201cReally?\u201d Yes\u2026 gone!\n\nNew line") == [
        "He left.",
        "\u201cReally?",
        "Yes\u2026",
        "gone!",
        "New line",
    ]


def test_a_shape_keeps_what_is_not_content() -> None:
    assert shape("My sister works at the bakery.") == "my _ at the _"
    assert shape("My old aunt Bea worked at the harbour!") == "my _ at the _"
    assert shape("My uncle lives in the valley.") == "my _ in the _"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("I told him that we would be there by the end of the week, but he was not so sure", True),
        (
            "Ich habe ihm gesagt, dass wir bis Ende der Woche dort sein werden, aber er zweifelt",
            False,
        ),
        ("Le dije que estaríamos allí antes del fin de semana, pero no estaba muy seguro", False),
        (
            "Nilimwambia kwamba tutakuwa huko kabla ya mwisho wa juma, lakini hakuwa na hakika",
            False,
        ),
    ],
)
def test_english_shows_by_its_function_words(text: str, english: bool) -> None:
    assert (function_share(text) > 0.4) is english
    assert (function_share(text) < 0.2) is not english


def test_other_scripts_are_seen() -> None:
    assert foreign_share("naïve Ångström, 12 \U0001f41d") == 0
    assert foreign_share("улей") == 1
    assert foreign_share("abc где") == 0.5
    assert foreign_share("123 \U0001f41d") == 0


@given(text=st.text(max_size=200))
@settings(deadline=None)
def test_any_text_can_be_taken_apart(text: str) -> None:
    assert set(content_words(text)) <= set(words(text))
    assert 0 <= function_share(text) <= 1
    assert 0 <= foreign_share(text) <= 1
    assert len(shape(text).split()) <= len(words(text))
    assert all(part and part in text for part in sentences(text))
