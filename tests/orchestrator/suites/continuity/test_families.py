"""The registries of the axis's families agree with each other and with the register."""

from orchestrator.model import Profile
from orchestrator.scoring.checks import requirements
from orchestrator.scoring.families import JUDGES
from orchestrator.suites.continuity.cells import select
from orchestrator.suites.continuity.families import CASES, Weight
from orchestrator.suites.continuity.plays import PLAYS


def test_every_case_has_a_play_and_no_play_or_judge_is_without_its_case() -> None:
    assert set(PLAYS) == set(CASES)
    assert set(JUDGES) <= set(CASES)


def test_every_case_names_a_row_of_the_register() -> None:
    assert {case.requirement_id for case in CASES.values()} <= set(requirements())


def test_a_profile_schedules_every_case_of_its_weight_and_of_those_before() -> None:
    scheduled = {
        profile: {one.cell.case for one in select(profile, 1) if one.cell.case}
        for profile in (Profile.QUICK, Profile.STANDARD, Profile.FULL)
    }
    weights = {name: case.weight for name, case in CASES.items()}

    assert scheduled[Profile.FULL] == set(CASES)
    assert scheduled[Profile.STANDARD] == {
        name for name, weight in weights.items() if weight in (Weight.QUICK, Weight.STANDARD)
    }
    assert scheduled[Profile.QUICK] == {
        name for name, weight in weights.items() if weight is Weight.QUICK
    }
