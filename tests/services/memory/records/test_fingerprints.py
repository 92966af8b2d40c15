from hypothesis import given
from hypothesis import strategies as st

from services.memory.records.fingerprints import (
    KEPT_MAX,
    RUN_WORDS,
    FingerprintKey,
    asked_fingerprints,
    kept_fingerprints,
)
from services.memory.records.text import read

KEY = FingerprintKey(b"\x01" * 32)
words = st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=3), min_size=1, max_size=40)


@given(words, words, words)
def test_a_whole_text_is_found_inside_of_another(
    before: list[str], text: list[str], after: list[str]
) -> None:
    if len(text) >= 3 or (before == after == []):
        kept = set(kept_fingerprints(KEY, text))
        assert kept <= set(asked_fingerprints(KEY, [*before, *text, *after]))


@given(words)
def test_a_text_finds_itself(text: list[str]) -> None:
    assert set(kept_fingerprints(KEY, text)) <= set(asked_fingerprints(KEY, text))


@given(words, words, words, words, words)
def test_a_shared_run_is_found(
    run: list[str], left: list[str], right: list[str], lead: list[str], tail: list[str]
) -> None:
    if len(run) >= RUN_WORDS:
        kept = set(kept_fingerprints(KEY, [*left, *run, *right]))
        asked = set(asked_fingerprints(KEY, [*lead, *run, *tail]))
        assert kept & asked


def test_a_long_text_keeps_few_fingerprints_and_its_long_runs_are_found() -> None:
    text = [f"w{number}" for number in range(12_000)]
    kept = set(kept_fingerprints(KEY, text))
    assert len(kept) <= 3 * KEPT_MAX
    window = (len(text) - RUN_WORDS + 1) // KEPT_MAX
    for start in range(0, len(text) - window - RUN_WORDS, 997):
        run = text[start : start + window + RUN_WORDS - 1]
        assert kept & set(asked_fingerprints(KEY, ["other", *run, "end"]))


@given(words, words)
def test_texts_without_a_common_word_have_no_common_fingerprint(
    left: list[str], right: list[str]
) -> None:
    shifted = [word.translate(str.maketrans("abcdefgh", "ijklmnop")) for word in right]
    assert not set(kept_fingerprints(KEY, left)) & set(asked_fingerprints(KEY, shifted))


@given(words)
def test_another_store_has_other_fingerprints(text: list[str]) -> None:
    other = FingerprintKey(b"\x02" * 32)
    assert not set(kept_fingerprints(KEY, text)) & set(kept_fingerprints(other, text))


def test_a_text_without_meaningful_words_stands_for_itself() -> None:
    assert read("What is it?").words == ("what is it?",)
    assert read("Pay Bob").words == ("pay", "bob")
