"""What a question asks for is told by its form and by its meaning."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative.asked import CLASSES, LEARNED, Classifier, class_features, refine
from services.memory.narrative.model import QueryClass
from tests.services.memory.narrative.tales import asked


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who tuned my piano?", "factual"),
        ("Where do I keep the spare key?", "factual"),
        ("What is my neighbour's parrot called?", "factual"),
        ("When do I fly to Oslo?", "temporal"),
        ("On which day did we sign the lease?", "temporal"),
        ("How did I feel after the regatta?", "emotional"),
        ("What was my mood on the evening of the play?", "emotional"),
        ("What is going on with my shoulder?", "situation"),
        ("How do things stand between my brother and me?", "situation"),
        ("How did my rent change?", "change"),
        ("How has my commute developed since spring?", "change"),
        ("Did I accept the offer of the museum?", "negation"),
        ("What did I refuse to sign?", "negation"),
        ("Am I allergic to nuts?", "negation"),
        ("What is the boiling point of nitrogen?", "general_knowledge"),
        ("Who discovered radium?", "general_knowledge"),
        ("What is the capital of Mongolia?", "general_knowledge"),
    ],
)
def test_a_plain_question_has_its_class(text: str, expected: str) -> None:
    assert refine(asked(text)).query_class.value == expected


def test_meaning_tells_what_the_rules_do_not_know() -> None:
    query = asked("What is the whole story with the chapel organ?")
    assert query.query_class is not QueryClass.SITUATION
    assert refine(query).query_class is QueryClass.SITUATION


def test_nothing_but_the_class_is_refined() -> None:
    query = asked("What is the whole story with the chapel organ?")
    refined = refine(query)
    assert refined != query
    as_read = dataclasses.replace(refined, query_class=query.query_class, whole=query.whole)
    assert as_read == query


def test_how_likely_a_whole_is_asked_for_is_the_sum_of_its_classes() -> None:
    query = asked("Who tuned my piano?")
    weights = np.zeros((len(CLASSES), len(class_features(query))))
    for kind, odds in ((QueryClass.SITUATION, 3.0), (QueryClass.CHANGE, 2.0)):
        weights[CLASSES.index(kind), -1] = np.log(odds)
    refined = refine(query, Classifier(weights))
    assert refined.query_class is QueryClass.SITUATION
    assert refined.whole == pytest.approx(5 / (5 + len(CLASSES) - 2))


def test_a_plain_fact_is_no_whole_and_a_plain_situation_is_one() -> None:
    assert refine(asked("Who tuned my piano?")).whole < 0.5
    assert refine(asked("What is going on with my shoulder?")).whole > 0.5


@pytest.mark.parametrize("kind", CLASSES)
def test_a_classifier_that_is_given_decides(kind: QueryClass) -> None:
    query = asked("Who tuned my piano?")
    weights = np.zeros((len(CLASSES), len(class_features(query))))
    weights[CLASSES.index(kind), -1] = 1.0
    assert refine(query, Classifier(weights)).query_class is kind


def test_features_hold_the_class_that_the_rules_give() -> None:
    query = asked("Who tuned my piano?")
    seen = set()
    for kind in CLASSES:
        told = class_features(dataclasses.replace(query, query_class=kind))
        seen.add(tuple(told.tolist()))
    assert len(seen) == len(CLASSES)


def test_the_learned_file_has_a_row_a_class_and_a_number_a_feature() -> None:
    rows = json.loads(LEARNED.read_text(encoding="utf-8"))
    features = class_features(asked("Who tuned my piano?"))
    assert [len(row) for row in rows] == [len(features)] * len(CLASSES)
    assert set(CLASSES) == set(QueryClass)
    assert np.isfinite(np.array(rows)).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text_has_a_class(text: str) -> None:
    query = asked(text)
    assert refine(query).query_class in QueryClass
    assert np.isfinite(class_features(query)).all()


@pytest.mark.parametrize(
    "text",
    ["", " ", "\0", "?", "\U0001f389\U0001f5dd\ufe0f", "明日は?", "why " * 2_000, "a" * 5_000],
    ids=["empty", "blank", "nul", "mark", "emoji", "japanese", "endless", "one word"],
)
def test_an_odd_question_has_a_class_that_stays(text: str) -> None:
    refined = refine(asked(text)).query_class
    assert refined in QueryClass
    assert refine(asked(text)).query_class is refined
