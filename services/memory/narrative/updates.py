"""Whether a turn changes or withdraws what its speaker told before (CP1, supersession)."""

import re
from collections.abc import Sequence

from services.memory.narrative.book import Told

__all__ = ["has_cue", "updates"]

CUES = re.compile(
    r"\b(instead|any ?more|no longer|not .{0,30} after all|turn(?:s|ed)? out|changed my mind"
    r"|change of plan|cancel(?:l?ed)?|postponed|rescheduled|moved (?:to|back|up|forward|out)"
    r"|(?:put|pushed) back|put off|called (?:it )?off|dropped|quit|correction|scratch that|update"
    r"|now it'?s|it'?s now|up to|down to|switched|swapped|after all|fell through|back on"
    r"|new (?:date|time|place|job|plan)|take (?:that|it) back)\b",
    re.IGNORECASE,
)


def has_cue(text: str) -> bool:
    """True for words by which people say that something changes."""
    return CUES.search(text) is not None


def updates(told: Told, before: Sequence[Told]) -> bool:
    """True when a turn has a cue of change and speaks of something that was told before it."""
    if not has_cue(told.text):
        return False
    own = _nouns(told)
    return any(own & _nouns(other) for other in before)


def _nouns(told: Told) -> set[str]:
    return {word.lemma for word in told.analysis.words if word.tag.startswith("NN")}
