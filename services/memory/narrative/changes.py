"""Changes: the before and the after of one thing, in the order in which they were told.

What was replaced belongs in this answer, so nothing is left out for being old. A change is told of
like a situation (`situations`); beyond that numbers count for more where the question is of an
amount, times where it is of a day, and so do words of change near what is asked; a clause that is
of somebody else's value and not of the speaker counts for less where their own is asked.
"""

import re
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import situations
from services.memory.narrative.index import Index
from services.memory.narrative.passages import (
    VALUES,
    Passages,
    Whole,
    choose,
    cut,
    passage_features,
    weigh,
)
from services.memory.narrative.phrases import Kind
from services.memory.narrative.question import Query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from services.memory.narrative.match import Features

__all__ = ["WEIGHTS", "change"]

AMOUNT = re.compile(
    r"\b(?:number|pay|price|rent|costs?|amount|size|dose|mark|wage|salary|rate|weight|score|fee|money"
    r"|fare|fund|loan|debt|budget|how many|how much)\b",
    re.IGNORECASE,
)
OTHERS = frozenset(("he", "she", "him", "his", "her", "hers", "they", "their", "theirs"))
SPEAKER = frozenset(("i", "me", "my", "mine", "we", "our"))
DAY = re.compile(r"\b(?:dates?|days?|time|when|week|month)\b", re.IGNORECASE)
WEIGHTS: "Mapping[str, float]" = {
    "amount": 2.086,
    "day": 2.422,
    "foreign": -1.0,
    "has_money": 1.089,
    "has_number": 0.326,
    "mark_update": -0.430,
    "number_near": -0.408,
    "update_near": 0.618,
    "update_turn": 1.265,
}


def change(query: Query, index: Index) -> Whole:
    """What tells a change, in the order of time.

    Args:
        query: the question.
        index: a book that has segments.
    """
    passages = cut(index)
    found = passage_features(query, passages)
    found.update(change_features(query, passages, found))
    size = len(passages.spans)
    scores = weigh(found, situations.WEIGHTS, size) + weigh(found, WEIGHTS, size)
    return choose(scores, passages, situations.WORDS_MAX, situations.SIZE_COST)


def change_features(query: Query, passages: Passages, found: "Features") -> "Features":
    """Name → P: what else speaks for or against a passage where a change is asked."""
    amount, day = AMOUNT.search(query.text), DAY.search(query.text)
    return {
        "amount": found["has_number"] * (amount is not None),
        "day": found["has_time"] * (day is not None),
        "foreign": passages.top(_foreign(passages.index)[None, :])[0] * query.own,
    }


def _foreign(index: Index) -> "NDArray[np.float32]":
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
