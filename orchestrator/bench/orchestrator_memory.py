"""Memory that adding up many trials takes, in a process of its own (DESIGN §11)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

from orchestrator.bench.bench import Bench
from orchestrator.bench.crashes import CAPABILITIES, crash_cells
from orchestrator.bench.results import Measurement, Reach
from orchestrator.errors import MemqualError
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import (
    Check,
    CheckOutcome,
    Frozen,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.plan import VENDOR, ExpectedCells, ExpectedTrial, trial_id, workflow_id

__all__ = ["extrapolated", "orchestrator_memory", "synthetic_trials"]

_TRIALS = 100_000
_WANTED_TRIALS = 1_000_000
_CHUNK = 5_000
_CHECKS = 12
_OPERATIONS = 20
_CHILD_SECONDS_PER_TRIAL = 0.003
_MEBIBYTE = 1 << 20
_WANTED = Reach(at_most=300.0)


class _Taken(Frozen):
    """What the process that adds up says."""

    trials: int
    first_bytes: int
    peak_bytes: int


def extrapolated(first_bytes: int, peak_bytes: int, trials: int, wanted: int) -> float:
    """Bytes that `wanted` trials would take, if every further trial takes what these took.

    Raises:
        ValueError: No trials were measured.
    """
    if trials <= 0:
        raise ValueError("nothing was measured")
    return first_bytes + (peak_bytes - first_bytes) / trials * wanted


def synthetic_trials(count: int) -> Iterator[TrialRecord]:
    """Records of the size and shape of a passed crash trial, spread over the matrix."""
    cells = crash_cells(tuple(WindowName), CAPABILITIES)
    checks = tuple(
        Check(
            check_id=f"continuity.check_{at}",
            requirement_id=f"MQ-C-{at:02}",
            paper_property="P1",
            outcome=CheckOutcome.HELD,
            expected="as declared",
            actual="as declared",
        )
        for at in range(_CHECKS)
    )
    for at in range(count):
        batch, place = divmod(at, _OPERATIONS)
        cell = cells[batch % len(cells)]
        number = batch // len(cells) * _OPERATIONS + place
        name = workflow_id(VENDOR, cell, number, at)
        yield TrialRecord(
            trial_id=trial_id(VENDOR, cell, number),
            cell=cell,
            subject=VENDOR,
            batch_id=f"b{batch:012}",
            sub_seed=at,
            workflow_id=name,
            operation_id=name.ljust(64, "0"),
            verdict=Verdict.PASS,
            checks=checks,
            decisions=("execute:new:1", "wait:lease_live:1", "reuse:complete:1"),
            dispatches=1,
            effects=1,
            fault_receipt_id=f"b{batch:012}",
            resolution_ms=float(at % 1_000),
        )


def orchestrator_memory(bench: Bench) -> list[Measurement]:
    """Write the trials, add them up in a child, and extrapolate; with `bench.large` measure.

    Raises:
        MemqualError: The child fails or takes too long.
    """
    if bench.large:
        return [_peak(_add_up(bench, _WANTED_TRIALS), _WANTED)]
    taken = _add_up(bench, _TRIALS)
    million = extrapolated(taken.first_bytes, taken.peak_bytes, taken.trials, _WANTED_TRIALS)
    return [
        _peak(taken, None),
        Measurement(
            name="extrapolated_to_1000000",
            measured="the same for 1,000,000 trials, extrapolated and not measured",
            unit="MiB",
            value=million / _MEBIBYTE,
            samples=taken.trials,
            reach=_WANTED,
            note="start + 10 x what 100,000 trials add",
        ),
    ]


def _peak(taken: _Taken, reach: Reach | None) -> Measurement:
    return Measurement(
        name=f"peak_at_{taken.trials}",
        measured="resident memory at most while trials are read and added up",
        unit="MiB",
        value=taken.peak_bytes / _MEBIBYTE,
        samples=taken.trials,
        reach=reach,
        note=f"{taken.first_bytes / _MEBIBYTE:.0f} MiB of it before the first trial; "
        "the reports are not rendered",
    )


def _add_up(bench: Bench, count: int) -> _Taken:
    root = bench.scratch / "aggregation"
    expected = []
    with RunDirectory.create(root) as folder:
        trials = synthetic_trials(count)
        while chunk := list(islice(trials, _CHUNK)):
            folder.append_trials(chunk)
            expected += [
                ExpectedTrial(
                    trial_id=trial.trial_id,
                    cell_id=trial.cell.cell_id,
                    subject=trial.subject,
                    sub_seed=trial.sub_seed,
                )
                for trial in chunk
            ]
        cells = ExpectedCells.of("bench", "bench", 0, expected)
        folder.write_text("expected-cells.json", cells.model_dump_json())
        # What a folder needs to be opened again; it is not read here.
        folder.write_text("manifest.json", "{}\n")
    command = [sys.executable, "-m", "orchestrator.bench.aggregation", str(root)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        ended = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            timeout=_CHILD_SECONDS_PER_TRIAL * count,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = (error.stderr or b"").decode(errors="replace")[-500:]
        raise MemqualError(
            f"Adding {count} synthetic trials up did not work: {error}. {said}",
            next_step="If memory is short, free some and run `memqual bench` again.",
        ) from error
    return _Taken.model_validate_json(ended.stdout)
