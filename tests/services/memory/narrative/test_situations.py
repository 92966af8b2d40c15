"""A situation is told of several facts, in their order, within 150 words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.narrative.index import Index
from services.memory.narrative.passages import Passages, choose, cut, passage_features
from services.memory.narrative.situations import WEIGHTS, WORDS_MAX, situation
from tests.services.memory.narrative.tales import asked, book_of, text_of

TALE = (
    "The chapel organ has gone mute. Not one pipe of it speaks since the frost, and the Advent"
    " concert"
    " is five weeks off.",
    "Baked two trays of seed cake for the school. Burnt the second, so the hens were pleased"
    " with me.",
    "An organ builder named Ludovica Brandt crawled into the chapel organ with a torch. Mice"
    " had eaten"
    " the organ's bellows.",
    "Cut the hedge along the lane all afternoon. My back is sore, and the neighbour's collie"
    " sat there"
    " watching as if it were the theatre. Rain in the evening, soup, an early bed.",
    "Went to the market for onions and came home with a clock. It runs backwards. The seller swore"
    " that this is a feature, and I believed him because he had so honest a hat.",
    "Ludovica wants 2,700 francs for new bellows of sheepskin. The parish has 900 put by for"
    " the organ.",
    "Swam in the lake before breakfast. Eleven degrees, three swans, one very surprised angler."
    " I have"
    " promised my niece to teach her the crawl before she goes back to the city at the weekend.",
    "The knitters held a raffle for the organ and it brought 1,850 francs, so Ludovica has begun.",
    "Played all 41 stops of the organ tonight. It sings, and the concert takes place after all.",
)
QUESTION = "What is the whole story with the chapel organ?"


@pytest.fixture(scope="module")
def index() -> Index:
    return book_of(TALE)


def test_facts_of_the_whole_come_in_the_order_of_time(index: Index) -> None:
    rows = situation(asked(QUESTION), index).rows
    text = text_of(index, rows)
    facts = ["mute", "Mice had eaten", "2,700 francs", "raffle", "41 stops"]
    assert [fact for fact in facts if fact in text] == facts
    assert [text.index(fact) for fact in facts] == sorted(text.index(fact) for fact in facts)
    assert list(rows) == sorted(set(rows))


def test_what_is_left_out_for_want_of_words_is_not_of_the_topic(index: Index) -> None:
    rows = situation(asked(QUESTION), index).rows
    left = text_of(index, [row for row in range(index.segments) if row not in rows])
    assert len(text_of(index, rows).split()) <= WORDS_MAX
    assert left
    assert not {"organ", "Ludovica"} & set(left.replace(".", "").split())


def test_the_same_is_asked_and_the_same_is_told(index: Index) -> None:
    assert situation(asked(QUESTION), index) == situation(asked(QUESTION), book_of(TALE))


def test_one_short_turn_is_told_whole() -> None:
    index = book_of(["My kiln cracked."])
    assert situation(asked("What happened to my kiln?"), index).rows == tuple(range(index.segments))


def test_every_weight_has_its_feature(index: Index) -> None:
    passages = cut(index)
    found = passage_features(asked(QUESTION), passages)
    assert set(WEIGHTS) <= set(found)
    assert all(values.shape == (len(passages.spans),) for values in found.values())
    assert all(np.isfinite(values).all() for values in found.values())


def test_passages_part_the_book(index: Index) -> None:
    rows = [row for span in cut(index).spans for row in range(*span)]
    assert rows == list(range(index.segments))


def _passages(index: Index, sizes: list[int]) -> Passages:
    spans = tuple((number, number + 1) for number in range(len(sizes)))
    return Passages(index, spans, np.zeros(len(sizes), dtype=np.int64), np.array(sizes))


@given(
    st.lists(st.tuples(st.integers(1, 25), st.floats(-9, 9, width=32)), min_size=1, max_size=30),
    st.integers(1, 150),
)
def test_what_is_chosen_fits_and_nothing_more_would(
    index: Index, some: list[tuple[int, float]], words: int
) -> None:
    sizes = [size for size, _ in some]
    scores = np.array([score for _, score in some], dtype=np.float32)
    whole = choose(scores, _passages(index, sizes), words, 1.5)
    rows = whole.rows
    assert sorted(whole.ranked) == list(range(len(some)))
    assert [scores[row] for row in whole.ranked] == sorted(scores, reverse=True)
    used = sum(sizes[row] for row in rows)
    assert list(rows) == sorted(set(rows))
    assert used <= words or len(rows) == 1
    left = [size for row, size in enumerate(sizes) if row not in rows]
    assert all(used + size > words for size in left)


def test_a_longer_passage_has_to_be_worth_its_words(index: Index) -> None:
    equal = np.zeros(2, dtype=np.float32)
    assert choose(equal, _passages(index, [20, 10]), 22, 1.5).rows == (1,)
    assert choose(equal, _passages(index, [20, 10]), 22, 0.0).rows == (0,)
    better = np.array([2, 0], dtype=np.float32)
    assert choose(better, _passages(index, [20, 10]), 22, 1.5).rows == (0,)
