"""Integrity trials a second, for each published category that is played, on one stack."""

from __future__ import annotations

from itertools import groupby, islice

from orchestrator.bench.bench import Bench
from orchestrator.bench.results import Measurement
from orchestrator.campaign.options import DEFAULT_SEED
from orchestrator.model import Profile
from orchestrator.plan import VENDOR
from orchestrator.suites.integrity.categories import CATEGORIES
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity

__all__ = ["integrity_rate"]

_TRIALS = 40


def integrity_rate(bench: Bench) -> list[Measurement]:
    """Play the first trials of each category that the benchmark's profile offers to anybody.

    Raises:
        MemqualError: A stack cannot be had.
    """
    found = []
    plans = planned_integrity(Profile.MIB, DEFAULT_SEED)
    for case, of_category in groupby(plans, lambda plan: plan.cell.case):
        if not CATEGORIES[case].offered:
            continue
        letter = CATEGORIES[case].letter
        trials = list(islice(of_category, _TRIALS))
        jobs = integrity_jobs(VENDOR, trials, bench.reviewer)
        pace = bench.pace_of(jobs, 1, f"i{letter.lower()}")
        found.append(
            Measurement(
                name=f"trials_per_second_{letter}",
                measured=f"integrity trials of category {letter} played, kept and scored",
                unit="trials/s",
                value=pace.per_second,
                samples=pace.evaluated,
                note=pace.text,
            )
        )
    return found
