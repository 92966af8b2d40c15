"""Finds secrets that a sentence or an assignment names: "my password is …", "api_key=…" (pure)."""

import re
from collections.abc import Callable, Iterator

from services.memory.records import secret_shapes as shapes

__all__ = ["spoken_secrets"]

WINDOW_CHARACTERS = 240
WORDS_BEFORE_OPERATOR = 8
FILLERS_MAX = 4
KEY_MIN_CHARACTERS = 8
LONG_KEY_MIN_CHARACTERS = 20
PASSWORD_MIN_CHARACTERS = 4

_PIN = re.compile(r"(?i)\b(?:pin(?: ?code| number)?|cvv2?|cvc2?)\s*(?:is|was|=|:)\s*\d{3,4}\b")
# "use hunter2 as the password", "hunter2 is my password"
_BEFORE = re.compile(
    r"(?i)(?<!\S)([^\s,;]{4,64}),? (?:as|is|was|for)"
    r" (?:(?:the|my|your|our|his|her|their|a|its) )?(?:[a-z-]{2,12} )?"
    r"(?:pass ?word|passphrase|pass ?code|pwd)(?=\s*(?:$|[.,;:!?)\n]|for|of|to|on|and|in))"
)
_TOKEN = re.compile(r":=|=>|->|==|[=:]|[^\s=:]+(?:[=:][^\s=:]+)*")
_CONTRACTED = re.compile(r"\A['\u2019]s (?=\S+\s*[.,!?]?\s*\Z)")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = re.compile(r"(?i)[0-9a-f]{7,64}")
_PLACEHOLDER = re.compile(r"(?i)[<\[{$(%].*|[*x\u2022.\u2026_-]+|your[-_].*|example.*|redacted.*")
_PREDICATE = re.compile(r"(?i)[a-z]+(?:ed|ing|able|ible|ive|ly|less|ous|ten)")
_QUOTES = "\"'`\u2018\u2019\u201c\u201d"


def spoken_secrets(text: str) -> Iterator[str]:
    """Kinds of secrets that the text names as such."""
    if _PIN.search(text):
        yield "pin"
    if (
        _named(text, shapes.PASSWORD_WORDS, _is_password)
        or _named(text, shapes.WEAK_PASSWORD_WORDS, _is_mixed)
        or any(_is_mixed(_stripped(match.group(1))) for match in _BEFORE.finditer(text))
    ):
        yield "password"
    if _named(text, shapes.KEY_WORDS, _is_key) or _named(
        text, shapes.WEAK_KEY_WORDS, _is_no_id_but_key
    ):
        yield "named_key"


def _named(text: str, words: re.Pattern[str], judge: Callable[[str, bool, bool], bool]) -> bool:
    for match in words.finditer(text):
        window = text[match.end() : match.end() + WINDOW_CHARACTERS].split("\n", 1)[0]
        window = _CONTRACTED.sub(" is ", window)
        for value, assigned, last in _values(window):
            if judge(value, assigned, last):
                return True
    return False


def _values(window: str) -> Iterator[tuple[str, bool, bool]]:
    """What may be the value after a secret's name: (value, by assignment, ends the sentence)."""
    tokens = _TOKEN.findall(window.lstrip(_QUOTES))
    if tokens and any(char.isdigit() for char in tokens[0]):
        yield _stripped(tokens[0]), False, False  # "password hunter2"
    for position, token in enumerate(tokens[: WORDS_BEFORE_OPERATOR + 1]):
        word = token.lower()
        if word in shapes.POLICY_WORDS or token.endswith((".", "!", "?", ";")):
            return
        if word in shapes.OPERATORS:
            start = _after_fillers(tokens, position + 1)
            if start < len(tokens):
                assigned = word in shapes.ASSIGNMENTS
                yield _value(tokens, start), assigned, word != "to" and _ends(tokens, start)
            return


def _after_fillers(tokens: list[str], start: int) -> int:
    """Skips "now", "the", and "changed to": what follows is the value."""
    position = start
    for _ in range(FILLERS_MAX):
        if position + 1 >= len(tokens):
            break
        word = tokens[position].lower()
        if word in shapes.CHANGE_WORDS and tokens[position + 1].lower() == "to":
            position += 2
        elif word in shapes.FILLERS or word in shapes.ASSIGNMENTS:
            position += 1
        else:
            break
    return position


def _value(tokens: list[str], start: int) -> str:
    """The value at a position; in quotes, all that stands in them."""
    opening = tokens[start][0]
    if opening in "\"'`" and opening not in tokens[start][1:]:
        for end in range(start + 1, len(tokens)):
            if opening in tokens[end]:
                return _stripped(" ".join(tokens[start : end + 1]))
    return _stripped(tokens[start])


def _ends(tokens: list[str], position: int) -> bool:
    return position == len(tokens) - 1 or tokens[position][-1] in ".!?;" + _QUOTES


def _stripped(token: str) -> str:
    return token.strip(_QUOTES + ",;()[]{}<>").rstrip(".,!?;:" + _QUOTES)


def _is_password(value: str, assigned: bool, last: bool) -> bool:
    if len(value) < PASSWORD_MIN_CHARACTERS or _PLACEHOLDER.fullmatch(value):
        return False
    if value.isdigit():
        return True
    has_letter = any(char.isalpha() for char in value)
    has_other = any(not char.isalpha() and char not in "-'\u2019" for char in value)
    if has_letter and has_other:
        return True
    if not has_letter or value.lower() in shapes.BENIGN_VALUES:
        return False
    mixed = value[1:] != value[1:].lower() and value != value.upper()
    # A plain word is a password only where nothing follows it; "is case sensitive" goes on.
    return mixed or (last and (assigned or _PREDICATE.fullmatch(value) is None))


def _is_mixed(value: str, assigned: bool = False, last: bool = False) -> bool:
    """Letters and digits together: no plain word, and no number of something else."""
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    return has_digit and has_letter and _is_password(value, assigned, last)


def _is_key(value: str, assigned: bool, last: bool) -> bool:
    if len(value) < KEY_MIN_CHARACTERS or _PLACEHOLDER.fullmatch(value):
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    mixed = value != value.lower() and value != value.upper()
    return has_letter and (has_digit or (mixed and len(value) >= LONG_KEY_MIN_CHARACTERS))


def _is_no_id_but_key(value: str, assigned: bool, last: bool) -> bool:
    if _UUID.fullmatch(value) or _HEX.fullmatch(value):
        return False
    return _is_key(value, assigned, last)
