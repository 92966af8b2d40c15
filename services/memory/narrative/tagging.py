"""Names what a turn's phrases are (CP4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.memory.narrative.model import Tag, TagType, TemporalReference

if TYPE_CHECKING:
    from spacy.tokens import Doc

__all__ = ["tag"]

_TYPES = {
    "PERSON": TagType.PERSON,
    "GPE": TagType.PLACE,
    "LOC": TagType.PLACE,
    "FAC": TagType.PLACE,
    "ORG": TagType.ORGANIZATION,
    "MONEY": TagType.MONEY,
    "QUANTITY": TagType.QUANTITY,
    "CARDINAL": TagType.QUANTITY,
    "EVENT": TagType.EVENT,
}


def tag(doc: "Doc", times: Sequence[TemporalReference]) -> tuple[Tag, ...]:
    """Phrases of a turn with their types, verbatim, each once, in order.

    Args:
        doc: the parsed turn.
        times: what `dates.find_times` found in it.
    """
    found = [Tag(time.text, TagType.TIME) for time in times]
    found += [Tag(ent.text, _TYPES[ent.label_]) for ent in doc.ents if ent.label_ in _TYPES]
    return tuple(dict.fromkeys(found))
