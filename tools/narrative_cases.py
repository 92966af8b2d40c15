"""What open stories teach: questions over what narrators told, with what is right and wrong."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from orchestrator.suites.narrative.stories import Question, Story
from orchestrator.suites.narrative.vocabulary import QuestionType
from services.memory.narrative import answer, classify, dates, language, question, tagging, wholes
from services.memory.narrative.analysis import analyse
from services.memory.narrative.book import Told, bind
from services.memory.narrative.index import Index, build
from services.memory.narrative.match import Features, features
from services.memory.narrative.model import WHOLES, QueryClass
from services.memory.narrative.passages import cut
from services.memory.narrative.question import Query

__all__ = ["LONG", "Case", "Labelled", "read_story", "short_of", "whole_of"]

LONG = {QuestionType.SITUATION, QuestionType.CHANGE}


@dataclass(frozen=True, slots=True)
class Case:
    """A question over its speaker's book.

    Attributes:
        story_id: the story, by which folds are made.
        question: as the story asks it.
        query: the question, read, with the class that the rules give.
        index: the speaker's book.
    """

    story_id: str
    question: Question
    query: Query
    index: Index

    @property
    def expected_class(self) -> QueryClass:
        """What the story says that is asked for; raises ValueError where it says nothing."""
        expected = self.question.expected_type
        if expected is None:
            raise ValueError(f"{self.story_id}: no expected type of {self.question.question_id}")
        return QueryClass(expected.value)

    def asked(self, query_class: QueryClass) -> "Case":
        """The same with another class."""
        whole = float(query_class in WHOLES)
        return replace(self, query=replace(self.query, query_class=query_class, whole=whole))


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows (segments or passages) of one case.

    Attributes:
        found: name of a feature → its values.
        tells: rows that hold what is expected.
        rivals: rows that hold something forbidden.
    """

    found: Features
    tells: NDArray[np.bool_]
    rivals: NDArray[np.bool_]

    def matrix(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Rows x features."""
        nothing = np.zeros(len(self.tells))
        return np.stack([self.found.get(name, nothing) for name in names], axis=1).astype(
            np.float64
        )


def read_story(story: Story) -> list[Case]:
    """Every question of a story over what its narrator told."""
    index = build(bind([_told(number, batch.time, batch.user_input)
                        for number, batch in enumerate(story.batches)]))  # fmt: skip
    cases = []
    for asked in story.questions:
        doc = language.parse(asked.question)
        query = question.read(doc, classify.query_class(doc))
        cases.append(Case(story.story_id, asked, query, index))
    return cases


def short_of(case: Case) -> Labelled:
    """Its segments; one that holds something forbidden tells nothing."""
    texts = _texts(case.index, dated=answer.is_dated(case.query))
    tells = _holds(texts, case.question.expected_contains or ())
    rivals = _holds(texts, case.question.must_not_contain or ())
    return Labelled(features(case.query, case.index), tells & ~rivals, rivals)


def whole_of(case: Case, scores: NDArray[np.float32], risks: NDArray[np.float32]) -> Labelled:
    """Its passages, each of which may tell a part.

    Args:
        case: a question about a whole.
        scores: how well each segment would do as a short answer.
        risks: log-odds that it holds something forbidden.
    """
    passages = cut(case.index)
    segments = _texts(case.index, dated=False)
    texts = [" ".join(segments[first:last]) for first, last in passages.spans]
    return Labelled(
        wholes.whole_features(case.query, passages, scores, risks),
        _holds(texts, case.question.expected_contains or ()),
        _holds(texts, case.question.must_not_contain or ()),
    )


def _told(number: int, time: str, text: str) -> Told:
    doc = language.parse(text)
    times = dates.find_times(doc, dt.datetime.fromisoformat(time))
    analysis = analyse(doc, times, tagging.tag(doc, times))
    turn_class = classify.turn_class(doc, updates=False)
    return Told(f"{number:04}", time, text, turn_class, analysis)


def _texts(index: Index, *, dated: bool) -> list[str]:
    texts = []
    for segment in index.book.segments:
        told = index.book.turns[segment.turn]
        words = told.analysis.words
        start, end = words[segment.first].start, words[segment.last - 1].end
        days = [t.resolves_to for t in told.analysis.times if t.start < end and t.end > start]
        texts.append(" ".join([told.text[start:end], *(days if dated else [])]).lower())
    return texts


def _holds(texts: Sequence[str], strings: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([any(one.lower() in text for one in strings) for text in texts], dtype=np.bool_)
