"""A question's words find their nearest among a book's, and what stands around an answer counts."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from services.memory.narrative.alignment import Aligned, alignment_features
from services.memory.narrative.encoder import SIZE, encode_pieces
from services.memory.narrative.index import Index
from tests.services.memory.narrative.tales import book_of, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Features = dict[str, NDArray[np.float32]]

TALE = (
    "I sold the mare, and I rent a stall in Ennis. It is dry. The vet comes on Fridays.",
    "My aunt bakes rye bread.",
)


def _found(index: Index, text: str) -> "Features":
    return alignment_features(text, index.aligned, index.sentence_of, index.turn_of)


def _row(index: Index, text: str) -> int:
    return next(row for row in range(index.segments) if text_of(index, [row]).startswith(text))


def test_every_word_piece_stands_in_its_segment() -> None:
    index = book_of(TALE)
    aligned = index.aligned
    words = [word for text in TALE for word in encode_pieces(text).words]
    assert aligned.rows.shape == (len(words), SIZE)
    assert (np.diff(aligned.segment) >= 0).all()
    for row in range(index.segments):
        own = [word for word, place in zip(words, aligned.segment, strict=True) if place == row]
        assert "".join(own) == text_of(index, [row]).lower().replace(" ", ""), row
    told = {word for word, mark in zip(words, aligned.content, strict=True) if mark}
    assert {"mare", "vet", "rye"} <= told
    assert not told & {"i", "the", "on", ".", ","}


def test_eight_bits_keep_what_a_piece_is_near_to() -> None:
    aligned = book_of(TALE).aligned
    rows = np.concatenate([encode_pieces(text).rows for text in TALE]).astype(np.float32)
    own = rows - rows.mean(axis=0)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    near = aligned.cosines(rows)
    assert np.abs(near - own @ own.T).max() < 0.01
    assert aligned.size_bytes < len(rows) * (SIZE + 16) + 4 * SIZE


def test_what_is_asked_for_is_aligned_best_and_its_neighbours_next() -> None:
    index = book_of(TALE)
    found = _found(index, "On which days does the vet come?")
    vet, bread = _row(index, "The vet"), _row(index, "My aunt")
    for place in ("segment", "sentence", "turn"):
        for part in ("all", "content"):
            values = found[f"align_{place}_{part}"]
            assert values[vet] == values.max()
            assert values[vet] > values[bread]
            lead = found[f"align_{place}_{part}_lead"]
            assert lead == pytest.approx(values - values.max())
    assert found["align_after_all"][vet - 1] == found["align_segment_all"][vet]
    assert found["align_before_all"][bread] == 0  # another turn is no neighbour
    assert found["align_back_content"].argmax() == vet


def test_segments_of_a_sentence_share_what_is_in_it() -> None:
    index = book_of(["I sold the mare, and I rent a stall in Ennis.", "It is dry."])
    found = _found(index, "Where do I rent a stall?")
    mare, stall = 0, 1
    assert found["align_segment_all"][mare] < found["align_segment_all"][stall]
    assert found["align_sentence_all"][mare] == found["align_sentence_all"][stall]
    assert found["align_sentence_all"][mare] >= found["align_segment_all"][stall]


def test_a_question_without_a_question_word_has_no_feature_of_one() -> None:
    index = book_of(TALE)
    assert "align_phrase" in _found(index, "Who bakes bread?")
    assert not {"align_word", "align_phrase"} & set(_found(index, "Did I sell the mare?"))
    assert not {"align_segment_content"} & set(_found(index, "Did I?"))


@pytest.mark.parametrize("text", ["", " ", "\u200b"])
def test_a_question_without_a_word_aligns_with_nothing(text: str) -> None:
    assert _found(book_of(TALE), text) == {}


@pytest.mark.parametrize("text", ["\U0001f389", "Моя сестра lives in تونس now", "?!", "a\0b"])
def test_odd_turns_and_questions_are_taken(text: str) -> None:
    index = book_of([text, TALE[1]])
    for asked in (text, "Who bakes bread?"):
        for name, values in _found(index, asked).items():
            assert values.shape == (index.segments,), name
            assert np.isfinite(values).all(), name


def test_a_book_without_words_has_no_pieces() -> None:
    index = book_of(["", TALE[1]])
    assert isinstance(index.aligned, Aligned)
    assert index.aligned.segment.min() == 0
