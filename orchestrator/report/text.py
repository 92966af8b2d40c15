"""Foreign text made fit to be looked at: vendor names, causes, ids (DESIGN §8).

What a memory says reaches a report, a terminal and an XML file. Characters that are not seen, that
reorder what stands beside them or that steer a terminal are shown by their code point, so that
nobody reads another text than the one that was said.
"""

from __future__ import annotations

import sys
import unicodedata

__all__ = ["ELLIPSIS", "counted", "say", "visible"]

ELLIPSIS = "…"

_MARKS_IN_A_ROW_MAX = 2
# Format and control characters (bidi overrides, zero-width, escape, tags), halves of surrogate
# pairs, line and paragraph separators, and code points that nothing is assigned to.
_SHOWN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
# Drawn over the character before them, without end.
_STACKED = frozenset({"Mn", "Me"})
# Letters and marks that are drawn as nothing.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(point) for point in (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
}


def visible(text: object, limit: int = 400) -> str:
    """A text with every character seen, in one line.

    Args:
        text: Anything; it is taken as `str(text)`.
        limit: Characters of the result at most; a longer text ends with an ellipsis.

    Returns:
        Printable characters alone. What would not be seen, or would change how its neighbours are
        seen, stands as its code point: `⟨U+202E⟩`.
    """
    parts: list[str] = []
    room = limit
    marks = 0
    for character in str(text):
        stacked = not character.isascii() and unicodedata.category(character) in _STACKED
        marks = marks + 1 if stacked else 0
        part = _shown(character) if _hidden(character) or marks > _MARKS_IN_A_ROW_MAX else character
        if len(part) > room:
            return _cut(parts, limit)
        parts.append(part)
        room -= len(part)
    return "".join(parts)


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 problem`, `2 problems`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def say(text: str) -> None:
    """Print a line; what the terminal's encoding lacks is printed as its code point."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, errors="backslashreplace").decode(encoding))


def _hidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    return unicodedata.category(character) in _SHOWN_CATEGORIES or character in _BLANK


def _shown(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


def _cut(parts: list[str], limit: int) -> str:
    """Make room for the ellipsis without cutting a code point's name in two."""
    while parts and sum(map(len, parts)) > limit - len(ELLIPSIS):
        parts.pop()
    return "".join(parts) + (ELLIPSIS if limit else "")
