"""How well each window of a book answers a question: structure first, words second, vectors third."""

from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.index import Index
from services.memory.narrative.model import QueryClass
from services.memory.narrative.phrases import Kind, Phrase
from services.memory.narrative.question import Query
from services.memory.narrative.vectors import vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["features"]

NEAR = 0.30
FAMILY = 0.85


def _soft(query: Query, index: Index) -> tuple["Floats", "Floats", "Floats", "Floats", "Floats"]:
    """T x S: exact, by reference, and soft (families and vectors); T: weights; T x V: nearness."""
    terms = query.terms
    count, size = len(terms), index.segments
    known = [index.place.get(term.lemma, -1) for term in terms]
    rare = float(index.idf.max()) if len(index.idf) else 1.0
    weights = np.array(
        [index.idf[column] if column >= 0 else 0.7 * rare for column in known], dtype=np.float32
    )
    exact = np.zeros((count, size), dtype=np.float32)
    by_reference = np.zeros((count, size), dtype=np.float32)
    near = (vectors([term.lemma for term in terms]) @ index.vectors.T).astype(np.float32)
    near = np.where(near >= NEAR, near, 0)
    for row, term in enumerate(terms):
        families = lexicon.family_of(term.lemma)
        if families:
            for column, lemma in enumerate(index.lemmas):
                if lexicon.family_of(lemma) & families:
                    near[row, column] = max(near[row, column], FAMILY)
        if known[row] >= 0:
            exact[row] = index.has[:, known[row]]
            by_reference[row] = index.means[:, known[row]]
            near[row, known[row]] = 1.0
    soft = np.zeros((count, size), dtype=np.float32)
    for row in range(count):
        soft[row] = np.where(index.has, near[row][None, :], 0).max(axis=1)
        meant = np.where(index.means, near[row][None, :], 0).max(axis=1) * 0.9
        soft[row] = np.maximum(soft[row], meant)
    return exact, by_reference, soft, weights, near


class Spread:
    """Carries a value of segments over to windows, sentences and turns."""

    def __init__(self, index: Index) -> None:
        self._index = index
        ends = index.starts + index.lengths
        self.member = (np.arange(index.segments)[None, :] >= index.starts[:, None]) & (
            np.arange(index.segments)[None, :] < ends[:, None]
        )
        self._lengths = sorted(set(index.lengths.tolist()))

    def top(self, values: "Floats") -> "Floats":
        """T x W: the largest value in each window."""
        index = self._index
        result = np.zeros((values.shape[0], len(index.starts)), dtype=np.float32)
        running = values
        for length in range(1, max(self._lengths, default=0) + 1):
            if length > 1:
                running = np.maximum(running[:, :-1], values[:, length - 1 :])
            chosen = index.lengths == length
            result[:, chosen] = running[:, index.starts[chosen]]
        return result

    def total(self, values: "Floats") -> "Floats":
        """W: the sum in each window."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        index = self._index
        result: Floats = (sums[index.starts + index.lengths] - sums[index.starts]).astype(
            np.float32
        )
        return result

    def group_top(self, values: "Floats", group: "NDArray[np.int64]") -> "Floats":
        """T x S: the largest value in the segment's group (a sentence, a turn)."""
        if values.shape[1] == 0:
            return values
        result = np.zeros((values.shape[0], int(group.max()) + 1), dtype=np.float32)
        np.maximum.at(result.T, group, values.T)
        return result[:, group]


def _near_segments(values: "Floats", reach: int, turn_of: "NDArray[np.int64]") -> "Floats":
    """T x S: the largest value within so many segments of the same turn."""
    result = values.copy()
    for shift in range(1, reach + 1):
        same = turn_of[shift:] == turn_of[:-shift]
        result[:, shift:] = np.maximum(result[:, shift:], values[:, :-shift] * same)
        result[:, :-shift] = np.maximum(result[:, :-shift], values[:, shift:] * same)
    return result


