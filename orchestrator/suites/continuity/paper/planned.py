"""Which study a profile carries out, and in which order its trials are handed out."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.model import Profile
from orchestrator.plan import TrialPlan
from orchestrator.suites.continuity.families import CASES, FamilyCase, Weight
from orchestrator.suites.continuity.paper.study import StudiedCase, Study, arm_order, study_of

__all__ = ["in_study_order", "planned_study"]


def planned_study(profile: Profile, seed: int) -> Study | None:
    """The design of a run's study; None where the profile has none."""
    if profile not in (Profile.PAPER, Profile.FULL):
        return None
    cases = [
        StudiedCase(
            case=case.name,
            arms=case.arms,
            repetitions=case.batches,
            evidence_class=case.evidence_class.value,
        )
        for case in CASES.values()
        if case.weight is Weight.PAPER
    ]
    return study_of(seed, cases)


def in_study_order(trials: Iterable[TrialPlan], seed: int) -> tuple[TrialPlan, ...]:
    """The same trials: those of the study last, repetition by repetition, arms in drawn order."""
    ordered = list(trials)
    place = {name: at for at, name in enumerate(CASES)}

    def key(plan: TrialPlan) -> tuple[int, int, int]:
        case = _studied(plan)
        if case is None:
            return -1, 0, 0
        arms = arm_order(seed, case.name, plan.kill_number, case.arms)
        return place[case.name], plan.kill_number, arms.index(plan.cell.arm)

    return tuple(sorted(ordered, key=key))


def _studied(plan: TrialPlan) -> FamilyCase | None:
    case = CASES.get(plan.cell.case)
    return case if case is not None and case.weight is Weight.PAPER else None
