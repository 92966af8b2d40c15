"""Reads a turn's feeling (CP10)."""

from typing import TYPE_CHECKING

from services.memory.narrative.model import Emotion, EmotionName, Warmth

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["feel"]

_NAMES = {name.value: name for name in EmotionName}


def feel(doc: "Doc") -> Emotion | None:
    """The turn's strongest feeling, or None where it shows none."""
    for token in doc:
        name = _NAMES.get(token.lemma_.lower())
        if name is not None and name is not EmotionName.NEUTRAL:
            return Emotion(name, Warmth.INCREASE)
    return None
