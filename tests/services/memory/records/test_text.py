import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.records.text import claims, normal_form, stem, terms, visible_form
from services.memory.records.words import NEGATIONS


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Pay ACME", "pay acme"),
        ("Pay  ACME\n", "Pay ACME"),
        ("\uff30\uff41\uff59 \uff21\uff23\uff2d\uff25", "Pay ACME"),
        ("P\u200bay AC\u00adME", "Pay ACME"),
        ("P\u0430y \u0410CM\u0415", "Pay ACME"),
        ("M\u00fcller", "Muller"),
        ("Mu\u0308ller", "M\u00fcller"),
        ("stra\u00dfe", "strasse"),
    ],
)
def test_what_looks_the_same_is_the_same_statement(left: str, right: str) -> None:
    assert normal_form(left) == normal_form(right)


def test_what_is_different_stays_different() -> None:
    assert normal_form("Pay 5") != normal_form("Pay 50")
    assert normal_form("a b") != normal_form("ab")


@given(st.text(max_size=200))
def test_the_normal_form_is_stable(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)


@given(st.text(max_size=200))
def test_the_visible_form_has_no_invisible_characters(text: str) -> None:
    assert not [char for char in visible_form(text) if unicodedata.category(char) == "Cf"]


@pytest.mark.parametrize(
    "words",
    [
        "prefer prefers preferred preferring preference",
        "refund refunds refunded refunding",
        "arrive arrives arrived arriving",
        "fly flies flying",
        "pay pays paying payment payments",
        "reserve reserved reservation reservations",
        "address addresses",
    ],
)
def test_forms_of_a_word_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize("word", ["note", "notes", "noted", "nones", "nors"])
def test_no_word_becomes_a_negation(word: str) -> None:
    assert stem(word) not in NEGATIONS


def test_terms_are_the_meaningful_words_and_the_identifiers() -> None:
    found = terms("What is the status of Alice's orders #W237-1 and #W237-1?")
    assert found == {"status": 1, "alic": 1, "order": 1, "w237": 2, "1": 2, "w237-1": 2}


def test_a_question_without_meaningful_words_has_no_terms() -> None:
    assert not terms("What is it that you would do?")


@pytest.mark.parametrize("text", ["He will not pay", "He won't pay", "He won\u2019t pay"])
def test_claims_keep_negations_and_terms_do_not(text: str) -> None:
    assert claims(text)[-2:] == ("not", "pay")
    assert "not" not in terms(text)


def test_scripts_without_blanks_are_matched_by_pairs() -> None:
    assert claims("\u6771\u4eac\u90fd") == ("\u6771\u4eac", "\u4eac\u90fd")


@given(st.text(max_size=200))
def test_every_text_can_be_read(text: str) -> None:
    assert all(count > 0 for count in terms(text).values())
    assert all(word for word in claims(text))
