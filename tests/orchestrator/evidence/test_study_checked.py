"""A bundle's study is the one that its profile and seed give, or it is not verified."""

import json
from pathlib import Path

import pytest

from orchestrator.evidence.bundle import Bundle
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.record_checks import check_plan
from orchestrator.model import Profile
from orchestrator.suites.continuity.paper.planned import planned_study
from orchestrator.suites.continuity.paper.study import Study
from tests.orchestrator.evidence.bundles import SEED, manifest, small_plan


def problems(folder: Path, kept: Manifest, profile: Profile = Profile.PAPER) -> list[str]:
    """What is wrong with the plan of a bundle that holds this manifest."""
    expected = small_plan(profile)
    facts = {"expected_trials": expected.trial_count, "profile": profile.value}
    (folder / "manifest.json").write_text(kept.model_copy(update=facts).model_dump_json())
    (folder / "expected-cells.json").write_text(expected.model_dump_json())
    step = Examination("plan")
    check_plan(Bundle(folder), step, small_plan)
    return [one.cause for one in step.problems]


def study() -> Study:
    found = planned_study(Profile.PAPER, SEED)
    assert found is not None
    return found


def test_the_design_as_it_was_planned_holds(tmp_path: Path) -> None:
    assert problems(tmp_path, manifest(study=study())) == []
    assert problems(tmp_path, manifest(), Profile.SELFTEST) == []


@pytest.mark.parametrize("field", ["hypotheses", "arm_orders", "cases", "cassettes"])
def test_a_design_that_was_changed_is_named(field: str, tmp_path: Path) -> None:
    changed = study().model_copy(update={field: getattr(study(), field)[1:]})
    # With the old digest, and with one that fits: neither is the planned one.
    assert problems(tmp_path, manifest(study=changed)) == [
        "holds a study whose digest is not its own",
        "holds another study than its profile and seed give: split, arms, hypotheses, "
        "cassettes or cases",
    ]
    (told,) = problems(tmp_path, manifest(study=changed.sealed()))
    assert told.startswith("holds another study")


def test_a_study_that_is_left_out_or_added_is_named(tmp_path: Path) -> None:
    assert len(problems(tmp_path, manifest())) == 1
    assert len(problems(tmp_path, manifest(study=study()), Profile.SELFTEST)) == 1


def test_the_manifest_keeps_the_whole_design(tmp_path: Path) -> None:
    text = manifest(study=study()).model_dump_json()
    assert Manifest.model_validate_json(text).study == study()
    assert json.loads(text)["study"]["digest"] == study().digest
