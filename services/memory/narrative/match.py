"""How well each segment of a book answers a question: structure first, words second, vectors third.

Vectors are those of words (`vectors`) and those of stretches as the encoder reads them (`encoder`).

Every feature is free of words: it says how much of the question stands where, of which kind a
phrase is, whom it is about and when it was told. Learned weights (`weights`) put them together.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.alignment import alignment_features
from services.memory.narrative.encoder import encode
from services.memory.narrative.index import Index
from services.memory.narrative.model import QueryClass
from services.memory.narrative.question import Query
from services.memory.narrative.superseding import superseding_features
from services.memory.narrative.vectors import vectors, whole_vectors
from services.memory.narrative.wanted import wanted_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["Evidence", "Features", "features", "find_evidence", "group_top"]

Features = dict[str, "Floats"]

NEAR = 0.30
FAMILY = 0.85
BY_REFERENCE = 0.9
# Words that begin alike mostly share a root: refuse and refusal, adopt and adoption.
STEM = 5
FIRST = re.compile(r"\b(first|originally|at first|initially|begin|start)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where the words of a question (T) stand among the segments (S).

    Attributes:
        share: T x 1, how much each word counts; the sum is 1.
        exact: T x S, the word itself.
        meant: T x S, the word itself or by a reference.
        soft: T x S, 0 to 1, it or something near to it.
        sentence: T x S, as soft, anywhere in the segment's sentence.
        turn: T x S, as soft, anywhere in its turn.
        close: S, how much of the question stands here or very near.
        wide: S, the same over more of the turn.
    """

    share: "Floats"
    exact: "Floats"
    meant: "Floats"
    soft: "Floats"
    sentence: "Floats"
    turn: "Floats"
    close: "Floats"
    wide: "Floats"


def features(query: Query, index: Index) -> Features:
    """Name → S: everything that speaks for or against a segment."""
    evidence = find_evidence(query, index)
    found: Features = {}
    _cover(evidence, index, found)
    _names_and_verbs(query, evidence, index, found)
    _vectors(query, evidence, index, found)
    _subjects(query, index, found)
    _shape(index, found)
    _when(query, index, found)
    _marks(query, index, found)
    found.update(wanted_features(query, index, evidence.close, evidence.wide, found["in_sentence"]))
    found.update(superseding_features(query, index))
    found.update(alignment_features(query.text, index.aligned, index.sentence_of, index.turn_of))
    return found


def _nearness(query: Query, index: Index) -> "Floats":
    """T x V: 1 for the word itself, less for its family, its root and near vectors."""
    terms = query.terms
    near = (vectors([term.lemma for term in terms]) @ index.vectors.T).astype(np.float32)
    near = np.where(near >= NEAR, near, 0).astype(np.float32)
    for row, term in enumerate(terms):
        families = lexicon.family_of(term.lemma)
        stem = term.lemma[:STEM] if len(term.lemma) >= STEM else "\0"
        akin = [
            column
            for column, lemma in enumerate(index.lemmas)
            if lemma[:STEM] == stem or (families and families & index.families[column])
        ]
        near[row, akin] = np.maximum(near[row, akin], FAMILY)
        if term.lemma in index.place:
            near[row, index.place[term.lemma]] = 1.0
    return near


def find_evidence(query: Query, index: Index) -> Evidence:
    """Where the words of a question stand in a book that has segments."""
    terms = query.terms
    known = [index.place.get(term.lemma, -1) for term in terms]
    rare = float(index.idf.max()) if len(index.idf) else 1.0
    weights = np.array(
        [index.idf[column] if column >= 0 else 0.7 * rare for column in known], dtype=np.float32
    )
    near = _nearness(query, index)
    exact = np.zeros((len(terms), index.segments), dtype=np.float32)
    meant = np.zeros_like(exact)
    soft = np.zeros_like(exact)
    for row in range(len(terms)):
        if known[row] >= 0:
            exact[row] = index.has[:, known[row]]
            meant[row] = index.means[:, known[row]]
        own = (index.has * near[row]).max(axis=1)
        soft[row] = np.maximum(own, (index.means * near[row]).max(axis=1) * BY_REFERENCE)
    share = (weights / (float(weights.sum()) or 1.0))[:, None].astype(np.float32)
    return Evidence(
        share=share,
        exact=exact,
        meant=meant,
        soft=soft,
        sentence=group_top(soft, index.sentence_of),
        turn=group_top(soft, index.turn_of),
        close=_field(soft, share[:, 0], 0.5, index),
        wide=_field(soft, share[:, 0], 0.8, index),
    )


def group_top(values: "Floats", group: "NDArray[np.int64]") -> "Floats":
    """T x S: the largest value in the segment's group (a sentence, a turn)."""
    result = np.zeros((values.shape[0], int(group.max()) + 1), dtype=np.float32)
    np.maximum.at(result.T, group, values.T)
    return result[:, group]


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


