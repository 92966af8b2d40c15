"""Turns of one speaker as a book, and questions to it, for tests of what is told of a whole."""

import datetime as dt
from collections.abc import Sequence

from services.memory.narrative import classify, language
from services.memory.narrative.analysis import analyse
from services.memory.narrative.book import Told, bind
from services.memory.narrative.dates import find_times
from services.memory.narrative.index import Index, build
from services.memory.narrative.question import Query, read

START = dt.datetime(2026, 3, 2, 18, 30)


def book_of(texts: Sequence[str]) -> Index:
    """One turn a day, in order."""
    turns = []
    for day, text in enumerate(texts):
        at = START + dt.timedelta(days=day)
        doc = language.parse(text)
        analysis = analyse(doc, find_times(doc, at))
        turn_class = classify.turn_class(doc, updates=False)
        turns.append(Told(f"{day:02}", at.isoformat(), text, turn_class, analysis))
    return build(bind(turns))


def asked(text: str) -> Query:
    """A question as it is read, its class as it is told."""
    doc = language.parse(text)
    return read(doc, classify.query_class(doc))


def text_of(index: Index, rows: Sequence[int]) -> str:
    """The segments' words, in the order given."""
    segments = (index.book.segments[row] for row in rows)
    return " ".join(index.book.text(s.turn, s.first, s.last) for s in segments)
