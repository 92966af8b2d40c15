"""Stories derived from others, to fill a memory with people who are nearly the same.

A derived story is told by another narrator, about other persons, places and organisations, at
another time, in the words of the story it was made of. Names come from the other stories of the
same corpus, so that they stand for several people; narrators stay unique. Nothing is asked of a
derived story and nothing is expected of it. It depends on the stories alone, on no seed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from orchestrator.suites.narrative.stories import Batch, Story
from orchestrator.suites.narrative.story_clock import iso_local
from orchestrator.suites.narrative.vocabulary import TagType

__all__ = ["derive"]

_SWAPPED = (TagType.PERSON, TagType.PLACE, TagType.ORGANIZATION)
# 52 weeks: what was a Tuesday stays one.
_YEAR = timedelta(days=364)
_TRIES = 1_000
_NAME_LENGTH_MIN = 3


@dataclass(frozen=True)
class _Names:
    """What can be named in a corpus: narrators' first and last names, and strings by their tag."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    narrators: frozenset[str]
    tagged: dict[TagType, tuple[str, ...]]


def derive(stories: Sequence[Story], count: int) -> tuple[Story, ...]:
    """Derives so many stories, from each in turn.

    Args:
        stories: Where they come from; none derive none.
        count: How many.
    """
    if not stories:
        return ()
    names = _names(stories)
    taken = set(names.narrators)
    derived = []
    for index in range(count):
        origin, copy = stories[index % len(stories)], index // len(stories) + 1
        narrator = _narrator(origin, copy, names, taken)
        taken.add(narrator)
        derived.append(_derived(origin, copy, narrator, names))
    return tuple(derived)


def _names(stories: Sequence[Story]) -> _Names:
    tagged: dict[TagType, dict[str, None]] = {kind: {} for kind in _SWAPPED}
    for story in stories:
        for turn in story.batches:
            for text, kind in turn.expected_tags.items():
                # Only names: `my sister` and `the clinic` are tagged, too, and stay what they are.
                if kind in tagged and _is_name(text):
                    tagged[kind][text] = None
    parts = [story.speaker.split() for story in stories]
    return _Names(
        first=tuple(dict.fromkeys(part[0] for part in parts)),
        last=tuple(dict.fromkeys(part[-1] for part in parts)),
        narrators=frozenset(story.speaker for story in stories),
        tagged={kind: tuple(texts) for kind, texts in tagged.items()},
    )


def _narrator(origin: Story, copy: int, names: _Names, taken: set[str]) -> str:
    """A first and a last name of two narrators, as nobody has them together."""
    for again in range(_TRIES):
        key = (origin.story_id, copy, "narrator", again)
        name = f"{_pick(names.first, *key, 'first')} {_pick(names.last, *key, 'last')}"
        if name not in taken:
            return name
    # A corpus too small to give enough pairs.
    return f"{origin.speaker} {copy + 1}"


def _derived(origin: Story, copy: int, narrator: str, names: _Names) -> Story:
    rename = _renaming(origin, copy, narrator, names)
    return origin.model_copy(
        update={
            "story_id": f"{origin.story_id}~{copy}",
            "narrator": narrator,
            "batches": tuple(_told(turn, copy, rename) for turn in origin.batches),
            "questions": (),
        }
    )


def _told(turn: Batch, copy: int, rename: Callable[[str], str]) -> Batch:
    moment = iso_local(turn.time)
    later = None
    if moment:
        # Years end at 9999: what would be later stays where it was.
        with suppress(OverflowError):
            later = moment + copy * _YEAR
    return Batch(
        batch=turn.batch,
        time=later.isoformat(timespec="minutes") if later else turn.time,
        user_input=rename(turn.user_input),
    )


def _renaming(origin: Story, copy: int, narrator: str, names: _Names) -> Callable[[str], str]:
    """Swaps all names of a story at once, each for the same other one throughout."""
    swaps: dict[str, str] = {}
    for old, new in _swaps(origin, copy, names):
        swaps.setdefault(old, new)
    own, other = origin.speaker.split(), narrator.split()
    swaps |= {origin.speaker: narrator, own[0]: other[0], own[-1]: other[-1]}
    # The longest first: `Ann Lee` before `Ann`.
    ordered = sorted(swaps, key=lambda old: (-len(old), old))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)")
    return lambda text: pattern.sub(lambda found: swaps[found[0]], text)


def _swaps(origin: Story, copy: int, names: _Names) -> Iterator[tuple[str, str]]:
    used: set[str] = set()
    for turn in origin.batches:
        for old, kind in turn.expected_tags.items():
            if not _is_name(old):
                continue
            choices = names.tagged.get(kind, ())
            start = _number(origin.story_id, copy, old)
            turned = (choices[(start + step) % len(choices)] for step in range(len(choices)))
            new = next((it for it in turned if it != old and it not in used), None)
            if new is None:
                continue
            used.add(new)
            yield old, new
            if kind is TagType.PERSON and len(old.split()[0]) >= _NAME_LENGTH_MIN:
                # Who was named in full is called by the first name afterwards.
                yield old.split()[0], new.split()[0]


def _is_name(text: str) -> bool:
    return text[:1].isupper() and len(text) >= _NAME_LENGTH_MIN


def _pick(choices: Sequence[str], *key: object) -> str:
    return choices[_number(*key) % len(choices)]


def _number(*key: object) -> int:
    digest = hashlib.sha256(repr(key).encode()).digest()
    return int.from_bytes(digest[:8], "big")
