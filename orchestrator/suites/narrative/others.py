"""What an answer to one speaker tells of the others in the same memory.

Judged by strings that the others' stories name: their narrators, what they tag, what they expect.
A string is another one's only where no telling word of it is one's own, so that whatever a memory
makes of its speaker's own words gives nothing away. A person's or an organisation's name is enough;
anything else (places, which a memory may know of itself, and words that people share) shows
something only by two of one story.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from orchestrator.suites.narrative.date_checks import MONTHS, WEEKDAYS
from orchestrator.suites.narrative.english import content_words
from orchestrator.suites.narrative.own_words import own_words
from orchestrator.suites.narrative.stories import Question, Story
from orchestrator.suites.narrative.texts import words
from orchestrator.suites.narrative.vocabulary import TagType

__all__ = ["Speakers"]

_NAMES = (TagType.PERSON, TagType.ORGANIZATION)
_WORD = re.compile(r"[^\W\d_]+")
_CALENDAR = frozenset(name.casefold() for name in (*MONTHS, *WEEKDAYS))
_TOGETHER = 2
_WORD_LETTERS_MIN = 3


@dataclass(frozen=True)
class _Mark:
    """A string that tells of a story."""

    story_id: str
    text: str
    telling: frozenset[str]
    name: bool

    @property
    def capital(self) -> bool:
        """It is written with a capital, and counts only where an answer writes it so."""
        return not self.text.islower()


class Speakers:
    """The stories that share a memory.

    Args:
        stories: All that is told to it.
    """

    def __init__(self, stories: Iterable[Story]) -> None:
        self._stories = tuple(stories)
        self._own: dict[str, frozenset[str]] = {}

    def given_away(self, story: Story, question: str, answer: str) -> tuple[str, ...]:
        """The strings of one other story that an answer tells; empty where nothing is shown.

        Args:
            story: The story of whoever asks.
            question: What was asked: to repeat it gives nothing away.
            answer: What was answered.
        """
        asked = frozenset(words(question))
        capitals = {one.casefold() for one in _WORD.findall(answer) if one[0].isupper()}
        found: dict[str, dict[str, bool]] = {}
        for mark in self._marks_in(answer):
            if mark.story_id == story.story_id or mark.telling & asked:
                continue
            if mark.capital and not mark.telling & capitals:
                continue
            if mark.telling & self._words_of(story):
                continue
            found.setdefault(mark.story_id, {})[mark.text] = mark.name
        for told in found.values():
            if any(told.values()) or len(told) >= _TOGETHER:
                return tuple(told)
        return ()

    def words_given_away(self, story: Story, question: Question, answer: str) -> tuple[str, ...]:
        """What of another one's expected strings of lower-case letters an answer to it tells.

        Each may be said by chance; several, to questions of one story, are not.

        Args:
            story: The story of whoever asks.
            question: The other one's question.
            answer: What was answered.
        """
        known = self._words_of(story) | frozenset(words(question.question))
        return tuple(
            text
            for text in question.expected_contains
            if text.islower()
            and len(content_words(text)) > 0
            and not known.intersection(content_words(text))
            and f" {' '.join(words(text))} " in f" {' '.join(words(answer))} "
        )

    def _marks_in(self, answer: str) -> Iterator[_Mark]:
        said = words(answer)
        for at in range(len(said)):
            for length in self._lengths:
                yield from self._marks.get(said[at : at + length], ())

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple(sorted({len(said) for said in self._marks}))

    @cached_property
    def _marks(self) -> dict[tuple[str, ...], tuple[_Mark, ...]]:
        found: dict[tuple[str, ...], dict[tuple[str, bool], _Mark]] = {}
        for story in self._stories:
            for text, name in _strings(story):
                telling = self._telling(text)
                if telling:
                    one = _Mark(story.story_id, text, telling, name)
                    found.setdefault(words(text), {})[story.story_id, name] = one
        return {said: tuple(marks.values()) for said, marks in found.items()}

    def _telling(self, text: str) -> frozenset[str]:
        """The words that a string tells by; none for one that anybody may say."""
        telling = frozenset(one for one in content_words(text) if len(one) >= _WORD_LETTERS_MIN)
        anybody = any(char.isdigit() for char in text) or telling & _CALENDAR
        if anybody or (text.islower() and len(telling) < _TOGETHER):
            return frozenset()
        # A name that is a word, too, may stand for the word.
        common = not text.islower() and telling <= self._lower
        return frozenset() if common else telling

    @cached_property
    def _lower(self) -> frozenset[str]:
        """All words that some turn has in lower case."""
        turns = (turn.user_input for story in self._stories for turn in story.batches)
        return frozenset(one for turn in turns for one in _WORD.findall(turn) if one.islower())

    def _words_of(self, story: Story) -> frozenset[str]:
        known = self._own.get(story.story_id)
        if known is None:
            expected = (
                text
                for one in story.questions
                for text in (one.question, one.question_open or "", *one.expected_contains)
            )
            tags = (text for turn in story.batches for text in turn.expected_tags)
            texts = (own_words(story), *expected, *tags)
            known = frozenset(one for text in texts for one in (*words(text), *content_words(text)))
            self._own[story.story_id] = known
        return known


def _strings(story: Story) -> Iterator[tuple[str, bool]]:
    """What tells of a story, and whether it is a name that nobody else has a reason to tell."""
    yield story.speaker, True
    for turn in story.batches:
        for text, kind in turn.expected_tags.items():
            if kind in (*_NAMES, TagType.PLACE) and not text.islower():
                yield text, kind in _NAMES
    for question in story.questions:
        for text in question.expected_contains:
            yield text, False
