"""Changes: the before and the after of one thing, in the order in which they were told.

What was replaced belongs in this answer, so nothing is left out for being old. A change is told of
like a situation (`situations`); beyond that numbers count for more where the question is of an
amount, times where it is of a day, and so do words of change near what is asked.
"""

import re
from typing import TYPE_CHECKING

from services.memory.narrative import situations
from services.memory.narrative.index import Index
from services.memory.narrative.passages import Whole, choose, cut, passage_features, weigh
from services.memory.narrative.question import Query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.memory.narrative.match import Features

__all__ = ["WEIGHTS", "change"]

AMOUNT = re.compile(
    r"\b(?:number|pay|price|rent|costs?|amount|size|dose|mark|wage|salary|rate|weight|score|fee|money"
    r"|fare|fund|loan|debt|budget|how many|how much)\b",
    re.IGNORECASE,
)
DAY = re.compile(r"\b(?:dates?|days?|time|when|week|month)\b", re.IGNORECASE)
WEIGHTS: "Mapping[str, float]" = {
    "amount": 2.086,
    "day": 2.422,
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
    found.update(change_features(query, found))
    size = len(passages.spans)
    scores = weigh(found, situations.WEIGHTS, size) + weigh(found, WEIGHTS, size)
    return choose(scores, passages, situations.WORDS_MAX, situations.SIZE_COST)


def change_features(query: Query, found: "Features") -> "Features":
    """Name → P: what else speaks for a passage where a change of an amount or a day is asked."""
    amount, day = AMOUNT.search(query.text), DAY.search(query.text)
    return {
        "amount": found["has_number"] * (amount is not None),
        "day": found["has_time"] * (day is not None),
    }
