"""Crash trials a second, on one stack and on two side by side (DESIGN §11)."""

from __future__ import annotations

from orchestrator.bench.bench import Bench
from orchestrator.bench.crashes import batch_of, matrix_cells
from orchestrator.bench.results import Measurement, Reach
from orchestrator.campaign.options import DEFAULT_SEED
from orchestrator.model import Profile
from orchestrator.suites.continuity.cells import OPERATIONS_PER_KILL
from orchestrator.suites.continuity.census import census
from orchestrator.suites.continuity.job import ContinuityJob

__all__ = ["crash_rate"]

_CELLS = 16
_WANTED = Reach(at_least=10.0)
_SECONDS_A_MINUTE = 60


def crash_rate(bench: Bench) -> list[Measurement]:
    """Play the same cells on one stack, then twice as many on two.

    Raises:
        MemqualError: A stack cannot be had.
    """
    cells = matrix_cells(_CELLS)
    rates: dict[int, float] = {}
    found = []
    for stacks in (1, 2):
        jobs = [
            ContinuityJob(batch_of(cell, f"rate{stacks}", kill, OPERATIONS_PER_KILL))
            for kill in range(stacks)
            for cell in cells
        ]
        pace = bench.pace_of(jobs, stacks, f"r{stacks}")
        rates[stacks] = pace.per_second
        found.append(
            Measurement(
                name=f"trials_per_second_stacks_{stacks}",
                measured=f"crash trials carried out, kept and scored on {stacks} stack(s)",
                unit="trials/s",
                value=pace.per_second,
                samples=pace.evaluated,
                reach=_WANTED if stacks == 2 else None,
                note=f"{len(jobs)} kills of {OPERATIONS_PER_KILL}: {pace.text}",
            )
        )
    found.append(
        Measurement(
            name="two_stacks_over_one",
            measured="rate on two stacks in units of the rate on one",
            unit="ratio",
            value=rates[2] / rates[1] if rates[1] else 0.0,
            samples=2,
        )
    )
    trials = census(Profile.STANDARD, DEFAULT_SEED).crash_trials
    found.append(
        Measurement(
            name="standard_crashes_on_two_stacks",
            measured="how long the crash trials of the standard profile take at that rate",
            unit="min",
            value=trials / rates[2] / _SECONDS_A_MINUTE if rates[2] else 0.0,
            samples=trials,
        )
    )
    return found
