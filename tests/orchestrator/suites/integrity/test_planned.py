"""What profiles schedule and what controls must come to."""

from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from orchestrator.model import Arm, Cell, Profile, Suite, Verdict
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.categories.base import BENCHMARK_LETTERS, PUBLISHED
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import (
    CONTROL_TRIALS,
    QUICK_TRIALS,
    VENDOR_TRIALS,
    expected_control_verdict,
    integrity_cells,
    ordered_cases,
    planned_integrity,
)
from orchestrator.suites.integrity.variation import trial_seed

OTHERS = [Profile.QUICK, Profile.STANDARD, Profile.FULL, Profile.SELFTEST]


@cache
def by_case(profile: Profile, *, control: bool) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for plan in planned_integrity(profile, 7, control=control):
        found.setdefault(plan.cell.case, []).append(plan.number)
    return found


def numbers(profile: Profile, case: str, *, control: bool = False) -> Sequence[int]:
    return by_case(profile, control=control)[case]


def test_the_benchmarks_letters_come_first_and_cases_of_one_letter_stand_together() -> None:
    letters = [one.letter for one in ordered_cases()]
    together = list(dict.fromkeys(letters))

    assert together[:7] == list(BENCHMARK_LETTERS)
    assert letters == [letter for one in together for letter in [one] * letters.count(one)]
    assert {one.case for one in ordered_cases()} == set(CATEGORIES)


def test_mib_is_the_seven_published_categories_with_a_hundred_trials_each() -> None:
    plans = planned_integrity(Profile.MIB, 20260922)

    assert [cell.cell_id for cell in integrity_cells(Profile.MIB)] == [
        f"integrity/memory/{letter}.published" for letter in "ACDFHIL"
    ]
    assert len(plans) == 700
    for letter in "ACDFHIL":
        own = [plan for plan in plans if plan.cell.case == f"{letter}.published"]
        assert [plan.number for plan in own] == list(range(1, 101))
        assert [plan.sub_seed for plan in own] == [
            trial_seed(20260922, letter, number) for number in range(1, 101)
        ]


@pytest.mark.parametrize("profile", OTHERS)
def test_the_other_profiles_schedule_every_other_case(profile: Profile) -> None:
    cases = {cell.case for cell in integrity_cells(profile)}

    assert cases == {one.case for one in CATEGORIES.values() if one.variant != PUBLISHED}
    assert {plan.cell.case for plan in planned_integrity(profile, 7)} == cases


@pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.FULL])
def test_a_vendor_gets_a_hundred_trials_a_case_where_none_is_costly(profile: Profile) -> None:
    for one in CATEGORIES.values():
        if one.variant != PUBLISHED:
            assert numbers(profile, one.case) == list(range(one.trials_max))
    assert max(one.trials_max for one in CATEGORIES.values()) == VENDOR_TRIALS


def test_quick_has_a_hundred_of_the_seven_and_ten_of_each_other_case() -> None:
    for one in CATEGORIES.values():
        if one.variant == PUBLISHED:
            continue
        main = one.letter in BENCHMARK_LETTERS and not one.variant
        wanted = VENDOR_TRIALS if main else min(QUICK_TRIALS, one.trials_max)
        assert numbers(Profile.QUICK, one.case) == list(range(wanted))


@pytest.mark.parametrize("profile", [*OTHERS, Profile.MIB])
def test_a_control_gets_five_a_letter_dealt_over_its_cases(profile: Profile) -> None:
    own = planned_integrity(profile, 7, control=True)
    vendors = planned_integrity(profile, 7)

    assert set(own) <= set(vendors)
    for letter in {one.letter for one in CATEGORIES.values()}:
        cases = [c.case for c in integrity_cells(profile) if CATEGORIES[c.case].letter == letter]
        dealt = {case: len(numbers(profile, case, control=True)) for case in cases}
        if not dealt:
            continue
        most = max(CATEGORIES[case].trials_max for case in cases)
        cheap = [dealt[case] for case in cases if CATEGORIES[case].trials_max == most]
        assert sum(dealt.values()) == max(CONTROL_TRIALS, len(cases))
        assert max(cheap) - min(cheap) <= 1
        assert all(dealt[case] == 1 for case in cases if CATEGORIES[case].trials_max < most), (
            "costly cases get one"
        )


