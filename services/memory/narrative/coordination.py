"""Questions that ask several things at once: where their parts are, and what binds them.

"Which town was it in, who drove me there and what in?" asks for a whole of three facts; "who taught
me at first, and who does now?" for a change. That is seen from how question words are coordinated
and from words for early and late, whatever is asked about.
"""

import re

__all__ = ["PARTS_MAX", "coordination", "parts_of"]

PARTS_MAX = 4
_WH = r"(?:who|whose|whom|what|whats|which|when|where|why|how)\b"
_QUESTION_WORD = re.compile(rf"\b{_WH}", re.IGNORECASE)
_JOINT = re.compile(
    r"(?:[,;:]\s*(?:and|or|but)?|\b(?:and|or|but|an|n)\b|&)\s+"
    rf"(?=(?:(?:with|by|from|to|in|on|at|of|for|since|until|about|after|before)\s+)?{_WH})",
    re.IGNORECASE,
)
_EARLY = re.compile(
    r"\b(?:first|originally|original|initially|initial|begin|beginning|began|start|started|before"
    r"|old|earlier|previous(?:ly)?|used to|once|supposed|meant|(?:was|were) going to|planned"
    r"|intended|from)\b",
    re.IGNORECASE,
)
_LATE = re.compile(
    r"\b(?:now|later|then|after(?:wards)?|end|ends|ended|finally|final|last|became|become|since"
    r"|today|these days|new|instead|eventually|current(?:ly)?|moved?|turned|grow|grew|rose|fell"
    r"|to)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\b|&|\bn\b", re.IGNORECASE)
_SPAN = re.compile(r"\bfrom\b.*\bto\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:compare|two|both|each|old and new|step by step|steps|stages)\b", re.IGNORECASE
)
_LONG_WORDS = 18


def parts_of(text: str) -> tuple[str, ...]:
    """The questions that a question is made of, at most four; itself alone if it is one."""
    pieces = [piece.strip(" ,;:?") for piece in _JOINT.split(text)]
    kept = [piece for piece in pieces if piece]
    if len(kept) > PARTS_MAX:
        kept = [*kept[: PARTS_MAX - 1], " ".join(kept[PARTS_MAX - 1 :])]
    return tuple(kept) or (text,)


def coordination(text: str) -> list[float]:
    """What a question shows of being several: a fixed row of numbers, each about 0 to 2."""
    asked = len(_QUESTION_WORD.findall(text))
    joints = len(_JOINT.findall(text))
    ands = len(_AND.findall(text))
    commas = text.count(",") + text.count(";")
    words = len(text.split())
    early, late = _EARLY.search(text) is not None, _LATE.search(text) is not None
    both = early and late
    return [
        min(asked, 4) / 2,
        float(asked >= 2),
        float(asked >= 3),
        float(min(joints, 3)),
        float(joints > 0),
        float(both),
        float(both and joints > 0),
        float(both and ands > 0),
        float(both and asked >= 2),
        float(joints > 0 and not both),
        float(early),
        float(late),
        words / 15,
        float(words > _LONG_WORDS),
        min(commas, 3) / 2,
        min(ands, 3) / 2,
        float(_SPAN.search(text) is not None),
        float(_SEVERAL.search(text) is not None),
    ]
