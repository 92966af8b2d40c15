"""A scan finds what is there in any of its forms, and nothing that is not."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.needles import Form, find
from orchestrator.suites.integrity.synthetic import look_alike_for, synthetic_key
from orchestrator.suites.integrity.variation import TRIAL_SEED_MAX, Role, nonce_for, vary

SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)
NOISE = st.binary(max_size=64)


@given(SEEDS, NOISE, NOISE)
def test_bytes_are_found_between_any_others(seed: int, before: bytes, after: bytes) -> None:
    key = synthetic_key(vary(seed))

    assert Form.BYTES in find(key, before + key.encode() + after)


@given(SEEDS, st.text(max_size=20), st.text(max_size=20))
def test_base64_is_found_at_every_alignment_and_in_both_alphabets(
    seed: int, before: str, after: str
) -> None:
    key = synthetic_key(vary(seed))
    text = f"{before}{key}{after}".encode()

    assert Form.BASE64 in find(key, base64.b64encode(text))
    assert Form.BASE64 in find(key, base64.urlsafe_b64encode(text))
    assert Form.BASE64 in find(key, base64.encodebytes(text * 3))


@given(SEEDS, NOISE)
def test_hexadecimal_is_found_in_both_cases(seed: int, before: bytes) -> None:
    key = synthetic_key(vary(seed))
    text = (before + key.encode()).hex()

    assert Form.HEXADECIMAL in find(key, text.encode())
    assert Form.HEXADECIMAL in find(key, text.upper().encode())


@given(SEEDS, st.integers(min_value=1, max_value=9), st.sampled_from([" ", "\n", "\r\n\t"]))
def test_white_space_put_in_between_hides_nothing(seed: int, every: int, blank: str) -> None:
    key = synthetic_key(vary(seed))
    split = blank.join(key[start : start + every] for start in range(0, len(key), every))

    assert find(key, f"x {split} y".encode())


@given(SEEDS)
def test_other_case_utf_16_and_a_cut_at_the_hyphens_hide_nothing(seed: int) -> None:
    key = synthetic_key(vary(seed))
    cut = key.replace("-", "\n").replace("_", "\n")

    assert find(key, key.lower().encode()) == (
        (Form.BYTES,) if key == key.lower() else (Form.SPLIT,)
    )
    assert Form.SPLIT in find(key, key.encode("utf-16-le"))
    assert find(key, cut.encode())


@given(SEEDS)
def test_what_is_not_there_is_not_found(seed: int) -> None:
    varied = vary(seed)
    other = vary((seed + 1) % TRIAL_SEED_MAX)
    text = f"{look_alike_for(varied).value} {nonce_for(varied, Role.CANARY)}"
    data = b"\n".join(
        (text.encode(), base64.b64encode(text.encode()), synthetic_key(other).encode())
    )

    assert find(synthetic_key(varied), data) == ()


@given(SEEDS)
def test_a_canary_is_found_as_a_word_and_inside_of_others(seed: int) -> None:
    marker = nonce_for(vary(seed), Role.CANARY)

    assert find(marker, f"user-{marker}.".encode()) == (Form.BYTES,)
    assert find(marker, marker.upper().encode()) == (Form.SPLIT,)
    assert find(marker, marker[:-1].encode()) == ()


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe", b" \n\t"])
def test_nothing_is_found_in_nothing(data: bytes) -> None:
    assert find("sk-abcdefghijklmnop", data) == ()
