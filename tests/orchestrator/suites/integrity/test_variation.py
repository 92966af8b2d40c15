"""Seeds and what is drawn from them."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.suites.integrity.variation import (
    TRIAL_SEED_MAX,
    WORDINGS,
    Role,
    nonce_for,
    trial_seed,
    vary,
)

SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)


def test_a_trial_seed_is_the_published_function_of_seed_category_and_trial() -> None:
    # From `printf 20260922:A:0 | sha256sum`: its first 16 digits are 93f85b40f2e086a9.
    assert trial_seed(20260922, "A", 0) == 1_927_317_161


@given(
    seed=st.integers(min_value=0, max_value=2**63 - 1),
    trial=st.integers(min_value=0, max_value=10_000),
)
def test_trial_seeds_have_31_bits_and_differ_between_categories(seed: int, trial: int) -> None:
    seeds = {letter: trial_seed(seed, letter, trial) for letter in "ACL"}

    assert all(0 <= value <= TRIAL_SEED_MAX for value in seeds.values())
    assert len(set(seeds.values())) == 3


@given(SEEDS)
def test_a_variation_is_a_function_of_its_seed(seed: int) -> None:
    assert vary(seed) == vary(seed)
    assert 0 <= vary(seed).wording < WORDINGS


@given(SEEDS)
def test_no_nonce_of_one_role_stands_in_anothers(seed: int) -> None:
    nonces = {role: nonce_for(vary(seed), role) for role in Role}

    assert len(set(nonces.values())) == 3
    for role, nonce in nonces.items():
        assert nonce[0] in role.value
        assert len(nonce) == 10
        assert nonce.isalpha()
        assert nonce.islower()


def test_a_hundred_trials_use_every_wording_and_hardly_share_a_principal() -> None:
    varied = [vary(trial_seed(20260922, "C", trial)) for trial in range(100)]

    assert {variation.wording for variation in varied} == set(range(WORDINGS))
    assert len({variation.principal for variation in varied}) == 100
    assert len({nonce_for(variation, Role.ATTACK) for variation in varied}) == 100
    assert len({variation.recipient for variation in varied}) >= 95


@given(SEEDS, st.text("ab-/", min_size=1, max_size=5), st.integers(min_value=0, max_value=80))
def test_drawn_text_keeps_to_its_alphabet_and_length(seed: int, name: str, length: int) -> None:
    drawn = vary(seed).text(name, "0123456789", length)

    assert len(drawn) == length
    assert set(drawn) <= set("0123456789")
    assert vary(seed).text(name, "0123456789", length + 7).startswith(drawn)
