"""Typed phrases of a turn: what could answer who, where, when, how much and the like."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.memory.narrative import feelings, lexicon
from services.memory.narrative.analysis import Analysis, Word
from services.memory.narrative.model import TagType

__all__ = ["Kind", "Phrase", "find_phrases", "is_content", "is_name"]


class Kind(enum.IntEnum):
    """What a phrase could answer; the number is its column in matrices."""

    NAME = 0
    PERSON = 1
    PLACE = 2
    ORGANIZATION = 3
    TIME = 4
    CLOCK = 5
    MONEY = 6
    NUMBER = 7
    DURATION = 8
    ROLE = 9
    FEELING = 10
    NEGATION = 11
    REASON = 12
    KIN = 13
    THING = 14
    QUOTE = 15
    LOCATED = 16
    MEASURE = 17
    FEELING_HINT = 18


TAGGED = {
    TagType.PERSON: Kind.PERSON,
    TagType.PLACE: Kind.PLACE,
    TagType.ORGANIZATION: Kind.ORGANIZATION,
}
OUTRIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase with its kind.

    Attributes:
        kind: what it could answer.
        start: its first word in the turn.
        end: one past its last word.
        lemmas: base forms of its content, lower case.
    """

    kind: Kind
    start: int
    end: int
    lemmas: frozenset[str]


def is_name(word: Word) -> bool:
    """A proper noun that is no weekday, month or number."""
    return (
        word.tag in {"NNP", "NNPS"}
        and word.lemma not in lexicon.MONTHS
        and word.lemma not in lexicon.WEEKDAYS
        and any(character.isalpha() for character in word.text)
    )


def is_content(word: Word) -> bool:
    """A word that says something about what is told."""
    return (
        word.lemma not in lexicon.STOP
        and word.text.lower() not in lexicon.STOP
        and any(character.isalnum() for character in word.text)
    )


def find_phrases(analysis: Analysis) -> tuple[Phrase, ...]:
    """The typed phrases of a turn; one stretch of words may have several kinds."""
    words = analysis.words
    found = [
        *_names(words, _kinds_of_names(analysis)),
        *_singles(words),
        *_numbers(words),
        *_times(analysis),
        *_quotes(words),
    ]
    return tuple(sorted(found, key=lambda phrase: (phrase.start, phrase.end, phrase.kind)))


def _phrase(words: Sequence[Word], kind: Kind, start: int, end: int) -> Phrase:
    return Phrase(kind, start, end, frozenset(w.lemma for w in words[start:end] if is_content(w)))


def _kinds_of_names(analysis: Analysis) -> dict[str, Kind]:
    """Name → what the turn's tags say that it is."""
    return {
        part.lower(): TAGGED[tag.type]
        for tag in analysis.tags
        if tag.type in TAGGED
        for part in tag.text.split()
        if part[0].isupper()
    }


def _names(words: Sequence[Word], kinds: dict[str, Kind]) -> Iterator[Phrase]:
    index = 0
    while index < len(words):
        if not is_name(words[index]):
            index += 1
            continue
        end = index + 1
        while end < len(words) and (
            is_name(words[end])
            or (
                words[end].lemma in {"&", "of", "de", "da", "van", "the", "-"}
                and end + 1 < len(words)
                and is_name(words[end + 1])
            )
        ):
            end += 1
        yield from _named(words, index, end, kinds)
        index = end


def _named(words: Sequence[Word], start: int, end: int, kinds: dict[str, Kind]) -> Iterator[Phrase]:
    """A run of proper nouns, under every kind that it may be."""
    yield _phrase(words, Kind.NAME, start, end)
    entities = {word.ent for word in words[start:end]}
    before = words[start - 1].lemma if start else ""
    lowered = {word.lemma for word in words[start:end]}
    located = before in lexicon.PLACE_PREPOSITIONS
    if located:
        yield _phrase(words, Kind.LOCATED, start, end)
    tagged = {kinds[word.text.lower()] for word in words[start:end] if word.text.lower() in kinds}
    if tagged:
        for kind in sorted(tagged):
            yield _phrase(words, kind, start, end)
        return
    if entities & {"GPE", "LOC", "FAC"} or lowered & lexicon.PLACE_NOUNS or located:
        yield _phrase(words, Kind.PLACE, start, end)
    if entities & {"ORG"} or "&" in lowered:
        yield _phrase(words, Kind.ORGANIZATION, start, end)
    subject = any(word.dep in {"nsubj", "nsubjpass", "poss", "appos"} for word in words[start:end])
    if "PERSON" in entities or (subject and not located) or lowered & lexicon.PERSON_NOUNS:
        yield _phrase(words, Kind.PERSON, start, end)