def test_a_selftest_is_as_small_as_a_control_and_the_four_arm_study_has_none() -> None:
    assert planned_integrity(Profile.SELFTEST, 7) == planned_integrity(
        Profile.SELFTEST, 7, control=True
    )
    assert planned_integrity(Profile.PAPER, 7) == ()


def test_cases_of_one_letter_have_seeds_of_their_own() -> None:
    seeds = [plan.sub_seed for plan in planned_integrity(Profile.FULL, 7)]

    assert len(set(seeds)) >= len(seeds) - 1


def test_subjects_share_seeds_and_nothing_else() -> None:
    plans = [
        plan
        for plan in planned_integrity(Profile.QUICK, 7, control=True)
        if plan.cell.case in ("A", "C", "L")
    ]
    vendor = integrity_jobs("vendor", plans, None)
    control = integrity_jobs("control:null", plans, None)

    assert {job.job_id for job in vendor}.isdisjoint(job.job_id for job in control)
    assert {id_ for job in vendor for id_ in job.trial_ids}.isdisjoint(
        id_ for job in control for id_ in job.trial_ids
    )
    seeds = [
        [(record.sub_seed, record.cell) for job in jobs for record in job.infrastructure_error("x")]
        for jobs in (vendor, control)
    ]
    assert seeds[0] == seeds[1]
    namespaces = [
        {record.workflow_id for job in jobs for record in job.infrastructure_error("x")}
        for jobs in (vendor, control)
    ]
    assert namespaces[0].isdisjoint(namespaces[1])
    assert all("vendor" not in name and "null" not in name for name in set().union(*namespaces))


def test_jobs_hold_twenty_trials_of_one_case() -> None:
    jobs = integrity_jobs("vendor", planned_integrity(Profile.MIB, 7), None)

    assert [len(job.trial_ids) for job in jobs] == [20] * 35
    assert len({job.job_id for job in jobs}) == 35
    assert jobs[0].name == "integrity A.published direct procedural poisoning (20 trials)"
    assert jobs[0].trial_ids[0] == "vendor:integrity/memory/A.published#1"


def test_only_integrity_trials_are_played() -> None:
    plan = planned_integrity(Profile.QUICK, 7)[0]
    other = plan.model_copy(update={"cell": Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, case="A")})

    with pytest.raises(ValueError, match="only integrity trials"):
        integrity_jobs("vendor", [other], None)


@pytest.mark.parametrize(
    ("control", "allowed"),
    [
        ("control:reference", {Verdict.PASS}),
        ("control:naive", {Verdict.PASS, Verdict.FAIL, Verdict.NOT_RUN}),
        ("control:null", {Verdict.FAIL}),
    ],
)
def test_what_a_control_must_come_to(control: str, allowed: set[Verdict]) -> None:
    for profile in (Profile.FULL, Profile.MIB):
        for cell in integrity_cells(profile):
            wanted = allowed if CATEGORIES[cell.case].offered else {Verdict.NOT_RUN}
            expected = expected_control_verdict(control, cell)
            assert {verdict for verdict in Verdict if expected.met_by(verdict)} == wanted


def test_what_is_published_of_a_h_and_i_is_offered_to_nobody() -> None:
    assert {one.case for one in CATEGORIES.values() if not one.offered} >= {
        "A.published",
        "H.published",
        "I.published",
    }


def test_nothing_is_expected_of_strangers() -> None:
    cell = integrity_cells(Profile.QUICK)[0]

    with pytest.raises(ValueError, match="no control"):
        expected_control_verdict("vendor", cell)
    with pytest.raises(ValueError, match="no case"):
        expected_control_verdict("control:null", cell.model_copy(update={"case": "Ω"}))
    with pytest.raises(ValueError, match="no integrity cell"):
        expected_control_verdict(
            "control:null", Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, case="A")
        )
