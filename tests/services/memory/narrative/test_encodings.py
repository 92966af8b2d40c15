"""A book's segments are encoded with what is around them in their turns."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from services.memory.narrative.encoder import SIZE, encode, encode_spans
from services.memory.narrative.encodings import AROUND, Encodings, encodings_of
from tests.services.memory.narrative.tales import book_of, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

TALE = (
    "I sold the mare, and I rent a stall in Ennis. It is dry. The vet comes on Fridays.",
    "My aunt bakes rye bread.",
)


def _vectors(encodings: Encodings, name: str) -> "NDArray[np.float32]":
    vectors: NDArray[np.float32] = encodings.rows[encodings.place[name]]
    return vectors


def test_every_segment_has_a_row_of_each_surrounding() -> None:
    index = book_of(TALE)
    encodings = encodings_of(index.book)
    assert tuple(encodings.place) == AROUND
    for places in encodings.place.values():
        assert places.shape == (index.segments,)
        assert places.min() >= 0
        assert places.max() < len(encodings.rows)
    assert encodings.rows.shape[1] == SIZE
    assert np.allclose(np.linalg.norm(encodings.rows, axis=1), 1, atol=1e-5)
    assert encodings.size_bytes == encodings.rows.nbytes + 8 * index.segments * len(AROUND)
    near = encodings.near(encode("Where is the mare?"))
    assert {name: values.shape for name, values in near.items()} == dict.fromkeys(
        AROUND, (index.segments,)
    )


def test_a_row_is_the_stretch_that_its_name_says() -> None:
    index = book_of(TALE)
    encodings = encodings_of(index.book)
    text = TALE[0]
    row = next(row for row in range(index.segments) if text_of(index, [row]) == "It is dry.")
    start = text.index("It is dry.")
    end = start + len("It is dry.")
    spans = {
        "segment": (start, end),
        "sentence": (start, end),
        "before": (0, end),
        "after": (start, len(text)),
        "turn": (0, len(text)),
    }
    for (name, expected), vector in zip(
        spans.items(), encode_spans(text, list(spans.values())), strict=True
    ):
        assert np.array_equal(_vectors(encodings, name)[row], vector), (name, expected)


def test_the_first_and_the_last_sentence_stand_for_themselves() -> None:
    index = book_of(TALE[:1])
    encodings = encodings_of(index.book)
    sentence, before, after = (
        encodings.place[name].tolist() for name in ("sentence", "before", "after")
    )
    sentences = sorted(set(index.sentence_of.tolist()))
    first = [row for row in range(index.segments) if index.sentence_of[row] == sentences[0]]
    last = [row for row in range(index.segments) if index.sentence_of[row] == sentences[-1]]
    assert len(first) > 1
    assert [before[row] for row in first] == [sentence[row] for row in first]
    assert [after[row] for row in last] == [sentence[row] for row in last]
    assert not {after[row] for row in first} & set(sentence)
    assert not {before[row] for row in last} & set(sentence)


def test_segments_of_one_sentence_share_all_but_their_own_row() -> None:
    encodings = encodings_of(book_of(["I sold the mare, and I rent a stall in Ennis."]).book)
    assert len(set(encodings.place["segment"].tolist())) == 2
    for name in AROUND[1:]:
        assert len(set(encodings.place[name].tolist())) == 1, name


@pytest.mark.parametrize("text", ["My kiln cracked.", "Yes", "\U0001f389"])
def test_one_segment_is_all_that_there_is_around_it(text: str) -> None:
    index = book_of([text])
    assert index.segments == 1
    encodings = encodings_of(index.book)
    for name in AROUND:
        assert np.array_equal(_vectors(encodings, name)[0], encode(text)), name


def test_a_turn_does_not_depend_on_the_others_of_its_book() -> None:
    alone, together = encodings_of(book_of(TALE[1:]).book), encodings_of(book_of(TALE).book)
    size = len(alone.place["segment"])
    for name in AROUND:
        assert np.array_equal(_vectors(together, name)[-size:], _vectors(alone, name)), name


def test_a_turn_without_words_takes_no_place_from_the_others() -> None:
    told, silent = encodings_of(book_of(TALE).book), book_of([TALE[0], "", TALE[1]])
    assert len(silent.book.turns) == 3
    for name in AROUND:
        assert np.array_equal(_vectors(encodings_of(silent.book), name), _vectors(told, name))


def test_the_sentence_that_is_asked_for_is_the_nearest() -> None:
    index = book_of([*TALE, "The ferry to the island was cancelled because of the gale."])
    near = index.encodings.near(encode("Why could we not cross by boat in the storm?"))
    best = {name: int(values.argmax()) for name, values in near.items()}
    assert {index.turn_of[row] for row in best.values()} == {2}
    others = near["sentence"][index.turn_of != 2]
    assert near["sentence"].max() > others.max() + 0.2
