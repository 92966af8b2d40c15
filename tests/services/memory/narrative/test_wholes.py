"""A situation is told of its facts in their order, a change with its before and its after."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.narrative import answer, wholes
from services.memory.narrative.asked import refine
from services.memory.narrative.index import Index
from services.memory.narrative.match import Features
from services.memory.narrative.model import QueryClass
from services.memory.narrative.passages import Passages, Whole, choose, cut
from services.memory.narrative.question import Query
from services.memory.narrative.trees import Trees
from tests.services.memory.narrative.tales import asked, book_of, text_of

ORGAN = (
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
ORGAN_QUESTION = "What is the whole story with the chapel organ?"
ORGAN_FACTS = ("mute", "Mice had eaten", "2,700 francs", "raffle", "41 stops")

PAY = (
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
PAY_QUESTION = "How did my pay per net change?"
PAY_STEPS = ("14 crowns", "11 crowns", "16 crowns")


@pytest.fixture(scope="module")
def organ() -> Index:
    return book_of(ORGAN)


@pytest.fixture(scope="module")
def pay() -> Index:
    return book_of(PAY)


def _told(query: Query, index: Index, tables: wholes.WholeTables | None = None) -> Whole:
    judged = answer.judge(query, index)
    return wholes.tell(query, index, judged.scores, judged.risks, tables)


def _features(query: Query, index: Index) -> Features:
    judged = answer.judge(query, index)
    return wholes.whole_features(query, cut(index), judged.scores, judged.risks)


def _left(index: Index, rows: tuple[int, ...]) -> str:
    return text_of(index, [row for row in range(index.segments) if row not in rows])


@pytest.mark.parametrize(
    ("tale", "question", "query_class", "facts"),
    [
        (ORGAN, ORGAN_QUESTION, QueryClass.SITUATION, ORGAN_FACTS),
        (PAY, PAY_QUESTION, QueryClass.CHANGE, PAY_STEPS),
    ],
    ids=["situation", "change"],
)
def test_facts_of_the_whole_come_in_the_order_of_time_within_the_budget(
    tale: tuple[str, ...], question: str, query_class: QueryClass, facts: tuple[str, ...]
) -> None:
    index, query = book_of(tale), refine(asked(question))
    assert query.query_class is query_class
    rows = _told(query, index).rows
    text = text_of(index, rows)
    assert [fact for fact in facts if fact in text] == list(facts)
    assert [text.index(fact) for fact in facts] == sorted(text.index(fact) for fact in facts)
    assert list(rows) == sorted(set(rows))
    words = wholes.BUDGETS[query_class].words
    assert len(text.split()) <= words < len(text_of(index, range(index.segments)).split())


@pytest.mark.parametrize(
    ("tale", "question", "topic"),
    [
        (ORGAN, ORGAN_QUESTION, {"organ", "Ludovica"}),
        (PAY, PAY_QUESTION, {"pay", "pays", "crowns", "Osric"}),
    ],
    ids=["situation", "change"],
)
def test_what_is_left_out_for_want_of_words_is_of_something_else(
    tale: tuple[str, ...], question: str, topic: set[str]
) -> None:
    index = book_of(tale)
    left = _left(index, _told(refine(asked(question)), index).rows)
    assert left
    assert not topic & set(left.replace(".", "").split())


def test_the_same_is_asked_and_the_same_is_told(organ: Index) -> None:
    query = refine(asked(ORGAN_QUESTION))
    assert _told(query, organ) == _told(query, book_of(ORGAN))


@pytest.mark.parametrize("query_class", wholes.BUDGETS)
def test_one_short_turn_is_told_whole(query_class: QueryClass) -> None:
    index = book_of(["My kiln cracked."])
    query = dataclasses.replace(asked("What happened to my kiln?"), query_class=query_class)
    whole = _told(query, index)
    assert whole.rows == whole.ranked == tuple(range(index.segments))


def test_every_segment_is_ranked_once(pay: Index) -> None:
    assert sorted(_told(asked(PAY_QUESTION), pay).ranked) == list(range(pay.segments))


@pytest.mark.parametrize("query_class", wholes.BUDGETS)
def test_the_trees_and_the_features_have_the_same_names(
    organ: Index, query_class: QueryClass
) -> None:
    query = dataclasses.replace(asked(ORGAN_QUESTION), query_class=query_class)
    found = _features(query, organ)
    tables = wholes.learned()
    assert set(tables.tell.names) == set(tables.rival.names) == set(found)
    assert all(values.shape == (len(cut(organ).spans),) for values in found.values())
    assert all(np.isfinite(values).all() for values in found.values())


def test_features_say_whether_a_change_is_asked_for(pay: Index) -> None:
    query = asked(PAY_QUESTION)
    assert set(_features(query, pay)["change"].tolist()) == {1.0}
    situation = dataclasses.replace(query, query_class=QueryClass.SITUATION)
    assert set(_features(situation, pay)["change"].tolist()) == {0.0}


def test_the_passage_that_means_the_same_leads_the_encoded_ones() -> None:
    index = book_of(
        ["The gutter drips. My physician says that my heart is sound.", "We ate plums."]
    )
    found = _features(asked("What is going on with the doctor's examination?"), index)
    assert found["encoded_segment_lead"].tolist()[1] == 0.0
    assert (found["encoded_segment_lead"][[0, 2]] < 0).all()
    assert int(found["encoded_segment"].argmax()) == 1


def test_a_passage_counts_as_its_best_and_its_riskiest_segment(organ: Index) -> None:
    passages = cut(organ)
    scores = np.arange(organ.segments, dtype=np.float32)
    found = wholes.whole_features(asked(ORGAN_QUESTION), passages, scores, -scores)
    last = [last - 1 for _, last in passages.spans]
    first = [first for first, _ in passages.spans]
    assert last != first
    assert found["short_tell"].tolist() == [row - (organ.segments - 1) for row in last]
    assert found["short_rival"].tolist() == [-row for row in first]


@pytest.mark.parametrize(
    ("question", "amount", "day"),
    [
        ("How did my rent change?", True, False),
        ("How did the date of the hearing shift?", False, True),
        ("How did my view of the plan change?", False, False),
    ],
)
def test_numbers_and_times_count_where_they_are_asked_for(
    question: str, amount: bool, day: bool
) -> None:
    index = book_of(["I pay 14 crowns. We meet on Friday. The loft smells of tar."])
    found = _features(asked(question), index)
    assert np.array_equal(found["amount"], found["has_number"] * amount)
    assert np.array_equal(found["day"], found["has_time"] * day)
    assert found["has_number"].any()
    assert found["has_time"].any()


@pytest.mark.parametrize(
    ("question", "foreign"),
    [("How did my rent change?", [0, 1, 0, 0]), ("How did Wendla's rent change?", [0] * 4)],
)
def test_somebody_elses_value_is_marked_where_ones_own_is_asked(
    question: str, foreign: list[int]
) -> None:
    told = (
        "I pay 300 crowns of rent.",
        "Wendla pays 410 crowns.",
        "My rent is 320 crowns now.",
        "Wendla and I paid 30 crowns.",
    )
    assert _features(asked(question), book_of(told))["foreign"].tolist() == foreign


def _by_number(with_number: float) -> Trees:
    """One tree: a passage without a number is worth 0."""
    return Trees(
        names=("has_number",),
        roots=np.array([0]),
        depth=1,
        feature=np.array([0, 0, 0]),
        limit=np.array([0.5, 0, 0], dtype=np.float32),
        left=np.array([1, 1, 2]),
        right=np.array([2, 1, 2]),
        value=np.array([0, 0, with_number], dtype=np.float32),
    )


@pytest.mark.parametrize(
    ("tell", "rival", "told"),
    [(0.0, 9.0, False), (0.0, -9.0, True), (9.0, 0.0, True), (-9.0, 0.0, False), (6.0, 9.0, True)],
    ids=["risky", "safe", "wanted", "unwanted", "risk counts half"],
)
def test_a_risk_counts_against_a_passage_and_less_than_its_worth(
    tell: float, rival: float, told: bool
) -> None:
    filler = [f"The {beast} slept in the old barn by the quiet pond all day." for beast in
              ("cow", "mare", "goat", "hen", "dog", "cat", "ewe", "fox", "owl", "hare", "toad",
               "crow", "duck", "pig", "mule", "wasp")]  # fmt: skip
    index = book_of([*filler[:8], "The roof of that barn cost us 900 crowns.", *filler[8:]])
    tables = wholes.WholeTables(_by_number(tell), _by_number(rival))
    query = dataclasses.replace(asked("What is going on?"), query_class=QueryClass.SITUATION)
    text = text_of(index, _told(query, index, tables).rows)
    assert ("900 crowns" in text) is told


def test_passages_part_the_book(organ: Index) -> None:
    rows = [row for span in cut(organ).spans for row in range(*span)]
    assert rows == list(range(organ.segments))


def _passages(index: Index, sizes: list[int]) -> Passages:
    spans = tuple((number, number + 1) for number in range(len(sizes)))
    return Passages(index, spans, np.zeros(len(sizes), dtype=np.int64), np.array(sizes))


@given(
    st.lists(st.tuples(st.integers(1, 25), st.floats(-9, 9, width=32)), min_size=1, max_size=30),
    st.integers(1, 150),
)
def test_what_is_chosen_fits_and_nothing_more_would(
    organ: Index, some: list[tuple[int, float]], words: int
) -> None:
    sizes = [size for size, _ in some]
    scores = np.array([score for _, score in some], dtype=np.float32)
    whole = choose(scores, _passages(organ, sizes), words, 1.5)
    rows = whole.rows
    assert sorted(whole.ranked) == list(range(len(some)))
    assert [scores[row] for row in whole.ranked] == sorted(scores, reverse=True)
    used = sum(sizes[row] for row in rows)
    assert list(rows) == sorted(set(rows))
    assert used <= words or len(rows) == 1
    left = [size for row, size in enumerate(sizes) if row not in rows]
    assert all(used + size > words for size in left)


def test_a_longer_passage_has_to_be_worth_its_words(organ: Index) -> None:
    equal = np.zeros(2, dtype=np.float32)
    assert choose(equal, _passages(organ, [20, 10]), 22, 1.5).rows == (1,)
    assert choose(equal, _passages(organ, [20, 10]), 22, 0.0).rows == (0,)
    better = np.array([2, 0], dtype=np.float32)
    assert choose(better, _passages(organ, [20, 10]), 22, 1.5).rows == (0,)


def test_a_doubtful_whole_is_told_as_short_as_a_fact() -> None:
    query = dataclasses.replace(asked(ORGAN_QUESTION), query_class=QueryClass.SITUATION)
    sizes = {}
    for whole in (answer.WHOLE_MIN - 0.01, answer.WHOLE_MIN):
        judged = answer.judge(dataclasses.replace(query, whole=whole), book_of(ORGAN))
        sizes[whole] = len(answer.answer(judged).text.split())
    short, long = sizes.values()
    assert short <= answer.WORDS_MAX < long


def test_each_part_of_a_short_question_may_be_told() -> None:
    book = book_of(("Bram drove me to Sligo.", "The van was green.", "It rained."))
    text = "Who drove me to Sligo, and what colour was the van?"
    query = dataclasses.replace(asked(text), query_class=QueryClass.FACTUAL, whole=0.0)
    told = answer.answer(answer.judge(query, book)).text
    assert "Bram" in told
    assert "green" in told
    assert len(told.split()) <= answer.WORDS_MAX
