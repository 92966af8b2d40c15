"""A turn as the parser saw it, in a form that is kept: everything later is derived from it.

What is stored is this and the turn's text. References, supersession and the index are functions of
a speaker's analyses in the order of their times, so they are the same whatever order they arrived
in, and after every restart.
"""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from services.memory.narrative.model import Tag, TagType, TemporalReference, TemporalStatus

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["Analysis", "Word", "analyse", "from_json", "to_json"]

# A turn is at most 64 KiB; what is beyond so many words of it is kept as text only.
WORDS_MAX = 4_000
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Word:
    """A token of a turn.

    Attributes:
        text: as written.
        lemma: base form, lower case but for names.
        tag: part of speech, Penn Treebank.
        dep: relation to its head.
        head: index of its head in the turn.
        ent: kind of name that it is part of (OntoNotes), or "".
        start: first character in the turn.
        sentence: index of its sentence in the turn.
    """

    text: str
    lemma: str
    tag: str
    dep: str
    head: int
    ent: str
    start: int
    sentence: int

    @property
    def end(self) -> int:
        """One past its last character in the turn."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Analysis:
    """A parsed turn.

    Attributes:
        words: its tokens, blanks left out.
        times: the times that it names.
        tags: what its phrases are.
    """

    words: tuple[Word, ...]
    times: tuple[TemporalReference, ...]
    tags: tuple[Tag, ...] = ()


def analyse(doc: "Doc", times: Sequence[TemporalReference], tags: Sequence[Tag] = ()) -> Analysis:
    """What is kept of a parse."""
    tokens = [token for token in doc if not token.is_space][:WORDS_MAX]
    place = {token.i: index for index, token in enumerate(tokens)}
    sentence_of: dict[int, int] = {}
    for number, sentence in enumerate(doc.sents):
        for token in sentence:
            sentence_of[token.i] = number
    words = tuple(
        Word(
            text=token.text,
            lemma=token.lemma_.lower(),
            tag=token.tag_,
            dep=token.dep_,
            head=place.get(token.head.i, index),
            ent=token.ent_type_,
            start=token.idx,
            sentence=sentence_of[token.i],
        )
        for index, token in enumerate(tokens)
    )
    return Analysis(words, tuple(times), tuple(tags))


def to_json(analysis: Analysis) -> str:
    """The kept form; words by columns, since that is half as long."""
    words = analysis.words
    columns: dict[str, Any] = {
        "format": FORMAT,
        "text": [word.text for word in words],
        "lemma": [word.lemma for word in words],
        "tag": [word.tag for word in words],
        "dep": [word.dep for word in words],
        "head": [word.head for word in words],
        "ent": [word.ent for word in words],
        "start": [word.start for word in words],
        "sentence": [word.sentence for word in words],
        "times": [
            [time.text, time.start, time.end, time.resolves_to, str(time.status)]
            for time in analysis.times
        ],
        "tags": [[tag.text, str(tag.type)] for tag in analysis.tags],
    }
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Analysis:
    """What `to_json` kept."""
    kept = json.loads(text)
    words = tuple(
        Word(*fields)
        for fields in zip(
            kept["text"],
            kept["lemma"],
            kept["tag"],
            kept["dep"],
            kept["head"],
            kept["ent"],
            kept["start"],
            kept["sentence"],
            strict=True,
        )
    )
    times = tuple(
        TemporalReference(found, start, end, resolves_to, TemporalStatus(status))
        for found, start, end, resolves_to, status in kept["times"]
    )
    tags = tuple(Tag(found, TagType(kind)) for found, kind in kept["tags"])
    return Analysis(words, times, tags)


def at_of(time: str) -> dt.datetime:
    """A turn's time; raises ValueError where it is no ISO 8601 date-time."""
    return dt.datetime.fromisoformat(time).replace(tzinfo=None)