def _singles(words: Sequence[Word]) -> Iterator[Phrase]:
    for index, word in enumerate(words):
        kinds = []
        if word.lemma in lexicon.KIN:
            kinds.append(Kind.KIN)
        noun = word.tag in {"NN", "NNS"}
        if word.lemma in lexicon.PERSON_NOUNS - lexicon.KIN or (
            noun and len(word.lemma) > 4 and word.lemma.endswith(lexicon.ROLE_SUFFIXES)
        ):
            kinds.append(Kind.ROLE)
        strength = _feeling(word)
        if strength:
            kinds.append(Kind.FEELING if strength >= OUTRIGHT else Kind.FEELING_HINT)
        if word.lemma in lexicon.NEGATIVES or word.text.lower() in lexicon.NEGATIVES:
            kinds.append(Kind.NEGATION)
        if word.lemma in lexicon.REASONS:
            kinds.append(Kind.REASON)
        if word.lemma in lexicon.PLACE_NOUNS and not is_name(word):
            kinds.append(Kind.PLACE)
        if noun and is_content(word):
            kinds.append(Kind.THING)
        for kind in kinds:
            yield _phrase(words, kind, index, index + 1)


def _feeling(word: Word) -> float:
    """How plainly a word tells a feeling; 0 for most words."""
    told = feelings.WORDS.get(word.text.lower()) or feelings.WORDS.get(word.lemma) or ()
    hinted = 1.0 if word.lemma in lexicon.FEELINGS else 0.0
    return max([weight for _, weight in told] + [hinted])


def _numbers(words: Sequence[Word]) -> Iterator[Phrase]:
    for index, word in enumerate(words):
        symbol = word.text[0] in "£$€₹₦¥₩" or word.tag == "$"
        digits = any(character.isdigit() for character in word.text)
        if not (word.tag == "CD" or symbol or digits):
            continue
        following = words[index + 1] if index + 1 < len(words) else None
        unit = "" if following is None else following.lemma
        end = min(index + 2, len(words))
        yield Phrase(Kind.NUMBER, index, index + 1, frozenset({word.text.lower()}))
        if symbol or word.ent == "MONEY" or unit in lexicon.CURRENCIES:
            yield Phrase(Kind.MONEY, index, end, frozenset({word.text.lower()}))
        elif unit in lexicon.PERIODS or word.ent == "TIME":
            yield Phrase(Kind.DURATION, index, end, frozenset({word.text.lower()}))
        elif following is not None and following.tag in {"NN", "NNS"}:
            yield Phrase(Kind.MEASURE, index, end, frozenset({word.text.lower(), unit}))
        if (
            word.ent == "TIME"
            or ":" in word.text
            or unit in {"am", "pm", "a.m.", "p.m.", "o'clock"}
        ):
            yield Phrase(Kind.CLOCK, index, end, frozenset({word.text.lower()}))


def _times(analysis: Analysis) -> Iterator[Phrase]:
    words = analysis.words
    covered: set[int] = set()
    for time in analysis.times:
        inside = [i for i, w in enumerate(words) if w.start < time.end and w.end > time.start]
        if inside:
            covered.update(inside)
            yield _phrase(words, Kind.TIME, inside[0], inside[-1] + 1)
    for index, word in enumerate(words):
        named = word.lemma in lexicon.MONTHS or word.lemma in lexicon.WEEKDAYS
        if index not in covered and (
            (named and word.text[0].isupper()) or word.ent in {"DATE", "TIME"}
        ):
            yield Phrase(Kind.TIME, index, index + 1, frozenset({word.lemma}))


def _quotes(words: Sequence[Word]) -> Iterator[Phrase]:
    opened = -1
    for index, word in enumerate(words):
        if word.text in {'"', "“", "”", "``", "''"}:
            if opened >= 0:
                yield _phrase(words, Kind.QUOTE, opened, index + 1)
                opened = -1
            else:
                opened = index
