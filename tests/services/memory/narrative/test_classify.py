import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative.classify import query_class, turn_class
from services.memory.narrative.language import parse
from services.memory.narrative.model import QueryClass, TurnClass


def classed(text: str, *, updates: bool = False, first: bool = False) -> str:
    return turn_class(parse(text), updates=updates, first=first).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I work at a mill near Bradford, my boss is called Edna and she keeps geese.",
            "statement",
        ),
        ("The rehearsal was moved to Friday, and now it's in the crypt instead.", "update"),
        (
            "I've changed my mind: I no longer want the blue one, I'm going back to the red.",
            "update",
        ),
        ("What was the name of my plumber again?", "question"),
        ("Remind me please, when do I see the notary?", "question"),
        ("By the way, how many moons does Saturn have?", "general_knowledge"),
        ("Who invented the zip? My nephew wants to know.", "general_knowledge"),
        ("Is it true that the Nile is the longest river?", "general_knowledge"),
        ("Good morning! Nothing to report.", "noise"),
        ("Thanks for everything, talk soon.", "noise"),
        ("", "noise"),
        ("🙂", "noise"),
    ],
)
def test_turns(text: str, expected: str) -> None:
    assert classed(text) == expected


def test_a_quoted_question_asks_nothing() -> None:
    text = 'My boss said "what do you want here?" and I showed him the permit from March.'
    assert classed(text) in {"statement", "update"}


def test_facts_that_replace_others_make_an_update() -> None:
    text = "My friend Pilar from Cadiz teaches me the flute every week, she is called la Jefa."
    assert classed(text) == "statement"
    assert classed(text, updates=True) in {"statement", "update"}
    told = "I'm with another firm now."
    assert classed(told, updates=True) == "update"


def test_nothing_is_changed_by_the_first_turn() -> None:
    text = "The rehearsal was moved to Friday, and now it's in the crypt instead."
    assert classed(text, updates=True, first=True) == "statement"


def test_a_long_turn_tells() -> None:
    assert classed("I keep goats. " * 60 + "Isn't that odd?") in {"statement", "update"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who mended my bicycle?", "factual"),
        ("What does my aunt sell?", "factual"),
        ("Which pair did I keep in the end?", "factual"),
        ("When do I fly?", "temporal"),
        ("On which day did we sign?", "temporal"),
        ("By what date must I hand in the form?", "temporal"),
        ("What is the date of my hearing?", "temporal"),
        ("How did I feel after the race?", "emotional"),
        ("What was my mood that evening?", "emotional"),
        ("How did I take the news?", "emotional"),
        ("How did my rent change?", "change"),
        ("How has my commute developed?", "change"),
        ("How did the price of hay climb?", "change"),
        ("How did the dinghy go from my uncle to me?", "change"),
        ("Tell me how my hours were cut.", "change"),
        ("What is going on with my knee?", "situation"),
        ("How did it go between the twins?", "situation"),
        ("Whom did I ask for a loan and why him?", "situation"),
        ("What did the note say and did it help?", "situation"),
        ("Why does that old tune matter to me?", "situation"),
        ("How do things stand between my sister and me?", "situation"),
        ("What do I know about the new tenant?", "situation"),
        ("Did I accept the offer?", "negation"),
        ("Am I allergic to nuts?", "negation"),
        ("What may I not eat?", "negation"),
        ("What did I refuse to sign?", "negation"),
        ("Why was I not on the bus?", "factual"),
        ("What is the boiling point of nitrogen?", "general_knowledge"),
        ("How many legs does a spider have?", "general_knowledge"),
        ("Who discovered radium?", "general_knowledge"),
        ("What does the liver do?", "general_knowledge"),
        ("Where did the fair take place after all?", "factual"),
        ("What did the bus cost in the end?", "factual"),
    ],
)
def test_questions(text: str, expected: str) -> None:
    assert query_class(parse(text)).value == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200), st.booleans())
def test_any_text(text: str, updates: bool) -> None:
    doc = parse(text)
    assert turn_class(doc, updates=updates) in TurnClass
    assert query_class(doc) in QueryClass
