"""Finds secrets in what a caller offers, before anything of it is stored (DESIGN §4, pure).

Looks for published token formats, private keys, card numbers (Luhn), values that a sentence names a
password or a key, random-looking strings, and all of those inside base64, hexadecimal or percent
encoding. detect-secrets was measured and not taken: 0.35 s at every start, an HTTP client in a
process without a network, token formats of 2024, and nothing for passwords in prose.

Bounded: text of at most 64 KiB, two encodings deep, one answer per kind.
"""

import base64
import binascii
import math
import re
import urllib.parse
from collections import Counter
from collections.abc import Iterator

from services.memory.records import secret_shapes as shapes
from services.memory.records.secret_prose import spoken_secrets
from services.memory.records.text import visible_form

__all__ = ["find_secrets"]

ENCODINGS_DEEP = 2
CARD_DIGITS_MIN = 13
RANDOM_MIN_CHARACTERS = 32
RANDOM_MIN_BITS = 4.0
PRINTABLE_SHARE = 0.95
WORDS_SHARE = 0.4

_CARD = re.compile(r"(?<![\w.,-])\d(?:[ -]?\d){12,18}(?![\w-])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){12,}(?![0-9A-Za-z])")
_RANDOM = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_LETTERS = re.compile(r"[a-z]{4,}")
_DIGEST = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8,}(?![0-9A-Za-z])")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+")
_SEED_PHRASE = re.compile(
    r"(?i)\b(?:seed|recovery|mnemonic|backup) phrase\b[^\n]{0,20}?[:=]?\s(?:[a-z]{3,8}[ ,]+){11,}"
)


def find_secrets(text: str) -> tuple[str, ...]:
    """Kinds of secrets in a text, sorted, each once; empty when there is none."""
    return tuple(sorted(set(_kinds(visible_form(text), ENCODINGS_DEEP))))


def _kinds(text: str, encodings_left: int) -> Iterator[str]:
    for kind, shape in shapes.TOKEN_SHAPES:
        if shape.search(text):
            yield kind
    if any(_is_card(match.group()) for match in _CARD.finditer(text)):
        yield "card_number"
    if _SEED_PHRASE.search(text):
        yield "seed_phrase"
    yield from spoken_secrets(text)
    unnamed = _DIGEST.sub(" ", _URL.sub(" ", text))
    if any(_is_random(match.group()) for match in _RANDOM.finditer(unnamed)):
        yield "random_string"
    if encodings_left:
        for decoded in _decoded(text):
            yield from _kinds(visible_form(decoded), encodings_left - 1)


def _decoded(text: str) -> Iterator[str]:
    for match in _BASE64.finditer(text):
        yield from _readable(_from_base64(match.group()))
    for match in _HEX.finditer(text):
        yield from _readable(bytes.fromhex(match.group()))
    if "%" in text:
        plain = urllib.parse.unquote(text)
        if plain != text:
            yield plain


def _from_base64(token: str) -> bytes:
    compact = "".join(token.split()).rstrip("=").replace("-", "+").replace("_", "/")
    # A length of 4n + 1 is no base64; the last character is then somebody else's.
    compact = compact[: len(compact) - (len(compact) % 4 == 1)]
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4))
    except binascii.Error:
        return b""


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    printable = sum(char.isprintable() or char.isspace() for char in text)
    if text and printable >= PRINTABLE_SHARE * len(text):
        yield text


def _is_card(found: str) -> bool:
    digits = "".join(char for char in found if char.isdigit())
    if len(digits) < CARD_DIGITS_MIN or len(set(digits)) == 1:
        return False
    for low, high, lengths in shapes.CARD_RANGES:
        if len(digits) in lengths and low <= int(digits[: len(str(low))]) <= high:
            return _luhn(digits)
    return False


def _luhn(digits: str) -> bool:
    total = 0
    for position, char in enumerate(reversed(digits)):
        value = int(char) * (1 + position % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_random(token: str) -> bool:
    """Three classes of characters, mixed: no digest, no identifier, no encoded prose."""
    body = token.rstrip("=")
    classes = (str.islower, str.isupper, str.isdigit)
    if len(body) < RANDOM_MIN_CHARACTERS or not all(any(map(kind, body)) for kind in classes):
        return False
    # Paths and slugs are made of words: long runs of small letters, rare in random strings.
    if sum(map(len, _LETTERS.findall(body))) > WORDS_SHARE * len(body):
        return False
    return _bits(body) >= RANDOM_MIN_BITS and not any(_readable(_from_base64(body)))


def _bits(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
