"""What a text has in common with a forgotten one: its words, and those words in their order (pure).

Two texts may hold the same words and say different things: "the pump before the valve" is not "the
valve before the pump". So a descendant of both holds a forgotten one's words although every single
one stands in the other, kept one. Words in a row tell them apart, as they do for content flow.
"""

from services.memory.records.fingerprints import RUN_WORDS
from services.memory.records.text import NEUTRAL_STEMS, Reading, read

__all__ = ["run_words", "traits"]

_JOINT = "\x1f"


def run_words(text: str) -> int:
    """How many words in a row are this text's own: RUN_WORDS, or all of a shorter text's."""
    return min(RUN_WORDS, len(_told(read(text))))


def traits(text: str, run_length: int) -> frozenset[str]:
    """The text's terms and its runs of so many words; words that only bind others do not count.

    Args:
        text: any text.
        run_length: `run_words` of the text that this one is compared with; 0 for no runs.
    """
    reading = read(text)
    told = _told(reading)
    starts = range(len(told) - run_length + 1) if run_length else ()
    # A run is no term: no term has the joint in it, and a run of one word is that word.
    runs = {_JOINT.join(told[start : start + run_length]) for start in starts}
    return frozenset(reading.terms) | runs


def _told(reading: Reading) -> list[str]:
    return [word for word in reading.words if word and word not in NEUTRAL_STEMS]
