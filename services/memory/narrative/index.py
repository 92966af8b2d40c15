"""A book as matrices: which segment has which word, phrase and mark (built once a book)."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from services.memory.narrative import lexicon
from services.memory.narrative.alignment import Aligned, aligned_of
from services.memory.narrative.book import Book, Segment
from services.memory.narrative.encodings import Encodings, encodings_of
from services.memory.narrative.model import TurnClass
from services.memory.narrative.phrases import Phrase, is_content
from services.memory.narrative.references import Person, resolve
from services.memory.narrative.vectors import vectors, whole_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = ["Index", "build"]

HYPOTHETICAL = frozenset(
    [
        "if",
        "would",
        "could",
        "might",
        "maybe",
        "perhaps",
        "wish",
        "unless",
        "almost",
        "nearly",
        "suppose",
        "imagine",
    ]
)
REPORTED = frozenset(
    ["say", "tell", "claim", "reckon", "think", "swear", "hear", "rumour", "rumor", "joke"]
)
OWN = frozenset(["i", "me", "my", "mine", "we", "us", "our"])


@dataclass(frozen=True)
class Index:
    """Matrices over a book's segments (S) and words (V).

    Attributes:
        book: what they are of.
        lemmas: the words, in order.
        place: word → column.
        has: S x V, the segment holds the word itself.
        means: S x V, the segment holds it itself or by a reference.
        vectors: V x 256.
        families: V, families of words that each is in.
        idf: V, how rare a word is among segments.
        segment_vectors: S x 256.
        marks: name → S, yes or no.
        turn_of: S.
        sentence_of: S, numbered over the book.
        phrases: typed phrases with their segment.
        subject_own: S, the speaker is its subject.
        subject_other: S, somebody or something else is.
        subjects: S, words for its subject.
        whole_segments: S x 256, of the segment's text as a whole.
        whole_sentences: S x 256, of its sentence.
        whole_turns: S x 256, of its turn.
        modified: S, nouns that an adjective, noun, name or number narrows down.
        months: S, months (1 to 12) of its turn and of the times that it names.
        sizes: S, words between blanks.
    """

    book: Book
    lemmas: tuple[str, ...]
    place: dict[str, int]
    has: "Bools"
    means: "Bools"
    vectors: "Floats"
    families: tuple[frozenset[int], ...]
    idf: "Floats"
    segment_vectors: "Floats"
    marks: dict[str, "Bools"]
    turn_of: "NDArray[np.int64]"
    sentence_of: "NDArray[np.int64]"
    phrases: tuple[tuple[int, Phrase], ...]
    subject_own: "Bools"
    subject_other: "Bools"
    subjects: tuple[frozenset[str], ...]
    whole_segments: "Floats"
    whole_sentences: "Floats"
    whole_turns: "Floats"
    months: tuple[frozenset[int], ...]
    modified: tuple[frozenset[str], ...]
    sizes: "NDArray[np.int64]"

    @property
    def size_bytes(self) -> int:
        """About what it holds in memory, bytes; encodings count from their first use on."""
        floats = self.vectors.nbytes + 4 * self.segment_vectors.nbytes
        made = (self.__dict__.get(name) for name in ("encodings", "aligned"))
        kept = sum(one.size_bytes for one in made if isinstance(one, Encodings | Aligned))
        return self.has.nbytes + self.means.nbytes + floats + kept + 2_000 * self.segments

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
    meant = _meant(book, references)
    subjects = _subjects(book, references)
    lemmas = tuple(sorted(set().union(*own_words, *meant)))
    place = {lemma: column for column, lemma in enumerate(lemmas)}
    has = np.zeros((len(segments), len(lemmas)), dtype=np.bool_)
    means = np.zeros_like(has)
    for row, (own, other) in enumerate(zip(own_words, meant, strict=True)):
        has[row, [place[lemma] for lemma in own]] = True
        means[row, [place[lemma] for lemma in own | other]] = True
    idf = np.log1p(len(segments) / (has.sum(axis=0) + 0.5)).astype(np.float32)
    word_vectors = vectors(lemmas)
    weighted = (has * idf) @ word_vectors
    norms = np.linalg.norm(weighted, axis=1, keepdims=True)
    return Index(
        book=book,
        lemmas=lemmas,
        place=place,
        has=has,
        means=means,
        vectors=word_vectors,
        families=tuple(lexicon.family_of(lemma) for lemma in lemmas),
        idf=idf,
        segment_vectors=weighted / np.maximum(norms, 1e-6),
        marks=_marks(book),
        turn_of=np.array([segment.turn for segment in segments], dtype=np.int64),
        sentence_of=_sentences(segments),
        phrases=tuple(
            (row, phrase) for row, segment in enumerate(segments) for phrase in segment.phrases
        ),
        subject_own=np.array(["i" in terms for terms in subjects], dtype=np.bool_),
        subject_other=np.array(["~" in terms for terms in subjects], dtype=np.bool_),
        subjects=subjects,
        **_wholes(book),
        months=_months(book),
        modified=_modified(book),
        sizes=np.array([segment.size for segment in segments], dtype=np.int64),
    )


def _subjects(book: Book, references: tuple[dict[int, Person], ...]) -> tuple[frozenset[str], ...]:
    """For each segment words for its subject; {"i"} is the speaker; a fragment keeps the last."""
    found: list[frozenset[str]] = []
    for number, segment in enumerate(book.segments):
        people = references[segment.turn]
        words = book.turns[segment.turn].analysis.words
        terms: set[str] = set()
        for index in range(segment.first, segment.last):
            word = words[index]
            if word.dep not in {"nsubj", "nsubjpass"}:
                continue
            if word.text.lower() in {"i", "we"}:
                terms.add("i")
            elif index in people:
                terms |= people[index].terms() | {"~"}
            elif is_content(word):
                terms |= {word.lemma, "~"}
            else:
                terms.add("~")
        before = book.segments[number - 1] if number else None
        if not terms and before is not None and before.turn == segment.turn:
            terms = set(found[-1]) if before.sentence == segment.sentence else {"i"}
        found.append(frozenset(terms or {"i"}))
    return tuple(found)


def _meant(book: Book, references: tuple[dict[int, Person], ...]) -> list[set[str]]:
    """Words that a segment means without holding them: what people in it are called elsewhere."""
    meant = []
    for segment in book.segments:
        people = references[segment.turn]
        terms: set[str] = set()
        for index in range(segment.first, segment.last):
            if index in people:
                terms |= people[index].terms()
        meant.append(terms)
    return meant


def _marks(book: Book) -> dict[str, "Bools"]:
    rows: dict[str, list[bool]] = {
        name: []
        for name in (
            "hypothetical",
            "reported",
            "negated",
            "update",
            "own",
            "asked",
            "idle",
            "verb",
        )
    }
    for segment in book.segments:
        words = book.words(segment)
        low = {word.text.lower() for word in words} | {word.lemma for word in words}
        turn_class = book.turns[segment.turn].turn_class
        rows["hypothetical"].append(bool(low & HYPOTHETICAL))
        rows["reported"].append(bool(low & REPORTED))
        rows["negated"].append(
            bool(low & {"not", "n't", "no", "never", "nobody", "nothing", "none"})
        )
        rows["update"].append(bool(low & lexicon.UPDATES))
        rows["own"].append(bool(low & OWN))
        asking = turn_class in {TurnClass.QUESTION, TurnClass.GENERAL_KNOWLEDGE}
        rows["asked"].append(asking or words[-1].text == "?")
        rows["idle"].append(turn_class is TurnClass.NOISE)
        rows["verb"].append(any(word.tag.startswith("VB") for word in words))
    return {name: np.array(values, dtype=np.bool_) for name, values in rows.items()}


def _wholes(book: Book) -> dict[str, "Floats"]:
    """Vectors of texts as they stand, function words and all."""
    segments = book.segments
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for segment in segments:
        key = (segment.turn, segment.sentence)
        first, last = spans.get(key, (segment.first, segment.last))
        spans[key] = (min(first, segment.first), max(last, segment.last))
    sentences = {key: book.text(key[0], *span) for key, span in spans.items()}
    return {
        "whole_segments": whole_vectors([book.text(s.turn, s.first, s.last) for s in segments]),
        "whole_sentences": whole_vectors([sentences[s.turn, s.sentence] for s in segments]),
        "whole_turns": whole_vectors([book.turns[s.turn].text for s in segments]),
    }


def _modified(book: Book) -> tuple[frozenset[str], ...]:
    found = []
    for segment in book.segments:
        words = book.turns[segment.turn].analysis.words
        found.append(
            frozenset(
                words[words[index].head].lemma
                for index in range(segment.first, segment.last)
                if words[index].dep in {"amod", "compound", "nummod", "nmod"}
            )
        )
    return tuple(found)


def _months(book: Book) -> tuple[frozenset[int], ...]:
    found = []
    for segment in book.segments:
        told = book.turns[segment.turn]
        words = told.analysis.words
        start, end = words[segment.first].start, words[segment.last - 1].end
        named = {
            int(time.resolves_to[5:7])
            for time in told.analysis.times
            if time.start < end and time.end > start
        }
        found.append(frozenset(named | {int(told.time[5:7])}))
    return tuple(found)


def _sentences(segments: tuple[Segment, ...]) -> "NDArray[np.int64]":
    numbers: dict[tuple[int, int], int] = {}
    for segment in segments:
        numbers.setdefault((segment.turn, segment.sentence), len(numbers))
    return np.array([numbers[s.turn, s.sentence] for s in segments], dtype=np.int64)
