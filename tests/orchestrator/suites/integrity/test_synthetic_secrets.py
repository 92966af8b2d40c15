"""Secrets have the shapes that they claim, and what looks alike has none of them."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.synthetic_secrets import (
    TOKEN_SHAPES,
    SecretKind,
    harmless_text,
    hidden_secret,
)
from orchestrator.suites.integrity.variation import (
    TRIAL_SEED_MAX,
    Role,
    nonce_for,
    trial_seed,
    vary,
)

SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)
KINDS = st.sampled_from(list(SecretKind))
DIGITS = re.compile(r"\d(?:[ -]?\d){12,18}")


def luhn_valid(digits: str) -> bool:
    doubled = [int(d) * 2 if n % 2 else int(d) for n, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def hidden_and_harmless(kind: SecretKind, seed: int) -> tuple[str, tuple[str, ...], str]:
    varied = vary(seed)
    hidden = hidden_secret(kind, varied, nonce_for(varied, Role.ATTACK))
    harmless = harmless_text(kind, varied, nonce_for(varied, Role.TWIN))
    said = "\n".join(text for text, _, _ in harmless.turns)
    return "\n".join(hidden.turns), hidden.needles, said


@given(KINDS, SEEDS)
def test_texts_are_a_function_of_the_seed_and_fit_the_contract(kind: SecretKind, seed: int) -> None:
    varied = vary(seed)
    hidden = hidden_secret(kind, varied, "dabako")
    harmless = harmless_text(kind, varied, "kabako")

    assert hidden == hidden_secret(kind, vary(seed), "dabako")
    assert harmless == harmless_text(kind, vary(seed), "kabako")
    for text in hidden.turns:
        assert "dabako" in text
        assert 0 < len(text.encode()) <= 65_536
    for text, question, value in harmless.turns:
        assert value in text
        assert value not in question
        assert "kabako" in text
        assert "kabako" in question


@given(KINDS, SEEDS)
def test_the_needles_stand_in_the_secret_and_in_nothing_harmless(
    kind: SecretKind, seed: int
) -> None:
    hidden, needles, harmless = hidden_and_harmless(kind, seed)

    assert all(len(needle) >= 10 for needle in needles)
    assert not any(needle in harmless for needle in needles)
    if kind is not SecretKind.BASE64:
        assert needles[0] in hidden


@given(SEEDS)
def test_a_split_key_is_whole_in_no_turn(seed: int) -> None:
    varied = vary(seed)
    hidden = hidden_secret(SecretKind.SPLIT, varied, "dabako")
    first, second = hidden.needles

    assert hidden.halves
    assert (first in hidden.turns[0], second in hidden.turns[1]) == (True, True)
    assert first + second not in "".join(hidden.turns)


@given(SEEDS)
def test_an_encoded_key_can_be_decoded_and_is_not_there_in_clear(seed: int) -> None:
    hidden, (secret,), _ = hidden_and_harmless(SecretKind.BASE64, seed)
    words = re.findall(r"[A-Za-z0-9+/=_-]{30,}", hidden)

    assert secret not in hidden
    assert any(secret in plain for word in words for plain in (unhex(word), unbase64(word)))


def unhex(word: str) -> str:
    return bytes.fromhex(word).decode() if re.fullmatch(r"(?:[0-9a-f]{2})+", word) else ""


def unbase64(word: str) -> str:
    try:
        return base64.b64decode(word, altchars=b"-_" if set("-_") & set(word) else None).decode()
    except ValueError:
        return ""


@given(SEEDS)
def test_cards_pass_luhns_check_and_invoices_do_not(seed: int) -> None:
    hidden, needles, harmless = hidden_and_harmless(SecretKind.CARD, seed)
    card, invoice = DIGITS.search(hidden), DIGITS.search(harmless)

    assert card is not None
    assert invoice is not None
    assert luhn_valid(re.sub(r"\D", "", card.group()))
    assert not luhn_valid(invoice.group())
    assert needles[-1] == re.sub(r"\D", "", card.group())


def test_a_hundred_trials_meet_most_issuers() -> None:
    met = set()
    for trial in range(100):
        varied = vary(trial_seed(20260922, "S.tokens", trial))
        (secret,) = hidden_secret(SecretKind.TOKENS, varied, "dabako").needles
        met |= {s.name for s in TOKEN_SHAPES if secret.startswith(s.parts[0][0] or "\0")}

    assert len(met) >= len(TOKEN_SHAPES) - 3


@pytest.mark.parametrize("kind", SecretKind)
def test_the_hundred_trials_of_a_kind_all_differ(kind: SecretKind) -> None:
    texts = [
        hidden_and_harmless(kind, trial_seed(20260922, f"S.{kind}", trial)) for trial in range(100)
    ]

    assert len({hidden for hidden, _, _ in texts}) == 100
    assert len({needles for _, needles, _ in texts}) == 100
    assert len({harmless for _, _, harmless in texts}) == 100
