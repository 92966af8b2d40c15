"""How content is read for matching: one normal form, its terms and its claims (pure).

What is stored stays as it came; only comparisons use these forms. The normal form undoes what a
person does not see: compatibility forms (NFKC), case, accents, invisible characters and letters of
other scripts that look Latin.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from services.memory.records.words import (
    CONFUSABLES,
    LOOK_ALIKES,
    NEGATIONS,
    NEUTRAL_WORDS,
    STOP_WORDS,
)

__all__ = [
    "NEUTRAL_STEMS",
    "Reading",
    "claims",
    "latin_form",
    "normal_form",
    "read",
    "terms",
    "visible_form",
]

TERM_CHARACTERS = 64
COMPOUND_CHARACTERS = 128
STEM_MIN_CHARACTERS = 4

_SPACE = re.compile(r"\s+")
_NOT = re.compile(r"n['\u2019]t\b|\bcannot\b")
_POSSESSIVE = re.compile(r"['\u2019](?:s\b)?")
_WORD = re.compile(r"[^\W_]+")
_CHUNK = re.compile(r"\S+")
_ACCENTS = re.compile(r"[\u0300-\u036f]")
# Scripts that are written without blanks; their words are matched by pairs of characters.
# Drawn as nothing, though no format characters: joiners, fillers, variation selectors.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_SUFFIXES = ("ation", "ment", "ence", "ance", "ing", "ed")
_VOWEL = re.compile(r"[aeiouy]")


def visible_form(text: str) -> str:
    """The text in NFKC without invisible format characters: what a reader sees."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    if composed.isascii():
        return composed
    shown = _UNSEEN.sub("", composed)
    return "".join(char for char in shown if unicodedata.category(char) != "Cf")


def latin_form(text: str) -> str:
    """The text with letters and marks of other scripts that look Latin as those, case kept."""
    return text.translate(LOOK_ALIKES)


def normal_form(text: str) -> str:
    """The form in which two texts are the same statement; keeps words and punctuation in order."""
    form = visible_form(text).casefold()
    if not form.isascii():
        form = _ACCENTS.sub("", unicodedata.normalize("NFD", form))
        form = unicodedata.normalize("NFC", form).translate(CONFUSABLES)
    return _SPACE.sub(" ", form).strip()


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is compared.

    Attributes:
        form: its normal form.
        claims: what it says, in order: stems of its meaningful words, negations kept.
        terms: what it is about: the same without negations, and its identifiers, with counts.
    """

    form: str
    claims: tuple[str, ...]
    terms: Counter[str]

    @property
    def words(self) -> tuple[str, ...]:
        """Its claims; of a text without any meaningful word, the whole form as the only one."""
        return self.claims or (self.form,)


def read(text: str) -> Reading:
    """Reads a text once for all comparisons."""
    form = normal_form(text)
    found = tuple(_stems(form))
    counted = Counter(word for word in found if word not in NEGATIONS)
    counted.update(_identifiers(form))
    return Reading(form, found, counted)


def terms(text: str) -> Counter[str]:
    """What a text is about (see Reading)."""
    return read(text).terms


def claims(text: str) -> tuple[str, ...]:
    """What a text says (see Reading)."""
    return tuple(_stems(normal_form(text)))


def _stems(form: str) -> Iterator[str]:
    plain = _POSSESSIVE.sub("", _NOT.sub(" not ", form))
    for match in _WORD.finditer(plain):
        word = match.group()
        if _UNSPACED.search(word):
            yield from _pairs(word)
        elif word in NEGATIONS:
            yield word
        elif word not in STOP_WORDS:
            yield stem(word[:TERM_CHARACTERS])


def _pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for start in range(len(word) - 1):
        yield word[start : start + 2]


def _identifiers(form: str) -> Iterator[str]:
    """Compounds with a digit (order numbers, addresses, keys) as they are written."""
    for match in _CHUNK.finditer(form):
        chunk = match.group().strip("\"'`.,;:!?()[]{}<>#\u2018\u2019\u201c\u201d")
        if not chunk.isalnum() and any(char.isdigit() for char in chunk):
            yield chunk[:COMPOUND_CHARACTERS]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light English stem: endings of number, tense and a few nouns; other words stay."""
    if len(word) < STEM_MIN_CHARACTERS or not (word.isascii() and word.isalpha()):
        return word
    found = _without_endings(_singular(word))
    # "note" must not become a negation.
    return word if found in NEGATIONS else found


def _without_endings(word: str) -> str:
    for suffix in _SUFFIXES:
        base = word.removesuffix(suffix)
        if base != word and len(base) >= _base_characters(suffix) and _VOWEL.search(base):
            word = base
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _base_characters(suffix: str) -> int:
    return 3 if suffix in ("ing", "ed", "ment") else 4


NEUTRAL_STEMS = frozenset(stem(word) for word in NEUTRAL_WORDS)
"""Stems of the words that a faithful condensation may add."""
