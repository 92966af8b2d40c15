"""`memqual` with few cells: what a test of bad input needs of a run, and no more.

    MEMQUAL_TEST_CELLS=in_request/none,A python -m tests.e2e.small_run qualify --profile selftest …

Each entry is a part of the id of a cell of the profile. There are no controls, unless
MEMQUAL_TEST_CONTROLS names them. Everything else is the command's own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from orchestrator import cli
from orchestrator.campaign import schedule
from orchestrator.model import Profile
from orchestrator.plan import TrialPlan
from orchestrator.suites.narrative.corpus import Corpus

CELLS_VARIABLE = "MEMQUAL_TEST_CELLS"
CONTROLS_VARIABLE = "MEMQUAL_TEST_CONTROLS"

_trials = schedule._trials


def _few_trials(profile: Profile, seed: int, subject: str, corpus: Corpus) -> Sequence[TrialPlan]:
    wanted = os.environ[CELLS_VARIABLE].split(",")
    return [
        plan
        for plan in _trials(profile, seed, subject, corpus)
        if any(f"/{part}/" in f"/{plan.cell.cell_id}/" for part in wanted)
    ]


if __name__ == "__main__":
    controls = tuple(os.environ.get(CONTROLS_VARIABLE, "").split())
    for name, value in (("_trials", _few_trials), ("CONTROLS", controls)):
        setattr(schedule, name, value)
    sys.exit(cli.main())
