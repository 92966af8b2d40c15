"""Puts the answer together: the segments that most likely tell it, verbatim, in the contract's length.

A second segment is told only where that makes a right answer likelier: it must be likelier to hold
what is asked than to hold a value that is out of date or somebody else's.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.index import Index
from services.memory.narrative.match import Features, features
from services.memory.narrative.model import QueryClass
from services.memory.narrative.question import Query
from services.memory.narrative.weights import KNOWN, RIVAL, TELL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Answered", "Judged", "answer", "judge", "known_signs"]

WORDS_MAX = 25
LONG_WORDS_MAX = 145
LONG_CLASSES = frozenset({QueryClass.SITUATION, QueryClass.CHANGE})
# How much a rival value weighs against what is asked; learned with the weights.
CAUTION = 1.5
RIVAL_MAX = 0.95
CANDIDATES = 100
DATED_FORMS = frozenset({"when", "clock", "often"})


@dataclass(frozen=True, slots=True)
class Judged:
    """How every segment of a book does for a question.

    Attributes:
        query: the question.
        index: the book.
        scores: S, higher is likelier to tell it.
        tells: S, how likely it tells what is asked; the sum is 1.
        rivals: S, how likely it holds a value that must not be told.
        known: above 0 where the speaker told of it at all.
    """

    query: Query
    index: Index
    scores: "Floats"
    tells: "Floats"
    rivals: "Floats"
    known: float


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer before it has ids.

    Attributes:
        text: what is said.
        segments: segments that it joins, in the book's order.
        candidates: segments, best first.
    """

    text: str
    segments: tuple[int, ...]
    candidates: tuple[int, ...]


def judge(query: Query, index: Index) -> Judged:
    """Scores every segment of a book that has some."""
    found = features(query, index)
    scores = _weighed(found, TELL, index.segments)
    odds = np.exp(scores - scores.max())
    rivals = 1 / (1 + np.exp(-_weighed(found, RIVAL, index.segments)))
    signs = known_signs(query, found, scores)
    known = sum(KNOWN.get(name, 0.0) * value for name, value in signs.items())
    return Judged(query, index, scores, odds / odds.sum(), rivals, float(known))


def _weighed(found: Features, weights: dict[str, float], size: int) -> "Floats":
    total = np.full(size, weights.get("bias", 0.0), dtype=np.float64)
    for name, values in found.items():
        weight = weights.get(name)
        if weight is not None:
            total += weight * values
    result: Floats = total.astype(np.float32)
    return result


def known_signs(query: Query, found: Features, scores: "Floats") -> dict[str, float]:
    """Name → value of what tells a question about one's own life from one about the world."""
    best = int(np.argmax(scores))
    asked = found["mark_asked"]
    return {
        "bias": 1.0,
        "own": float(query.own),
        "name_known": float(found["name_turn"].max()) if "name_turn" in found else 0.0,
        "name_any": float(any(term.name for term in query.terms)),
        "cover_best": float(found["cover_reference"][best]),
        "cover_exact": float(found["in_turn_exact"].max()),
        "cover_turn": float(found["in_turn"].max()),
        "asked": float(asked[best]),
        "asked_cover": float((asked * found["cover_reference"]).max()),
        "told_cover": float(((1 - asked) * found["cover_reference"]).max()),
        "past": float(query.past),
        "definite": float(query.definite),
    }


def answer(judged: Judged) -> Answered:
    """The answer from one book."""
    order = [int(row) for row in np.argsort(-judged.scores, kind="stable")]
    long = judged.query.query_class in LONG_CLASSES
    chosen = _many(judged, order) if long else _few(judged, order)
    text = _tell(judged, chosen, LONG_WORDS_MAX if long else WORDS_MAX)
    return Answered(text, tuple(chosen), tuple(order[:CANDIDATES]))


def _few(judged: Judged, order: list[int]) -> list[int]:
    """Segments in the book's order that make a right short answer likeliest."""
    sizes = judged.index.sizes
    chosen: list[int] = []
    words, gained = 0, 0.0
    for row in order:
        if chosen and words + int(sizes[row]) > WORDS_MAX:
            continue
        gain = float(judged.tells[row])
        risk = min(RIVAL_MAX, CAUTION * float(judged.rivals[row]))
        if not chosen or (gained + gain) * (1 - risk) > gained:
            chosen.append(row)
            words += int(sizes[row])
            gained += gain
        if words >= WORDS_MAX - 1:
            break
    return sorted(chosen)


def _many(judged: Judged, order: list[int]) -> list[int]:
    """Segments for a whole: as much as a long answer holds, told in order of time."""
    sizes = judged.index.sizes
    chosen: list[int] = []
    words = 0
    for row in order:
        if not chosen or words + int(sizes[row]) <= LONG_WORDS_MAX:
            chosen.append(row)
            words += int(sizes[row])
    return sorted(chosen)


def _tell(judged: Judged, chosen: list[int], limit: int) -> str:
    """Verbatim text of segments, neighbours unbroken; days for a question of time."""
    book, query = judged.index.book, judged.query
    dated = query.form in DATED_FORMS or query.query_class is QueryClass.TEMPORAL
    parts: list[str] = []
    days: list[str] = []
    for first, last in _runs(judged.index, chosen):
        segments = book.segments[first : last + 1]
        told = book.turns[segments[0].turn]
        words = told.analysis.words
        start, end = words[segments[0].first].start, words[segments[-1].last - 1].end
        parts.append(_clean(told.text[start:end]))
        if dated:
            days += [t.resolves_to for t in told.analysis.times if t.start < end and t.end > start]
    said = " ".join(" … ".join(part for part in parts if part).split()[:limit])
    missing = [day for day in dict.fromkeys(days) if day not in said]
    if not missing:
        return said
    room = max(limit - len(missing), 1)
    return f"{' '.join(said.split()[:room])} ({', '.join(missing[: limit - 1])})"


def _runs(index: Index, chosen: list[int]) -> list[tuple[int, int]]:
    """Chosen segments that follow each other in a turn, as (first, last)."""
    runs: list[tuple[int, int]] = []
    for row in chosen:
        if runs and runs[-1][1] == row - 1 and index.turn_of[row] == index.turn_of[row - 1]:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def _clean(text: str) -> str:
    """A stretch without the loose ends of its cut."""
    return re.sub(r"\s+", " ", text).strip().strip(",;—–- ").strip()
