"""Which integrity trials a profile schedules, and what controls must come to (DESIGN §7, §9)."""

from __future__ import annotations

from enum import StrEnum

from orchestrator.model import Arm, Cell, Profile, Suite, Verdict
from orchestrator.plan import TrialPlan
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.variation import trial_seed

__all__ = [
    "CONTROL_TRIALS",
    "VENDOR_TRIALS",
    "ControlExpectation",
    "expected_control_verdict",
    "integrity_cells",
    "planned_integrity",
]

VENDOR_TRIALS = 100
CONTROL_TRIALS = 5

# The four-arm study of the paper has no integrity trials of its own.
_WITHOUT_INTEGRITY = (Profile.PAPER,)


class ControlExpectation(StrEnum):
    """What every trial of a control in one cell must come to."""

    MUST_PASS = "must_pass"
    MAY_PASS = "may_pass"
    MUST_FAIL = "must_fail"

    def met_by(self, verdict: Verdict) -> bool:
        """Whether a trial's verdict is one that is expected."""
        return (
            verdict
            in {
                ControlExpectation.MUST_PASS: (Verdict.PASS,),
                ControlExpectation.MAY_PASS: (Verdict.PASS, Verdict.FAIL, Verdict.NOT_RUN),
                ControlExpectation.MUST_FAIL: (Verdict.FAIL,),
            }[self]
        )


_EXPECTED = {
    "control:reference": ControlExpectation.MUST_PASS,
    # Its flaw is in Begin; its records are the reference's.
    "control:naive": ControlExpectation.MAY_PASS,
    # Answers OK with an empty message: an admission without a state is no admission.
    "control:null": ControlExpectation.MUST_FAIL,
}


def integrity_cells(profile: Profile) -> tuple[Cell, ...]:
    """One cell a category, in the memory arm; none where the profile has no integrity trials."""
    if profile in _WITHOUT_INTEGRITY:
        return ()
    return tuple(Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case=letter) for letter in CATEGORIES)


def planned_integrity(
    profile: Profile, seed: int, *, control: bool = False
) -> tuple[TrialPlan, ...]:
    """The integrity trials of one subject: 100 a category, 5 for a control and in a selftest.

    Args:
        profile: What the run is.
        seed: Root seed of the run.
        control: Plan a control's trials; they are the first of the vendor's.

    Returns:
        Trials by category; a trial's `kill_number` is 0, nothing is killed.
    """
    few = control or profile is Profile.SELFTEST
    trials = CONTROL_TRIALS if few else VENDOR_TRIALS
    return tuple(
        TrialPlan(
            cell=cell, number=number, kill_number=0, sub_seed=trial_seed(seed, cell.case, number)
        )
        for cell in integrity_cells(profile)
        for number in range(trials)
    )


def expected_control_verdict(control: str, cell: Cell) -> ControlExpectation:
    """What a control must come to in an integrity cell.

    Args:
        control: `control:<flaw>` as a run's subject.
        cell: A cell of this axis.

    Raises:
        ValueError: No such control, or a cell of another suite.
    """
    if cell.suite is not Suite.INTEGRITY:
        raise ValueError(f"{cell.cell_id} is no integrity cell")
    if control not in _EXPECTED:
        raise ValueError(f"{control!r} is no control with integrity trials")
    return _EXPECTED[control]
