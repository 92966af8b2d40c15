"""The study's design: fixed by seed and data, with a digest that tells every change."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.campaign.schedule import schedule
from orchestrator.model import Arm, Profile
from orchestrator.plan import VENDOR
from orchestrator.suites.continuity.cells import select, trials_of
from orchestrator.suites.continuity.families import CASES, EvidenceClass, Weight
from orchestrator.suites.continuity.paper.cassette import TAU2_TASK
from orchestrator.suites.continuity.paper.planned import planned_study
from orchestrator.suites.continuity.paper.study import (
    Study,
    arm_order,
    cassette_for,
    recorded_split,
    split_of,
    tau2_split,
)
from orchestrator.suites.integrity.reviewer import Reviewer

SEED = 20260922
STUDIED = [case for case in CASES.values() if case.weight is Weight.PAPER]


def study(seed: int = SEED) -> Study:
    found = planned_study(Profile.PAPER, seed)
    assert found is not None
    return found


def test_a_profile_without_a_study_has_none() -> None:
    for profile in (Profile.QUICK, Profile.STANDARD, Profile.MIB, Profile.SELFTEST):
        assert planned_study(profile, SEED) is None
    assert planned_study(Profile.FULL, SEED) == study()


def test_the_design_follows_from_the_seed() -> None:
    assert study() == study()
    assert study().digest == study().sealed().digest
    other = study(SEED + 1)
    assert other.digest != study().digest
    assert other.arm_orders != study().arm_orders
    # What was held out stays held out, whatever the seed.
    assert (other.recorded_split, other.tau2_split) == (study().recorded_split, study().tau2_split)


def test_every_change_of_the_design_is_in_its_digest() -> None:
    whole = study()
    changes: list[dict[str, object]] = [
        {"hypotheses": whole.hypotheses[1:]},
        {"cases": whole.cases[1:]},
        {"arm_orders": whole.arm_orders[1:]},
        {"cassettes": whole.cassettes[1:]},
        {"recorded_split": whole.tau2_split},
        {"tau2_store_sha256": "0" * 64},
    ]
    digests = {whole.model_copy(update=change).sealed().digest for change in changes}
    assert len(digests | {whole.digest}) == len(changes) + 1


@given(st.lists(st.text(min_size=1, max_size=4), unique=True, max_size=30))
def test_a_split_parts_the_tasks(tasks: list[str]) -> None:
    split = split_of(tasks)
    assert sorted((*split.development, *split.held_out)) == sorted(tasks)
    assert len(split.held_out) - len(split.development) in (0, 1)
    assert [one for one in tasks if one in split.held_out] == list(split.held_out)


def test_the_recorded_task_is_not_held_out() -> None:
    assert TAU2_TASK in tau2_split().development
    assert len(tau2_split().development) + len(tau2_split().held_out) == 114
    assert len(recorded_split().held_out) == 3


def test_trials_play_held_out_tasks_or_the_published_one() -> None:
    held_out = [cassette_for(number, tau2=False).task.task_id for number in range(6)]
    assert held_out == [*recorded_split().held_out] * 2
    assert {cassette_for(number, tau2=True).task.task_id for number in range(6)} == {TAU2_TASK}


def test_orders_of_arms_are_drawn_each_time_anew() -> None:
    orders = [arm_order(SEED, "case", at) for at in range(200)]
    assert {frozenset(order) for order in orders} == {frozenset(Arm)}
    # All 24 orders occur, and no arm is favoured in the first place.
    assert len(set(orders)) == 24
    first = Counter(order[0] for order in orders)
    assert min(first.values()) > 25


@pytest.mark.parametrize("seed", [SEED, 7])
def test_trials_are_handed_out_in_the_drawn_orders(seed: int) -> None:
    trials = trials_of(select(Profile.PAPER, seed), seed)
    drawn = {(one.case, one.repetition): one.arms for one in study(seed).arm_orders}
    seen: dict[tuple[str, int], list[Arm]] = {}
    for plan in trials:
        arms = seen.setdefault((plan.cell.case, plan.kill_number), [])
        if plan.cell.arm not in arms:
            arms.append(plan.cell.arm)
    assert {key: tuple(arms) for key, arms in seen.items()} == drawn


def test_a_repetition_has_the_same_operations_in_every_arm() -> None:
    by_number: dict[tuple[str, int], set[int]] = {}
    for plan in trials_of(select(Profile.PAPER, SEED), SEED):
        by_number.setdefault((plan.cell.case, plan.number), set()).add(plan.sub_seed)
    assert {len(seeds) for seeds in by_number.values()} == {1}


def test_jobs_of_one_kind_of_stack_keep_the_drawn_order() -> None:
    plan = schedule(Profile.PAPER, SEED, None, Reviewer.generate(), ())
    names = [
        job.trial_ids[0]
        for work in plan.work
        if work.subject == VENDOR
        for job in work.jobs
        if "paper_parity.recorded" in job.name
    ]
    wanted = [
        f"{VENDOR}:continuity/{arm.value}/none/paper_parity.recorded#{order.repetition}"
        for order in study().arm_orders
        if order.case == "paper_parity.recorded"
        for arm in order.arms
    ]
    assert names == wanted


def test_every_case_of_the_study_says_what_its_evidence_is() -> None:
    assert {case.evidence_class for case in STUDIED} <= {
        EvidenceClass.RECORDED_RESPONSE,
        EvidenceClass.INSTALLED_PRODUCT,
        EvidenceClass.FRESH_MODEL,
    }
    usual = {case.evidence_class for case in CASES.values() if case.weight is not Weight.PAPER}
    assert usual == {EvidenceClass.EXTERNAL_HARNESS}
