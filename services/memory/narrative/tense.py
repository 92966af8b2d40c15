"""Which way a clause looks: at what was, or at what will be."""

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

__all__ = ["Lean", "clause_lean", "sentence_lean"]

_CLIMB_MAX = 12


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MODALS = _words("will 'll \u2019ll wo shall ca can may might must should would could")
# "managed to", "had to": what follows them was done.
_IMPLY_DONE = _words("have manage get begin start come need use happen try stop forget")
# A bare participle of these is a plan: "booked for Friday".
_PLANNED = _words("plan schedule book expect set fix mean due move postpone arrange")

# Their past looks like their present.
_ONE_FORM = _words("let put cut set hit read quit cost hurt shut spread bet split")


class Lean(enum.IntEnum):
    """The direction of a clause."""

    PAST = -1
    UNKNOWN = 0
    FUTURE = 1


def clause_lean(doc: "Doc", start: int, end: int) -> Lean:
    """The direction of the clause around some characters, else of the sentences beside it."""
    span = doc.char_span(start, end, alignment_mode="expand")
    if span is None or not len(span):
        return Lean.UNKNOWN
    token = span.root
    for _ in range(_CLIMB_MAX):
        if token.pos_ in {"VERB", "AUX"}:
            lean = _verb(token)
            if lean is not Lean.UNKNOWN:
                return lean
        if token.lower_ == "due":
            return Lean.FUTURE
        if token.head.i == token.i:
            break
        token = token.head
    return _around(span)


def _around(span: "Span") -> Lean:
    sentence = span.sent
    lean = sentence_lean(sentence)
    if lean is Lean.UNKNOWN and sentence.start:
        lean = sentence_lean(span.doc[sentence.start - 1].sent)
    if lean is Lean.UNKNOWN and sentence.end < len(span.doc):
        lean = sentence_lean(span.doc[sentence.end].sent)
    return lean


def sentence_lean(sentence: "Span") -> Lean:
    """The direction of a sentence's main verb, else of its first verb that has one."""
    root = sentence.root
    lean = _verb(root) if root.pos_ in {"VERB", "AUX"} else Lean.UNKNOWN
    if lean is not Lean.UNKNOWN:
        return lean
    verbs = (token for token in sentence[:60] if token.pos_ in {"VERB", "AUX"})
    return next((lean for lean in map(_verb, verbs) if lean is not Lean.UNKNOWN), Lean.UNKNOWN)


def _verb(verb: "Token") -> Lean:
    """The direction of one verb with its auxiliaries."""
    aux = [child for child in verb.children if child.dep_ in {"aux", "auxpass"}]
    words = {token.lower_ for token in aux}
    if words & _MODALS or verb.tag_ == "MD":
        # "must have left", "couldn't sleep".
        done = words & {"have", "'ve", "\u2019ve"} and verb.tag_ == "VBN"
        failed = "could" in words and any(child.dep_ == "neg" for child in verb.children)
        return Lean.PAST if done or failed else Lean.FUTURE
    readers = {"VBD": _simple_past, "VBN": _participle, "VBG": _progressive, "VB": _infinitive}
    reader = readers.get(verb.tag_)
    if reader is not None:
        return reader(verb, aux)
    if verb.tag_ == "VBP" and verb.lower_ in _ONE_FORM:
        return Lean.UNKNOWN
    return Lean.FUTURE if verb.tag_ in {"VBZ", "VBP"} else Lean.UNKNOWN


def _simple_past(verb: "Token", aux: list["Token"]) -> Lean:
    del verb, aux
    return Lean.PAST


def _participle(verb: "Token", aux: list["Token"]) -> Lean:
    lemmas = {token.lemma_.lower() for token in aux}
    if verb.lower_ == "got" and not any(token.tag_ == "VBD" for token in aux):
        # "I've got the dentist on Friday".
        return Lean.FUTURE if "have" in lemmas else Lean.PAST
    if "have" in lemmas or any(token.lower_ in {"'d", "\u2019d"} for token in aux):
        return Lean.PAST
    if any(token.tag_ == "VBD" for token in aux) or "get" in lemmas:
        return Lean.PAST
    if lemmas & {"be", "'s", "\u2019s", "s"}:
        return Lean.FUTURE
    return Lean.FUTURE if verb.lemma_.lower() in _PLANNED else Lean.PAST


def _progressive(verb: "Token", aux: list["Token"]) -> Lean:
    if any(token.tag_ == "VBD" for token in aux):
        # "was going to": a plan as it stood then.
        going = verb.lower_ == "going" and any(c.dep_ == "xcomp" for c in verb.children)
        return Lean.FUTURE if going else Lean.PAST
    if aux or verb.head.i == verb.i:
        return Lean.FUTURE
    return Lean.UNKNOWN


def _infinitive(verb: "Token", aux: list["Token"]) -> Lean:
    words = {token.lower_ for token in aux}
    if "did" in words:
        return Lean.PAST
    head = verb.head
    if not aux and head.i != verb.i and verb.dep_ in {"ccomp", "xcomp"}:
        # "they let me try", "I saw him go": as the verb that governs it.
        return Lean.UNKNOWN
    if "to" in words and head.i != verb.i and head.pos_ in {"VERB", "AUX"}:
        done = head.tag_ in {"VBD", "VBN"} and head.lemma_.lower() in _IMPLY_DONE
        return Lean.PAST if done else Lean.FUTURE
    return Lean.FUTURE
