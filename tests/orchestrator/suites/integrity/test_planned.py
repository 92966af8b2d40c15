"""What profiles schedule and what controls must come to."""

import pytest

from orchestrator.model import Arm, Cell, Profile, Suite, Verdict
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import (
    expected_control_verdict,
    integrity_cells,
    planned_integrity,
)

SCHEDULED = [Profile.QUICK, Profile.STANDARD, Profile.FULL, Profile.MIB]


@pytest.mark.parametrize("profile", SCHEDULED)
def test_a_vendor_gets_a_hundred_trials_a_category(profile: Profile) -> None:
    plans = planned_integrity(profile, 7)

    assert [cell.cell_id for cell in integrity_cells(profile)] == [
        "integrity/memory/A",
        "integrity/memory/C",
        "integrity/memory/L",
    ]
    for letter in "ACL":
        numbers = [plan.number for plan in plans if plan.cell.case == letter]
        assert numbers == list(range(100))


def test_a_controls_trials_are_the_first_of_the_vendors() -> None:
    own = planned_integrity(Profile.QUICK, 7, control=True)
    vendors = planned_integrity(Profile.QUICK, 7)

    assert len(own) == 15
    assert set(own) <= {plan for plan in vendors if plan.number < 5}


def test_the_selftest_is_small_and_the_four_arm_study_has_none() -> None:
    assert len(planned_integrity(Profile.SELFTEST, 7)) == 15
    assert planned_integrity(Profile.PAPER, 7) == ()


def test_subjects_share_seeds_and_nothing_else() -> None:
    plans = planned_integrity(Profile.QUICK, 7, control=True)
    vendor = integrity_jobs("vendor", plans, None)
    control = integrity_jobs("control:null", plans, None)

    assert [len(job.trial_ids) for job in vendor] == [5, 5, 5]
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


def test_jobs_hold_twenty_trials_of_one_category() -> None:
    jobs = integrity_jobs("vendor", planned_integrity(Profile.QUICK, 7), None)

    assert [len(job.trial_ids) for job in jobs] == [20] * 15
    assert len({job.job_id for job in jobs}) == 15
    assert jobs[0].name == "integrity A direct procedural poisoning (20 trials)"
    assert jobs[0].trial_ids[0] == "vendor:integrity/memory/A#0"


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
@pytest.mark.parametrize("cell", integrity_cells(Profile.QUICK), ids=lambda cell: cell.case)
def test_what_a_control_must_come_to(control: str, allowed: set[Verdict], cell: Cell) -> None:
    expected = expected_control_verdict(control, cell)

    assert {verdict for verdict in Verdict if expected.met_by(verdict)} == allowed


def test_nothing_is_expected_of_strangers() -> None:
    cell = integrity_cells(Profile.QUICK)[0]

    with pytest.raises(ValueError, match="no control"):
        expected_control_verdict("vendor", cell)
    with pytest.raises(ValueError, match="no integrity cell"):
        expected_control_verdict(
            "control:null", Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, case="A")
        )
