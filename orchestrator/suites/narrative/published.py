"""Turns ATANT's published forms of a story, YAML and JSON, into our superset.

Nothing is made up but dates (see `story_clock`): a field that the published form lacks stays
absent, and what our closed enums cannot say is left out. Either way it is not scored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.runtimes.yamltext import JsonData
from orchestrator.suites.narrative.story_clock import StoryClock
from orchestrator.suites.narrative.vocabulary import EmotionName, Warmth

__all__ = ["Rewritten", "is_published", "rewrite_published"]

Path_ = tuple[str | int, ...]

# One of these makes a story one of our form.
_OURS = ("narrator", "patterns")
_OUR_BATCH = ("expected_type", "expected_tags", "expected_temporal")
_OUR_QUESTION = ("question_open", "expected_type", "must_not_contain", "min_facts")
_NUMBERS = ("batch", "total_batches")
# Fields of the published forms that nothing here reads.
_UNREAD = ("final_verification", "expected_triples")
_UNREAD_FEELING = ("vulnerability",)
_LISTS = ("expected_stores", "expected_adaptation", "engines_tested")
_RENAMED = {"facts": "batches", "expected_memory_stores": "expected_stores"}


@dataclass(frozen=True)
class Rewritten:
    """A published story in our form.

    Attributes:
        data: Its fields.
        lines: Line of each, by the path in `data`.
        doubts: Line and sentence of what could not be taken over as it was.
    """

    data: dict[str, JsonData]
    lines: dict[Path_, int]
    doubts: tuple[tuple[int, str], ...]


def is_published(data: dict[str, JsonData]) -> bool:
    """Whether a story has no field that only our form knows."""
    if any(name in data for name in _OURS):
        return False
    return not (
        _any_has(data.get("batches"), _OUR_BATCH) or _any_has(data.get("questions"), _OUR_QUESTION)
    )


def rewrite_published(
    data: dict[str, JsonData], lines: dict[Path_, int], written: dict[Path_, str]
) -> Rewritten:
    """Rewrites one published story.

    Args:
        data: Its fields, of whatever kinds they are.
        lines: Line of each value.
        written: How each value that is no text was written.
    """
    moved = {_moved(path): line for path, line in lines.items()}
    # Numbers and dates stand without quotes where the published form means words.
    words = {_moved(path): text for path, text in written.items()}
    clean = _cleaned(data, (), words)
    doubts = _twice(data, lines)
    if isinstance(clean, dict) and isinstance(clean.get("batches"), list):
        turns = clean["batches"]
        clock = StoryClock()
        for index, turn in enumerate(turns if isinstance(turns, list) else []):
            if isinstance(turn, dict):
                line = moved.get(("batches", index, "time"), moved.get((), 1))
                doubts += _set_time(turn, clock, line)
                line = moved.get(("batches", index, "expected_adaptation"), line)
                doubts += _set_feeling(turn, line)
    return Rewritten(clean if isinstance(clean, dict) else {}, moved, tuple(doubts))


def _any_has(items: JsonData, names: tuple[str, ...]) -> bool:
    found = items if isinstance(items, list) else []
    return any(isinstance(item, dict) and any(name in item for name in names) for item in found)


def _moved(path: Path_) -> Path_:
    return tuple(_RENAMED.get(part, part) if isinstance(part, str) else part for part in path)


def _twice(data: dict[str, JsonData], lines: dict[Path_, int]) -> list[tuple[int, str]]:
    """Fields that stand under both of their names; the later of the two is taken."""
    turns = [turn for name in ("batches", "facts") for turn in _places(data, name)]
    return [
        (lines.get((*place, old), lines.get(place, 1)), f"{old} and {new} are the same field")
        for place, part in [((), data), *turns]
        for old, new in _RENAMED.items()
        if old in part and new in part
    ]


def _places(data: dict[str, JsonData], name: str) -> list[tuple[Path_, dict[str, JsonData]]]:
    items = data.get(name)
    found = items if isinstance(items, list) else []
    return [((name, at), item) for at, item in enumerate(found) if isinstance(item, dict)]


def _cleaned(value: JsonData, path: Path_, words: dict[Path_, str]) -> JsonData:
    if isinstance(value, dict):
        return {
            _RENAMED.get(name, name): _cleaned(item, (*path, _RENAMED.get(name, name)), words)
            for name, item in value.items()
            if name not in _UNREAD
            # A key without a value is a list that holds nothing.
            and not (item is None and _RENAMED.get(name, name) in _LISTS)
            # The published form's engines are a map of names to true and false, and not scored.
            and not (name == "engines_tested" and isinstance(item, dict))
        }
    if isinstance(value, list):
        return [_cleaned(item, (*path, index), words) for index, item in enumerate(value)]
    if value is None or isinstance(value, str) or (path and path[-1] in _NUMBERS):
        return value
    return words.get(path, str(value))


def _set_time(turn: dict[str, JsonData], clock: StoryClock, line: int) -> list[tuple[int, str]]:
    time = turn.get("time")
    if not isinstance(time, str):
        return []
    turn["time"], understood = clock.read(time)
    if understood:
        return []
    return [(line, f"the time {time!r} is not understood; it is taken as {turn['time']}")]


def _set_feeling(turn: dict[str, JsonData], line: int) -> list[tuple[int, str]]:
    feeling = turn.get("expected_adaptation")
    if not isinstance(feeling, dict):
        return []
    for name in _UNREAD_FEELING:
        feeling.pop(name, None)
    emotion, warmth = feeling.get("emotion_detected"), feeling.get("warmth_direction")
    if isinstance(emotion, str) and len(one := _of_our_list(emotion)) == 1:
        emotion = feeling["emotion_detected"] = one[0]
    known = emotion in list(EmotionName) and warmth in list(Warmth)
    if known or not isinstance(emotion, str | None) or not isinstance(warmth, str | None):
        return []
    del turn["expected_adaptation"]
    return [(line, f"the feeling {emotion!r}, {warmth!r} is not of our list; it is not scored")]


def _of_our_list(feelings: str) -> list[str]:
    """Those words of `nervous/anxious` that our list has, too."""
    said = [word.strip().casefold() for word in re.split(r"[/,|]", feelings)]
    return [str(name) for name in EmotionName if name in said]
