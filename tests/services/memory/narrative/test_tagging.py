import datetime as dt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative.dates import find_times
from services.memory.narrative.language import parse
from services.memory.narrative.model import Tag, TagType
from services.memory.narrative.tagging import tag

AT = dt.datetime(2026, 3, 4, 18, 30)


def tags(text: str) -> dict[str, str]:
    doc = parse(text)
    return {it.text: it.type.value for it in tag(doc, find_times(doc, AT))}


@pytest.mark.parametrize(
    ("text", "phrase", "kind"),
    [
        ("Mr. Quill came to see us.", "Mr. Quill", "PERSON"),
        ("My cousin Ottoline sings.", "Ottoline", "PERSON"),
        ("We hired a roofer called Zbigniew.", "Zbigniew", "PERSON"),
        ("I live in Brno with two lodgers.", "Brno", "PLACE"),
        ("She comes from Lake Como.", "Lake Como", "PLACE"),
        ("They opened on Mulberry Street.", "Mulberry Street", "PLACE"),
        ("I'm in room 12 now.", "room 12", "PLACE"),
        ("I work for Pemberton & Co here.", "Pemberton & Co", "ORGANIZATION"),
        ("Our cat Pickle ran off.", "Pickle", "OBJECT"),
        ("He sold me an old Volvo.", "Volvo", "OBJECT"),
        ("She knitted a scarf.", "scarf", "OBJECT"),
        ("It cost £240 in all.", "£240", "MONEY"),
        ("It cost 40 euros in all.", "40 euros", "MONEY"),
        ("They pay me 2,300 there.", "2,300", "MONEY"),
        ("We picked eleven pumpkins.", "eleven pumpkins", "QUANTITY"),
        ("It weighs 4.2 kg.", "4.2 kg", "QUANTITY"),
        ("I was away for three weeks.", "three weeks", "TIME"),
        ("Come tomorrow at noon.", "tomorrow at noon", "TIME"),
        ("We rehearse on Thursdays.", "Thursdays", "TIME"),
        ("I'm a plumber.", "plumber", "ROLE"),
        ("She works as a farrier.", "farrier", "ROLE"),
        ("I was furious.", "furious", "EMOTION"),
        ("The wedding was loud.", "wedding", "EVENT"),
        ("I took up judo.", "judo", "ACTIVITY"),
    ],
)
def test_types(text: str, phrase: str, kind: str) -> None:
    assert tags(text).get(phrase) == kind


def test_each_word_has_one_type() -> None:
    text = "Dr. Amsel of St. Anne's charged me 90 euros in May, and Dr. Amsel's nurse was kind."
    doc = parse(text)
    found = tag(doc, find_times(doc, AT))
    assert len(found) == len(set(found))
    assert len({it.text for it in found}) == len(found)


def test_a_name_is_the_same_everywhere_in_a_turn() -> None:
    found = tags("Odo and I went to Brno. Odo liked Brno, Brno liked Odo.")
    assert (found["Brno"], found["Odo"]) == ("PLACE", "PERSON")


def test_kin_and_fillers_are_no_things() -> None:
    assert tags("My mum had a lot of time.") == {}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    doc = parse(text)
    for found in tag(doc, find_times(doc, AT)):
        assert found.text in text
        assert isinstance(found, Tag)
        assert found.type in TagType


def test_long_turns_are_bounded() -> None:
    doc = parse("Anna paid 4 euros in Ghent. " * 600)
    assert 0 < len(tag(doc, find_times(doc, AT))) <= 1_000
