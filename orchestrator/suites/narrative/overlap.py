"""How much stories share: vocabulary of pairs, runs of words, shapes of sentences, openings.

A corpus that was filled from templates, or whose stories were cloned, shows here: pairs with one
vocabulary, sentences that are the same but for their nouns, turns that all begin alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from orchestrator.suites.narrative.english import (
    content_words,
    is_function_word,
    sentences,
    shape,
    words,
)
from orchestrator.suites.narrative.stories import Story

__all__ = [
    "RUN_WORDS",
    "Pair",
    "Repeated",
    "Repetition",
    "repeated_openings",
    "repeated_question_shapes",
    "repeated_shapes",
    "run_overlaps",
    "vocabulary_overlaps",
]

# Five words in a row that two stories share are hardly chance.
RUN_WORDS = 5
_OPENING_WORDS = 3
# Shorter skeletons (`i _ the _`) are English, not a frame.
_SHAPE_PARTS_MIN = 6
_SHAPE_FUNCTION_WORDS_MIN = 4
_QUESTION_PARTS_MIN = 5


@dataclass(frozen=True)
class Pair:
    """What two stories share.

    Attributes:
        first: Id of one.
        second: Id of the other.
        share: 0 to 1.
    """

    first: str
    second: str
    share: float


@dataclass(frozen=True)
class Repeated:
    """One thing that stands in several stories.

    Attributes:
        text: A shape or an opening.
        stories: Ids of the stories, in order.
    """

    text: str
    stories: tuple[str, ...]


@dataclass(frozen=True)
class Repetition:
    """How often things of one kind stand in more than one story.

    Attributes:
        counted: How many there are, each time counted.
        repeated: How many of them are equal to one in another story.
        most: Those that stand in two stories or more, in the most stories first.
    """

    counted: int
    repeated: int
    most: tuple[Repeated, ...]

    @property
    def share(self) -> float:
        """Which part is repeated; 0 where nothing was counted."""
        return self.repeated / self.counted if self.counted else 0.0


def vocabulary_overlaps(stories: Sequence[Story]) -> tuple[Pair, ...]:
    """Jaccard index of the content words of every pair's turns, highest first."""
    vocabularies = {story.story_id: frozenset(content_words(_told(story))) for story in stories}
    pairs = [
        Pair(first, second, _jaccard(vocabularies[first], vocabularies[second]))
        for first, second in combinations(vocabularies, 2)
    ]
    return _ordered(pairs)


def run_overlaps(stories: Sequence[Story]) -> tuple[Pair, ...]:
    """Pairs that share runs of five words, by their part of the runs of the shorter story.

    Runs of nothing but function words (`I don't know if I`) are anybody's and not counted.
    """
    runs = {story.story_id: _runs(story) for story in stories}
    holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for story_id, of_story in runs.items():
        for run in of_story:
            holders[run].append(story_id)
    shared: Counter[tuple[str, str]] = Counter()
    for ids in holders.values():
        shared.update(combinations(ids, 2))
    return _ordered(
        Pair(first, second, count / max(1, min(len(runs[first]), len(runs[second]))))
        for (first, second), count in shared.items()
    )


def repeated_shapes(stories: Sequence[Story]) -> Repetition:
    """Sentences of turns that are those of another story but for their content words."""
    return _repetition(stories, _sentence_shapes)


def repeated_question_shapes(stories: Sequence[Story]) -> Repetition:
    """Questions in the first person that are those of another story but for their content words."""
    return _repetition(stories, _question_shapes)


def repeated_openings(stories: Sequence[Story]) -> Repetition:
    """Turns whose first three words are those of a turn of another story."""
    return _repetition(stories, _openings)


def _told(story: Story) -> str:
    return "\n".join(turn.user_input for turn in story.batches)


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    together = len(first & second)
    all_words = len(first) + len(second) - together
    return together / all_words if all_words else 0.0


def _runs(story: Story) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for turn in story.batches:
        said = words(turn.user_input)
        for start in range(len(said) - RUN_WORDS + 1):
            run = tuple(said[start : start + RUN_WORDS])
            if not all(map(is_function_word, run)):
                found.add(run)
    return found


def _sentence_shapes(story: Story) -> list[str]:
    shapes = [shape(text) for turn in story.batches for text in sentences(turn.user_input)]
    return [text for text in shapes if _is_frame(text.split(), _SHAPE_PARTS_MIN)]


def _is_frame(parts: list[str], parts_min: int) -> bool:
    kept = sum(is_function_word(part) for part in parts)
    return len(parts) >= parts_min and kept >= _SHAPE_FUNCTION_WORDS_MIN


def _question_shapes(story: Story) -> list[str]:
    shapes = [shape(question.question) for question in story.questions]
    return [text for text in shapes if len(text.split()) >= _QUESTION_PARTS_MIN]


def _openings(story: Story) -> list[str]:
    firsts = [words(turn.user_input)[:_OPENING_WORDS] for turn in story.batches]
    return [" ".join(first) for first in firsts if len(first) == _OPENING_WORDS]


def _repetition(stories: Sequence[Story], parts_of: Callable[[Story], list[str]]) -> Repetition:
    times: Counter[str] = Counter()
    holders: dict[str, dict[str, None]] = defaultdict(dict)
    for story in stories:
        for text in parts_of(story):
            times[text] += 1
            holders[text][story.story_id] = None
    shared = [Repeated(text, tuple(ids)) for text, ids in holders.items() if len(ids) > 1]
    shared.sort(key=lambda each: (-len(each.stories), each.text))
    repeated = sum(times[each.text] for each in shared)
    return Repetition(sum(times.values()), repeated, tuple(shared))


def _ordered(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (-pair.share, pair.first, pair.second)))
