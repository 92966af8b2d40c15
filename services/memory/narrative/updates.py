"""Whether a turn changes or withdraws what its speaker told before (CP1, supersession)."""

import re

from services.memory.narrative.book import Book

__all__ = ["updates"]

CUES = re.compile(
    r"\b(instead|any ?more|no longer|not .{0,30} after all|turns? out|turned out|changed my mind|change of plan"
    r"|cancel(?:l?ed)?|postponed|rescheduled|moved (?:to|back|up|forward|out)|put back|pushed back|put off"
    r"|called off|dropped|quit|correction|scratch that|update|now it'?s|it'?s now|up to|down to|switched"
    r"|swapped|after all|new (?:date|time|place|job|plan)|back on|called it off|fell through|take (?:that|it) back)\b",
    re.IGNORECASE,
)


def updates(book: Book, turn_id: str) -> bool:
    """True when the turn has a cue of change and speaks of something told before."""
    turns = {told.turn_id: told for told in book.turns}
    told = turns[turn_id]
    if CUES.search(told.text) is None:
        return False
    own = {word.lemma for word in told.analysis.words if word.tag.startswith("NN")}
    return any(
        own & {word.lemma for word in other.analysis.words if word.tag.startswith("NN")}
        for other in book.turns
        if other.turn_id != turn_id
    )
