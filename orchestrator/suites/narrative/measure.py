"""Measures a corpus: how much there is, how alike its stories are, how sound what it expects is.

Some values have limits; one that is beyond its own fails the measure (exit code 1). The lint says
what is wrong with a story, the measure what is wrong with the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean

from orchestrator.suites.narrative.date_checks import contradictions, resolved
from orchestrator.suites.narrative.english import content_words, words
from orchestrator.suites.narrative.overlap import (
    Pair,
    Repetition,
    repeated_openings,
    repeated_question_shapes,
    repeated_shapes,
    run_overlaps,
    vocabulary_overlaps,
)
from orchestrator.suites.narrative.stories import Form, Story, Temporal
from orchestrator.suites.narrative.story_clock import iso_local
from orchestrator.suites.narrative.vocabulary import TagType

__all__ = ["Bounded", "Counts", "Limits", "Measured", "Soundness", "measure"]


@dataclass(frozen=True)
class Limits:
    """What a corpus must stay within; shares are 0 to 1.

    Attributes:
        vocabulary: Of two stories' content words, the part that both have (Jaccard).
        runs: Of the shorter story's runs of five words, the part that the other has.
        shapes: Of sentences, the part that is another story's but for content words.
        shape_stories: Stories that may share one sentence shape.
        question_shapes: Of questions, the part that is another story's but for content words.
        openings: Of turns, the part that begins as another story's.
    """

    vocabulary: float = 0.25
    runs: float = 0.02
    shapes: float = 0.02
    shape_stories: int = 4
    question_shapes: float = 0.25
    openings: float = 0.15


@dataclass(frozen=True)
class Bounded:
    """One measured value beside its limit.

    Attributes:
        name: What was measured.
        value: The value.
        limit: What it must not be over, or under where `least`.
        least: Whether the limit is the least.
    """

    name: str
    value: float
    limit: float
    least: bool = False

    @property
    def held(self) -> bool:
        """Whether the value is within its limit."""
        return self.value >= self.limit if self.least else self.value <= self.limit


@dataclass(frozen=True)
class Counts:
    """How much there is.

    Attributes:
        stories: Stories.
        turns: Turns.
        questions: Questions.
        words: Words of turns.
        rounds: Stories by round; `-` where a story names none.
        categories: Stories by category.
        patterns: Stories by pattern.
        question_types: Questions by type; `-` where a question names none.
        shared_names: Persons' names that stand in several stories: overlap that is wanted.
    """

    stories: int
    turns: int
    questions: int
    words: int
    rounds: dict[str, int]
    categories: dict[str, int]
    patterns: dict[str, int]
    question_types: dict[str, int]
    shared_names: int


@dataclass(frozen=True)
class Soundness:
    """How sound what is expected is; each with how many there are and how many are as they ought.

    Attributes:
        expected: Strings that answers must hold: verbatim in the story, or a date it resolves to.
        stores: Strings that storage must hold: verbatim in their turn.
        dates: Resolved times that are days of the calendar and fit simple words (`yesterday`).
        narrators: Stories of our form whose narrator is nobody else's.
        wording: Mean part of a question's content words that its story has, too: 1 is a question
            in the story's words, lower is paraphrase.
    """

    expected: tuple[int, int]
    stores: tuple[int, int]
    dates: tuple[int, int]
    narrators: tuple[int, int]
    wording: float


@dataclass(frozen=True)
class Measured:
    """All that was measured.

    Attributes:
        counts: How much there is.
        vocabulary: Pairs by common vocabulary, highest first.
        runs: Pairs by common runs of words, highest first.
        shapes: Repeated shapes of sentences.
        question_shapes: Repeated shapes of questions.
        openings: Repeated openings of turns.
        soundness: How sound what is expected is.
        bounds: The values that have limits.
    """

    counts: Counts
    vocabulary: tuple[Pair, ...]
    runs: tuple[Pair, ...]
    shapes: Repetition
    question_shapes: Repetition
    openings: Repetition
    soundness: Soundness
    bounds: tuple[Bounded, ...]

    @property
    def held(self) -> bool:
        """Whether every value is within its limit."""
        return all(bound.held for bound in self.bounds)


def measure(stories: Sequence[Story], limits: Limits) -> Measured:
    """Measures stories, which need not be without errors.

    Args:
        stories: Their ids may not be equal.
        limits: What they must stay within.
    """
    vocabulary, runs = vocabulary_overlaps(stories), run_overlaps(stories)
    shapes, questions = repeated_shapes(stories), repeated_question_shapes(stories)
    openings, sound = repeated_openings(stories), _soundness(stories)
    in_most = max((len(each.stories) for each in shapes.most), default=0)
    bounds = (
        Bounded("vocabulary of a pair", _highest(vocabulary), limits.vocabulary),
        Bounded("runs of five words of a pair", _highest(runs), limits.runs),
        Bounded("repeated sentence shapes", shapes.share, limits.shapes),
        Bounded("stories with one sentence shape", in_most, limits.shape_stories),
        Bounded("repeated question shapes", questions.share, limits.question_shapes),
        Bounded("repeated openings of turns", openings.share, limits.openings),
        Bounded("expected strings in the story", _part(sound.expected), 1, least=True),
        Bounded("stored strings in the turn", _part(sound.stores), 1, least=True),
        Bounded("dates that resolve", _part(sound.dates), 1, least=True),
        Bounded("narrators of their own", _part(sound.narrators), 1, least=True),
    )
    return Measured(_counts(stories), vocabulary, runs, shapes, questions, openings, sound, bounds)


def _highest(pairs: Sequence[Pair]) -> float:
    return pairs[0].share if pairs else 0.0


def _part(counted: tuple[int, int]) -> float:
    right, whole = counted
    return right / whole if whole else 1.0


def _counts(stories: Sequence[Story]) -> Counts:
    names: Counter[str] = Counter()
    for story in stories:
        names.update(
            {
                text
                for turn in story.batches
                for text, kind in turn.expected_tags.items()
                if kind is TagType.PERSON
            }
        )
    return Counts(
        stories=len(stories),
        turns=sum(len(story.batches) for story in stories),
        questions=sum(len(story.questions) for story in stories),
        words=sum(len(words(turn.user_input)) for story in stories for turn in story.batches),
        rounds=_by(story.round or "-" for story in stories),
        categories=_by(story.category.value for story in stories),
        patterns=_by(pattern.value for story in stories for pattern in set(story.patterns)),
        question_types=_by(
            question.expected_type or "-" for story in stories for question in story.questions
        ),
        shared_names=sum(count > 1 for count in names.values()),
    )


def _by(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))


def _fits(time: Temporal, meant: datetime, moment: datetime) -> bool:
    return not any(contradictions(time.text, meant.date(), moment.date()))


def _soundness(stories: Sequence[Story]) -> Soundness:
    expected, stores, dates, wording = [], [], [], []
    for story in stories:
        told = "\n".join(turn.user_input for turn in story.batches).casefold()
        vocabulary = set(content_words(told))
        days = {time.resolves_to for turn in story.batches for time in turn.expected_temporal}
        for turn in story.batches:
            stores += [text in turn.user_input for text in turn.expected_stores]
            moment = iso_local(turn.time)
            for time in turn.expected_temporal:
                meant = resolved(time.resolves_to)
                dates.append(
                    meant is not None and moment is not None and _fits(time, meant, moment)
                )
        for question in story.questions:
            expected += [
                text.casefold() in told or any(day[: len(text)] == text for day in days)
                for text in question.expected_contains
            ]
            asked = content_words(question.question)
            if asked and question.expected_contains:
                wording.append(sum(word in vocabulary for word in asked) / len(asked))
    narrators = Counter(story.speaker.casefold() for story in stories)
    ours = [story for story in stories if story.form is Form.SUPERSET]
    return Soundness(
        expected=(sum(expected), len(expected)),
        stores=(sum(stores), len(stores)),
        dates=(sum(dates), len(dates)),
        narrators=(sum(narrators[it.speaker.casefold()] == 1 for it in ours), len(ours)),
        wording=fmean(wording) if wording else 0.0,
    )
