"""Which exported items are raw turns: the person's words as they came, and nothing made of them.

CP2 asks what a memory made of a turn. A fact may well hold the sentence that told it, so a turn of
one sentence, and one sentence of a longer turn, count as facts. What holds a turn's words across
its sentences is the turn again, whole, cut short, or in pieces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orchestrator.suites.narrative.english import sentences
from orchestrator.suites.narrative.texts import words

__all__ = ["leaves", "without_raw_turns"]

# So many words in a row are taken over, not chosen again.
_RUN_WORDS = 5
# Of what a turn has beside the sentence that an item holds most of.
_BEYOND_SHARE_MAX = 0.5
# Of a turn, by all items together that hold some of several of its sentences.
_TOGETHER_SHARE_MAX = 0.85
_DEPTH_MAX = 40

_Words = tuple[str, ...]


def leaves(item: str) -> tuple[str, ...]:
    """The texts of an item, in any order: keys, strings and numbers of JSON, else the item itself.

    Escapes are undone, so that a text is what it says however it was written.
    """
    return tuple(_leaves(item, _DEPTH_MAX))


def _leaves(text: str, depth: int) -> Iterator[str]:
    if text.lstrip()[:1] not in ("{", "[", '"') or not depth:
        yield text
        return
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        yield text
        return
    pending: list[object] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            pending += one
        elif isinstance(one, str):
            yield from _leaves(one, depth - 1)


def without_raw_turns(items: Sequence[str], turns: Iterable[str]) -> list[str]:
    """The texts of all items that are no raw turns.

    Args:
        items: Exported items.
        turns: What was said in each turn.
    """
    texts = [leaves(item) for item in items]
    runs = [_runs(one) for one in texts]
    raw: set[int] = set()
    for turn in turns:
        raw |= _raw_items(_Turn.of(turn), runs)
    return [text for at, one in enumerate(texts) if at not in raw for text in one]


@dataclass(frozen=True)
class _Turn:
    """A turn as runs of words are found in it.

    Attributes:
        words: All of them.
        sentence: Which sentence each one is of.
    """

    words: _Words
    sentence: tuple[int, ...]

    @classmethod
    def of(cls, turn: str) -> _Turn:
        parts = [words(part) for part in sentences(turn)]
        return cls(
            tuple(word for part in parts for word in part),
            tuple(number for number, part in enumerate(parts) for _ in part),
        )

    def covered(self, runs: frozenset[_Words]) -> set[int]:
        """The places of its words that stand in runs."""
        length = min(_RUN_WORDS, len(self.words))
        found: set[int] = set()
        for at in range(len(self.words) - length + 1):
            if self.words[at : at + length] in runs:
                found.update(range(at, at + length))
        return found


def _runs(texts: Iterable[str]) -> frozenset[_Words]:
    """Every run of words of some texts, as long as is looked for; of short turns all lengths."""
    found: set[_Words] = set()
    for text in texts:
        said = words(text)
        for length in range(2, _RUN_WORDS + 1):
            found.update(said[at : at + length] for at in range(len(said) - length + 1))
    return frozenset(found)


def _raw_items(turn: _Turn, runs: Sequence[frozenset[_Words]]) -> set[int]:
    """Which items hold a turn of more than one sentence, alone or together."""
    if not turn.sentence or not turn.sentence[-1]:
        return set()
    in_each = Counter(turn.sentence)
    raw: set[int] = set()
    pieces: dict[int, set[int]] = {}
    for at, item in enumerate(runs):
        covered = turn.covered(item)
        held = Counter(turn.sentence[place] for place in covered)
        if len(held) < 2:
            # One sentence may be one fact, and so may a word before or after it: see `large`.
            continue
        pieces[at] = covered
        most, words_held = held.most_common(1)[0]
        beyond, held_beyond = len(turn.words) - in_each[most], len(covered) - words_held
        large = held_beyond >= _RUN_WORDS and held_beyond > _BEYOND_SHARE_MAX * beyond
        if large or len(covered) == len(turn.words):
            raw.add(at)
    together = set().union(*pieces.values())
    if len(together) > _TOGETHER_SHARE_MAX * len(turn.words):
        raw |= pieces.keys()
    return raw
