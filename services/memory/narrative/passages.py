"""Passages: the sentences that a whole is told of, and what speaks for telling each of them.

A short answer is one fact; a situation or a change is many. Which ones belong to it is told by
features free of words: how much of the question stands in a passage and around it, how near it is
to the passages that fit best (the chain of a topic), what kinds of phrases it has, where it stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.facts import groups
from services.memory.narrative.index import Index
from services.memory.narrative.match import Evidence, Features, find_evidence, group_top
from services.memory.narrative.phrases import Kind
from services.memory.narrative.question import Query
from services.memory.narrative.vectors import whole_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Passages", "Whole", "choose", "cut", "passage_features", "weigh"]

# The passages that fit best, to which the others of the topic are near.
CHAIN_HEADS = 4
NEIGHBOURS = 2
NEW_VALUES_MAX = 3
TURN_SHARE = 0.3
WORDS_UNIT = 25
VALUES = frozenset(
    (
        Kind.NAME, Kind.MONEY, Kind.NUMBER, Kind.DURATION, Kind.TIME, Kind.CLOCK, Kind.MEASURE,
        Kind.PLACE, Kind.ORGANIZATION, Kind.PERSON,
    )
)  # fmt: skip
KINDS = {
    "has_negation": Kind.NEGATION,
    "has_name": Kind.NAME,
    "has_money": Kind.MONEY,
    "has_number": Kind.NUMBER,
    "has_time": Kind.TIME,
}
MARKS = ("asked", "negated", "update")


@dataclass(frozen=True, slots=True)
class Passages:
    """A book's passages (P), each a run of segments (S) of one sentence.

    Attributes:
        index: the book.
        spans: P, first segment and one past the last.
        turn_of: P.
        sizes: P, words between blanks.
    """

    index: Index
    spans: tuple[tuple[int, int], ...]
    turn_of: "NDArray[np.int64]"
    sizes: "NDArray[np.int64]"

    def top(self, values: "Floats") -> "Floats":
        """T x P: the largest value of each passage's segments, of T x S."""
        result: Floats = np.maximum.reduceat(values, [first for first, _ in self.spans], axis=1)
        return result

    def at(self, values: "Floats") -> "Floats":
        """P or P x V: the value of each passage's first segment, of S or S x V."""
        result: Floats = values[[first for first, _ in self.spans]]
        return result


@dataclass(frozen=True, slots=True)
class Whole:
    """What is told of a whole.

    Attributes:
        rows: segments that are told, in the book's order.
        ranked: all segments, those of the best passages first.
    """

    rows: tuple[int, ...]
    ranked: tuple[int, ...]


def cut(index: Index) -> Passages:
    """The passages of a book that has some."""
    spans = tuple(groups(index))
    return Passages(
        index,
        spans,
        np.array([index.turn_of[first] for first, _ in spans], dtype=np.int64),
        np.array([index.sizes[first:last].sum() for first, last in spans], dtype=np.int64),
    )


def passage_features(query: Query, passages: Passages) -> Features:
    """Name → P: everything that speaks for or against telling a passage."""
    found: Features = {}
    _words(find_evidence(query, passages.index), passages, found)
    _nearness(query, passages, found)
    _kinds(query, passages, found)
    _places(passages, found)
    return found


def weigh(found: Features, weights: Mapping[str, float], size: int) -> "Floats":
    """P: the features' weighted sum."""
    total = np.zeros(size, dtype=np.float64)
    for name, weight in weights.items():
        total += weight * found[name]
    result: Floats = total.astype(np.float32)
    return result


def choose(scores: "Floats", passages: Passages, words: int, size_cost: float) -> Whole:
    """The passages that pay best for their words.

    Args:
        scores: P, log-odds that a passage belongs to the answer, but for a constant.
        passages: the book's passages.
        words: how many the answer may have.
        size_cost: what 25 words cost of a passage's score.
    """
    sizes = passages.sizes
    order = np.argsort(-(scores - size_cost * sizes / WORDS_UNIT), kind="stable")
    left = words
    rows: list[int] = []
    for place in order.tolist():
        if int(sizes[place]) <= left or not rows:
            rows += range(*passages.spans[place])
            left -= int(sizes[place])
    best = np.argsort(-scores, kind="stable").tolist()
    ranked = tuple(row for place in best for row in range(*passages.spans[place]))
    return Whole(tuple(sorted(rows)), ranked)