def _neighbour(values: "Floats", turn_of: "NDArray[np.int64]", by: int) -> "Floats":
    """S: the value of the turn before (1) or after (-1) a segment's own; 0 where there is none."""
    of_turn = np.zeros(int(turn_of.max()) + 3, dtype=np.float32)
    of_turn[turn_of + 1] = values
    result: Floats = of_turn[turn_of + 1 - by]
    return result


def _cover(evidence: Evidence, index: Index, found: Features) -> None:
    def covered(values: "Floats") -> "Floats":
        result: Floats = (evidence.share * values).sum(axis=0)
        return result

    found["cover_exact"] = covered(evidence.exact)
    found["cover_reference"] = covered(evidence.meant)
    found["cover_soft"] = covered(evidence.soft)
    found["in_sentence"] = covered(evidence.sentence)
    found["in_turn"] = covered(evidence.turn)
    found["in_turn_exact"] = covered(group_top(evidence.exact, index.turn_of))
    found["field_close"] = evidence.close
    found["field_wide"] = evidence.wide
    found["turn_before"] = _neighbour(found["in_turn"], index.turn_of, 1)
    found["turn_after"] = _neighbour(found["in_turn"], index.turn_of, -1)


def _names_and_verbs(query: Query, evidence: Evidence, index: Index, found: Features) -> None:
    names = [row for row, term in enumerate(query.terms) if term.name]
    verbs = [row for row, term in enumerate(query.terms) if term.verb]
    for label, rows, values in (
        ("name", names, evidence.meant),
        ("name_sentence", names, group_top(evidence.meant, index.sentence_of)),
        ("name_turn", names, group_top(evidence.meant, index.turn_of)),
        ("verb", verbs, evidence.soft),
        ("verb_sentence", verbs, evidence.sentence),
    ):
        if rows:
            found[label] = values[rows].mean(axis=0)


def _vectors(query: Query, evidence: Evidence, index: Index, found: Features) -> None:
    if query.terms:
        asked = (evidence.share * vectors([term.lemma for term in query.terms])).sum(axis=0)
        cosine = (index.segment_vectors @ (asked / (float(np.linalg.norm(asked)) or 1.0)))[None, :]
        found["cosine"] = cosine[0]
        found["cosine_turn"] = group_top(cosine.astype(np.float32), index.turn_of)[0]
    whole = whole_vectors([query.text])[0]
    found["whole"] = index.whole_segments @ whole
    found["whole_sentence"] = index.whole_sentences @ whole
    found["whole_turn"] = index.whole_turns @ whole
    for name, near in index.encodings.near(encode(query.text)).items():
        found[f"encoded_{name}"] = near
        # How far behind the best it is: what is near enough differs from question to question.
        found[f"encoded_{name}_lead"] = near - near.max()


def _subjects(query: Query, index: Index, found: Features) -> None:
    """Whether the segment is about the one whom the question is about."""
    own = index.subject_own.astype(np.float32)
    if query.subject_own:
        found["subject_own"] = own
        found["subject_other"] = index.subject_other.astype(np.float32)
    elif query.subject:
        same = [bool(terms & query.subject) for terms in index.subjects]
        found["subject_same"] = np.array(same, dtype=np.float32)
        found["subject_not_own"] = own


def _shape(index: Index, found: Features) -> None:
    sentences = index.sentence_of
    before = np.concatenate([[-1], sentences[:-1]])
    after = np.concatenate([sentences[1:], [-1]])
    found["size"] = (index.sizes / 25).astype(np.float32)
    found["short"] = (index.sizes < 4).astype(np.float32)
    found["opens"] = (before != sentences).astype(np.float32)
    found["closes"] = (after != sentences).astype(np.float32)
    found["too_long"] = (index.sizes > 25).astype(np.float32)


def _when(query: Query, index: Index, found: Features) -> None:
    place = (index.turn_of / max(int(index.turn_of.max()), 1)).astype(np.float32)
    plain = not query.now and not query.before
    for name, holds in (
        ("late", True),
        ("late_now", query.now),
        ("late_before", query.before),
        ("late_past", plain and query.past),
        ("late_present", plain and not query.past),
        ("late_do", query.form == "do"),
        ("late_first", FIRST.search(query.text) is not None),
    ):
        if holds:
            found[name] = place
    found["last_turn"] = (place == 1).astype(np.float32)
    found["first_turn"] = (place == 0).astype(np.float32)
    if query.months:
        fits = [bool(months & query.months) for months in index.months]
        found["month"] = np.array(fits, dtype=np.float32)


def _marks(query: Query, index: Index, found: Features) -> None:
    for name, values in index.marks.items():
        found[f"mark_{name}"] = values.astype(np.float32)
    for name, mark, holds in (
        ("negated_do", "negated", query.form == "do" or query.negative),
        ("negated_class", "negated", query.query_class is QueryClass.NEGATION),
        ("update_now", "update", query.now),
        ("update_before", "update", query.before),
        ("own_own", "own", query.own),
        ("own_other", "own", not query.own),
    ):
        if holds:
            found[name] = found[f"mark_{mark}"]
