"""Situations and changes: a whole told from several facts, in the order in which they were told.

What was replaced belongs to a change, so nothing is left out for being old. Which passages belong
to the answer, and which hold a value that must not be told, trees say that were learned on stories
(tools/narrative_weights.py) from features without words: those of `passages`, those of a change,
how near the encoder finds a passage, and what the passage would be as a short answer. The answer
takes the passages that pay best for their words.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.coordination import parts_of
from services.memory.narrative.encoder import encode
from services.memory.narrative.index import Index
from services.memory.narrative.model import QueryClass
from services.memory.narrative.passages import (
    VALUES,
    Passages,
    Whole,
    choose,
    cut,
    passage_features,
)
from services.memory.narrative.phrases import Kind
from services.memory.narrative.question import Query
from services.memory.narrative.trees import Trees, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from services.memory.narrative.match import Features

    Floats = NDArray[np.float32]

__all__ = ["BUDGETS", "Budget", "WholeTables", "learned", "tell", "whole_features"]

TELL = Path(__file__).parent / "learned" / "whole_tell.json"
RIVAL = Path(__file__).parent / "learned" / "whole_rival.json"
AMOUNT = re.compile(
    r"\b(?:number|pay|price|rent|costs?|amount|size|dose|mark|wage|salary|rate|weight|score|fee|money"
    r"|fare|fund|loan|debt|budget|how many|how much)\b",
    re.IGNORECASE,
)
OTHERS = frozenset(("he", "she", "him", "his", "her", "hers", "they", "their", "theirs"))
SPEAKER = frozenset(("i", "me", "my", "mine", "we", "our"))
DAY = re.compile(r"\b(?:dates?|days?|time|when|week|month)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budget:
    """What an answer may cost.

    Attributes:
        words: how many it may have.
        size_cost: what 25 words cost of a passage's log-odds.
        risk: how much the log-odds of a wrong value count against a passage.
    """

    words: int
    size_cost: float
    risk: float


# Chosen in five folds by story: a situation needs all the words that there are, a change fewer.
BUDGETS = {
    QueryClass.SITUATION: Budget(words=150, size_cost=0.0, risk=0.5),
    QueryClass.CHANGE: Budget(words=120, size_cost=1.0, risk=0.5),
}


@dataclass(frozen=True, slots=True)
class WholeTables:
    """What was learned.

    Attributes:
        tell: log-odds that a passage holds something that is asked for.
        rival: log-odds that it holds a value that must not be told.
    """

    tell: Trees
    rival: Trees


def learned() -> WholeTables:
    """The tables that tools/narrative_weights.py made."""
    return WholeTables(load(TELL), load(RIVAL))


def tell(
    query: Query,
    index: Index,
    scores: "Floats",
    rivals: "Floats",
    tables: WholeTables | None = None,
) -> Whole:
    """What tells a whole, in the order of time.

    Args:
        query: a question of a class that has a budget.
        index: a book that has segments.
        scores: S, how well each segment would do as a short answer.
        rivals: S, log-odds that it holds a value that must not be told.
        tables: None: as `learned`.
    """
    tables = tables or learned()
    budget = BUDGETS[query.query_class]
    passages = cut(index)
    found = whole_features(query, passages, scores, rivals)
    size = len(passages.spans)
    value = tables.tell.total(found, size) - budget.risk * tables.rival.total(found, size)
    return choose(value, passages, budget.words, budget.size_cost)


def whole_features(
    query: Query, passages: Passages, scores: "Floats", rivals: "Floats"
) -> "Features":
    """Name → P: everything that speaks for or against telling a passage."""
    index = passages.index
    found = passage_features(query, passages)
    for name, values in index.encodings.near(encode(query.text)).items():
        near = passages.top(values[None, :])[0]
        found[f"encoded_{name}"] = near
        found[f"encoded_{name}_lead"] = near - near.max()
    leads = [index.encodings.near(encode(part)) for part in parts_of(query.text)]
    for name in ("segment", "sentence", "turn"):
        # 0 for the passage that fits some part of the question best.
        part = np.max([near[name] - near[name].max() for near in leads], axis=0)
        found[f"part_{name}_lead"] = passages.top(part[None, :])[0]
    found["short_tell"] = passages.top((scores - scores.max())[None, :])[0]
    found["short_rival"] = passages.top(rivals[None, :])[0]
    amount, day = AMOUNT.search(query.text), DAY.search(query.text)
    found["amount"] = found["has_number"] * (amount is not None)
    found["day"] = found["has_time"] * (day is not None)
    found["foreign"] = passages.top(_foreign(index)[None, :])[0] * query.own
    changed = query.query_class is QueryClass.CHANGE
    found["change"] = np.full(len(passages.spans), float(changed), dtype=np.float32)
    return found


def _foreign(index: Index) -> "Floats":
    """S: the segment has a value and somebody else, but not the speaker."""
    value, other = set(), set()
    for row, phrase in index.phrases:
        if phrase.kind in VALUES:
            value.add(row)
        if phrase.kind in {Kind.PERSON, Kind.KIN}:
            other.add(row)
    result = np.zeros(index.segments, dtype=np.float32)
    for row in value:
        words = {word.text.lower() for word in index.book.words(index.book.segments[row])}
        result[row] = (row in other or bool(words & OTHERS)) and not words & SPEAKER
    return result
