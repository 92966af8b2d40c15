"""What a book's segments are near to, as the sentence encoder reads them in their turns."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative.book import Book
from services.memory.narrative.encoder import SIZE, ahead, encode_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from services.memory.narrative.encoder import Span

    Floats = NDArray[np.float32]
    Places = NDArray[np.int64]

__all__ = ["AROUND", "Encodings", "encodings_of"]

AROUND = ("segment", "sentence", "before", "after", "turn")
"""A segment, its sentence, that with the one before it, that with the one after it, its turn."""


@dataclass(frozen=True, slots=True)
class Encodings:
    """Vectors of what is around a book's segments (S).

    Attributes:
        rows: R x 384, each stretch once.
        place: name of `AROUND` → S, the row of each segment's.
    """

    rows: "Floats"
    place: Mapping[str, "Places"]

    @property
    def size_bytes(self) -> int:
        """What it holds in memory, bytes."""
        return self.rows.nbytes + sum(places.nbytes for places in self.place.values())

    def near(self, vector: "Floats") -> dict[str, "Floats"]:
        """Name of `AROUND` → S: the cosine to a vector of length 1."""
        cosine: Floats = self.rows @ vector
        return {name: cosine[places] for name, places in self.place.items()}


def encodings_of(book: Book) -> Encodings:
    """Encodes every turn of a book once: from both its ends, on two processors."""
    ahead(*(told.text for told in reversed(book.turns[len(book.turns) // 2 :])))
    rows: list[Floats] = [np.zeros((0, SIZE), dtype=np.float32)]
    place: dict[str, list[Places]] = {name: [np.zeros(0, dtype=np.int64)] for name in AROUND}
    count = 0
    for turn in range(len(book.turns)):
        told, places = _of_turn(book, turn)
        for name, numbers in places.items():
            place[name].append(numbers + count)
        rows.append(told)
        count += len(told)
    return Encodings(
        np.concatenate(rows), {name: np.concatenate(parts) for name, parts in place.items()}
    )


def _of_turn(book: Book, turn: int) -> "tuple[Floats, dict[str, Places]]":
    """The rows of one turn, and for each of its segments where its own are among them."""
    segments = [segment for segment in book.segments if segment.turn == turn]
    words = book.turns[turn].analysis.words
    own: list[Span] = [
        (words[segment.first].start, words[segment.last - 1].end) for segment in segments
    ]
    sentences: dict[int, Span] = {}
    for segment, (start, end) in zip(segments, own, strict=True):
        first, last = sentences.get(segment.sentence, (start, end))
        sentences[segment.sentence] = (min(first, start), max(last, end))
    number = {sentence: at for at, sentence in enumerate(sorted(sentences))}
    spans = [sentences[sentence] for sentence in number]
    pairs = [(first[0], second[1]) for first, second in itertools.pairwise(spans)]
    text = book.turns[turn].text
    rows = encode_spans(text, [*own, *spans, *pairs, (0, len(text))])
    at = np.array([number[segment.sentence] for segment in segments], dtype=np.int64)
    # The first sentence has none before it, the last none after it: each stands for itself.
    sentence, pair = len(own) + at, len(own) + len(spans) + at
    return rows, {
        "segment": np.arange(len(own), dtype=np.int64),
        "sentence": sentence,
        "before": np.where(at > 0, pair - 1, sentence),
        "after": np.where(at < len(spans) - 1, pair, sentence),
        "turn": np.full(len(own), len(rows) - 1, dtype=np.int64),
    }
