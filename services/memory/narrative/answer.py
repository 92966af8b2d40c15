"""Puts the answer together from the best windows, verbatim, within the contract's length."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.index import Index
from services.memory.narrative.match import features
from services.memory.narrative.model import QueryClass
from services.memory.narrative.question import Query
from services.memory.narrative.weights import DECLINE, RANK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Answered", "answer", "judge"]

WORDS_MAX = 25
LONG_WORDS_MAX = 145
LONG_CLASSES = frozenset({QueryClass.SITUATION, QueryClass.CHANGE})
# A second window is told, too, when its score comes this near.
MARGIN = 1.0
WINDOWS_MAX = 3
LONG_MARGIN = 99.0
LONG_WINDOWS_MAX = 30
SIZE_COST = 0.5
CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Judged:
    """How every window of a book does for a question.

    Attributes:
        query: the question.
        index: the book.
        scores: W, higher is better.
        known: how sure it is that the speaker told what is asked; below 0 is no.
    """

    query: Query
    index: Index
    scores: "Floats"
    known: float


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer before it has ids.

    Attributes:
        text: what is said; empty when declined.
        segments: segments that it joins, in the book's order.
        candidates: segments, best first, each once.
    """

    text: str
    segments: tuple[int, ...]
    candidates: tuple[int, ...]


def judge(query: Query, index: Index) -> Judged:
    """Scores every window of a book."""
    found = features(query, index)
    scores = np.zeros(len(index.starts), dtype=np.float32)
    for name, values in found.items():
        weight = RANK.get(name, 0.0)
        if weight:
            scores += np.float32(weight) * values
    return Judged(query, index, scores, _known(query, found, scores))


def _known(query: Query, found: dict[str, "Floats"], scores: "Floats") -> float:
    """Whether the speaker told of it at all: an impersonal question of strange words is declined."""
    signs = known_signs(query, found, scores)
    return float(sum(DECLINE.get(name, 0.0) * value for name, value in signs.items()))


def known_signs(query: Query, found: dict[str, "Floats"], scores: "Floats") -> dict[str, float]:
    """Name → value of everything that tells an own question from one about the world."""
    if not len(scores):
        return {"bias": 1.0}
    best = int(np.argmax(scores))
    return {
        "bias": 1.0,
        "own": float(query.own),
        "name_known": float(found["name_turn"].max()) * float(not query.own),
        "name_any": float(any(term.name for term in query.terms)),
        "cover_best": float(found["cover_reference"][best]),
        "cover_exact": float(found["cover_turn_exact"].max()),
        "cover_turn": float(found["cover_turn"].max()),
        "asked": float(found["mark_asked"][best]),
        "asked_cover": float((found["mark_asked"] * found["cover_reference"]).max()),
        "told_cover": float(((1 - found["mark_asked"]) * found["cover_reference"]).max()),
        "past": float(query.past),
        "definite": float(query.definite),
    }


def answer(judged: Judged) -> Answered:
    """The answer of the best windows of one book."""
    query, index, scores = judged.query, judged.index, judged.scores
    if not len(scores):
        return Answered("", (), ())
    order = np.argsort(-scores, kind="stable")
    candidates: dict[int, None] = {}
    for window in order:
        for row in range(index.starts[window], index.starts[window] + index.lengths[window]):
            candidates.setdefault(int(row))
    if query.query_class in LONG_CLASSES:
        chosen = _choose(index, scores, LONG_WORDS_MAX, LONG_WINDOWS_MAX, LONG_MARGIN)
        # What happened is told in the order in which it happened.
        chosen.sort()
    else:
        chosen = _choose(
            index, (scores - SIZE_COST * index.sizes / 25).astype(np.float32), WORDS_MAX, WINDOWS_MAX, MARGIN
        )
    limit = LONG_WORDS_MAX if query.query_class in LONG_CLASSES else WORDS_MAX
    text = _tell(query, index, chosen, limit)
    segments = tuple(
        sorted(
            row
            for window in chosen
            for row in range(index.starts[window], index.starts[window] + index.lengths[window])
        )
    )
    return Answered(text, segments, tuple(candidates)[:CANDIDATES])


def _choose(index: Index, scores: "Floats", words: int, most: int, margin: float) -> list[int]:
    """Windows that do not overlap, best first, as long as they fit and come near the best."""
    order = np.argsort(-scores, kind="stable")
    chosen: list[int] = []
    used: set[int] = set()
    size = 0
    for window in order.tolist():
        if chosen and float(scores[chosen[0]] - scores[window]) > margin:
            break
        rows = set(range(index.starts[window], index.starts[window] + index.lengths[window]))
        if rows & used or (chosen and size + int(index.sizes[window]) > words):
            continue
        chosen.append(window)
        used |= rows
        size += int(index.sizes[window])
        if len(chosen) == most:
            break
    return chosen


def _tell(query: Query, index: Index, chosen: list[int], limit: int) -> str:
    parts: list[str] = []
    days: list[str] = []
    for window in chosen:
        start = int(index.starts[window])
        segments = index.book.segments[start : start + int(index.lengths[window])]
        told = index.book.turns[segments[0].turn]
        words = told.analysis.words
        first, last = words[segments[0].first].start, words[segments[-1].last - 1].end
        parts.append(_clean(told.text[first:last]))
        if query.form in {"when", "clock", "often"} or query.query_class is QueryClass.TEMPORAL:
            days += [t.resolves_to for t in told.analysis.times if t.start < last and t.end > first]
    text = " … ".join(parts)
    words_told = text.split()
    extra = [day for day in dict.fromkeys(days) if day not in text]
    room = limit - len(words_told)
    if room < len(extra):
        text = " ".join(words_told[: max(limit - len(extra), 1)])
    text = " ".join(text.split()[:limit])
    return f"{text} ({', '.join(extra)})" if extra else text


def _clean(text: str) -> str:
    """A stretch without the loose ends of its cut."""
    return re.sub(r"\s+", " ", text).strip().strip(",;—–- ").strip()
