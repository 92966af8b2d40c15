"""Signs that a turn changes or withdraws what was told before, and their weights.

Each sign is a way that English tells a change: "instead", "no longer", "moved to", "now". The
weights are a logistic regression's over these signs alone (L2 0.02, rounded to hundredths), learnt
from turns of the open corpus; no word of a turn is a feature.
"""

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["change_score"]

_CHARACTERS_MAX = 6_000
_TOKENS_MAX = 2_000
_A = "['\u2019]"
_BIAS = -1.16
_LENGTH, _PAST, _DEFINITE, _PERSONS = -0.56, 0.12, 0.31, -0.23
_USUAL_LENGTH = 60.0


def _sign(pattern: str, weight: float) -> tuple[re.Pattern[str], float]:
    return re.compile(pattern), weight


_SIGNS = (
    _sign(r"\b(?:instead|rather than|in (?:his|her|its|their) place|in place of)\b", 0.24),
    _sign(r"\b(?:no longer|no more|not? (?:\w+ ){0,6}any ?more|any ?more)\b", 0.26),
    _sign(
        r"\b(?:(?:go|goes|going|gone|went|come|came|gave|give|got|took|take|put|send|sent|moved?"
        r"|is|am"
        rf"|are|he{_A}s|she{_A}s|i{_A}m)\s+(?:\w+\s+){{0,2}}back|back (?:to|at|on|in|home))\b",
        0.51,
    ),
    _sign(
        r"\b(?:again|once more|after all|in the end|at (?:long )?last|finally|eventually)\b", 0.19
    ),
    _sign(
        r"\b(?:moved?|moves|moving|postponed|rescheduled|brought forward|put (?:back|off)|pushed"
        r"|shifted|slid|slides|delayed|bumped|switch(?:ed|es)?|swapp?(?:ed|s)?|changed?|changes"
        r"|replac\w+|transferred|converted)\b",
        0.5,
    ),
    _sign(
        r"\b(?:cancel\w*|called off|dropped|drops|quit|quits|left|leaving|resigned|sold|closed"
        r"|withdrew|pulled out|gave up|given up|broke (?:up|down)|split|stopped|finished|over"
        r"|ended"
        r"|fired|sacked|returned|handed|scrapped|lost)\b",
        0.22,
    ),
    _sign(r"\b(?:new|now|nowadays|these days|currently|from now|as of|so now|since)\b", 0.21),
    _sign(r"\bnow\b", 0.63),
    _sign(
        r"\b(?:went|gone|goes|going|is|comes?|came|put|raised?|cut|lowered|got|dropped|brought"
        r"|down|up)"
        r"\s+(?:\w+\s+){0,3}(?:up|down)?\s*(?:from|to)\s+"
        r"(?:[\u00a3$\u20ac\u20b9]|\d|\w+ty\b|eight|nine|ten|eleven|twelve)"
        r"|\b(?:raised|went up|went down|came down|cut to|more than before|less than before)\b",
        0.31,
    ),
    _sign(
        rf"\b(?:not|isn{_A}t|wasn{_A}t|aren{_A}t)\b[^.!?]{{1,40}}(?:\bbut\b|,)"
        rf"|,\s*not\b",
        0.15,
    ),
    _sign(
        r"\b(?:scratch|scrap|strike|correction|i was wrong|turns? out|turned out|mistake"
        rf"|mix(?:ed)?[- ]up|wasn{_A}t true|actually|in truth|misread|never was"
        r"|take (?:it|that) back|i mean|sorry)\b",
        0.17,
    ),
    _sign(
        rf"\b(?:chang\w+ (?:my|his|her|their|our) mind|decided|decision|i{_A}ve decided|agreed"
        rf"|settled"
        r"|final|said (?:yes|no)|accepted|refused|turned (?:\w+ )?down|allowed|signed|voted)\b",
        0.42,
    ),
    _sign(
        r"\b(?:passed|failed|done|arrived|got (?:it|the)|is in|are in|married|born|opened|home"
        r"|recovered|cleared|healed|delivered|won|came|approved|booked|hired|promoted)\b",
        0.2,
    ),
    _sign(
        rf"(?:^|[.!?]\s+)(?:it{_A}s|it is|that{_A}s|he{_A}s|she{_A}s|they{_A}re|we{_A}re"
        rf"|i{_A}m)\b",
        0.21,
    ),
    _sign(r"^\W*\w+(?:\s\w+){0,2}[.!]", 0.17),
    _sign(r"^\W*(?:no|not|never)\b", 0.09),
    _sign(
        r"\b(?:had|was|were) (?:to be|to|going to)\b|\bused to\b|\bbefore\b"
        r"|\bwas\b[^.!?]{0,30}\bnow\b",
        0.12,
    ),
    _sign(
        r"\b(?:letter|email|mail|rang|called|phoned|texted|messaged|wrote|told me"
        r"|results?)\b",
        0.14,
    ),
    _sign(
        r"\b(?:my (?:name|wife|husband|sister|brother|mother|father|son|daughter|boss|friend"
        r"|neighbour|teacher|mum|mom|dad|flatmate|cousin|uncle|aunt|colleague|partner)"
        rf"(?:{_A}s)?\b|called|named|is a|works? (?:at|for|as)|i{_A}m \w+teen|years? old"
        rf"|lives? in"
        r"|from)\b",
        -0.26,
    ),
    _sign(
        r"\b(?:every|each|always|usually|on (?:mon|tues|wednes|thurs|fri|satur|sun)days"
        r"|a (?:week|month|day))\b",
        -0.25,
    ),
    _sign(r"\b(?:only|just|still|already|yet|too|also)\b", 0.21),
)


def change_score(doc: "Doc") -> float:
    """Log-odds that a turn changes something told before, from how it is told alone."""
    text = doc.text[:_CHARACTERS_MAX].lower()
    score = _BIAS + sum(weight for pattern, weight in _SIGNS if pattern.search(text))
    tokens = doc[:_TOKENS_MAX]
    count = max(1, len(tokens))
    past = sum(token.tag_ == "VBD" for token in tokens)
    definite = sum(token.lower_ == "the" for token in tokens)
    persons = sum(token.ent_type_ == "PERSON" for token in tokens)
    score += _LENGTH * math.log(count / _USUAL_LENGTH)
    return score + 10.0 / count * (_PAST * past + _DEFINITE * definite + _PERSONS * persons)
