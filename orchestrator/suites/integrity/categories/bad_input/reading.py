"""Whether two texts read the same to a person, whatever characters nobody sees (pure).

A memory may fold Unicode to its usual form, drop control and invisible characters, join white
space, fold case and put words of its own around a text. None of that is half a text.
"""

from __future__ import annotations

import unicodedata

__all__ = ["readable", "reads"]

_UNSEEN = "C"
"""First letter of the general categories of control, format, private and unassigned characters."""


def readable(text: str) -> str:
    """A text as it is read: usual forms, one blank between words, one case, nothing invisible.

    White space goes last, so that a tab or a new line still parts two words.
    """
    usual = unicodedata.normalize("NFKC", text)
    seen = (char for char in usual if char.isspace() or unicodedata.category(char)[0] != _UNSEEN)
    return " ".join("".join(seen).split()).casefold()


def reads(kept: str, sent: str) -> bool:
    """Whether all of what was sent can be read in what is kept.

    Args:
        kept: What a memory shows.
        sent: What it was offered; a text of which nothing can be read has to be kept as it is.
    """
    if kept == sent:
        return True
    wanted = readable(sent)
    return bool(wanted) and wanted in readable(kept)
