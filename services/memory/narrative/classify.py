"""What a turn is for (CP1), and what a question asks for (CP5).

A turn that asks is a question of the speaker's own life or of the world; one that tells nothing is
noise; the others tell something new, or change what was told. Whether a turn changes something, the
facts say (`updates`); how it is told says it, too: "instead", "no longer", "moved to".
"""

import re
from typing import TYPE_CHECKING

from services.memory.narrative.asking import asks_world, query_class
from services.memory.narrative.model import TurnClass
from services.memory.narrative.signs import change_score

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

__all__ = ["query_class", "turn_class"]

# Log-odds that facts which replace earlier ones add.
_FACTS_SAY = 1.3
_TOKENS_MAX = 60
_SENTENCES_MAX = 5
_NOISE_TOKENS_MAX = 34
_SHARE_MIN = 0.25
_WH = frozenset(("who", "whose", "whom", "what", "which", "when", "where", "why", "how", "whats"))
_RECALL = re.compile(
    r"\b(?:again|remind|remember|did (?:i|we)|have (?:i|we)|was it (?:we|i)|told you|i said"
    r"|tell me what"
    r"|do you know (?:my|what i|where i|when i)|in the end)\b",
    re.IGNORECASE,
)
_OWN = frozenset(("i", "me", "my", "mine", "we", "us", "our", "ours"))
_CHATTER = re.compile(
    r"^\W*(?:hi+|hello|hey+|hiya|yo|(?:good )?(?:morning+|evening|afternoon|night)|goodnight|gm"
    r"|ok(?:ay)?"
    r"|thanks|thank you|cheers|bye|ta|lol|haha?|ha)\b"
    r"|\b(?:nothing (?:to (?:report|tell|say|add)|new|much)|no (?:news|drama)|talk soon"
    r"|good ?night|goodbye"
    r"|that['\u2019]s all|just (?:saying|wanted to say|checking in|waving|me)|only (?:waving"
    r"|saying)|you there"
    r"|thanks for (?:listening|that|everything|the)|thank you for|never ?mind"
    r"|doesn['\u2019]t matter|good morning)\b",
    re.IGNORECASE,
)


def turn_class(doc: "Doc", *, updates: bool, first: bool = False) -> TurnClass:
    """What a turn is for.

    Args:
        doc: the parsed turn.
        updates: True when a fact of it changes or withdraws an earlier one.
        first: True when the speaker told nothing before, so that there is nothing to change.
    """
    asking = _asking(doc)
    if asking is not None:
        return asking
    if _is_noise(doc):
        return TurnClass.NOISE
    if first:
        return TurnClass.STATEMENT
    score = change_score(doc) + (_FACTS_SAY if updates else 0.0)
    return TurnClass.UPDATE if score > 0 else TurnClass.STATEMENT


def _asking(doc: "Doc") -> TurnClass | None:
    """The class of a turn whose point is a question; None where it tells."""
    if len(doc) > _TOKENS_MAX:
        return None
    sentences = list(doc.sents)
    if not sentences or len(sentences) > _SENTENCES_MAX:
        return None
    for sentence in sentences[:3]:
        part = _asked_part(sentence)
        if part is None or len(sentence) < _SHARE_MIN * len(doc):
            continue
        own = any(token.lower_ in _OWN for token in part)
        if own or _RECALL.search(sentence.text) or not _of_world(part):
            return TurnClass.QUESTION
        return TurnClass.GENERAL_KNOWLEDGE
    return None


def _of_world(part: "Span") -> bool:
    """False where it asks of a thing that only the speaker's listener can know ("the dog")."""
    if asks_world(part.as_doc()):
        return True
    first = part[0].lower_
    return first not in {"who", "whose"} or any(token.tag_ == "VBD" for token in part)


def _asked_part(sentence: "Span") -> "Span | None":
    """From its question word on, a sentence that asks; None for one that does not."""
    text = sentence.text.rstrip()
    if any(mark in text for mark in _QUOTES):
        return None
    marked = "?" in text
    if not marked and text[-1:] in {".", "!", ","}:
        return None
    openers = 0
    for index, token in enumerate(sentence):
        if token.lower_ in _WH and (marked or (openers == 0 and token.lower_ != "when")):
            return sentence[index:]
        if token.is_alpha and token.lower_ not in _OPENERS:
            openers += 1
    if not marked:
        return None
    words = [token for token in sentence if token.is_alpha and token.lower_ not in _OPENERS]
    inverted = bool(words) and words[0].tag_ in {"VBZ", "VBP", "VBD", "MD"}
    return sentence[words[0].i - sentence.start :] if inverted else None


_QUOTES = '"\u201c\u201d'
_OPENERS = frozenset(
    " ".join(
        (
            "hey hi so and but random quick one tell me please dear ok by the way oh now",
            "incidentally remind something question btw also just wait test",
        )
    ).split()
)


def _is_noise(doc: "Doc") -> bool:
    """True for greetings, thanks and chatter that tell nothing to keep."""
    if len(doc) > _NOISE_TOKENS_MAX or _CHATTER.search(doc.text) is None:
        return not any(token.is_alpha for token in doc)
    told = sum(token.tag_ in {"VBD", "VBN"} for token in doc)
    named = sum(token.ent_type_ in {"PERSON", "ORG", "GPE", "MONEY"} for token in doc)
    return told + named <= 2
