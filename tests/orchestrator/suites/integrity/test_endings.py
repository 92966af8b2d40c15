"""Whose words a hit has: by its id, and by its text where there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.categories.canaries import Scanned
from orchestrator.suites.integrity.categories.endings import (
    Ending,
    ending_case,
    says,
    speaks,
)
from orchestrator.suites.integrity.steps import Offered
from orchestrator.suites.integrity.variation import TRIAL_SEED_MAX

SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)
ACTIVE = memory_pb2.RECORD_STATE_ACTIVE
OLD, NEW = Offered("old", ACTIVE), Offered("new", ACTIVE)


@pytest.mark.parametrize(
    ("hit", "others", "expected"),
    [
        (memory_pb2.Hit(record_id="old", content="about nothing"), (NEW,), True),
        (memory_pb2.Hit(record_id="new", content="it was dabako"), (NEW,), False),
        (memory_pb2.Hit(record_id="unknown", content="Dabako!"), (NEW,), True),
        (memory_pb2.Hit(record_id="unknown", content="kabako"), (NEW,), False),
        (memory_pb2.Hit(content="dabako"), (NEW,), True),
        (memory_pb2.Hit(content="kabako"), (NEW,), False),
        # Changed in its place: the newer text has the older one's id.
        (memory_pb2.Hit(record_id="old", content="kabako"), (OLD,), False),
        (memory_pb2.Hit(record_id="old", content="dabako"), (OLD,), True),
    ],
)
def test_whose_words_a_hit_has(
    hit: memory_pb2.Hit, others: tuple[Offered, ...], expected: bool
) -> None:
    assert bool(speaks((hit,), OLD, others, "dabako")) is expected


def test_a_record_without_an_id_is_known_by_its_text_alone() -> None:
    nothing = Offered("", memory_pb2.RECORD_STATE_REJECTED)

    assert not speaks((memory_pb2.Hit(content="kabako"),), nothing, (NEW,), "dabako")
    assert speaks((memory_pb2.Hit(content="dabako"),), nothing, (NEW,), "dabako")


@given(SEEDS, st.sampled_from(Ending))
def test_a_disguised_text_says_what_the_text_says(seed: int, ending: Ending) -> None:
    case = ending_case(seed, ending)
    plain = case.attack.offer.content

    assert case.ending is ending
    assert len({text for _, text in case.disguises}) == 5
    for _, text in case.disguises:
        assert says(text, case.attack.nonce)
    assert plain in [text for _, text in case.disguises]
    assert ending_case(seed, ending) == case


@given(SEEDS)
def test_no_question_names_what_is_asked_for(seed: int) -> None:
    case = ending_case(seed)

    for asked in (case.attack, case.twin):
        assert asked.nonce in asked.offer.content
        assert not says(asked.query, asked.nonce)
    assert not says(case.twin.offer.content, case.attack.nonce)
    assert case.attack.query == case.twin.query


def test_what_was_scanned_in_words() -> None:
    found = Scanned(
        {"a": {"audit": ("as it is",), "index": ("as it is",)}, "b": {"audit": ("as base64",)}},
        ("media",),
        "surfaces audit, index, media",
    )

    assert found.words == "audit (as base64, as it is); index (as it is)"
    assert found.on_one_surface == ("audit",)
    assert found.blind_words == "the scan cannot find its canary in: media"
    nothing = Scanned({"a": {}, "b": {"audit": ("as it is",)}}, (), "surfaces audit")
    assert nothing.on_one_surface == ()
    assert nothing.blind_words == ""
