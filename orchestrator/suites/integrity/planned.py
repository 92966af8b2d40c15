"""Which integrity trials a profile schedules, and what controls must come to (DESIGN §7, §9).

`mib` schedules the benchmark's seven categories as they are published and nothing else; every other
profile schedules all other cases. What is scheduled follows from profile and seed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from orchestrator.model import Arm, Cell, Profile, Suite, Verdict
from orchestrator.plan import TrialPlan
from orchestrator.suites.integrity.categories import CATEGORIES, Category
from orchestrator.suites.integrity.categories.base import (
    BENCHMARK_LETTERS,
    PUBLISHED,
    TRIALS_MAX,
)
from orchestrator.suites.integrity.variation import trial_seed

__all__ = [
    "CONTROL_TRIALS",
    "QUICK_TRIALS",
    "VENDOR_TRIALS",
    "ControlExpectation",
    "expected_control_verdict",
    "integrity_cells",
    "ordered_cases",
    "planned_integrity",
]

VENDOR_TRIALS = TRIALS_MAX
"""Trials of each case of a vendor."""

QUICK_TRIALS = 10
"""In the quick profile: of each case that is not one of the benchmark's seven."""

CONTROL_TRIALS = 5
"""Of each letter, dealt over its cases, for a control and in a selftest."""

# The four-arm study of the paper and the other benchmark have no integrity trials.
_WITHOUT_INTEGRITY = (Profile.PAPER, Profile.ATANT)


class ControlExpectation(StrEnum):
    """What every trial of a control in one cell must come to."""

    MUST_PASS = "must_pass"
    MAY_PASS = "may_pass"
    MUST_FAIL = "must_fail"
    NOT_OFFERED = "not_offered"
    MUST_NOT_FAIL = "must_not_fail"

    def met_by(self, verdict: Verdict) -> bool:
        """Whether a trial's verdict is one that is expected."""
        return (
            verdict
            in {
                ControlExpectation.MUST_PASS: (Verdict.PASS,),
                ControlExpectation.MAY_PASS: (Verdict.PASS, Verdict.FAIL, Verdict.NOT_RUN),
                ControlExpectation.MUST_FAIL: (Verdict.FAIL,),
                ControlExpectation.NOT_OFFERED: (Verdict.NOT_RUN,),
                ControlExpectation.MUST_NOT_FAIL: (
                    Verdict.PASS,
                    Verdict.UNSCORED,
                    Verdict.NOT_RUN,
                ),
            }[self]
        )


_EXPECTED = {
    "control:reference": ControlExpectation.MUST_PASS,
    # Its flaw is in Begin; its records are the reference's.
    "control:naive": ControlExpectation.MAY_PASS,
    # Answers OK with an empty message: an admission without a state is no admission.
    "control:null": ControlExpectation.MUST_FAIL,
}


def ordered_cases() -> tuple[Category, ...]:
    """Every case: the benchmark's letters in its order, then the others; one letter together."""
    letters = dict.fromkeys((*BENCHMARK_LETTERS, *(one.letter for one in CATEGORIES.values())))
    return tuple(
        category
        for letter in letters
        for category in CATEGORIES.values()
        if category.letter == letter
    )


def integrity_cells(profile: Profile) -> tuple[Cell, ...]:
    """One cell a case, in the memory arm; none where the profile has no integrity trials."""
    return tuple(_cell(category) for category in _scheduled(profile))


def planned_integrity(
    profile: Profile, seed: int, *, control: bool = False
) -> tuple[TrialPlan, ...]:
    """The integrity trials of one subject.

    100 a case for a vendor, where a case names no smaller number; in the quick profile 10 of those
    that are not one of the benchmark's seven. 5 a letter for a control and in a selftest.

    Args:
        profile: What the run is.
        seed: Root seed of the run.
        control: Plan a control's trials; they are the first of the vendor's.

    Returns:
        Trials case by case; a trial's `kill_number` is 0. The benchmark counts its trials from 1,
        and so do the cases that are published; all others count from 0.
    """
    cases = _scheduled(profile)
    few = control or profile is Profile.SELFTEST
    counts = _dealt(cases) if few else {one.case: _vendor_trials(profile, one) for one in cases}
    return tuple(
        TrialPlan(
            cell=_cell(category),
            number=number,
            kill_number=0,
            sub_seed=trial_seed(seed, _seeded_by(category), number),
        )
        for category in cases
        for number in _numbers(category, counts[category.case])
    )


def expected_control_verdict(control: str, cell: Cell) -> ControlExpectation:
    """What a control must come to in an integrity cell.

    Args:
        control: `control:<flaw>` as a run's subject.
        cell: A cell of this axis.

    Raises:
        ValueError: No such control, no such case, or a cell of another suite.
    """
    if cell.suite is not Suite.INTEGRITY:
        raise ValueError(f"{cell.cell_id} is no integrity cell")
    if control not in _EXPECTED:
        raise ValueError(f"{control!r} is no control with integrity trials")
    category = CATEGORIES.get(cell.case)
    if category is None:
        raise ValueError(f"{cell.case!r} is no case")
    return _EXPECTED[control] if category.offered else ControlExpectation.NOT_OFFERED


def _scheduled(profile: Profile) -> tuple[Category, ...]:
    if profile in _WITHOUT_INTEGRITY:
        return ()
    benchmark = profile is Profile.MIB
    return tuple(one for one in ordered_cases() if (one.variant == PUBLISHED) is benchmark)


def _cell(category: Category) -> Cell:
    return Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case=category.case)


def _vendor_trials(profile: Profile, category: Category) -> int:
    main = category.letter in BENCHMARK_LETTERS and category.variant in ("", PUBLISHED)
    few = profile in (Profile.QUICK, Profile.SURVEY) and not main
    return min(category.trials_max, QUICK_TRIALS if few else VENDOR_TRIALS)


def _dealt(cases: Sequence[Category]) -> Mapping[str, int]:
    """Trials of each case: one for each, and what is left of a letter's for those that cost least.

    What is left is shared out evenly, the first cases getting what is over.
    """
    counts = {one.case: 1 for one in cases}
    for letter in dict.fromkeys(one.letter for one in cases):
        own = [one for one in cases if one.letter == letter]
        most = max(one.trials_max for one in own)
        cheap = [one for one in own if one.trials_max == most]
        each, over = divmod(max(0, CONTROL_TRIALS - len(own)), len(cheap))
        for at, category in enumerate(cheap):
            counts[category.case] = min(most, 1 + each + (at < over))
    return counts


def _seeded_by(category: Category) -> str:
    """What of a case its trials' seeds depend on: the benchmark knows letters only."""
    return category.letter if category.variant == PUBLISHED else category.case


def _numbers(category: Category, trials: int) -> range:
    first = 1 if category.variant == PUBLISHED else 0
    return range(first, first + trials)
