"""Puts the answer together: segments that most likely tell it, verbatim, no longer than allowed.

A second segment is told only where that makes a right answer likelier: it must be likelier to hold
what is asked than to hold a value that is out of date or somebody else's. A question of several
parts is told as many as fit.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import declining, wholes
from services.memory.narrative.coordination import parts_of
from services.memory.narrative.index import Index
from services.memory.narrative.match import Features, features
from services.memory.narrative.model import QueryClass
from services.memory.narrative.question import Query
from services.memory.narrative.trees import Trees, load
from services.memory.narrative.weights import TELL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = [
    "WORDS_MAX",
    "Answered",
    "Judged",
    "Tables",
    "answer",
    "is_dated",
    "judge",
    "learned",
    "weighed",
]

WORDS_MAX = 25
# How much a rival value weighs against what is asked; learned with the weights.
CAUTION = 2.1
RIVAL_MAX = 0.95
# Below this, a short answer of the best segments is likelier to be right than a long one: where one
# fact was meant, or a few, a long answer is wrong whatever it holds. Chosen in folds by folder.
WHOLE_MIN = 0.55
CANDIDATES = 100
LOOSE = ",;- \u2013\u2014"
RIVAL = Path(__file__).parent / "learned" / "rival.json"
DATED_FORMS = frozenset({"when", "clock", "often"})


@dataclass(frozen=True, slots=True)
class Tables:
    """What was learned.

    Attributes:
        tell: name of a feature → its weight in how likely a segment tells what is asked.
        rival: log-odds that a segment holds a value that must not be told.
        whole: the same of wholes.
    """

    tell: dict[str, float]
    rival: Trees
    whole: wholes.WholeTables


def learned() -> Tables:
    """The tables that tools/narrative_weights.py made."""
    return Tables(TELL, load(RIVAL), wholes.learned())


@dataclass(frozen=True, slots=True)
class Judged:
    """How every segment of a book does for a question.

    Attributes:
        query: the question.
        index: the book.
        tables: what was learned.
        scores: S, higher is likelier to tell it.
        tells: S, how likely it tells what is asked; the sum is 1.
        risks: S, log-odds that it holds a value that must not be told.
        known: True where the speaker told of it at all.
    """

    query: Query
    index: Index
    tables: Tables
    scores: "Floats"
    tells: "Floats"
    risks: "Floats"
    known: bool

    @property
    def rivals(self) -> "Floats":
        """S, how likely it holds a value that must not be told."""
        result: Floats = (1 / (1 + np.exp(-self.risks))).astype(np.float32)
        return result


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


def judge(query: Query, index: Index, tables: Tables | None = None) -> Judged:
    """Scores every segment of a book that has some; None: with what is `learned`."""
    tables = tables or learned()
    found = features(query, index)
    scores = weighed(found, tables.tell, index.segments)
    odds = np.exp(scores - scores.max())
    risks = tables.rival.total(found, index.segments)
    known = declining.told(query, index, found) >= 0
    return Judged(query, index, tables, scores, odds / odds.sum(), risks, known)


def weighed(found: Features, weights: dict[str, float], size: int) -> "Floats":
    """S: the weighted sum of features; what has no weight counts nothing."""
    total = np.zeros(size, dtype=np.float64)
    for name, values in found.items():
        weight = weights.get(name)
        if weight is not None:
            total += weight * values
    result: Floats = total.astype(np.float32)
    return result


def answer(judged: Judged) -> Answered:
    """The answer from one book."""
    query, index = judged.query, judged.index
    budget = wholes.BUDGETS.get(query.query_class)
    if budget is not None and query.whole >= WHOLE_MIN:
        whole = wholes.tell(query, index, judged.scores, judged.risks, judged.tables.whole)
        text = _tell(judged, list(whole.rows), budget.words)
        return Answered(text, whole.rows, whole.ranked[:CANDIDATES])
    order = [int(row) for row in np.argsort(-judged.scores, kind="stable")]
    several = len(parts_of(query.text)) > 1
    chosen = _fitting(judged, order) if several else _few(judged, order)
    text = _tell(judged, chosen, WORDS_MAX)
    return Answered(text, tuple(chosen), tuple(order[:CANDIDATES]))


def _fitting(judged: Judged, order: list[int]) -> list[int]:
    """The best segments that fit into a short answer, in the book's order: each tells a part."""
    chosen: list[int] = []
    words = 0
    for row in order:
        size = _size(judged, row)
        if not chosen or words + size <= WORDS_MAX:
            chosen.append(row)
            words += size
        if words >= WORDS_MAX - 1:
            break
    return sorted(chosen)


def _size(judged: Judged, row: int) -> int:
    """Words of a segment, with the days that are told with it."""
    days = _days(judged.index, row, row) if is_dated(judged.query) else ()
    return int(judged.index.sizes[row]) + len(days)


def _few(judged: Judged, order: list[int]) -> list[int]:
    """Segments in the book's order that make a right short answer likeliest."""
    rivals = judged.rivals
    chosen: list[int] = []
    words, gained = 0, 0.0
    for row in order:
        size = _size(judged, row)
        if chosen and words + size > WORDS_MAX:
            continue
        gain = float(judged.tells[row])
        risk = min(RIVAL_MAX, CAUTION * float(rivals[row]))
        if not chosen or (gained + gain) * (1 - risk) > gained:
            chosen.append(row)
            words += size
            gained += gain
        if words >= WORDS_MAX - 1:
            break
    return sorted(chosen)


def _tell(judged: Judged, chosen: list[int], limit: int) -> str:
    """Verbatim text of segments, neighbours unbroken; days for a question of time."""
    book, dated = judged.index.book, is_dated(judged.query)
    parts: list[str] = []
    for first, last in _runs(judged.index, chosen):
        said = _clean(
            book.text(
                book.segments[first].turn, book.segments[first].first, book.segments[last].last
            )
        )
        days = _days(judged.index, first, last) if dated else ()
        missing = [day for day in days if day not in said]
        parts.append(f"{said} ({', '.join(missing)})" if missing else said)
    # The ellipsis stands at a word, so that it is none itself.
    return _cut("\u2026 ".join(part for part in parts if part), limit)


def _cut(text: str, limit: int) -> str:
    """At most so many words; a day in brackets at the end is kept."""
    words = text.split()
    if len(words) <= limit:
        return text
    day = words[-1:] if words[-1].endswith(")") and words[-1].startswith("(") else []
    return " ".join([*words[: limit - len(day)], *day])


def _days(index: Index, first: int, last: int) -> tuple[str, ...]:
    """What the times resolve to that segments of one turn name, each once."""
    opening, closing = index.book.segments[first], index.book.segments[last]
    analysis = index.book.turns[opening.turn].analysis
    start, end = analysis.words[opening.first].start, analysis.words[closing.last - 1].end
    found = [time.resolves_to for time in analysis.times if time.start < end and time.end > start]
    return tuple(dict.fromkeys(found))


def is_dated(query: Query) -> bool:
    """True where the answer names days as YYYY-MM-DD, too."""
    return query.form in DATED_FORMS or query.query_class is QueryClass.TEMPORAL


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
    return re.sub(r"\s+", " ", text).strip().strip(LOOSE).strip()
