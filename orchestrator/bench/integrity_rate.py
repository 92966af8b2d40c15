"""Integrity trials a second, category by category, on one stack."""

from __future__ import annotations

from itertools import groupby, islice

from orchestrator.bench.bench import Bench
from orchestrator.bench.results import Measurement
from orchestrator.campaign.options import DEFAULT_SEED
from orchestrator.model import Profile
from orchestrator.plan import VENDOR
from orchestrator.suites.integrity.driver import integrity_jobs
from orchestrator.suites.integrity.planned import planned_integrity

__all__ = ["integrity_rate"]

_TRIALS = 40


def integrity_rate(bench: Bench) -> list[Measurement]:
    """Play the first trials of each category.

    Raises:
        MemqualError: A stack cannot be had.
    """
    found = []
    plans = planned_integrity(Profile.QUICK, DEFAULT_SEED)
    for letter, of_category in groupby(plans, lambda plan: plan.cell.case):
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
