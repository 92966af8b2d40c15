"""What a turn is for (CP1), and what a question asks for (CP5)."""

from typing import TYPE_CHECKING

from services.memory.narrative.model import QueryClass, TurnClass

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["query_class", "turn_class"]

_OWN = {"i", "me", "my", "mine", "we", "us", "our", "ours", "myself", "i'm"}


def turn_class(doc: "Doc", *, updates: bool) -> TurnClass:
    """What a turn is for.

    Args:
        doc: the parsed turn.
        updates: True when a fact of it changes or withdraws an earlier one.
    """
    if updates:
        return TurnClass.UPDATE
    if doc.text.rstrip().endswith("?") and len(list(doc.sents)) <= 2:
        own = any(token.lower_ in _OWN for token in doc)
        return TurnClass.QUESTION if own else TurnClass.GENERAL_KNOWLEDGE
    return TurnClass.STATEMENT


def query_class(doc: "Doc") -> QueryClass:
    """What a question asks for."""
    text = doc.text.lower()
    if "change" in text:
        return QueryClass.CHANGE
    if "feel" in text or "felt" in text:
        return QueryClass.EMOTIONAL
    if text.startswith(("when", "what date", "on what date", "what day")):
        return QueryClass.TEMPORAL
    if text.startswith(("did", "do ", "does", "am ", "is ", "are ", "have ", "has ", "was ")):
        return QueryClass.NEGATION
    return QueryClass.FACTUAL