def features(query: Query, index: Index) -> dict[str, "Floats"]:
    """Name → W: everything that speaks for or against a window."""
    spread = Spread(index)
    exact, by_reference, soft, weights, near = _soft(query, index)
    total = float(weights.sum()) or 1.0
    share = (weights / total)[:, None]
    found: dict[str, Floats] = {}

    def cover(values: "Floats") -> "Floats":
        result: Floats = (share * spread.top(values)).sum(axis=0)
        return result

    sentence = spread.group_top(soft, index.sentence_of)
    turn = spread.group_top(soft, index.turn_of)
    found["cover_exact"] = cover(exact)
    found["cover_reference"] = cover(by_reference)
    found["cover_soft"] = cover(soft)
    found["cover_sentence"] = cover(sentence)
    found["cover_near"] = cover(_near_segments(soft, 3, index.turn_of))
    found["cover_turn"] = cover(turn)
    found["cover_turn_exact"] = cover(spread.group_top(exact, index.turn_of))
    _names_and_verbs(query, weights, by_reference, soft, spread, index, found)
    question_vector = (weights[:, None] * vectors([t.lemma for t in query.terms])).sum(axis=0)
    norm = float(np.linalg.norm(question_vector)) or 1.0
    cosine = (index.segment_vectors @ (question_vector / norm))[None, :].astype(np.float32)
    found["cosine"] = spread.top(cosine)[0]
    found["cosine_turn"] = spread.top(spread.group_top(cosine, index.turn_of))[0]
    field_close = _field(soft, share[:, 0], 0.5, index)
    field_wide = _field(soft, share[:, 0], 0.8, index)
    found["field_close"] = spread.top(field_close[None, :])[0]
    found["field_wide"] = spread.top(field_wide[None, :])[0]
    _wanted(query, index, spread, found, field_close, field_wide)
    _subjects(query, index, spread, found)
    _focus(query, index, spread, found)
    _shape(index, found)
    _when(query, index, found)
    _marks(query, index, spread, found)
    return found


def _names_and_verbs(
    query: Query,
    weights: "Floats",
    by_reference: "Floats",
    soft: "Floats",
    spread: Spread,
    index: Index,
    found: dict[str, "Floats"],
) -> None:
    zero = np.zeros(len(index.starts), dtype=np.float32)
    names = [row for row, term in enumerate(query.terms) if term.name]
    verbs = [row for row, term in enumerate(query.terms) if term.verb]
    for label, rows, values in (
        ("name", names, by_reference),
        ("name_sentence", names, spread.group_top(by_reference, index.sentence_of)),
        ("name_turn", names, spread.group_top(by_reference, index.turn_of)),
        ("verb", verbs, soft),
        ("verb_sentence", verbs, spread.group_top(soft, index.sentence_of)),
    ):
        found[label] = spread.top(values[rows]).mean(axis=0) if rows else zero


def _novel(query: Query, phrase: Phrase) -> bool:
    """True where a phrase says more than the question itself."""
    asked = {term.lemma for term in query.terms}
    return not phrase.lemmas or not phrase.lemmas <= asked


def _field(soft: "Floats", share: "Floats", decay: float, index: Index) -> "Floats":
    """S: how much of what is asked for stands at or near each segment of its turn."""
    reached = soft.copy()
    same = (index.turn_of[1:] == index.turn_of[:-1]).astype(np.float32) * decay
    for place in range(1, index.segments):
        reached[:, place] = np.maximum(reached[:, place], reached[:, place - 1] * same[place - 1])
    for place in range(index.segments - 2, -1, -1):
        reached[:, place] = np.maximum(reached[:, place], reached[:, place + 1] * same[place])
    result: Floats = share @ reached
    return result


def _subjects(query: Query, index: Index, spread: Spread, found: dict[str, "Floats"]) -> None:
    """Whether the segment is about the one whom the question is about."""
    zero = np.zeros(len(index.starts), dtype=np.float32)
    for name in ("subject_own", "subject_other", "subject_same"):
        found[name] = zero
    own = index.subject_own.astype(np.float32)[None, :]
    if query.subject_own:
        found["subject_own"] = spread.top(own)[0]
        found["subject_other"] = spread.top(index.subject_other.astype(np.float32)[None, :])[0]
    elif query.subject:
        same = np.array([bool(terms & query.subject) for terms in index.subjects], dtype=np.float32)
        found["subject_same"] = spread.top(same[None, :])[0]
        found["subject_not_own"] = spread.top(own)[0]


