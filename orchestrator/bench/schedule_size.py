"""How many crash trials each profile schedules (DESIGN §11); nothing is run for it."""

from __future__ import annotations

from orchestrator.bench.bench import Bench
from orchestrator.bench.results import Measurement, Reach
from orchestrator.campaign.options import DEFAULT_SEED
from orchestrator.model import Profile
from orchestrator.suites.continuity.census import census

__all__ = ["schedule_size"]

_PROFILES = (Profile.QUICK, Profile.STANDARD, Profile.FULL)
_WANTED = {Profile.STANDARD: Reach(at_least=20_000.0), Profile.FULL: Reach(at_least=20_000.0)}


def schedule_size(bench: Bench) -> list[Measurement]:
    """Count, profile by profile."""
    found = []
    for profile in _PROFILES:
        counted = census(profile, DEFAULT_SEED)
        found.append(
            Measurement(
                name=f"crash_trials_{profile.value}",
                measured="operations on which a service dies, of the vendor and of the controls",
                unit="trials",
                value=counted.crash_trials,
                samples=counted.cells,
                reach=_WANTED.get(profile),
                note=f"{counted.cells} cells, {counted.batches} batches with {counted.kills} "
                f"kills, {counted.trials} trials",
            )
        )
    return found
