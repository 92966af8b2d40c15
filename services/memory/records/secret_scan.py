"""Finds secrets in what a caller offers, before anything of it is stored (DESIGN §4, pure).

Looks for published token formats, private keys, card numbers (Luhn), values that a sentence names a
password or a key, random-looking strings, and all of those in letters of other scripts or inside an
encoding (`secret_encodings`). detect-secrets was measured and not taken: 0.35 s at every start, an
HTTP client in a process without a network, token formats of 2024, and nothing for passwords in
prose.

Bounded: text of at most 64 KiB, two encodings deep, one answer per kind.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

from services.memory.records import secret_shapes as shapes
from services.memory.records.secret_encodings import decoded, from_base64, readable
from services.memory.records.secret_prose import spoken_secrets
from services.memory.records.text import latin_form, visible_form

__all__ = ["find_secrets"]

ENCODINGS_DEEP = 2
CARD_DIGITS_MIN = 13
RANDOM_MIN_CHARACTERS = 32
RANDOM_MIN_BITS = 4.0
WORDS_SHARE = 0.4

_CARD = re.compile(
    r"(?<![0-9.,-])(?<!\w[_-])\d(?:[ -]?\d){12,22}(?![0-9A-Za-z])"
    r"|(?<![\w.])\d{4}(?:\.\d{4}){3}(?![\w.])"
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_RANDOM = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
# What is made to be shown: public keys, certificates, fingerprints.
_PUBLIC_KEY = re.compile(
    r"-----BEGIN (?:CERTIFICATE|[A-Z0-9 ]{0,20}PUBLIC KEY)-----[A-Za-z0-9+/=\s]{1,16384}"
    r"|\b(?:ssh-[a-z0-9]+|ecdsa-sha2-\w+) AAAA[A-Za-z0-9+/=]+"
    r"|\bSHA(?:256|384|512)[:-][A-Za-z0-9+/=_-]+"
)
_LETTERS = re.compile(r"[a-z]{4,}")
_DIGEST = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8,}(?![0-9A-Za-z])")
_LONG_DIGEST = re.compile(r"(?<![0-9A-Za-z])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{32,128}(?![0-9A-Za-z])")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+")
_SEED_PHRASE = re.compile(
    r"(?i)\b(?:seed|recovery|mnemonic|backup) phrase\b[^\n]{0,20}?[:=]?\s(?:[a-z]{3,8}[ ,]+){11,}"
)


def find_secrets(text: str) -> tuple[str, ...]:
    """Kinds of secrets in a text, sorted, each once; empty when there is none."""
    return tuple(sorted(set(_kinds(text, ENCODINGS_DEEP))))


def _kinds(text: str, encodings_left: int) -> Iterator[str]:
    visible = visible_form(text)
    forms = (visible,) if visible.isascii() else (visible, latin_form(visible))
    for form in dict.fromkeys(forms):
        yield from _plain_kinds(form)
        if encodings_left:
            for hidden in decoded(form):
                yield from _kinds(hidden, encodings_left - 1)


def _plain_kinds(text: str) -> Iterator[str]:
    for kind, shape in shapes.TOKEN_SHAPES:
        if shape.search(text):
            yield kind
    # Digits at the end of a digest are no card's number, however they add up.
    numbers = _LONG_DIGEST.sub(" ", _IBAN.sub(_without_iban, text))
    if any(_is_card(match.group()) for match in _CARD.finditer(numbers)):
        yield "card_number"
    if _SEED_PHRASE.search(text):
        yield "seed_phrase"
    yield from spoken_secrets(text)
    unnamed = text
    for public in (_URL, _PUBLIC_KEY, _DIGEST):
        unnamed = public.sub(" ", unnamed)
    if any(_is_random(match.group()) for match in _RANDOM.finditer(unnamed)):
        yield "random_string"


def _without_iban(match: re.Match[str]) -> str:
    """Removes an account number whose check digits are right; leaves everything else."""
    compact = match.group().replace(" ", "")
    turned = compact[4:] + compact[:4]
    number = int("".join(str(int(char, 36)) for char in turned))
    return " " if number % 97 == 1 else match.group()


def _is_card(found: str) -> bool:
    """True for a card's number, alone or with its expiry or code after it."""
    groups = re.findall(r"\d+", found)
    numbers = {"".join(groups), *("".join(groups[:-left]) for left in (1, 2) if left < len(groups))}
    return any(_is_card_number(digits) for digits in numbers)


def _is_card_number(digits: str) -> bool:
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
    return _bits(body) >= RANDOM_MIN_BITS and not any(readable(from_base64(body)))


def _bits(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