def _wanted(
    query: Query,
    index: Index,
    spread: Spread,
    found: dict[str, "Floats"],
    field_close: "Floats",
    field_wide: "Floats",
) -> None:
    """Phrases of the kinds that answer; old ones, and ones that come again later, apart."""
    strength = np.zeros(index.segments, dtype=np.float32)
    count = np.zeros(index.segments, dtype=np.float32)
    old = np.zeros(index.segments, dtype=np.float32)
    later = np.zeros(index.segments, dtype=np.float32)
    best = max(query.wants.values())
    first: dict[frozenset[str], int] = {}
    last: dict[frozenset[str], int] = {}
    wanted = []
    for row, phrase in index.phrases:
        weight = query.wants.get(phrase.kind, 0.0)
        if weight and _novel(query, phrase):
            turn = int(index.turn_of[row])
            first.setdefault(phrase.lemmas, turn)
            last[phrase.lemmas] = turn
            wanted.append((row, phrase, weight, turn))
    for row, phrase, weight, turn in wanted:
        strength[row] = max(strength[row], weight)
        if weight == best:
            count[row] += 1
            old[row] = max(old[row], float(first[phrase.lemmas] < turn))
            later[row] = max(later[row], float(last[phrase.lemmas] > turn))
    found["want"] = spread.top(strength[None, :])[0]
    found[f"want_{query.form}"] = found["want"]
    found["want_close"] = spread.top((strength * field_close)[None, :])[0]
    found["want_wide"] = spread.top((strength * field_wide)[None, :])[0]
    amount = spread.total(count)
    found["want_many"] = np.log1p(np.maximum(amount - 1, 0))
    found["want_old"] = spread.top(old[None, :])[0]
    found["want_later"] = spread.top(later[None, :])[0]
    if query.now:
        found["want_old_now"] = found["want_old"]
        found["want_later_now"] = found["want_later"]
    # The wanted phrase close to what is asked for, not at the other end of the window.
    found["want_turn"] = spread.top(spread.group_top(strength[None, :], index.turn_of))[0]


def _focus(query: Query, index: Index, spread: Spread, found: dict[str, "Floats"]) -> None:
    """Nearest word to the focus noun that the question itself does not hold."""
    zero = np.zeros(len(index.starts), dtype=np.float32)
    found["focus"] = zero
    found["focus_itself"] = zero
    if not query.focus:
        return
    near = (vectors([query.focus]) @ index.vectors.T)[0]
    asked = [index.place[t.lemma] for t in query.terms if t.lemma in index.place]
    near[asked] = 0
    values = np.where(index.has, near[None, :], 0).max(axis=1).astype(np.float32)
    found["focus"] = spread.top(values[None, :])[0]
    found["focus_close"] = found["focus"] * found["field_close"]
    found["focus_turn"] = found["focus"] * found["cover_turn"]
    if query.focus in index.place:
        column = index.has[:, index.place[query.focus]].astype(np.float32)
        found["focus_itself"] = spread.top(column[None, :])[0]


def _shape(index: Index, found: dict[str, "Floats"]) -> None:
    ends = index.starts + index.lengths - 1
    sentences = index.sentence_of
    before = np.concatenate([[-1], sentences[:-1]])
    after = np.concatenate([sentences[1:], [-1]])
    found["size"] = (index.sizes / 25).astype(np.float32)
    found["short"] = (index.sizes < 5).astype(np.float32)
    found["opens"] = (before[index.starts] != sentences[index.starts]).astype(np.float32)
    found["closes"] = (after[ends] != sentences[ends]).astype(np.float32)
    found["sentences"] = (sentences[ends] - sentences[index.starts]).astype(np.float32)
    found["too_long"] = (index.sizes > 25).astype(np.float32)


def _when(query: Query, index: Index, found: dict[str, "Floats"]) -> None:
    turns = max(int(index.turn_of.max()), 1) if index.segments else 1
    place = (index.turn_of[index.starts] / turns).astype(np.float32)
    found["late"] = place
    found["late_now"] = place * query.now
    found["late_before"] = place * query.before
    found["late_plain"] = place * (not query.now and not query.before)
    past = query.form == "do"
    found["late_do"] = place * past


def _marks(query: Query, index: Index, spread: Spread, found: dict[str, "Floats"]) -> None:
    for name, values in index.marks.items():
        found[f"mark_{name}"] = spread.top(values[None, :].astype(np.float32))[0]
    found["negated_do"] = found["mark_negated"] * (query.form == "do" or query.negative)
    found["negated_class"] = found["mark_negated"] * (query.query_class is QueryClass.NEGATION)
    found["update_now"] = found["mark_update"] * query.now
    found["update_change"] = found["mark_update"] * (query.query_class is QueryClass.CHANGE)
    found["own_own"] = found["mark_own"] * query.own
    found["own_other"] = found["mark_own"] * (not query.own)
