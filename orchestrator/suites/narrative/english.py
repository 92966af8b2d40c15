"""English as far as a lint and a measure need it: words, sentences, function words, shapes.

The list is the language's closed classes (articles, pronouns, prepositions, conjunctions,
auxiliaries, particles), so it says nothing of any story.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "content_words",
    "english_words",
    "foreign_share",
    "function_share",
    "is_function_word",
    "sentences",
    "shape",
    "words",
]

_CLOSED_CLASSES = """
    a an the this that these those some any each every either neither both all no none another such
    i me my mine myself you your yours yourself he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
    one who whom whose which what someone anyone everyone something
    anything everything nothing nobody
    of to in on at by for with from about into onto over under after before between through during
    without within against among around behind below above beside beyond near off out up down since
    until till upon toward towards per via than as like
    and or but nor so yet if because although though while whereas unless when where why how whether
    am is are was were be been being do does did doing done have has had having will would shall
    should can could may might must ought
    not never n't there here then now just only also too very even still already again
    i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll
    we're we've we'd we'll they're they've they'd they'll that's there's here's what's who's
    don't doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't
    couldn't shouldn't mustn't
"""
_FUNCTION_WORDS = frozenset(_CLOSED_CLASSES.split())
# Frequent in any English text, and words of no other language with this alphabet.
_ENGLISH_ONLY_WORDS = """
    the and with you your they them their there this these those that what when where which who
    would could should about from because were been being she have has his our than then into of
    it's i'm i've don't didn't can't won't isn't wasn't
"""
_ENGLISH_ALONE = frozenset(_ENGLISH_ONLY_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\d+(?:[.,:]\d+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'\u201d\u2019)\]]*\s+|\n{2,}")
_GAP = "_"


def words(text: str) -> list[str]:
    """The words and numbers of a text, case-folded, with straight apostrophes."""
    return [word.casefold().replace("\u2019", "'") for word in _WORD.findall(text)]


def is_function_word(word: str) -> bool:
    """Whether a case-folded word belongs to a closed class of English."""
    return word in _FUNCTION_WORDS


def content_words(text: str) -> list[str]:
    """Words that carry what a text is about, in order; no numbers."""
    return [it for it in words(text) if it not in _FUNCTION_WORDS and not it[0].isdigit()]


def sentences(text: str) -> list[str]:
    """The sentences of a text, by its marks alone."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def shape(sentence: str) -> str:
    """A sentence without its content: function words stay, each run of others is one gap.

    `My sister works at the bakery` and `My uncle lives in the valley` differ (at, in); `My aunt
    works at the harbour` has the shape of the first: `my _ at the _`.
    """
    kept: list[str] = []
    for word in words(sentence):
        part = word if word in _FUNCTION_WORDS else _GAP
        if part != _GAP or not kept or kept[-1] != _GAP:
            kept.append(part)
    return " ".join(kept)


def function_share(text: str) -> float:
    """Which part of a text's words are function words; about half in English prose."""
    found = words(text)
    return sum(word in _FUNCTION_WORDS for word in found) / len(found) if found else 0.0


def english_words(text: str) -> frozenset[str]:
    """The words of a text that are English and of no other language: few in any foreign text."""
    return _ENGLISH_ALONE.intersection(words(text))


def foreign_share(text: str) -> float:
    """Which part of a text's letters are of another script than Latin."""
    letters = [char for char in text if char.isalpha()]
    if not letters:
        return 0.0
    foreign = sum(not unicodedata.name(char, "").startswith("LATIN") for char in letters)
    return foreign / len(letters)
