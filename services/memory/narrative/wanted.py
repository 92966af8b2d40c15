"""Phrases of the kind that a question asks for, and their rivals: other values of the same kind."""

from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.categories import members_of
from services.memory.narrative.index import Index
from services.memory.narrative.model import QueryClass
from services.memory.narrative.phrases import Phrase
from services.memory.narrative.question import Query
from services.memory.narrative.vectors import vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["novel", "wanted_features"]


def wanted_features(
    query: Query, index: Index, close: "Floats", wide: "Floats", in_sentence: "Floats"
) -> dict[str, "Floats"]:
    """Name → S.

    Args:
        query: the question.
        index: the book.
        close: S, how much of the question stands at or next to a segment.
        wide: S, the same over more of the turn.
        in_sentence: S, how much of the question its sentence holds.
    """
    found: dict[str, Floats] = {}
    strength = _phrases(query, index, found)
    found["want"] = strength
    found[f"want_{query.form}"] = strength
    if query.query_class is QueryClass.EMOTIONAL:
        found["want_emotional"] = strength
    found["want_close"] = strength * close
    found["want_wide"] = strength * wide
    found["want_sentence"] = strength * in_sentence
    _focus(query, index, close, found)
    _rivals(query, index, strength * (0.2 + wide), found)
    return found


def novel(query: Query, phrase: Phrase) -> bool:
    """True where a phrase says more than the question itself."""
    asked = {term.lemma for term in query.terms}
    return not phrase.lemmas or not phrase.lemmas <= asked


def _phrases(query: Query, index: Index, found: dict[str, "Floats"]) -> "Floats":
    """S: the strongest wanted phrase; marks those that came before or come again."""
    size = index.segments
    strength = np.zeros(size, dtype=np.float32)
    count = np.zeros(size, dtype=np.float32)
    again = np.zeros(size, dtype=np.float32)
    later = np.zeros(size, dtype=np.float32)
    best = max(query.wants.values())
    first: dict[frozenset[str], int] = {}
    last: dict[frozenset[str], int] = {}
    wanted = []
    for row, phrase in index.phrases:
        weight = query.wants.get(phrase.kind, 0.0)
        if weight and novel(query, phrase):
            turn = int(index.turn_of[row])
            first.setdefault(phrase.lemmas, turn)
            last[phrase.lemmas] = turn
            wanted.append((row, phrase, weight, turn))
    for row, phrase, weight, turn in wanted:
        strength[row] = max(strength[row], weight)
        if weight == best:
            count[row] += 1
            again[row] = max(again[row], float(first[phrase.lemmas] < turn))
            later[row] = max(later[row], float(last[phrase.lemmas] > turn))
    found["want_many"] = np.log1p(np.maximum(count - 1, 0))
    found["want_again"] = again
    found["want_later"] = later
    if query.now:
        found["want_again_now"] = again
        found["want_later_now"] = later
    return strength


def _rivals(query: Query, index: Index, value: "Floats", found: dict[str, "Floats"]) -> None:
    """How strong other candidates are: told later, told earlier, told in the same turn."""
    turns = int(index.turn_of.max()) + 1
    of_turn = np.zeros(turns, dtype=np.float32)
    np.maximum.at(of_turn, index.turn_of, value)
    running = np.maximum.accumulate(of_turn)
    earlier = np.concatenate([[0], running[:-1]]).astype(np.float32)[index.turn_of]
    backward = np.maximum.accumulate(of_turn[::-1])[::-1]
    later = np.concatenate([backward[1:], [0]]).astype(np.float32)[index.turn_of]
    top = float(value.max()) or 1.0
    found["rival_best"] = value / top
    candidate = (value > 0).astype(np.float32)
    found["rival_later"] = candidate * (later - value)
    found["rival_earlier"] = candidate * (earlier - value)
    found["rival_same_turn"] = candidate * (of_turn[index.turn_of] - value)
    plain = not query.now and not query.before
    for name, holds in (
        ("now", query.now),
        ("before", query.before),
        ("plain", plain),
        ("past", query.past),
    ):
        if holds:
            found[f"rival_later_{name}"] = found["rival_later"]
            found[f"rival_earlier_{name}"] = found["rival_earlier"]
    change = np.zeros(turns, dtype=np.float32)
    np.maximum.at(change, index.turn_of, index.marks["update"].astype(np.float32) * (value > 0))
    after = np.maximum.accumulate(change[::-1])[::-1]
    found["updated_after"] = (
        candidate * np.concatenate([after[1:], [0]]).astype(np.float32)[index.turn_of]
    )


def _focus(query: Query, index: Index, close: "Floats", found: dict[str, "Floats"]) -> None:
    """Words near to the focus noun, members of its category, and the noun narrowed down."""
    if not query.focus:
        return
    near = (vectors([query.focus]) @ index.vectors.T)[0]
    asked = {term.lemma for term in query.terms}
    near[[index.place[lemma] for lemma in asked if lemma in index.place]] = 0
    found["focus"] = (index.has * near).max(axis=1).astype(np.float32)
    if query.focus in index.place:
        found["focus_itself"] = index.has[:, index.place[query.focus]].astype(np.float32)
    members = members_of(query.focus)
    belongs = [lemma in members and lemma not in asked for lemma in index.lemmas]
    found["member"] = (index.has & np.array(belongs)[None, :]).any(axis=1).astype(np.float32)
    found["member_close"] = found["member"] * close
    modified = [query.focus in nouns for nouns in index.modified]
    found["focus_modified"] = np.array(modified, dtype=np.float32)
    found["focus_close"] = found["focus"] * close
