"""What each segment of a book is about and how it is said: subjects, people, marks, months."""

from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.book import Book
from services.memory.narrative.model import TurnClass
from services.memory.narrative.phrases import is_content
from services.memory.narrative.references import Person

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

__all__ = [
    "HYPOTHETICAL",
    "OWN",
    "REPORTED",
    "marks_of",
    "meant_of",
    "modified_of",
    "months_of",
    "subjects_of",
]

HYPOTHETICAL = frozenset(
    (
        *("if", "would", "could", "might", "maybe", "perhaps", "wish", "unless", "almost"),
        *("nearly", "suppose", "imagine"),
    )
)
REPORTED = frozenset(
    ("say", "tell", "claim", "reckon", "think", "swear", "hear", "rumour", "rumor", "joke")
)
OWN = frozenset(("i", "me", "my", "mine", "we", "us", "our"))


def subjects_of(
    book: Book, references: tuple[dict[int, Person], ...]
) -> tuple[frozenset[str], ...]:
    """For each segment words for its subject; {"i"} is the speaker; a fragment keeps the last."""
    found: list[frozenset[str]] = []
    for number, segment in enumerate(book.segments):
        people = references[segment.turn]
        words = book.turns[segment.turn].analysis.words
        terms: set[str] = set()
        for index in range(segment.first, segment.last):
            word = words[index]
            if word.dep not in {"nsubj", "nsubjpass"}:
                continue
            if word.text.lower() in {"i", "we"}:
                terms.add("i")
            elif index in people:
                terms |= people[index].terms() | {"~"}
            elif is_content(word):
                terms |= {word.lemma, "~"}
            else:
                terms.add("~")
        before = book.segments[number - 1] if number else None
        if not terms and before is not None and before.turn == segment.turn:
            terms = set(found[-1]) if before.sentence == segment.sentence else {"i"}
        found.append(frozenset(terms or {"i"}))
    return tuple(found)


def meant_of(book: Book, references: tuple[dict[int, Person], ...]) -> list[set[str]]:
    """Words that a segment means without holding them: what people in it are called elsewhere."""
    meant = []
    for segment in book.segments:
        people = references[segment.turn]
        terms: set[str] = set()
        for index in range(segment.first, segment.last):
            if index in people:
                terms |= people[index].terms()
        meant.append(terms)
    return meant


def marks_of(book: Book) -> dict[str, "Bools"]:
    """Name → S: how segments are said: as a wish, of others, with a no or as a change."""
    rows: dict[str, list[bool]] = {
        name: []
        for name in (
            "hypothetical",
            "reported",
            "negated",
            "update",
            "own",
            "asked",
            "idle",
            "verb",
        )
    }
    for segment in book.segments:
        words = book.words(segment)
        low = {word.text.lower() for word in words} | {word.lemma for word in words}
        turn_class = book.turns[segment.turn].turn_class
        rows["hypothetical"].append(bool(low & HYPOTHETICAL))
        rows["reported"].append(bool(low & REPORTED))
        rows["negated"].append(
            bool(low & {"not", "n't", "no", "never", "nobody", "nothing", "none"})
        )
        rows["update"].append(bool(low & lexicon.UPDATES))
        rows["own"].append(bool(low & OWN))
        asking = turn_class in {TurnClass.QUESTION, TurnClass.GENERAL_KNOWLEDGE}
        rows["asked"].append(asking or words[-1].text == "?")
        rows["idle"].append(turn_class is TurnClass.NOISE)
        rows["verb"].append(any(word.tag.startswith("VB") for word in words))
    return {name: np.array(values, dtype=np.bool_) for name, values in rows.items()}


def modified_of(book: Book) -> tuple[frozenset[str], ...]:
    """For each segment the nouns that an adjective, noun, name or number narrows down."""
    found = []
    for segment in book.segments:
        words = book.turns[segment.turn].analysis.words
        found.append(
            frozenset(
                words[words[index].head].lemma
                for index in range(segment.first, segment.last)
                if words[index].dep in {"amod", "compound", "nummod", "nmod"}
            )
        )
    return tuple(found)


def months_of(book: Book) -> tuple[frozenset[int], ...]:
    """For each segment the months (1 to 12) of its turn and of the times that it names."""
    found = []
    for segment in book.segments:
        told = book.turns[segment.turn]
        words = told.analysis.words
        start, end = words[segment.first].start, words[segment.last - 1].end
        named = {
            int(time.resolves_to[5:7])
            for time in told.analysis.times
            if time.start < end and time.end > start
        }
        found.append(frozenset(named | {int(told.time[5:7])}))
    return tuple(found)
