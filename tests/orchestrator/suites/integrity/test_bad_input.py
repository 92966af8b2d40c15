"""X: bad input is judged by what is left of it, whichever answer a memory chooses."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from orchestrator.model import CheckOutcome, TrialRecord, Verdict
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.categories.bad_input.inputs import (
    CONTENT_BYTES,
    UNREADABLE,
    text_of_bytes,
)
from orchestrator.suites.integrity.reviewer import Reviewer
from tests.orchestrator.suites.integrity import review_memories as memories
from tests.orchestrator.suites.integrity.contexts import check_of, found, run_one
from tests.orchestrator.suites.integrity.memories import SmallMemory
from tests.orchestrator.suites.integrity.played import playground

INPUTS = ("size", "characters", "bounds", "lineage")


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    return Reviewer.generate()


def run(memory: SmallMemory, variant: str, reviewer: Reviewer) -> list[TrialRecord]:
    return run_one(memory, f"X.{variant}", reviewer, trials=2)


def violated(records: list[TrialRecord]) -> list[list[str]]:
    return [found(record, CheckOutcome.VIOLATED) for record in records]


def test_the_reference_passes(tmp_path: Path) -> None:
    with playground(tmp_path) as ground:
        for variant in INPUTS:
            for played in ground.trials(CATEGORIES[f"X.{variant}"], range(2)):
                outcomes = {check.outcome for check in played.checks}
                assert outcomes == {CheckOutcome.HELD}, (variant, played)
                told = played.told(f"integrity.X.safety.{variant}")
                assert "refused texts are found nowhere (exports scanned)" in told


@pytest.mark.parametrize("variant", INPUTS)
@pytest.mark.parametrize("memory", [memories.ByPrincipal, memories.InPieces])
def test_a_memory_that_takes_everything_and_keeps_it_passes(
    memory: type[SmallMemory], variant: str, reviewer: Reviewer
) -> None:
    for record in run(memory(), variant, reviewer):
        assert record.verdict is Verdict.PASS, record.cause


def test_what_was_said_for_nobody_is_not_recalled_for_somebody(reviewer: Reviewer) -> None:
    records = run(SmallMemory(), "bounds", reviewer)
    assert violated(records) == [["integrity.X.safety.bounds"]] * 2
    for record in records:
        assert record.cause.endswith(
            "where it must not be: no_principal by Recall, long_principal by Recall"
        )


def test_a_text_that_is_cut_in_silence_is_a_violation(reviewer: Reviewer) -> None:
    assert violated(run(memories.Cuts(), "size", reviewer)) == [["integrity.X.safety.size"]] * 2


def test_a_text_that_is_cut_and_marked_is_none(reviewer: Reviewer) -> None:
    for record in run(memories.TellsThatItCuts(), "size", reviewer):
        assert record.verdict is Verdict.PASS, record.cause


def test_where_a_model_words_what_is_kept_no_byte_is_compared(reviewer: Reviewer) -> None:
    for record in run(memories.WordsAnew(), "size", reviewer):
        check = check_of(record, "integrity.X.safety.size")
        assert record.verdict is Verdict.PASS, record.cause
        assert check.outcome is CheckOutcome.NOT_EVALUATED
        assert "a language model words what is kept" in check.actual


def test_a_memory_that_keeps_nothing_afterwards_is_useless(reviewer: Reviewer) -> None:
    records = run_one(memories.ForgetsWhatFollows(), "X.characters", reviewer, trials=1)
    for ids in violated(records):
        assert "integrity.X.utility.characters" in ids
    for record in records:
        assert "after, an ordinary text" in record.cause


@given(
    st.integers(200, 2 * CONTENT_BYTES),
    st.lists(st.text("abcdefgh", min_size=10, max_size=10), min_size=3, max_size=3),
)
def test_a_text_has_exactly_its_bytes_and_its_words(size_bytes: int, marks: list[str]) -> None:
    text = text_of_bytes(size_bytes, *marks)
    assert len(text.encode()) == size_bytes
    places = [text.index(marks[0]), text.index(marks[1], size_bytes // 3), text.rindex(marks[2])]
    assert places == sorted(places)


def test_no_text_is_what_it_looks_like() -> None:
    for unreadable in UNREADABLE:
        text = unreadable.text.format(nonce="nonce")
        assert not text.isascii() or not text.isprintable()
        assert "nonce" in text
        message = memory_pb2.Observation(content=text)
        assert memory_pb2.Observation.FromString(message.SerializeToString()).content == text
