"""How the checkpoints compare strings: by their words and letters, whatever case and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["any_holds", "flat", "holds", "is_long", "listed", "shared"]

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?…。\uff01\uff1f]+[\"')\]]*(?=\s|$)")


def is_long(turn: str) -> bool:
    """Whether a turn has more than one sentence."""
    return len([part for part in _SENTENCE_END.split(turn) if part.strip()]) > 1


def flat(text: str) -> str:
    """A text without differences of case and of blanks."""
    return " ".join(text.casefold().split())


def holds(text: str, part: str) -> bool:
    """Whether a text holds a string."""
    return flat(part) in flat(text)


def any_holds(texts: Iterable[str], part: str) -> bool:
    """Whether one of several texts holds a string."""
    return any(holds(text, part) for text in texts)


def shared(first: str, second: str) -> int:
    """How much of a turn two spans share, 0 unless one holds the other: where one ends is free."""
    one, other = _words(first), _words(second)
    short, long = sorted((one, other), key=len)
    return len(short) if short.strip() and short in long else 0


def _words(text: str) -> str:
    """The words alone, each between blanks; signs where there are no words."""
    found = _WORD.findall(text.casefold()) or text.split()
    return f" {' '.join(found)} "


def listed(texts: Iterable[str]) -> str:
    """Several strings for a person; those with blanks in quotes."""
    return ", ".join(repr(text) if " " in text or not text else text for text in texts)
