"""What is a raw turn, whatever is done to hide that, and what is a fact."""

from __future__ import annotations

import json

import pytest

from orchestrator.suites.narrative.checkpoints import storage_points
from orchestrator.suites.narrative.raw_turns import leaves, without_raw_turns
from orchestrator.suites.narrative.stories import Batch

TURN = (
    'My sister said "yes" at the café on the quay last night. We cried and then we laughed for an '
    "hour. Her ring is from a pawn shop in Aberdour, of all places. The wedding is in June."
)
SENTENCES = (
    'My sister said "yes" at the café on the quay last night.',
    "We cried and then we laughed for an hour.",
    "Her ring is from a pawn shop in Aberdour, of all places.",
    "The wedding is in June.",
)


@pytest.mark.parametrize(
    ("item", "turn", "raw"),
    [
        ("speaker: I came. I saw.", "I came. I saw.", True),
        ("I  CAME.\nI saw.", "I came. I saw.", True),
        ("I came.", "I came. I saw.", False),
        ("I came here.", "I came here.", False),
        ("Really?! Yes!", "Really?! Yes!", True),
        ("at 3.50 a piece", "at 3.50 a piece", False),
        (TURN, TURN, True),
        (TURN[:-1], TURN, True),
        (TURN[: len(TURN) * 4 // 5], TURN, True),
        (json.dumps({"text": TURN}), TURN, True),
        (json.dumps([{"at": 3, "said": [TURN]}], ensure_ascii=False), TURN, True),
        (json.dumps({"payload": json.dumps({"text": TURN})}), TURN, True),
        (TURN.replace(". ", " | "), TURN, True),
        (SENTENCES[0], TURN, False),
        (" ".join(SENTENCES[2:]), TURN, False),
        (json.dumps({"subject": "sister", "text": SENTENCES[0]}), TURN, False),
        ("The sister of the speaker got engaged; the wedding is planned for June.", TURN, False),
    ],
)
def test_a_raw_turn_is_told_by_its_words_across_sentences(item: str, turn: str, raw: bool) -> None:
    assert (without_raw_turns([item], [turn]) == []) is raw


def test_pieces_that_make_up_the_turn_are_the_turn() -> None:
    halves = [" ".join(SENTENCES[:2]), " ".join(SENTENCES[2:])]

    assert without_raw_turns(halves, [TURN]) == []
    assert without_raw_turns(halves[:1], [TURN]) == halves[:1]
    assert without_raw_turns(list(SENTENCES), [TURN]) == list(SENTENCES)


def test_an_item_is_read_for_what_it_says_and_not_for_how_it_is_written() -> None:
    written = json.dumps({"object": "café", "said": 'a "yes"', "euros": 1.50, "n": [7, None, True]})

    assert set(leaves(written)) == {"object", "café", "said", 'a "yes"', "euros", "1.5", "n", "7"}
    assert leaves("{no JSON") == ("{no JSON",)
    assert leaves("[" * 100_000) == ("[" * 100_000,)
    stores = Batch(
        batch=1, time="2026-03-02T10:00", user_input=TURN, expected_stores=("café", 'said "yes"')
    )
    (point,) = storage_points(stores, leaves(json.dumps({"o": "café", "p": 'said "yes"'})))
    assert point.held
