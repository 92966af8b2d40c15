"""Values of one kind in alike sentences are rivals in time; others are not."""

import numpy as np
import pytest

from services.memory.narrative.index import Index
from services.memory.narrative.superseding import superseding_features
from tests.services.memory.narrative.tales import asked, book_of, text_of

TALE = (
    "My pottery class is in Ennis.",
    "The soup was far too salty.",
    "My pottery class is in Galway now.",
    "My dentist is in Tralee.",
)


def _row(index: Index, text: str) -> int:
    return next(row for row in range(index.segments) if text in text_of(index, [row]))


def test_the_later_value_of_an_alike_sentence_stands_against_the_earlier() -> None:
    index = book_of(TALE)
    found = superseding_features(asked("Where is my pottery class now?"), index)
    ennis, galway, tralee = (_row(index, name) for name in ("Ennis", "Galway", "Tralee"))
    assert found["alike_later"][ennis] > 0.6
    assert found["alike_earlier"][ennis] == 0
    assert found["alike_earlier"][galway] == pytest.approx(found["alike_later"][ennis])
    assert found["alike_earlier"][tralee] < found["alike_earlier"][galway]
    assert found["alike_later_near"][ennis] > found["alike_later_near"][galway]
    for values in found.values():
        assert values.shape == (index.segments,)
        assert values[_row(index, "soup")] == 0


def test_the_same_value_told_again_is_no_rival() -> None:
    index = book_of([TALE[0], TALE[0]])
    found = superseding_features(asked("Where is my pottery class?"), index)
    assert not any(values.any() for values in found.values())


def test_values_of_one_turn_are_neither_later_nor_earlier() -> None:
    index = book_of(["My pottery class is in Ennis. My dentist is in Tralee."])
    found = superseding_features(asked("Where is my dentist?"), index)
    assert found["alike_same_turn"].max() > 0
    assert not found["alike_later"].any()
    assert not found["alike_earlier"].any()


def test_without_a_value_of_the_kind_everything_is_0() -> None:
    index = book_of(["It rained."])
    found = superseding_features(asked("Where is my dentist?"), index)
    assert len(found) == 7
    assert all(np.array_equal(values, np.zeros(index.segments)) for values in found.values())
