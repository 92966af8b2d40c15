"""Whether a turn changes or withdraws what its speaker told before (CP1, supersession)."""

import re

from services.memory.narrative.book import Book

__all__ = ["updates"]

CUES = re.compile(
    r"\b(instead|any ?more|no longer|not .{0,30} after all|turn(?:s|ed)? out|changed my mind"
    r"|change of plan|cancel(?:l?ed)?|postponed|rescheduled|moved (?:to|back|up|forward|out)"
    r"|(?:put|pushed) back|put off|called (?:it )?off|dropped|quit|correction|scratch that|update"
    r"|now it'?s|it'?s now|up to|down to|switched|swapped|after all|fell through|back on"
    r"|new (?:date|time|place|job|plan)|take (?:that|it) back)\b",
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
