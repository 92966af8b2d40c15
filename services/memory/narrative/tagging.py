"""Names what a turn's phrases are (CP4): names by their context, nouns by what they name, amounts.

Tags do not overlap, so that each word of a turn has one type.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from services.memory.narrative import kinds, lexicon
from services.memory.narrative.amounts import find_amounts
from services.memory.narrative.feelings import WORDS, Feeling
from services.memory.narrative.model import Tag, TagType, TemporalReference
from services.memory.narrative.naming import is_name, name_kind

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

__all__ = ["tag"]

# Tags of a turn beyond this many tell nothing more; a text made to be slow has them.
_TAGS_MAX = 1_000
_OUTRIGHT_MIN = 5.0
_SURE = 3
_JOINS = frozenset(("&", "-", "of", "de", "da", "do", "das", "la", "el", "al", "van", "von", "the"))

Span = tuple[int, int, TagType]


def tag(doc: "Doc", times: Sequence[TemporalReference]) -> tuple[Tag, ...]:
    """Phrases of a turn with their types, verbatim, each once, in order of their places.

    Args:
        doc: the parsed turn.
        times: what `dates.find_times` found in it.
    """
    text = doc.text
    taken = bytearray(len(text))
    found: list[Span] = []
    spans = [(time.start, time.end, TagType.TIME) for time in times]
    for source in (spans, _numbered(doc), find_amounts(doc), _names(doc), _nouns(doc)):
        for start, end, kind in source:
            if len(found) >= _TAGS_MAX:
                break
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                found.append((start, end, kind))
    tags = (Tag(text[start:end], kind) for start, end, kind in sorted(found))
    return tuple(dict.fromkeys(tags))


def _names(doc: "Doc") -> list[Span]:
    found: list[tuple[Span, bool]] = []
    index, length = 0, len(doc)
    while index < length:
        if not is_name(doc[index]):
            index += 1
            continue
        end = index + 1
        while end < length and (
            is_name(doc[end])
            or (doc[end].lower_ in _JOINS and end + 1 < length and is_name(doc[end + 1]))
            or (doc[end].text == "." and doc[end - 1].lower_ in kinds.TITLES | {"st"})
        ):
            end += 1
        told = name_kind(doc, index, end)
        if told is not None:
            last = doc[end - 1]
            found.append(((doc[index].idx, last.idx + len(last.text), told[0]), told[1]))
        index = end
    return _agreed(doc.text, found)


def _agreed(text: str, found: Sequence[tuple[Span, bool]]) -> list[Span]:
    """One type for each name: what its places in the turn say, those that are sure first."""
    votes: dict[str, Counter[TagType]] = {}
    for (start, end, kind), sure in found:
        votes.setdefault(text[start:end], Counter())[kind] += _SURE if sure else 1
    return [(s, e, votes[text[s:e]].most_common(1)[0][0]) for (s, e, _), _ in found]


def _numbered(doc: "Doc") -> Iterator[Span]:
    """Read "ward seven", "flat 3" as places."""
    for token in doc[1:]:
        before = doc[token.i - 1]
        if token.like_num and before.lower_ in kinds.NUMBERED and token.ent_type_ != "MONEY":
            yield before.idx, token.idx + len(token.text), TagType.PLACE


def _nouns(doc: "Doc") -> Iterator[Span]:
    skip = -1
    for token in doc:
        if token.i <= skip:
            continue
        feeling = _feeling(token)
        if feeling:
            yield token.idx, token.idx + len(token.text), TagType.EMOTION
            continue
        if token.text[0].isalpha() and (
            token.pos_ == "NOUN" or (token.pos_ == "PROPN" and token.is_lower)
        ):
            last = token
            while (
                last.i + 1 < len(doc) and last.dep_ == "compound" and doc[last.i + 1].pos_ == "NOUN"
            ):
                last = doc[last.i + 1]
            skip = last.i
            kind = _is_role(last) or kinds.kind_of(last.lemma_.lower())
            if kind is not None:
                yield token.idx, last.idx + len(last.text), kind
        elif token.tag_ == "VBG" and token.dep_ in {"pcomp", "dobj", "nsubj", "conj", "xcomp"}:
            yield token.idx, token.idx + len(token.text), TagType.ACTIVITY


def _feeling(token: "Token") -> tuple[Feeling, ...]:
    told = WORDS.get(token.lower_) or ()
    return tuple(it for it in told if it[1] >= _OUTRIGHT_MIN)


def _is_role(noun: "Token") -> TagType | None:
    """A role by its form where the clause says it of a person: "I'm a glazier"."""
    lemma = noun.lemma_.lower()
    if not lemma.endswith(lexicon.ROLE_SUFFIXES) or lemma in lexicon.KIN or len(lemma) < 5:
        return None
    if noun.dep_ == "attr":
        subjects = (c for c in noun.head.children if c.dep_ == "nsubj")
        if any(c.lower_ in {"i", "he", "she", "who"} or c.pos_ == "PROPN" for c in subjects):
            return TagType.ROLE
    if noun.dep_ == "pobj" and noun.head.lower_ == "as":
        return TagType.ROLE
    return TagType.ROLE if noun.dep_ == "appos" and noun.head.pos_ == "PROPN" else None
