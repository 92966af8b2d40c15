"""What is learned is labelled as the stories say, and rendered as a module."""

import numpy as np
import pytest

from orchestrator.suites.narrative.stories import Question
from orchestrator.suites.narrative.vocabulary import QuestionType
from services.memory.narrative.asked import refine
from services.memory.narrative.model import QueryClass
from tests.services.memory.narrative.tales import asked, book_of
from tools.narrative_cases import Case, Labelled, short_of, whole_of
from tools.narrative_weights import KEPT_MIN, learn_classes, rendered


def _case(
    expected: QuestionType | None,
    text: str = "How much rent do I pay?",
    told: tuple[str, ...] = (
        "My rent is 300 crowns.",
        "Wendla pays 410 crowns. My cat sleeps.",
        "My rent is 320 crowns now, and not 300 crowns.",
    ),
) -> Case:
    question = Question(
        question_id="q1",
        question=text,
        expected_type=expected,
        expected_contains=("320 CROWNS",),
        must_not_contain=("300 crowns", "410"),
    )
    return Case("s1", question, asked(text), book_of(told))


def test_a_segment_with_something_forbidden_tells_nothing() -> None:
    told = ("My rent is 300 crowns.", "Not 300 crowns but 320 crowns.", "I pay 320 crowns.")
    case = _case(QuestionType.FACTUAL, told=told)
    labelled = short_of(case)
    texts = [case.index.book.text(s.turn, s.first, s.last) for s in case.index.book.segments]
    assert [text for text, tells in zip(texts, labelled.tells, strict=True) if tells] == [
        "I pay 320 crowns."
    ]
    assert [text for text, rival in zip(texts, labelled.rivals, strict=True) if rival] == [
        "My rent is 300 crowns.",
        "Not 300 crowns but 320 crowns.",
    ]


def test_a_passage_may_tell_and_be_risky_at_once() -> None:
    case = _case(QuestionType.CHANGE).asked(QueryClass.CHANGE)
    zero = np.zeros(case.index.segments, dtype=np.float32)
    labelled = whole_of(case, zero, zero)
    assert labelled.tells.tolist() == [False, False, False, True]
    assert labelled.rivals.tolist() == [True, True, False, True]


def test_a_feature_that_a_case_has_not_is_0_in_its_matrix() -> None:
    none = np.zeros(2, dtype=np.bool_)
    labelled = Labelled({"late": np.array([1, 2], dtype=np.float32)}, none, none)
    assert labelled.matrix(["near", "late"]).tolist() == [[0, 1], [0, 2]]


def test_a_question_without_a_type_teaches_no_class() -> None:
    assert _case(QuestionType.CHANGE).expected_class is QueryClass.CHANGE
    with pytest.raises(ValueError, match="s1: no expected type of q1"):
        learn_classes([_case(None)])


def test_questions_teach_their_classes() -> None:
    told = {
        QuestionType.TEMPORAL: ("When do I fly?", "On which day did we sign?"),
        QuestionType.FACTUAL: ("Who mended my bicycle?", "What does my aunt sell?"),
        QuestionType.CHANGE: ("How did my rent change?", "How has my pay developed?"),
    }
    cases = [_case(kind, text, ("I fly.",)) for kind, texts in told.items() for text in texts]
    classifier = learn_classes(cases)
    assert [refine(case.query, classifier).query_class for case in cases] == [
        case.expected_class for case in cases
    ]
    assert refine(asked("Who sold my boat?"), classifier).query_class is QueryClass.FACTUAL


def test_weights_are_rendered_in_order_without_those_that_count_nothing() -> None:
    text = rendered({"near": 0.12345, "cover": -2.0, "idle": KEPT_MIN / 2})
    module: dict[str, object] = {}
    exec(text, module)
    assert module["TELL"] == {"cover": -2.0, "near": 0.123}
    assert text.index("cover") < text.index("near")
    assert module["__all__"] == ["TELL"]
