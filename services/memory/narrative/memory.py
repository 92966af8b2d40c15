"""What the narrative part does: takes turns, keeps them, answers questions from them."""

import datetime as dt
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from services.common.database import Database
from services.memory.narrative import answer as answering
from services.memory.narrative import (
    classify,
    dates,
    emotion,
    encoder,
    language,
    question,
    store,
    tagging,
)
from services.memory.narrative.analysis import analyse
from services.memory.narrative.asked import refine
from services.memory.narrative.book import Told, bind
from services.memory.narrative.coordination import parts_of
from services.memory.narrative.facts import Fact, fact_of_segment, facts_of
from services.memory.narrative.index import Index, build
from services.memory.narrative.model import (
    Emotion,
    QueryClass,
    Tag,
    TemporalReference,
    Turn,
    TurnClass,
)
from services.memory.narrative.phrases import is_content
from services.memory.narrative.updates import has_cue, updates
from services.memory.narrative.wholes import BUDGETS

__all__ = ["Answer", "Memory", "Taken"]

# About what `analysis` keeps of a turn; the rest of a longer one is kept as text only.
PARSED_CHARACTERS = 24_000
# What one answer draws on: a speaker's latest segments, about 15,000 words.
SEGMENTS_MAX = 2_000
# So many earlier turns are looked at to see whether a turn changes what was told.
EARLIER_TURNS = 60
# With what the models take, and a quarter more than is counted, some 800 MiB in all.
SHELVES_BYTES_MAX = 224 * 1024 * 1024
SPEAKERS_TRIED = 3


@dataclass(frozen=True, slots=True)
class Taken:
    """What was made of a turn (WriteTrace)."""

    turn_class: TurnClass
    facts: tuple[Fact, ...]
    tags: tuple[Tag, ...]
    times: tuple[TemporalReference, ...]
    emotion: Emotion | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and how it came about.

    Attributes:
        text: what is said; empty when declined.
        declined: nothing that was told answers.
        query_class: what was asked for.
        candidates: ids of facts, best first, at most 100.
        converged: ids of the facts that the answer joins.
    """

    text: str
    declined: bool
    query_class: QueryClass
    candidates: tuple[str, ...]
    converged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """A speaker's index with the state that it was built from."""

    state: store.Counted
    index: Index
    facts: tuple[Fact, ...]
    fact_of: tuple[int, ...]


