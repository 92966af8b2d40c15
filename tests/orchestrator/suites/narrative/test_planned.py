"""What profiles schedule of the narrative axis, and what controls must come to."""

from __future__ import annotations

from collections import Counter

import pytest

from orchestrator.model import Arm, Cell, Profile, Suite, Verdict
from orchestrator.plan import CONTROLS
from orchestrator.scoring.checks import requirements
from orchestrator.scoring.controls import expectation
from orchestrator.suites.narrative.cases import CASES
from orchestrator.suites.narrative.corpus import Corpus, KeptCorpus, package_corpus
from orchestrator.suites.narrative.planned import (
    CONTROL_TRIALS,
    expected_control_verdict,
    planned_narrative,
    plays_stories,
)
from orchestrator.suites.narrative.properties.bad_input import INPUTS
from tests.orchestrator.suites.narrative.tiny_stories import FERRY, LOOM, TINY

SEED = 9


def _many(count: int) -> Corpus:
    """As many stories, all of the first round."""
    stories = [
        LOOM.model_copy(update={"story_id": f"r1-{at:03d}", "narrator": f"Person {at}"})
        for at in range(count)
    ]
    return Corpus(tuple(stories))


def counts(profile: Profile, corpus: Corpus = TINY, *, control: bool = False) -> dict[str, int]:
    plans = planned_narrative(profile, SEED, corpus, control=control)
    return dict(Counter(plan.cell.case for plan in plans))


def test_quick_plays_core_and_persistence() -> None:
    assert counts(Profile.QUICK) == {"level.core": 1, "property.persistence": 2}
    assert counts(Profile.QUICK, _many(30)) == {"level.core": 30, "property.persistence": 5}


def test_standard_plays_all_but_the_largest_level() -> None:
    largest = {"level.scale_1000_scoped", "level.scale_1000_open"}
    assert set(counts(Profile.STANDARD)) == set(CASES) - largest


@pytest.mark.parametrize("profile", [Profile.FULL, Profile.ATANT])
def test_full_and_atant_play_everything(profile: Profile) -> None:
    assert list(counts(profile)) == list(CASES)
    assert counts(profile)["property.bad_input"] == len(INPUTS)


@pytest.mark.parametrize("profile", [Profile.MIB, Profile.PAPER, Profile.SELFTEST])
def test_other_benchmarks_play_no_story(profile: Profile) -> None:
    assert counts(profile) == {}
    assert not plays_stories(profile)


def test_without_a_story_no_story_is_planned() -> None:
    assert set(counts(Profile.ATANT, Corpus(()))) == {"property.bad_input"}


@pytest.mark.parametrize("profile", [Profile.QUICK, Profile.STANDARD, Profile.ATANT])
def test_a_control_plays_the_first_trials_of_the_vendor(profile: Profile) -> None:
    corpus = _many(10)
    vendor = planned_narrative(profile, SEED, corpus)
    control = planned_narrative(profile, SEED, corpus, control=True)

    assert set(control) <= set(vendor)
    assert max(Counter(plan.cell.case for plan in control).values()) == CONTROL_TRIALS
    graded = {plan.cell.case for plan in control if CASES[plan.cell.case].graded}
    assert graded == {"level.core"}


def test_no_two_trials_share_a_seed() -> None:
    plans = planned_narrative(Profile.ATANT, SEED, _many(60))
    assert len({plan.sub_seed for plan in plans}) == len(plans)


def test_nothing_of_the_reference_may_fail_and_null_must() -> None:
    cell = Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case="level.core")
    met = {
        control: {one for one in Verdict if expectation(control, cell).met_by(one)}
        for control in CONTROLS
    }
    harmless = {Verdict.PASS, Verdict.UNSCORED, Verdict.NOT_RUN}
    assert met == {
        "control:reference": harmless,
        "control:naive": harmless,
        "control:null": {Verdict.FAIL},
    }


def test_what_is_no_cell_or_control_is_refused() -> None:
    cell = Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case="level.none")
    with pytest.raises(ValueError, match="no narrative cell"):
        expected_control_verdict("control:null", cell)
    known = cell.model_copy(update={"case": "level.core"})
    with pytest.raises(ValueError, match="no control"):
        expected_control_verdict("control:unknown", known)


def test_every_check_has_its_requirement() -> None:
    checks = [check for case in CASES.values() for check in case.checks]
    assert {check.requirement_id for check in checks} <= set(requirements())
    assert len({check.check_id for check in checks}) == len(checks)


def test_a_kept_corpus_is_the_same_corpus() -> None:
    again = Corpus(KeptCorpus.model_validate_json(TINY.text).stories)
    assert again.every == TINY.every
    assert again.digest == TINY.digest
    assert Corpus((LOOM, FERRY)).digest != TINY.digest


def test_the_corpus_that_comes_with_memqual_can_be_read() -> None:
    corpus = package_corpus()
    assert len({story.story_id for story in corpus.every}) == len(corpus.every)
    assert len({story.speaker for story in corpus.every}) == len(corpus.every)
