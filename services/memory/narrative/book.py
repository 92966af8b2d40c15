"""A speaker's turns in the order of their times, cut into segments to be told back verbatim."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.memory.narrative.analysis import Analysis, Word
from services.memory.narrative.model import TurnClass
from services.memory.narrative.phrases import Phrase, find_phrases

__all__ = ["Book", "Segment", "Told", "bind"]

ANSWER_WORDS = 25
BREAKS = frozenset(
    {",", ";", ":", "\u2014", "\u2013", "-", "--", "(", ")", "…", "...", ".", "!", "?", "/"}
)
LINKS = frozenset(
    (
        *("and", "but", "or", "so", "because", "which", "who", "where", "while", "though"),
        *("although", "when", "if", "then", "until", "since", "unless", "whereas", "except"),
        *("plus", "as", "that"),
    )
)


@dataclass(frozen=True, slots=True)
class Told:
    """One turn as it is kept.

    Attributes:
        turn_id: stable name of the turn.
        time: ISO 8601 local date-time.
        text: what was said.
        turn_class: what the turn is for.
        analysis: its parse.
    """

    turn_id: str
    time: str
    text: str
    turn_class: TurnClass
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a turn between breaks.

    Attributes:
        turn: index of its turn in the book.
        first: its first word in the turn.
        last: one past its last word.
        sentence: index of its sentence in the turn.
        phrases: typed phrases that begin in it.
        size: words as a reader counts them (between blanks).
    """

    turn: int
    first: int
    last: int
    sentence: int
    phrases: tuple[Phrase, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Book:
    """What one speaker told, ready to be asked."""

    turns: tuple[Told, ...]
    segments: tuple[Segment, ...]

    def words(self, segment: Segment) -> tuple[Word, ...]:
        """The segment's tokens."""
        return self.turns[segment.turn].analysis.words[segment.first : segment.last]

    def text(self, turn: int, first: int, last: int) -> str:
        """Words of a turn, verbatim."""
        told = self.turns[turn]
        words = told.analysis.words
        return told.text[words[first].start : words[last - 1].end]


def bind(turns: Sequence[Told], segments_max: int | None = None) -> Book:
    """Orders turns by their own times and cuts them; the latest, where there are too many."""
    ordered = sorted(turns, key=lambda told: (told.time, told.turn_id))
    kept: list[tuple[Told, list[Segment]]] = []
    size = 0
    for told in reversed(ordered):
        cut = _cut(told)
        if segments_max is not None and kept and size + len(cut) > segments_max:
            break
        kept.append((told, cut[:segments_max]))
        size += len(cut)
    kept.reverse()
    segments = [
        replace(segment, turn=number) for number, (_, cut) in enumerate(kept) for segment in cut
    ]
    return Book(tuple(told for told, _ in kept), tuple(segments))


def _cut(told: Told) -> list[Segment]:
    words = told.analysis.words
    phrases = find_phrases(told.analysis)
    starts = [phrase.start for phrase in phrases]
    segments = []
    for first, last in _spans(words):
        low, high = bisect.bisect_left(starts, first), bisect.bisect_left(starts, last)
        text = told.text[words[first].start : words[last - 1].end]
        segments.append(
            Segment(
                0,
                first,
                last,
                words[first].sentence,
                phrases[low:high],
                len(text.split()),
            )
        )
    return segments


def _spans(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Where segments begin and end; every word is in exactly one."""
    cuts = [0]
    for index in range(1, len(words)):
        before, word = words[index - 1], words[index]
        new_sentence = word.sentence != before.sentence
        after_break = before.text in BREAKS and not _numeric(words, index - 1)
        link = word.lemma in LINKS and _verb_follows(words, index)
        long = index - cuts[-1] >= ANSWER_WORDS - 1
        if new_sentence or (index - cuts[-1] >= 2 and (after_break or link)) or long:
            cuts.append(index)
    return list(zip(cuts, [*cuts[1:], len(words)], strict=True)) if words else []


def _numeric(words: Sequence[Word], index: int) -> bool:
    """True for a break inside a number or between written-together parts."""
    touching = (
        0 < index < len(words) - 1
        and words[index - 1].end == words[index].start
        and words[index].end == words[index + 1].start
    )
    return touching


def _verb_follows(words: Sequence[Word], index: int) -> bool:
    for word in words[index + 1 : index + 8]:
        if word.sentence != words[index].sentence or word.text in BREAKS:
            return False
        if word.tag.startswith(("VB", "MD")):
            return True
    return False
