"""Words in their order tell a forgotten text from another one of the same words."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from services.memory.records.carrying import run_words, traits
from services.memory.records.fingerprints import RUN_WORDS
from services.memory.records.policy import Policy
from services.memory.records.text import normal_form

WORDS = ["zanzibar", "harbour", "pilot", "clause", "not", "copper", "maple", "violet", "anchor"]
# What a condensation may put around its parents' words.
WRAPPINGS = ["{0}", "Summary: {0}.", "Overall, the report states that {0}", "{0} (recap)"]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
orders = st.permutations(WORDS).map(lambda words: " ".join(words[:6]))
wrappings = st.sampled_from(WRAPPINGS)


def carries(child: str, forgotten: str, *others: str) -> bool:
    length = run_words(forgotten)
    said = frozenset().union(*(traits(other, length) for other in others))
    return Policy().carries(traits(child, length), traits(forgotten, length), said)


@given(forgotten=orders, other=orders, wrapping=wrappings)
def test_a_whole_forgotten_text_is_carried_unless_another_parent_has_its_runs(
    forgotten: str, other: str, wrapping: str
) -> None:
    runs = [forgotten.split()[start : start + RUN_WORDS] for start in (0, 1)]
    assume(not all(" ".join(run) in other for run in runs))
    assert carries(wrapping.format(forgotten), forgotten, other)
    assert carries(f"{other}. {wrapping.format(forgotten)}", forgotten, other)


@given(forgotten=texts, other=texts, wrapping=wrappings)
def test_what_another_parent_says_itself_is_never_taken_for_the_forgotten(
    forgotten: str, other: str, wrapping: str
) -> None:
    assert not carries(wrapping.format(other), forgotten, other)
    assert not carries(wrapping.format(forgotten), forgotten, wrapping.format(forgotten))


@given(forgotten=texts, wrapping=wrappings)
def test_a_copy_of_the_only_origin_is_always_carried(forgotten: str, wrapping: str) -> None:
    assert carries(wrapping.format(forgotten), forgotten)


@pytest.mark.parametrize("text", ["Summary", "the", "", "\u200b"])
def test_a_text_without_a_word_of_its_own_is_in_no_other_text(text: str) -> None:
    assert not carries("Summary: the harbour pilot", text)
    assert not carries("", text)


def test_a_text_of_stop_words_is_carried_by_its_copy_only() -> None:
    assert normal_form("It was THEM") == "it was them"
    assert carries("it was  them", "It was them", "the harbour pilot")
    assert not carries("it was the harbour pilot", "It was them", "the harbour pilot")
