"""How questions are read, and what turns are cut into."""

import pytest

from services.memory.narrative import answer, classify, dates, language, question
from services.memory.narrative.analysis import analyse, at_of, from_json, to_json
from services.memory.narrative.book import Book, Told, bind
from services.memory.narrative.categories import members_of
from services.memory.narrative.facts import facts_of
from services.memory.narrative.forms import form_of
from services.memory.narrative.index import build
from services.memory.narrative.match import features
from services.memory.narrative.model import TurnClass
from services.memory.narrative.question import Query
from services.memory.narrative.references import resolve
from services.memory.narrative.updates import updates

AT = "2026-05-06T10:00:00"


def _query(text: str) -> Query:
    doc = language.parse(text)
    return question.read(doc, classify.query_class(doc))


def _told(number: int, text: str, at: str = AT) -> Told:
    doc = language.parse(text)
    analysis = analyse(doc, dates.find_times(doc, at_of(at)))
    return Told(f"turn-{number}", at, text, TurnClass.STATEMENT, analysis)


def _book(*texts: str) -> Book:
    return bind([_told(number, text) for number, text in enumerate(texts)])


@pytest.mark.parametrize(
    ("text", "form", "focus"),
    [
        ("Who repairs my clock?", "who", ""),
        ("Where does my aunt keep the ladder?", "where", ""),
        ("On what date does the tenancy end?", "when", "date"),
        ("What time is the ferry?", "clock", "time"),
        ("What did the kiln cost me?", "much", ""),
        ("How many ewes did I sell?", "many", ""),
        ("How long is the lease?", "long", ""),
        ("What is my neighbour's parrot called?", "name", "parrot"),
        ("Which company built the shed?", "organization", "company"),
        ("What colour is the gate?", "which", "colour"),
        ("How did I feel about the verdict?", "feel", ""),
        ("Why did we turn back?", "why", ""),
        ("Did I sign the contract?", "do", ""),
        ("What does my cousin do for a living?", "role", ""),
    ],
)
def test_a_question_has_a_form_and_a_focus(text: str, form: str, focus: str) -> None:
    found, noun = form_of(analyse(language.parse(text), ()).words)
    assert found == form
    assert noun in {focus, ""} if not focus else noun == focus


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where does Ida Vance-Moreau live?", "Where does I live?"),
        ("What is Ida Vance-Moreau's dog called?", "What is my dog called?"),
        ("ida vance-moreau\u2019s boat: what became of it?", "My boat: what became of it?"),
        ("Where does Ida live?", "Where does Ida live?"),
    ],
)
def test_a_question_of_the_speaker_by_name_becomes_their_own(text: str, expected: str) -> None:
    assert question.as_own(text, "Ida Vance-Moreau") == expected


def test_a_question_says_which_time_it_means() -> None:
    assert _query("Where do I work now?").now
    assert _query("Where did I work before the merger?").before
    assert _query("What did I plant in October?").months == frozenset({10})
    assert _query("May I ask where my keys are?").own


def test_an_analysis_is_kept_whole() -> None:
    analysis = _told(
        1, "Tomorrow I'm taking the tabby to Wexford \u2014 at last! \U0001f408"
    ).analysis
    assert from_json(to_json(analysis)) == analysis


def test_segments_hold_every_word_once_and_in_order() -> None:
    book = _book("I sold the mare, and because the barn leaks, I rent a stall in Ennis; it's dry.")
    words = [word for segment in book.segments for word in book.words(segment)]
    assert words == list(book.turns[0].analysis.words)


def test_turns_stand_in_the_order_of_their_own_times() -> None:
    early, late = _told(1, "I live in Bray.", "2026-01-01T09:00:00"), _told(2, "I moved to Cobh.")
    assert bind([late, early]) == bind([early, late])
    assert [told.turn_id for told in bind([late, early]).turns] == ["turn-1", "turn-2"]


def test_a_book_that_is_too_long_keeps_the_latest() -> None:
    turns = [
        _told(n, "The bees swarmed. I caught them.", f"2026-01-0{n}T09:00:00") for n in (1, 2, 3)
    ]
    assert [told.turn_id for told in bind(turns, 4).turns] == ["turn-2", "turn-3"]


def test_a_pronoun_means_the_person_last_told_of() -> None:
    words = [told.analysis for told in _book("My sister Wren sails. She built the boat.").turns]
    meant = resolve(words)[0]
    she = next(i for i, word in enumerate(words[0].words) if word.text == "She")
    assert {"sister", "wren"} <= meant[she].terms()


def test_kin_of_kin_has_its_own_word() -> None:
    words = [told.analysis for told in _book("My brother's wife keeps geese.").turns]
    people = resolve(words)[0].values()
    assert any("sister-in-law" in person.terms() for person in people)


def test_facts_are_verbatim_and_their_queries_ask_of_them() -> None:
    text = "I don't eat walnuts. My cousin Bram runs a bakery in Sligo."
    facts = facts_of(build(_book(text)))
    assert [fact.text for fact in facts] == ["I don't eat walnuts.", text[21:]]
    assert [fact.negated for fact in facts] == [True, False]
    assert facts[1].predicate == "run"
    assert all(fact.queries for fact in facts)


def test_what_changes_something_told_is_an_update() -> None:
    concert, postponed = _book("The concert is on Friday.", "The concert has been postponed.").turns
    goose = _book("The goose laid eggs.").turns[0]
    assert updates(postponed, [goose, concert])
    assert not updates(postponed, [goose])
    assert not updates(postponed, [])
    assert not updates(goose, [goose])


def test_a_value_of_the_kind_that_is_asked_for_is_wanted() -> None:
    index = build(_book("I painted the gate teal. My uncle came by on Sunday."))
    found = features(_query("What colour is my gate?"), index)
    assert found["member"].tolist() == [1.0, 0.0]
    assert "teal" in members_of("colour")


def test_an_answer_is_not_longer_than_a_short_answer_may_be() -> None:
    long = "I keep the spare key under the third pot from the left by the blue door, " * 3
    judged = answer.judge(_query("Where do I keep the spare key?"), build(_book(long)))
    assert 0 < len(answer.answer(judged).text.split()) <= answer.WORDS_MAX
