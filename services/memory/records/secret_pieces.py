"""What in a text may be a piece of a secret, and whether the text speaks of one (pure)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from services.memory.records.secret_encodings import decoded
from services.memory.records.text import visible_form

__all__ = ["PIECE_MAX_CHARACTERS", "Text", "drop_read_texts", "looks_random", "read_text"]

EDGE_CHARACTERS = 2_048
# The last texts are looked at again with every next one of their principal.
READ_TEXTS_MAX = 512
PIECES_MAX = 8
PIECE_MIN_CHARACTERS = 5
LETTERS_MIN_CHARACTERS = 10
LINKED_LETTERS_MIN_CHARACTERS = 6
# The source's id is one of them.
BARE_WORDS_MAX = 4
RANDOM_MIN_CHARACTERS = 10
RANDOM_SWITCHES_MIN = 3
PIECE_MAX_CHARACTERS = 512

_TOKEN = re.compile(r"[^\s\"'`\u2018\u2019\u201c\u201d,;<>(){}\[\]|]+")
_AROUND = ".:!?\u2026*#&"
_ODD = re.compile(r"[0-9_=+/-]|[a-z][A-Z]|[A-Z]{2}")
_DIGITS = re.compile(r"(?<![\w.,/:])\d(?:[ -]?\d){3,18}(?![\w/:])")
_UPPER_INSIDE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_SWITCH = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z0-9])(?=[a-z])")
_MARK = re.compile(r"[A-Za-z0-9][_+/=.-]+[A-Za-z0-9]|[_=-]$|^[_-]")
_WHOLE = re.compile(
    r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?:sha\d{1,3}[:-]|rec_|0x)?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:t[\d:.]+z?)?|v?\d+(?:\.\d+)+|\d{1,2}:\d{2}(?::\d{2})?"
    r"|[a-z][a-z0-9+.-]*://.*|[^@]+@[^@]+\.[a-z]{2,}"
)
_COMPOUND = re.compile(r"(?i)[a-z]+(?:[-/.'\u2019][a-z]+)+")
_OF_A_PART = re.compile(
    r"(?i)\b(?:half|halves|(?:one|first|second|third|last|final|other|next|remaining|missing)"
    r" (?:part|piece|chunk|portion|segment|group|bit|digits?|characters?|numbers?|\d{1,2})"
    r"|parts? (?:one|two|three|[1-9]|[ab])|[1-4]/[2-4]|[1-4] of [2-4]|the rest|rest of"
    r"|remainder|remaining|continu\w+|goes on|(?:start|begin|end)s?(?: with| in|ing (?:with|in))"
    r"|follow(?:ed|s)\b|append\w*|concatenat\w*|glue\w*|join\w*|prefix|suffix|tail)\b"
)
_OF_A_KEY = re.compile(
    r"(?i)\b(?:(?:api|access|secret|private|deploy|signing|encryption|license|master)[ _-]?)?"
    r"(?:keys?|tokens?|secrets?|passwords?|passphrases?|credentials?|bearer)\b"
)
_OF_A_CARD = re.compile(r"(?i)\b(?:card|visa|master ?card|amex|credit|debit|cvv|cvc)\b")


@dataclass(frozen=True)
class Text:
    """One text, as far as it can hold a piece; most of it is never asked for.

    Attributes:
        seam: its plain form, both ends of it where it is long.
    """

    seam: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words, punctuation included."""
        return tuple(_TOKEN.findall(self.seam))

    @cached_property
    def part(self) -> bool:
        """It speaks of a part of something."""
        return _OF_A_PART.search(self.seam) is not None

    @cached_property
    def card(self) -> bool:
        """It speaks of a card."""
        return _OF_A_CARD.search(self.seam) is not None

    @cached_property
    def bare(self) -> bool:
        """It holds little but a piece."""
        return len(self.words) <= BARE_WORDS_MAX

    @cached_property
    def spoken(self) -> bool:
        """It speaks of a part or of a key."""
        return self.part or _OF_A_KEY.search(self.seam) is not None

    @cached_property
    def linked(self) -> bool:
        """It speaks of a part or of a key, or says nothing else."""
        return self.bare or self.spoken

    @cached_property
    def odd_pieces(self) -> tuple[str, ...]:
        """What looks like a piece of a key wherever it stands."""
        return _pieces((word for word in self.words if _ODD.search(word)), linked=False)

    @cached_property
    def linked_pieces(self) -> tuple[str, ...]:
        """What may be one in a text that speaks of it."""
        return _pieces(self.words, linked=True)

    @cached_property
    def digits(self) -> tuple[str, ...]:
        """Groups of digits that may be a piece of a card's number."""
        found = ("".join(filter(str.isdigit, match)) for match in _DIGITS.findall(self.seam))
        return tuple(found)[:PIECES_MAX]


def read_text(text: str) -> Text:
    """The text as it can hold a piece: in the form that a reader sees, a long one at its ends."""
    if len(text) > 2 * EDGE_CHARACTERS:
        text = f"{text[:EDGE_CHARACTERS]} {text[-EDGE_CHARACTERS:]}"
    return _text_of(text)


@lru_cache(maxsize=READ_TEXTS_MAX)
def _text_of(text: str) -> Text:
    return Text(visible_form(text).strip())


def drop_read_texts() -> None:
    """Removes all texts from memory that `read_text` read; Forget and Reset call it."""
    _text_of.cache_clear()


def looks_random(piece: str) -> bool:
    """True for a piece that changes between classes of characters as no word or number does.

    Encoded text is whole in itself: what it says was looked at when it came.
    """
    if len(piece) < RANDOM_MIN_CHARACTERS or len(_SWITCH.findall(piece)) < RANDOM_SWITCHES_MIN:
        return False
    return not any(decoded(piece))


def _pieces(words: Iterable[str], *, linked: bool) -> tuple[str, ...]:
    """What may be a piece of a key, the first and the last of them."""
    stripped = (word.strip(_AROUND) for word in words)
    found = tuple(piece for word in stripped for piece in _sides(word, linked))
    if len(found) <= PIECES_MAX:
        return found
    return found[: PIECES_MAX // 2] + found[-(PIECES_MAX // 2) :]


def _sides(token: str, linked: bool) -> Iterator[str]:
    """The token, and what stands after its last "=" or ":"."""
    if _is_piece(token, linked):
        yield token
    value = token[max(token.rfind("="), token.rfind(":")) + 1 :]
    if value != token and _is_piece(value, linked):
        yield value


def _is_piece(token: str, linked: bool) -> bool:
    if not PIECE_MIN_CHARACTERS <= len(token) <= PIECE_MAX_CHARACTERS or _WHOLE.fullmatch(token):
        return False
    has_digit = any(char.isdigit() for char in token)
    has_letter = any(char.isalpha() for char in token)
    if not has_letter:
        return linked and has_digit
    if not linked and _COMPOUND.fullmatch(token):
        return False
    if has_digit or _UPPER_INSIDE.search(token) or _MARK.search(token):
        return True
    if linked:
        return len(token) >= LINKED_LETTERS_MIN_CHARACTERS
    return len(token) >= LETTERS_MIN_CHARACTERS and token == token.upper()
