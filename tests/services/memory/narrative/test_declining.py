"""What the world knows is declined; what may have been told is not."""

import pytest

from services.memory.narrative.declining import WEIGHTS, signs, told
from services.memory.narrative.index import Index
from services.memory.narrative.match import features
from tests.services.memory.narrative.tales import asked, book_of

TALE = (
    "I tune harps in Coimbra, and my colleague Benedita strings them. Her father drives a tram.",
    "How many strings does a concert harp have? My nephew asks me and I never counted.",
    "The workshop's roof leaks. Benedita called the roofer, a Mr. Sabugal, who came on Tuesday.",
    "Sold the small harp to a nun. She paid 800 in coins.",
)


@pytest.fixture(scope="module")
def index() -> Index:
    return book_of(TALE)


def known(question: str, index: Index) -> float:
    query = asked(question)
    return told(query, index, features(query, index))


@pytest.mark.parametrize(
    "question",
    [
        "How many strings does a concert harp have?",
        "Who invented the bicycle?",
        "What is the highest mountain in Africa?",
        "How many legs does a spider have?",
        "What does the liver do?",
    ],
)
def test_the_worlds_knowledge_is_declined(index: Index, question: str) -> None:
    assert known(question, index) < 0


@pytest.mark.parametrize(
    "question",
    [
        "What do I do for a living?",
        "How many strings did I count on a concert harp?",
        "Who invented my nickname?",
        "What does Benedita's father drive?",
        "Who came about the roof?",
        "When did Mr. Sabugal come?",
        "What did the nun pay for the small harp?",
        "What was wrong with the workshop?",
    ],
)
def test_what_may_have_been_told_is_not(index: Index, question: str) -> None:
    assert known(question, index) >= 0


def test_signs_and_weights_have_the_same_names(index: Index) -> None:
    query = asked("How long is the Nile?")
    assert set(signs(query, index, features(query, index))) == set(WEIGHTS)


def test_that_the_speaker_asked_it_here_speaks_for_declining() -> None:
    question = "How many strings does a concert harp have?"
    silent = book_of([text for text in TALE if "?" not in text])
    assert known(question, book_of(TALE)) < known(question, silent)
