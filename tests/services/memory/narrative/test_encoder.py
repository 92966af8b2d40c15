"""Texts become vectors of length 1 that depend on nothing but the text they stand in."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.narrative.encoder import SIZE, Span, ahead, encode, encode_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WINDOW = 254
TURN = "My cousin Bram keeps bees. The hives stand by the river, and he sells honey."
WORDLESS = ("", " ", "\n\t", "\0", "\0\0\0", "\u200b", "\u0301")
ODD = (
    "\U0001f389\U0001f389",
    "\U0001f389 got the keys \U0001f5dd\ufe0f \U0001f62d",
    "Моя сестра lives in تونس now",
    "明日は大阪へ行きます",
    "?!",
    "a\0b",
    "a" * 4_000,
)


def _span(text: str, part: str) -> Span:
    start = text.index(part)
    return start, start + len(part)


def _length(vector: "Floats") -> float:
    return float(np.linalg.norm(vector))


@pytest.mark.parametrize("text", [TURN, "bees", "word " * 600, *ODD])
def test_a_text_with_a_word_has_a_vector_of_length_1(text: str) -> None:
    vector = encode(text)
    assert vector.shape == (SIZE,)
    assert vector.dtype == np.float32
    assert _length(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", WORDLESS)
def test_a_text_without_a_word_is_0(text: str) -> None:
    assert not encode(text).any()
    assert not encode_spans(text, [(0, len(text))]).any()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_text_and_any_stretch_has_length_1_or_0(text: str, first: int, last: int) -> None:
    rows = encode_spans(text, [(0, len(text)), (first, last)])
    lengths = np.linalg.norm(rows, axis=1)
    assert rows.shape == (2, SIZE)
    assert np.all((lengths == 0) | (np.abs(lengths - 1) < 1e-5))
    assert np.array_equal(rows[0], encode(text))


def test_equal_texts_have_equal_vectors_and_others_do_not() -> None:
    # The one is encoded as a text, the other as a stretch: neither comes from the other's cache.
    assert np.array_equal(encode(TURN), encode_spans(TURN, [(0, len(TURN))])[0])
    assert np.array_equal(encode("I KEEP BEES"), encode("i keep bees"))
    assert not np.array_equal(encode("he owes her"), encode("her he owes"))


def test_what_means_the_same_is_nearer_than_what_shares_no_meaning() -> None:
    asked = encode("Who looks after bees?")
    near, far = encode("My cousin is an apiarist."), encode("The tax form is due on Monday.")
    assert float(asked @ near) > float(asked @ far) + 0.2


def test_no_stretches_have_no_rows() -> None:
    assert encode_spans(TURN, []).shape == (0, SIZE)


@pytest.mark.parametrize(
    "span", [(2, 2), (2, 3), (80, 90), (500, 600)], ids=["nothing", "blank", "end", "behind"]
)
def test_a_stretch_with_no_word_is_0(span: Span) -> None:
    assert TURN[2] == " "
    assert len(TURN) < 80
    rows = encode_spans(TURN + " " * 20, [span, (0, len(TURN))])
    assert not rows[0].any()
    assert rows[1].any()


def test_a_stretch_does_not_depend_on_other_stretches_or_turns() -> None:
    first, second = _span(TURN, "My cousin Bram"), _span(TURN, "he sells honey")
    alone = encode_spans(TURN, [first])[0]
    for text in ("The loud fair came to town.", "\U0001f389" * 9, "honey " * 300):
        encode(text)
        encode_spans(text, [(0, 5)])
    assert np.array_equal(encode_spans(TURN, [second, first])[1], alone)


def test_overlapping_stretches_are_each_as_they_are_alone() -> None:
    spans = [_span(TURN, "Bram keeps"), _span(TURN, "keeps bees"), (0, len(TURN)), (0, len(TURN))]
    together = encode_spans(TURN, spans)
    assert len(together) == len(spans)
    for span, row in zip(spans, together, strict=True):
        assert np.array_equal(encode_spans(TURN, [span])[0], row)
    assert not np.array_equal(together[0], together[1])


def test_a_stretch_that_ends_inside_a_word_takes_the_word() -> None:
    first, last = _span(TURN, "bees")
    rows = encode_spans(TURN, [(first, last), (first + 1, last - 1)])
    assert rows[0].any()
    assert np.array_equal(rows[0], rows[1])


def test_a_pronoun_is_near_to_whom_its_turn_is_about() -> None:
    asked = encode("the nurse at the hospital")
    told = [f"{who} came by at noon. She sings." for who in ("My nurse", "My daughter's goat")]
    of_nurse, of_goat = (encode_spans(text, [_span(text, "She sings")])[0] for text in told)
    assert float(asked @ of_nurse) > float(asked @ of_goat)


def test_places_are_characters_also_after_emoji_and_other_scripts() -> None:
    odd = "\U0001f389\U0001f389 Моя сестра \u2014 تونس:"
    text = f"{odd} I sold the boat. \U0001f5dd\ufe0f A nurse came."
    boat, nurse = _span(text, "I sold the boat."), _span(text, "A nurse came.")
    rows = encode_spans(text, [boat, nurse])
    assert (rows @ encode("I sold the boat.")).argmax() == 0
    assert (rows @ encode("A nurse came.")).argmax() == 1
    blank = text.index(" A nurse")
    assert not encode_spans(text, [(blank, blank + 1)]).any()


def test_a_nul_stands_for_nothing_and_moves_no_place() -> None:
    plain, broken = "sold the boat", "sold\0 the\0 boat"
    assert np.array_equal(encode(broken), encode(plain))
    rows = encode_spans(broken, [_span(broken, "boat")])
    assert np.array_equal(rows, encode_spans(plain, [_span(plain, "boat")]))


def test_a_text_that_is_longer_than_a_window_is_read_window_by_window() -> None:
    opening = " ".join(["goat"] * WINDOW)
    text = f"{opening} the ferry sails at noon"
    last = _span(text, "the ferry sails at noon")
    rows = encode_spans(text, [(0, len(opening)), last])
    assert np.array_equal(rows[0], encode(opening))
    assert np.array_equal(rows[1], encode("the ferry sails at noon"))
    one_more = encode_spans(f"cow {text}", [(4, 4 + len(opening))])[0]
    assert not np.array_equal(one_more, rows[0])


def test_threads_that_ask_at_once_get_equal_rows() -> None:
    count = 8
    span = _span(TURN, "The hives stand by the river")
    expected = encode_spans(TURN, [span])[0]
    ready = threading.Barrier(count, timeout=60)

    def ask(number: int) -> "tuple[Floats, Floats]":
        ready.wait()
        # Each asks for another number of stretches, which no other has put into the cache.
        return encode_spans(TURN, [span] * (number + 2)), encode("The ferry is late again.")

    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(ask, range(count)))
    for number, (rows, whole) in enumerate(answers):
        assert np.array_equal(rows, np.tile(expected, (number + 2, 1)))
        assert np.array_equal(whole, answers[0][1])


def test_what_is_encoded_ahead_is_what_is_encoded_anyway() -> None:
    texts = [f"{TURN} She has {number} hives." for number in range(12)]
    for text in texts:
        ahead(text)
    asked = [encode(text) for text in texts]
    again = [encode(f"{text} ") for text in texts]
    assert all(np.array_equal(one, other) for one, other in zip(asked, again, strict=True))
