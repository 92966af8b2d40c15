"""Cuts a turn into the chunks that a plain retrieval works on: sentences of an answer's length."""

import re

__all__ = ["ANSWER_WORDS", "sentences"]

ANSWER_WORDS = 25
"""Words of an answer, as strict scoring counts them: between blanks."""

# A full stop after an initial or one of these ends no sentence.
_ABBREVIATIONS = ("Mr", "Mrs", "Ms", "Dr", "Prof", "St", "vs", "e.g", "i.e", "etc")
_END = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[.!?\u2026][\"')\]\u2019\u201d])\s+|\s*\n\s*")
_CLAUSE = re.compile(r"[,;:\u2014\u2013)]$")


def sentences(text: str) -> list[str]:
    """The sentences of a text, none longer than an answer: longer ones are cut, best at a clause.

    Args:
        text: What was said.

    Returns:
        Verbatim stretches but for their blanks, in order; none is empty.
    """
    found: list[str] = []
    for part in _joined([part.strip() for part in _END.split(text) if part.strip()]):
        found += _cut(part.split())
    return found


def _joined(parts: list[str]) -> list[str]:
    """Sentences, with those joined again that an abbreviation's full stop cut apart."""
    whole: list[str] = []
    for part in parts:
        if whole and _goes_on(whole[-1].split()[-1], part):
            whole[-1] = f"{whole[-1]} {part}"
        else:
            whole.append(part)
    return whole


def _goes_on(last: str, part: str) -> bool:
    """Whether the sentence that seemed to end with a word goes on with this part."""
    if last.endswith(".") and last[:-1] in _ABBREVIATIONS:
        return True
    initial = re.fullmatch(r"[A-Z]\.", last) is not None and last != "I."
    return initial or (re.fullmatch(r"(?:[a-z]\.)+", last) is not None and part[0].islower())


def _cut(words: list[str]) -> list[str]:
    chunks: list[str] = []
    while len(words) > ANSWER_WORDS:
        # The last end of a clause that leaves no crumbs on either side.
        ends = [
            at
            for at in range(ANSWER_WORDS // 3, ANSWER_WORDS + 1)
            if _CLAUSE.search(words[at - 1]) and len(words) - at >= ANSWER_WORDS // 5
        ]
        at = ends[-1] if ends else ANSWER_WORDS
        chunks.append(" ".join(words[:at]))
        words = words[at:]
    return [*chunks, " ".join(words)]
