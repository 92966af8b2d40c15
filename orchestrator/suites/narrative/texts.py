"""How the checkpoints compare strings: by their words and letters, whatever case, blanks, signs.

Two spellings of one character are one: an apostrophe or a hyphen is the same one whatever its
sign, and what Unicode calls compatible (full-width digits, composed letters) is equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["any_holds", "flat", "holds", "listed", "overlap", "words", "words_told"]

_WORD = re.compile(r"\w+")
# Parts of one word: joined by apostrophes, hyphens and joiners, or by signs between digits.
_TOLD_WORD = re.compile(r"[^\W_]+(?:(?:['\-\u200c\u200d]|(?<=\d)[.,:](?=\d))[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_PARTS_MAX = 4
_CHARACTERS_MAX = 30

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    }
)
# Soft hyphen, blanks without width, byte order mark.
_UNSEEN = str.maketrans(dict.fromkeys("\u00ad\u200b\u2060\ufeff"))
_DOTTED_I = re.compile("i\u0307+")


def flat(text: str) -> str:
    """A text without differences of case, of blanks, and of how a character is written."""
    return " ".join(_folded(text).split())


def holds(text: str, part: str) -> bool:
    """Whether a text holds a string."""
    return flat(part) in flat(text)


def any_holds(texts: Iterable[str], part: str) -> bool:
    """Whether one of several texts holds a string."""
    return any(holds(text, part) for text in texts)


def overlap(first: str, second: str) -> float:
    """Which share of the longer of two spans the shorter one is; 0 unless one holds the other.

    1 for spans of the same words.
    """
    one, other = _padded(first), _padded(second)
    short, long = sorted((one, other), key=len)
    return len(short) / len(long) if short.strip() and short in long else 0.0


def words(text: str) -> tuple[str, ...]:
    """The words alone, folded; signs where there are no words."""
    folded = _folded(text)
    return tuple(_WORD.findall(folded) or folded.split())


def words_told(text: str) -> int:
    """How many words an answer has.

    Apostrophes, hyphens, and signs between digits join up to four parts to one word; every other
    sign ends a word, and every thirty characters are one more.
    """
    told = unicodedata.normalize("NFC", text).translate(_SIGNS)
    return max(sum(map(_counted, _TOLD_WORD.findall(told))), len(text.split()))


def _counted(run: str) -> int:
    parts = len(_PART.findall(run))
    return max(parts if parts > _PARTS_MAX else 1, -(-len(run) // _CHARACTERS_MAX))


def _folded(text: str) -> str:
    signs = text.translate(_SIGNS)
    if not signs.isascii():
        signs = unicodedata.normalize("NFKC", signs.translate(_UNSEEN))
        signs = unicodedata.normalize("NFKC", _DOTTED_I.sub("i", signs.casefold()))
    return signs.casefold()


def _padded(text: str) -> str:
    """The words, each between blanks."""
    return f" {' '.join(words(text))} "


def listed(texts: Iterable[str]) -> str:
    """Several strings for a person; those with blanks in quotes."""
    return ", ".join(repr(text) if " " in text or not text else text for text in texts)
