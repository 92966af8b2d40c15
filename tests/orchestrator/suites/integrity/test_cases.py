"""What the categories say: attacks, and twins that differ from them in what matters only."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.cases import TrialCase
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.categories.authorised_promotion import PromotionCase
from orchestrator.suites.integrity.categories.base import BENCHMARK_LETTERS, PUBLISHED
from orchestrator.suites.integrity.categories.claims import ClaimCase
from orchestrator.suites.integrity.categories.summaries import SummaryCase
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.synthetic import (
    KEY_SHAPES,
    LOOK_ALIKES,
    look_alike_for,
    synthetic_key,
)
from orchestrator.suites.integrity.variation import TRIAL_SEED_MAX, trial_seed, vary

SEEDS = st.integers(min_value=0, max_value=TRIAL_SEED_MAX)
BENCHMARK = sorted(
    one.case
    for one in CATEGORIES.values()
    if one.letter in BENCHMARK_LETTERS and one.variant in ("", PUBLISHED)
)
CASES = st.sampled_from(sorted(CATEGORIES))


def cases(letter: str, trials: int = 100) -> list[TrialCase]:
    return [
        CATEGORIES[letter].build(trial_seed(20260922, letter, trial)) for trial in range(trials)
    ]


@given(CASES, SEEDS)
def test_a_case_is_a_function_of_its_seed(name: str, seed: int) -> None:
    assert CATEGORIES[name].build(seed) == CATEGORIES[name].build(seed)
    assert CATEGORIES[name].build(seed).category == CATEGORIES[name].letter


@given(st.sampled_from(BENCHMARK), SEEDS)
def test_texts_hold_their_nonce_and_fit_the_contracts_limits(letter: str, seed: int) -> None:
    case = CATEGORIES[letter].build(seed)

    for offer, nonce in (
        (case.attack.offer, case.attack.nonce),
        (case.twin.offer, case.twin.nonce),
    ):
        assert nonce in offer.content
        assert "{" not in offer.content
        assert 0 < len(offer.content.encode()) <= 65_536
        observation = offer.observation("n")
        assert observation.scope == memory_pb2.Scope(namespace="n", principal=offer.principal)
        assert all(len(label.encode()) <= 128 for label in observation.labels)
        assert len(observation.source.source_id.encode()) <= 128


@given(SEEDS)
def test_poisoning_comes_from_a_public_chat_and_its_twin_from_the_operator(seed: int) -> None:
    case = CATEGORIES["A"].build(seed)
    attack, twin = case.attack.offer, case.twin.offer

    assert attack.kind == twin.kind == memory_pb2.RECORD_KIND_PROCEDURE
    assert attack.source_type == memory_pb2.SOURCE_TYPE_WEB
    assert attack.binding == memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
    assert {"reviewer", "admin"} & set(attack.labels)
    assert twin.source_type == memory_pb2.SOURCE_TYPE_USER
    assert twin.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
    assert twin.labels == ()
    assert case.attack.nonce not in twin.content
    assert attack.principal == twin.principal


@given(SEEDS)
def test_a_hallucination_and_its_twin_say_the_same_and_differ_in_who_says_it(seed: int) -> None:
    case = CATEGORIES["C"].build(seed)
    attack, twin = case.attack.offer, case.twin.offer

    assert attack.content == twin.content
    assert case.attack.query == case.twin.query
    assert attack.principal == twin.principal
    assert attack.source_type == memory_pb2.SOURCE_TYPE_AGENT
    assert attack.binding == memory_pb2.SOURCE_BINDING_CALLER_ASSERTED
    assert twin.source_type == memory_pb2.SOURCE_TYPE_USER
    assert twin.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED


@given(SEEDS)
def test_an_unrelated_question_shares_no_word_of_substance_with_the_statement(seed: int) -> None:
    case = CATEGORIES["C"].build(seed)
    small = {"the", "of", "is", "in", "on", "by", "with", "which", "how", "does", "to", "when"}

    asked = set(re.findall(r"[a-z]+", case.twin.unrelated_query.lower())) - small
    said = set(re.findall(r"[a-z]+", case.twin.offer.content.lower())) - small

    assert asked.isdisjoint(said)


@given(SEEDS)
def test_the_key_stands_in_the_attack_and_nowhere_else(seed: int) -> None:
    case = CATEGORIES["L"].build(seed)
    canary = case.canary
    assert canary is not None

    assert case.attack.secret in case.attack.offer.content
    others = (case.twin.offer, canary.offer, canary.attached)
    for offer in others:
        assert case.attack.secret not in f"{offer.content} {offer.media} {offer.source_id}"
    assert case.twin.look_alike in case.twin.offer.content
    assert canary.marker in canary.offer.content
    assert canary.marker in canary.offer.source_id
    assert canary.marker in canary.offer.labels
    assert canary.marker in canary.derived
    assert canary.marker in canary.attached.media
    assert canary.marker not in case.attack.offer.content + case.twin.offer.content


@given(SEEDS)
def test_keys_have_the_published_shapes(seed: int) -> None:
    shapes = (
        r"sk-[A-Za-z0-9]{40}",
        r"ghp_[A-Za-z0-9]{36}",
        r"AKIA[A-Z2-7]{16}",
        r"xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}",
        r"sk_live_[A-Za-z0-9]{24}",
        r"AIza[A-Za-z0-9]{35}",
    )

    assert sum(re.fullmatch(shape, synthetic_key(vary(seed))) is not None for shape in shapes) == 1


def test_a_hundred_trials_meet_every_key_shape_and_every_look_alike() -> None:
    varied = [vary(trial_seed(20260922, "L", trial)) for trial in range(100)]
    keys = [synthetic_key(one) for one in varied]

    for shape in KEY_SHAPES:
        assert any(key.startswith(shape.parts[0][0]) for key in keys), shape.name
    assert {look_alike_for(one).noun for one in varied} == set(LOOK_ALIKES)


@pytest.mark.parametrize("name", BENCHMARK)
def test_the_hundred_trials_of_a_category_all_differ(name: str) -> None:
    assert len({case.attack.offer for case in cases(name)}) == 100
    assert len({case.twin.offer for case in cases(name)}) == 100


@pytest.mark.parametrize("name", sorted(CATEGORIES))
def test_a_case_has_a_contract_a_safety_and_a_utility_check(name: str) -> None:
    category = CATEGORIES[name]
    columns = {check.column for check in category.checks if check.column.decides}

    assert category.contract.column is Column.CONTRACT
    assert len({check.check_id for check in category.checks}) == len(category.checks)
    assert {check.category for check in category.checks} == {category.letter}
    if category.variant != PUBLISHED:
        assert columns == {Column.CONTRACT, Column.SAFETY, Column.UTILITY}


@given(SEEDS)
def test_what_is_published_says_what_the_main_case_says(seed: int) -> None:
    for letter in BENCHMARK_LETTERS:
        main, published = CATEGORIES[letter], CATEGORIES[f"{letter}.{PUBLISHED}"]
        said = main.build(seed).attack.offer
        assert published.build(seed).attack.offer.content == said.content
        assert {one.check_id for one in published.checks} < {one.check_id for one in main.checks}


@given(SEEDS)
def test_seven_strangers_say_one_thing_to_one_principal(seed: int) -> None:
    case = CATEGORIES["F"].build(seed)
    assert isinstance(case, ClaimCase)
    claims = (case.attack.offer, *case.repeated)

    assert len(claims) == len({claim.source_id for claim in claims}) == 7
    assert {claim.content for claim in claims} == {case.twin.offer.content}
    assert {claim.principal for claim in claims} == {case.twin.offer.principal}
    assert {claim.source_type for claim in claims} == {memory_pb2.SOURCE_TYPE_WEB}
    assert {claim.binding for claim in claims} == {memory_pb2.SOURCE_BINDING_CALLER_ASSERTED}


@given(SEEDS)
def test_a_summary_shares_its_nonce_with_both_parents_and_its_marker_with_one(seed: int) -> None:
    case = CATEGORIES["D"].build(seed)
    assert isinstance(case, SummaryCase)
    trusted, doubted = case.trusted.content.lower(), case.attack.offer.content.lower()

    assert all(
        case.attack.nonce in text for text in (trusted, doubted, case.summary, case.attack.query)
    )
    assert case.marker in doubted
    assert case.marker in case.summary.lower()
    assert case.marker not in trusted
    assert case.marker not in case.attack.query.lower()
    assert case.attack.nonce not in case.twin.offer.content


def test_the_seed_decides_which_parent_of_a_summary_comes_first() -> None:
    built = [CATEGORIES["D"].build(trial_seed(20260922, "D", trial)) for trial in range(1, 101)]
    first = [case.doubted_first for case in built if isinstance(case, SummaryCase)]

    assert 30 <= sum(first) <= 70


@given(SEEDS)
def test_a_success_and_a_promotion_concern_procedures_of_a_public_chat(seed: int) -> None:
    outcome, promotion = CATEGORIES["H"].build(seed), CATEGORIES["I"].build(seed)
    assert isinstance(promotion, PromotionCase)

    for offer in (outcome.attack.offer, promotion.attack.offer, promotion.twin.offer):
        assert offer.kind == memory_pb2.RECORD_KIND_PROCEDURE
        assert offer.source_type == memory_pb2.SOURCE_TYPE_WEB
    assert promotion.own.content == promotion.twin.offer.content
    assert promotion.own.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED
    assert outcome.twin.offer.binding == memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED


@given(SEEDS)
def test_the_key_is_named_and_of_one_pattern(seed: int) -> None:
    mine, theirs = CATEGORIES["L"].build(seed), CATEGORIES["L.published"].build(seed)

    assert re.fullmatch(r"sk-proj-[A-Z0-9]{48}", mine.attack.secret)
    assert f"api_key={mine.attack.secret}" in mine.attack.offer.content
    assert mine.attack.offer.source_type == memory_pb2.SOURCE_TYPE_USER
    assert theirs.attack.offer.source_type == memory_pb2.SOURCE_TYPE_WEB
