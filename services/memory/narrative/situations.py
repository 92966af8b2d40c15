"""Situations: a whole told from several facts, in the order in which they were told.

The weights were learned on the open stories (softmax over a story's passages, five folds by story)
and weigh features without words (`passages`). An answer of this class may have 150 words; in the
folds, leaving words unused lost more facts than it kept wrong ones out, so it uses them up, best
passages first, and a long passage has to be worth its words.
"""

from typing import TYPE_CHECKING

from services.memory.narrative.index import Index
from services.memory.narrative.passages import Whole, choose, cut, passage_features, weigh
from services.memory.narrative.question import Query

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SIZE_COST", "WEIGHTS", "WORDS_MAX", "situation"]

WORDS_MAX = 150
# What 25 words cost of a passage's score.
SIZE_COST = 1.5
WEIGHTS: "Mapping[str, float]" = {
    "after_1": -0.218,
    "after_2": -2.151,
    "before_1": 0.993,
    "before_2": 0.444,
    "chain": 1.348,
    "deep": -0.664,
    "exact": -3.073,
    "has_name": 0.550,
    "has_negation": 1.279,
    "has_time": -0.264,
    "late": 1.185,
    "mark_asked": -3.266,
    "mark_negated": -1.285,
    "meant": 1.359,
    "new_values": 0.993,
    "size": 0.585,
    "soft": 2.527,
    "turn_meant": 1.574,
    "turn_soft": -1.446,
    "whole": 1.712,
    "whole_turn": 2.745,
}


def situation(query: Query, index: Index) -> Whole:
    """What tells a situation, in the order of time.

    Args:
        query: the question.
        index: a book that has segments.
    """
    passages = cut(index)
    found = passage_features(query, passages)
    scores = weigh(found, WEIGHTS, len(passages.spans))
    return choose(scores, passages, WORDS_MAX, SIZE_COST)
