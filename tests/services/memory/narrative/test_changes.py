"""A change is told with its before and its after."""

import numpy as np
import pytest

from services.memory.narrative.changes import WEIGHTS, change, change_features
from services.memory.narrative.index import Index
from services.memory.narrative.model import QueryClass
from services.memory.narrative.passages import cut, passage_features
from services.memory.narrative.situations import WORDS_MAX
from tests.services.memory.narrative.tales import asked, book_of, text_of

TALE = (
    "I mend nets for Osric Quayle, at 14 crowns a net. The loft smells of tar and I like it there.",
    "My aunt sent a parcel of dried plums and a scarf that reaches to the floor. I wrote her a long"
    " letter about the storm, the lifeboat and the new curate, who cannot sing but does so anyway.",
    "Read half of a novel about a lighthouse in one sitting. The rain drummed, the cat slept on my"
    " feet, and nobody knocked on the door the whole evening, which was the best part of the day.",
    "Osric cut my pay to 11 crowns a net, since the herring stayed away.",
    "Took the early train to the fair. The carousel was closed for repairs, but the gingerbread was"
    " worth the journey, and a man with a barrel organ played the same waltz for two hours.",
    "My brother started as a baker's boy on the other side of the harbour. He is up at three.",
    "The herring are back. Osric pays me 16 crowns a net now, more than ever before.",
)
QUESTION = "How did my pay per net change?"


@pytest.fixture(scope="module")
def index() -> Index:
    return book_of(TALE)


def test_before_and_after_are_told_in_order(index: Index) -> None:
    query = asked(QUESTION)
    assert query.query_class is QueryClass.CHANGE
    text = text_of(index, change(query, index).rows)
    steps = [text.index(step) for step in ("14 crowns", "11 crowns", "16 crowns")]
    assert steps == sorted(steps)
    assert len(text.split()) <= WORDS_MAX < len(text_of(index, range(index.segments)).split())


def test_what_is_left_out_for_want_of_words_is_of_something_else(index: Index) -> None:
    rows = change(asked(QUESTION), index).rows
    left = text_of(index, [row for row in range(index.segments) if row not in rows])
    assert left
    assert not {"pay", "pays", "crowns", "Osric"} & set(left.replace(".", "").split())


@pytest.mark.parametrize(
    ("question", "amount", "day"),
    [
        ("How did my rent change?", True, False),
        ("How did the date of the hearing shift?", False, True),
        ("How did my view of the plan change?", False, False),
    ],
)
def test_numbers_and_times_count_where_they_are_asked_for(
    index: Index, question: str, amount: bool, day: bool
) -> None:
    query = asked(question)
    passages = cut(index)
    found = passage_features(query, passages)
    more = change_features(query, passages, found)
    assert np.array_equal(more["amount"], found["has_number"] * amount)
    assert np.array_equal(more["day"], found["has_time"] * day)
    assert found["has_number"].any()


def test_every_weight_has_its_feature(index: Index) -> None:
    query = asked(QUESTION)
    passages = cut(index)
    found = passage_features(query, passages)
    assert set(WEIGHTS) <= set(found) | set(change_features(query, passages, found))


@pytest.mark.parametrize(
    ("question", "foreign"),
    [("How did my rent change?", [0, 1, 0]), ("How did Wendla's rent change?", [0, 0, 0])],
)
def test_somebody_elses_value_counts_for_less_where_ones_own_is_asked(
    question: str, foreign: list[int]
) -> None:
    told = ["I pay 300 crowns of rent.", "Wendla pays 410 crowns.", "My rent is 320 crowns now."]
    query, passages = asked(question), cut(book_of(told))
    more = change_features(query, passages, passage_features(query, passages))
    assert more["foreign"].tolist() == foreign
    assert WEIGHTS["foreign"] < 0
