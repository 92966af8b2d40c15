"""Late interaction: where each word of a question has its nearest word among those of a book.

The encoder's vectors of word pieces are kept as they came out of the whole turn. What all pieces of
a book have in common is taken off first, so that a cosine says what a piece has of its own. An
answer itself often shares little with its question, and what stands around it shares much: so both
are told, with how much of a segment is in the question anyway.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.encoder import SIZE, Pieces, done_with, encode_pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from services.memory.narrative.book import Book

    Bools = NDArray[np.bool_]
    Bytes = NDArray[np.int8]
    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

__all__ = ["Aligned", "aligned_of", "alignment_features"]

STEPS = 127
NOTHING = -1.0
QUESTION_WORDS = frozenset(("what", "who", "whom", "whose", "which", "when", "where", "why", "how"))
# The question word with what follows it: "which town was", "how much did".
ASKED_PIECES = 3


@dataclass(frozen=True, slots=True)
class Aligned:
    """The word pieces (K) of a book's segments (S), in order.

    Attributes:
        rows: K x 384, what a piece has of its own, in eight bits.
        norms: K, the rows' lengths; never 0.
        common: what all pieces of the book have in common.
        segment: K, the segment that a piece stands in; never falls.
        content: K, it says something about what is told.
    """

    rows: "Bytes"
    norms: "Floats"
    common: "Floats"
    segment: "Numbers"
    content: "Bools"

    @property
    def size_bytes(self) -> int:
        """What it holds in memory, bytes."""
        kept = (self.rows, self.norms, self.common, self.segment, self.content)
        return sum(values.nbytes for values in kept)

    def cosines(self, vectors: "Floats") -> "Floats":
        """Q x K: how near each piece is to each of some vectors."""
        own = vectors - self.common
        lengths = np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-6)
        result: Floats = (own / lengths) @ self.rows.astype(np.float32).T / self.norms
        return result


def aligned_of(book: "Book") -> Aligned:
    """The pieces of every turn of a book."""
    rows: list[Floats] = [np.zeros((0, SIZE), dtype=np.float32)]
    segment: list[Numbers] = [np.zeros(0, dtype=np.int64)]
    content: list[bool] = []
    opening: dict[int, list[int]] = {}
    for number, told in enumerate(book.segments):
        opening.setdefault(told.turn, []).append(number)
    for turn, numbers in opening.items():
        words = book.turns[turn].analysis.words
        pieces = encode_pieces(book.turns[turn].text)
        ends = [words[book.segments[number].last - 1].end for number in numbers]
        # A piece belongs to the first segment that it reaches into; what follows them all to none.
        place = np.searchsorted(ends, [first for first, _ in pieces.places], side="right")
        inside = place < len(ends)
        rows.append(pieces.rows[inside].astype(np.float32))
        segment.append(place[inside] + numbers[0])
        content += [mark for mark, kept in zip(_content(pieces), inside, strict=True) if kept]
    # `encodings` has had them before: a book's pieces are wanted twice, one after the other.
    done_with(*(told.text for told in book.turns))
    table = np.concatenate(rows)
    common = table.mean(axis=0) if len(table) else np.zeros(SIZE, dtype=np.float32)
    own = table - common
    steps = STEPS / np.maximum(np.abs(own).max(axis=1, keepdims=True, initial=0.0), 1e-6)
    small = np.rint(own * steps).astype(np.int8)
    norms = np.linalg.norm(small.astype(np.float32), axis=1)
    return Aligned(
        small,
        np.maximum(norms, 1.0).astype(np.float32),
        common.astype(np.float32),
        np.concatenate(segment),
        np.array(content, dtype=np.bool_),
    )


def alignment_features(
    text: str, aligned: Aligned, sentence_of: "Numbers", turn_of: "Numbers"
) -> "dict[str, Floats]":
    """Name → S.

    Args:
        text: the question.
        aligned: the book's pieces.
        sentence_of: S, numbered over the book.
        turn_of: S.
    """
    asked = encode_pieces(text)
    if not len(asked.rows) or not len(aligned.rows):
        return {}
    size = len(turn_of)
    near = aligned.cosines(asked.rows.astype(np.float32))
    own = _top(near, aligned.segment, size)
    found: dict[str, Floats] = {}
    content = np.array(_content(asked), dtype=np.bool_)
    for place, table in _around(own, sentence_of, turn_of).items():
        for part, rows in (("all", slice(None)), ("content", content)):
            if part == "content" and not content.any():
                continue
            mean = table[rows].mean(axis=0)
            found[f"align_{place}_{part}"] = mean
            found[f"align_{place}_{part}_lead"] = mean - mean.max()
    _question_word(asked, own, found)
    _repeated(near, aligned, size, found)
    return found


def _content(pieces: Pieces) -> list[bool]:
    return [word not in lexicon.STOP and word.isalnum() for word in pieces.words]


def _top(values: "Floats", group: "Numbers", size: int) -> "Floats":
    """Q x groups: the largest of each group's columns, of Q x columns."""
    result = np.full((size, values.shape[0]), NOTHING, dtype=np.float32)
    np.maximum.at(result, group, values.T)
    return result.T


def _around(own: "Floats", sentence_of: "Numbers", turn_of: "Numbers") -> "dict[str, Floats]":
    """Q x S: the best in the segment, its sentence, its turn and the segments beside it."""
    same = turn_of[1:] == turn_of[:-1]
    before, after = np.zeros_like(own), np.zeros_like(own)
    before[:, 1:] = own[:, :-1] * same
    after[:, :-1] = own[:, 1:] * same
    return {
        "segment": own,
        "sentence": _top(own, sentence_of, int(sentence_of[-1]) + 1)[:, sentence_of],
        "turn": _top(own, turn_of, int(turn_of[-1]) + 1)[:, turn_of],
        "before": before,
        "after": after,
    }


def _question_word(asked: Pieces, own: "Floats", found: "dict[str, Floats]") -> None:
    """How near a segment comes to the question word, and to it with what follows."""
    at = next((at for at, word in enumerate(asked.words) if word in QUESTION_WORDS), None)
    if at is None:
        return
    for name, count in (("word", 1), ("phrase", ASKED_PIECES)):
        mean = own[at : at + count].mean(axis=0)
        found[f"align_{name}"] = mean
        found[f"align_{name}_lead"] = mean - mean.max()


def _repeated(near: "Floats", aligned: Aligned, size: int, found: "dict[str, Floats]") -> None:
    """How much of a segment is in the question."""
    best = near.max(axis=0)
    every = np.ones_like(aligned.content)
    for name, chosen in (("all", every), ("content", aligned.content)):
        segment, values = aligned.segment[chosen], best[chosen]
        count = np.bincount(segment, minlength=size)
        total = np.bincount(segment, weights=values, minlength=size)
        found[f"align_back_{name}"] = (total / np.maximum(count, 1)).astype(np.float32)
