"""A book as matrices: which segment has which word, phrase and mark (built once a book)."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.alignment import Aligned, aligned_of
from services.memory.narrative.book import Book, Segment
from services.memory.narrative.encodings import Encodings, encodings_of
from services.memory.narrative.marking import (
    marks_of,
    meant_of,
    modified_of,
    months_of,
    subjects_of,
)
from services.memory.narrative.phrases import Phrase, is_content
from services.memory.narrative.references import resolve
from services.memory.narrative.vectors import vectors, whole_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = ["Index", "build"]


@dataclass(frozen=True, slots=True)
class _Wholes:
    """Vectors of texts as they stand, function words and all, each text once.

    Attributes:
        segments: S x 256.
        sentences: one row a sentence of the book.
        turns: one row a turn.
    """

    segments: "Floats"
    sentences: "Floats"
    turns: "Floats"

    @property
    def size_bytes(self) -> int:
        """What it holds in memory, bytes."""
        return self.segments.nbytes + self.sentences.nbytes + self.turns.nbytes


@dataclass(frozen=True)
class Index:
    """Matrices over a book's segments (S) and words (V).

    Attributes:
        book: what they are of.
        lemmas: the words, in order.
        place: word → column.
        has: S x V, the segment holds the word itself.
        means: S x V, the segment holds it itself or by a reference.
        families: V, families of words that each is in.
        idf: V, how rare a word is among segments.
        marks: name → S, yes or no.
        turn_of: S.
        sentence_of: S, numbered over the book.
        phrases: typed phrases with their segment.
        subject_own: S, the speaker is its subject.
        subject_other: S, somebody or something else is.
        subjects: S, words for its subject.
        modified: S, nouns that an adjective, noun, name or number narrows down.
        months: S, months (1 to 12) of its turn and of the times that it names.
        sizes: S, words between blanks.
    """

    book: Book
    lemmas: tuple[str, ...]
    place: dict[str, int]
    has: "Bools"
    means: "Bools"
    families: tuple[frozenset[int], ...]
    idf: "Floats"
    marks: dict[str, "Bools"]
    turn_of: "NDArray[np.int64]"
    sentence_of: "NDArray[np.int64]"
    phrases: tuple[tuple[int, Phrase], ...]
    subject_own: "Bools"
    subject_other: "Bools"
    subjects: tuple[frozenset[str], ...]
    months: tuple[frozenset[int], ...]
    modified: tuple[frozenset[str], ...]
    sizes: "NDArray[np.int64]"

    @property
    def size_bytes(self) -> int:
        """About what it holds in memory, bytes; vectors count from their first use on."""
        made = (self.__dict__.get(name) for name in ("encodings", "aligned", "_wholes"))
        kept = sum(one.size_bytes for one in made if isinstance(one, Encodings | Aligned | _Wholes))
        return self.has.nbytes + self.means.nbytes + kept + 2_000 * self.segments

    @property
    def vectors(self) -> "Floats":
        """V x 256; words are kept once for all books."""
        return vectors(self.lemmas)

    @property
    def segment_vectors(self) -> "Floats":
        """S x 256, of length 1 (0 for a segment without a known word)."""
        weighted = (self.has * self.idf) @ self.vectors
        norms = np.linalg.norm(weighted, axis=1, keepdims=True)
        result: Floats = weighted / np.maximum(norms, 1e-6)
        return result

    @property
    def whole_segments(self) -> "Floats":
        """S x 256, of the segment's text as a whole."""
        return self._wholes.segments

    @property
    def whole_sentences(self) -> "Floats":
        """S x 256, of its sentence."""
        result: Floats = self._wholes.sentences[self.sentence_of]
        return result

    @property
    def whole_turns(self) -> "Floats":
        """S x 256, of its turn."""
        result: Floats = self._wholes.turns[self.turn_of]
        return result

    @functools.cached_property
    def _wholes(self) -> "_Wholes":
        return _wholes(self.book)

    @functools.cached_property
    def encodings(self) -> Encodings:
        """What the sentence encoder makes of the book; made at the first question."""
        return encodings_of(self.book)

    @functools.cached_property
    def aligned(self) -> Aligned:
        """The encoder's word pieces of the book; made at the first question."""
        return aligned_of(self.book)

    @property
    def segments(self) -> int:
        """Number of segments."""
        return len(self.turn_of)


def build(book: Book) -> Index:
    """The matrices of a book."""
    segments = book.segments
    own_words = [
        {word.lemma for word in book.words(segment) if is_content(word)} for segment in segments
    ]
    references = resolve([told.analysis for told in book.turns])
    meant = meant_of(book, references)
    subjects = subjects_of(book, references)
    lemmas = tuple(sorted(set().union(*own_words, *meant)))
    place = {lemma: column for column, lemma in enumerate(lemmas)}
    has = np.zeros((len(segments), len(lemmas)), dtype=np.bool_)
    means = np.zeros_like(has)
    for row, (own, other) in enumerate(zip(own_words, meant, strict=True)):
        has[row, [place[lemma] for lemma in own]] = True
        means[row, [place[lemma] for lemma in own | other]] = True
    idf = np.log1p(len(segments) / (has.sum(axis=0) + 0.5)).astype(np.float32)
    return Index(
        book=book,
        lemmas=lemmas,
        place=place,
        has=has,
        means=means,
        families=tuple(lexicon.family_of(lemma) for lemma in lemmas),
        idf=idf,
        marks=marks_of(book),
        turn_of=np.array([segment.turn for segment in segments], dtype=np.int64),
        sentence_of=_sentences(segments),
        phrases=tuple(
            (row, phrase) for row, segment in enumerate(segments) for phrase in segment.phrases
        ),
        subject_own=np.array(["i" in terms for terms in subjects], dtype=np.bool_),
        subject_other=np.array(["~" in terms for terms in subjects], dtype=np.bool_),
        subjects=subjects,
        months=months_of(book),
        modified=modified_of(book),
        sizes=np.array([segment.size for segment in segments], dtype=np.int64),
    )


def _wholes(book: Book) -> _Wholes:
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for segment in book.segments:
        key = (segment.turn, segment.sentence)
        first, last = spans.get(key, (segment.first, segment.last))
        spans[key] = (min(first, segment.first), max(last, segment.last))
    # Sentences as `sentence_of` numbers them: in the order of their first segments.
    return _Wholes(
        segments=whole_vectors([book.text(s.turn, s.first, s.last) for s in book.segments]),
        sentences=whole_vectors([book.text(turn, *span) for (turn, _), span in spans.items()]),
        turns=whole_vectors([told.text for told in book.turns]),
    )


def _sentences(segments: tuple[Segment, ...]) -> "NDArray[np.int64]":
    numbers: dict[tuple[int, int], int] = {}
    for segment in segments:
        numbers.setdefault((segment.turn, segment.sentence), len(numbers))
    return np.array([numbers[s.turn, s.sentence] for s in segments], dtype=np.int64)