def _words(evidence: Evidence, passages: Passages, found: Features) -> None:
    """How much of the question stands in the passage, in its turn and beside it."""
    share = evidence.share
    in_turn: Floats = (share * evidence.turn).sum(axis=0)
    meant: Floats = (share * group_top(evidence.meant, passages.index.turn_of)).sum(axis=0)
    for name, values in (
        ("exact", evidence.exact),
        ("meant", evidence.meant),
        ("soft", evidence.soft),
    ):
        found[name] = (share * passages.top(values)).sum(axis=0)
    found["turn_soft"] = passages.at(in_turn)
    found["turn_meant"] = passages.at(meant)
    for by in range(1, NEIGHBOURS + 1):
        found[f"before_{by}"] = _beside(found["soft"], passages.turn_of, by)
        found[f"after_{by}"] = _beside(found["soft"][::-1], passages.turn_of[::-1], by)[::-1]


def _beside(values: "Floats", turn_of: "NDArray[np.int64]", by: int) -> "Floats":
    """P: the value of the passage so many before in the same turn; 0 where there is none."""
    result = np.zeros_like(values)
    result[by:] = values[:-by] * (turn_of[by:] == turn_of[:-by])
    return result


def _nearness(query: Query, passages: Passages, found: Features) -> None:
    """Nearness to the whole question, and to the passages that fit it best."""
    asked = whole_vectors([query.text])[0]
    vectors = passages.at(passages.index.whole_sentences)
    found["whole"] = vectors @ asked
    found["whole_turn"] = passages.at(passages.index.whole_turns) @ asked
    fit = found["soft"] + found["whole"] + TURN_SHARE * found["turn_soft"]
    heads = np.argsort(-fit, kind="stable")[:CHAIN_HEADS]
    middle = vectors[heads].mean(axis=0)
    norm = float(np.linalg.norm(middle)) or 1.0
    found["chain"] = (vectors @ (middle / norm)).astype(np.float32)


def _kinds(query: Query, passages: Passages, found: Features) -> None:
    """What kinds of phrases a passage has, and how many values that were not told before."""
    size = len(passages.spans)
    place = {
        row: number
        for number, (first, last) in enumerate(passages.spans)
        for row in range(first, last)
    }
    asked = {term.lemma for term in query.terms}
    told: set[frozenset[str]] = set()
    new = np.zeros(size, dtype=np.float32)
    kinds: list[set[Kind]] = [set() for _ in range(size)]
    for row, phrase in passages.index.phrases:
        kinds[place[row]].add(phrase.kind)
        if phrase.kind in VALUES and phrase.lemmas not in told and not phrase.lemmas <= asked:
            told.add(phrase.lemmas)
            new[place[row]] += 1
    found["new_values"] = (np.minimum(new, NEW_VALUES_MAX) / NEW_VALUES_MAX).astype(np.float32)
    for name, kind in KINDS.items():
        found[name] = np.array([kind in some for some in kinds], dtype=np.float32)
    found["number_near"] = found["has_number"] * found["turn_soft"]


def _places(passages: Passages, found: Features) -> None:
    """Where a passage stands, how long it is and how it is marked."""
    turn_of = passages.turn_of
    found["late"] = (turn_of / max(int(turn_of.max()), 1)).astype(np.float32)
    first = np.searchsorted(turn_of, turn_of, side="left")
    count = np.searchsorted(turn_of, turn_of, side="right") - first
    within = np.arange(len(turn_of)) - first
    found["deep"] = (within / np.maximum(count - 1, 1)).astype(np.float32)
    found["size"] = (passages.sizes / WORDS_UNIT).astype(np.float32)
    for name in MARKS:
        marked = passages.index.marks[name].astype(np.float32)
        found[f"mark_{name}"] = passages.top(marked[None, :])[0]
    found["update_near"] = found["mark_update"] * found["soft"]
    found["update_turn"] = found["mark_update"] * found["turn_soft"]