class Memory:
    """The narrative memory over one database; safe for several threads."""

    def __init__(self, database: Database) -> None:
        """Keeps nothing but a cache of its own; the tables are made by the part."""
        self._database = database
        self._lock = threading.Lock()
        self._shelves: OrderedDict[tuple[str, str], _Shelf] = OrderedDict()

    def ingest(self, turn: Turn) -> Taken:
        """Takes a turn; durable when it returns. The same turn twice is one turn."""
        time = dt.datetime.fromisoformat(turn.time).replace(tzinfo=None)
        # The first question after it wants it encoded; parsing leaves another processor idle.
        encoder.ahead(turn.text)
        doc = language.parse(turn.text[:PARSED_CHARACTERS])
        times = dates.find_times(doc, time)
        tags = tagging.tag(doc, times)
        analysis = analyse(doc, times, tags)
        # What is kept of a turn depends on that turn alone: facts are the same in every order.
        told = Told(
            turn_id=_turn_id(turn),
            time=time.isoformat(timespec="seconds"),
            text=turn.text,
            turn_class=classify.turn_class(doc, updates=False),
            analysis=analysis,
        )
        lemmas = sorted({word.lemma for word in analysis.words if is_content(word)})
        with self._database.transaction() as conn:
            # Only a turn that sounds like a change is compared with what was told before it.
            most = EARLIER_TURNS if has_cue(told.text) else 1
            before = store.load_before(conn, turn.namespace, turn.speaker, told, most)
            store.keep(conn, turn.namespace, turn.speaker, told, lemmas)
        turn_class = classify.turn_class(doc, updates=updates(told, before), first=not before)
        facts = facts_of(build(bind((told,))))
        return Taken(turn_class, facts, tags, times, emotion.feel(doc))

    def ask(self, namespace: str, asked: str, speaker: str) -> Answer:
        """Answers a question; changes nothing.

        Args:
            namespace: partition.
            asked: the question.
            speaker: full name of who asks, or "": over all speakers.
        """
        own, names = self._addressed(namespace, asked, speaker)
        encoder.ahead(own)
        doc = language.parse(own)
        query = refine(question.read(doc, classify.query_class(doc)))
        if query.query_class in BUDGETS:
            encoder.ahead(*parts_of(query.text))
        if not names:
            names = self._fitting(namespace, query)
        judged = [
            (shelf, answering.judge(query, shelf.index))
            for shelf in (self._shelf(namespace, name) for name in names)
            if shelf.index.lemmas
        ]
        if not judged:
            return Answer("", True, query.query_class, (), ())
        shelf, best = max(judged, key=lambda pair: float(pair[1].scores.max()))
        made = answering.answer(best)
        candidates = _ids(shelf, made.candidates)
        if not best.known:
            return Answer("", True, QueryClass.GENERAL_KNOWLEDGE, candidates, ())
        asked_for = query.query_class
        if asked_for is QueryClass.GENERAL_KNOWLEDGE:
            # By its form of the world, but told here: a fact like others.
            asked_for = QueryClass.FACTUAL
        return Answer(made.text, False, asked_for, candidates, _ids(shelf, made.segments))

    def facts(self, namespace: str) -> Iterator[tuple[str, Fact]]:
        """Every fact of a namespace with its speaker."""
        with self._database.read() as conn:
            names = store.speakers(conn, namespace)
        for name in names:
            for fact in self._shelf(namespace, name).facts:
                yield name, fact

    def turns(self, namespace: str) -> Iterator[tuple[str, Told]]:
        """Every turn of a namespace with its speaker."""
        with self._database.read() as conn:
            yield from store.namespace_turns(conn, namespace)

    def _addressed(self, namespace: str, asked: str, speaker: str) -> tuple[str, tuple[str, ...]]:
        """The question in its speaker's own words, and whose turns may answer it."""
        if speaker:
            return question.as_own(asked, speaker), (speaker,)
        with self._database.read() as conn:
            names = store.speakers(conn, namespace)
        low = asked.casefold()
        named = [name for name in names if name.casefold() in low]
        if not named:
            return asked, ()
        longest = max(named, key=lambda name: (len(name), name))
        return question.as_own(asked, longest), (longest,)

    def _fitting(self, namespace: str, query: question.Query) -> tuple[str, ...]:
        lemmas = [term.lemma for term in query.terms]
        with self._database.read() as conn:
            return store.rank_speakers(conn, namespace, lemmas, SPEAKERS_TRIED)

    def _shelf(self, namespace: str, speaker: str) -> _Shelf:
        key = (namespace, speaker)
        with self._database.read() as conn:
            state = store.count(conn, namespace, speaker)
            with self._lock:
                kept = self._shelves.get(key)
                if kept is not None and kept.state == state:
                    self._shelves.move_to_end(key)
                    return kept
            turns = store.load(conn, namespace, speaker)
        index = build(bind(turns, SEGMENTS_MAX))
        facts = facts_of(index)
        shelf = _Shelf(state, index, facts, fact_of_segment(facts, index.segments))
        with self._lock:
            self._shelves[key] = shelf
            self._shelves.move_to_end(key)
            while self._bytes() > SHELVES_BYTES_MAX and len(self._shelves) > 1:
                self._shelves.popitem(last=False)
        return shelf

    def _bytes(self) -> int:
        return sum(shelf.index.size_bytes for shelf in self._shelves.values())


def _turn_id(turn: Turn) -> str:
    parts = "\0".join((turn.speaker, turn.time, turn.text))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _ids(shelf: _Shelf, segments: tuple[int, ...]) -> tuple[str, ...]:
    places = dict.fromkeys(shelf.fact_of[row] for row in segments)
    return tuple(shelf.facts[place].fact_id for place in places if place >= 0)
