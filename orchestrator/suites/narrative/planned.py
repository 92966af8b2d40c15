"""Which narrative trials a profile schedules, and what controls must come to (DESIGN §7, §9).

What is scheduled follows from profile, seed and corpus. A level that the corpus has too few stories
for is planned with what there is; the report says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.model import Arm, Cell, Profile, Suite
from orchestrator.plan import TrialPlan
from orchestrator.suites.integrity.planned import ControlExpectation
from orchestrator.suites.integrity.variation import trial_seed
from orchestrator.suites.narrative.cases import CASES, cases_of_level
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.scene import NarrativeCase

__all__ = ["CONTROL_TRIALS", "expected_control_verdict", "planned_narrative", "plays_stories"]

CONTROL_TRIALS = 3
"""Of each cell that controls play."""

_CORE = cases_of_level(LevelName.CORE)
_PERSISTENCE = "property.persistence"
_BEYOND_STANDARD = cases_of_level(LevelName.SCALE_1000)
_QUICK = (*_CORE, _PERSISTENCE)
_PLAYED: dict[Profile, tuple[str, ...]] = {
    Profile.QUICK: _QUICK,
    Profile.SURVEY: _CORE,
    Profile.STANDARD: tuple(case for case in CASES if case not in _BEYOND_STANDARD),
    Profile.FULL: tuple(CASES),
    Profile.ATANT: tuple(CASES),
}
_PROPERTY_TRIALS = {Profile.QUICK: 5, Profile.STANDARD: 10}
_PROPERTY_TRIALS_USUAL = 25

_EXPECTED = {
    # Graded, or N/R where it does not apply; nothing of it may fail.
    "control:reference": ControlExpectation.MUST_NOT_FAIL,
    # Its flaw is in Begin; its narrative path is the reference's.
    "control:naive": ControlExpectation.MUST_NOT_FAIL,
    # An answer that is neither a text nor declined is none.
    "control:null": ControlExpectation.MUST_FAIL,
}


def planned_narrative(
    profile: Profile, seed: int, corpus: Corpus, *, control: bool = False
) -> tuple[TrialPlan, ...]:
    """The narrative trials of one subject, case by case.

    Args:
        profile: What the run is.
        seed: Root seed of the run.
        corpus: What is told and asked.
        control: Plan a control's trials; they are the first of the vendor's.
    """
    return tuple(
        TrialPlan(
            cell=Cell(suite=Suite.NARRATIVE, arm=Arm.MEMORY, case=case.case),
            number=number,
            kill_number=0,
            sub_seed=trial_seed(seed, case.case, number),
        )
        for case in _cases(profile, control=control)
        for number in range(_trials(case, profile, corpus, control=control))
    )


def plays_stories(profile: Profile) -> bool:
    """Whether a profile has narrative cells at all."""
    return bool(_PLAYED.get(profile))


def expected_control_verdict(control: str, cell: Cell) -> ControlExpectation:
    """What a control must come to in a narrative cell.

    Raises:
        ValueError: No such control, no such case, or a cell of another suite.
    """
    if cell.suite is not Suite.NARRATIVE or cell.case not in CASES:
        raise ValueError(f"{cell.cell_id} is no narrative cell")
    if control not in _EXPECTED:
        raise ValueError(f"{control!r} is no control with narrative trials")
    return _EXPECTED[control]


def _cases(profile: Profile, *, control: bool) -> Sequence[NarrativeCase]:
    names = _PLAYED.get(profile, ())
    if control:
        # A control only has to be caught: every case that says what is right, and one level.
        names = tuple(name for name in names if name in _CORE or not CASES[name].graded)
    return [CASES[name] for name in names]


def _trials(case: NarrativeCase, profile: Profile, corpus: Corpus, *, control: bool) -> int:
    stories = len(case.stories(corpus))
    if control:
        return min(stories, CONTROL_TRIALS)
    if case.whole:
        return stories
    return min(stories, _PROPERTY_TRIALS.get(profile, _PROPERTY_TRIALS_USUAL))
