"""Which values of the kind that is asked for were told of alike matters, later or earlier.

"The shop is in Leeds" and, weeks later, "the shop is in York now" stand in alike sentences and have
values of one kind: a question of now means the later, one of once the earlier. How alike two
sentences are the encoder says; which of them counts, weights that were learned.
"""

from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.encoder import encode
from services.memory.narrative.index import Index
from services.memory.narrative.question import Query
from services.memory.narrative.wanted import novel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = ["superseding_features"]

# From this cosine on, two sentences may be of one matter.
ALIKE = 0.4


def superseding_features(query: Query, index: Index) -> "dict[str, Floats]":
    """Name → S; 0 for a segment that has no value of a kind that is asked for."""
    values: dict[int, set[frozenset[str]]] = {}
    for row, phrase in index.phrases:
        if query.wants.get(phrase.kind, 0.0) and novel(query, phrase):
            values.setdefault(row, set()).add(phrase.lemmas)
    rows = np.array(sorted(values), dtype=np.int64)
    sentences = index.encodings.rows[index.encodings.place["sentence"][rows]]
    alike = sentences @ sentences.T
    near = sentences @ encode(query.text)
    turn = index.turn_of[rows]
    other = _others([values[int(row)] for row in rows])
    later, earlier = turn[None, :] > turn[:, None], turn[None, :] < turn[:, None]
    ahead = np.where(alike > ALIKE, near[None, :] - near[:, None], 0.0)
    fitting = alike * np.maximum(near, 0.0)[None, :]
    found = {}
    for name, table, when in (
        ("alike_later", alike, later),
        ("alike_earlier", alike, earlier),
        ("alike_same_turn", alike, ~later & ~earlier),
        ("alike_later_near", fitting, later),
        ("alike_earlier_near", fitting, earlier),
        ("alike_later_lead", ahead, later),
        ("alike_earlier_lead", ahead, earlier),
    ):
        found[name] = np.zeros(index.segments, dtype=np.float32)
        found[name][rows] = np.where(other & when, table, 0.0).max(axis=1, initial=0.0)
    return found


def _others(values: list[set[frozenset[str]]]) -> "Bools":
    """N x N: two segments have no value in common."""
    place: dict[frozenset[str], int] = {}
    for some in values:
        for value in some:
            place.setdefault(value, len(place))
    holds = np.zeros((len(values), len(place)), dtype=np.float32)
    for row, some in enumerate(values):
        holds[row, [place[value] for value in some]] = 1.0
    result: Bools = holds @ holds.T == 0
    return result
