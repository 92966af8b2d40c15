"""How long an exploration takes to find planted flaws: `python -m <this> [NAME ...]`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.campaign.options import new_run_id
from orchestrator.campaign.schedule import control_config
from orchestrator.campaign.signals import StopSignals
from orchestrator.campaign.stack_supply import Stacks
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.suites.continuity.explore.engine import (
    Bounds,
    Exploration,
    ExplorationResult,
)
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig, VendorProcess
from services.controls.registry import FLAWS
from tests.orchestrator.suites.continuity.explore import flawed

SEED = 20261201


def vendor_of(flaw: str) -> VendorConfig | None:
    """A control of the registry, or one of this folder's own; empty for the reference."""
    if not flaw:
        return None
    if flaw in FLAWS:
        return control_config(f"control:{flaw}")
    return VendorConfig(
        name=flaw.replace("_", "-"),
        recipe="control",
        command=(flawed.__name__, "--flaw", flaw),
        process=VendorProcess(module=flawed.__name__, args=("--flaw", flaw)),
    )


@contextmanager
def exploration_of(flaw: str, folder: Path, seed: int = SEED) -> Iterator[Exploration]:
    """An exploration of one memory on processes of this machine."""
    reviewer = Reviewer.generate()
    keys = folder / "reviewer-keys.json"
    keys.write_text(reviewer.public_keys_json())
    run_id = f"x-{new_run_id()}"
    spec = StackSpec(
        run_id=run_id,
        stack_id="s0",
        folder=folder,
        vendor=vendor_of(flaw),
        reviewer_keys=keys,
        clock_skew=True,
    )
    with StopSignals() as signals:
        stacks = Stacks(ProcessRuntime(), spec, reviewer, signals)
        try:
            yield Exploration(ground=stacks, seed=seed, token=run_id[-6:], memory=flaw)
        finally:
            stacks.close()


def explore(flaw: str, bounds: Bounds, seed: int = SEED) -> ExplorationResult:
    """Explore one memory."""
    with tempfile.TemporaryDirectory() as folder, exploration_of(flaw, Path(folder), seed) as one:
        return one.run(bounds)


def _main() -> None:
    for flaw in sys.argv[1:]:
        began = time.monotonic()
        result = explore(flaw, Bounds(cases=1))
        told = "; ".join(
            f"{case.rule} in {len(case.schedule.steps)} steps, seen again {case.confirmed}"
            for case in result.cases
        )
        print(
            f"{flaw}: {told or 'NOT FOUND'} ({result.schedules} schedules, "
            f"{time.monotonic() - began:.0f} s, {dict(result.errors)})",
            flush=True,
        )


if __name__ == "__main__":
    _main()
