"""The main path, whole: a run with its controls, on containers; then verify, rescore and replay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import docker
import pytest

from orchestrator.evidence.rundir import read_json_lines
from orchestrator.model import Profile, TrialRecord, Verdict
from orchestrator.suites.integrity.planned import planned_integrity
from tests.e2e.runs import ROOT, RUN_SECONDS

# Operations of the selftest, all of which crash.
CRASHES = 30

pytestmark = [pytest.mark.e2e_docker, pytest.mark.timeout(600)]


def _memqual(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "orchestrator.cli", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )


def test_the_reference_qualifies_on_containers_and_its_bundle_holds(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    ended = _memqual(
        *("qualify", "--profile", "selftest", "--runtime", "docker"),
        *("--runs", str(runs), "--json-progress"),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.iterdir()

    aggregate = json.loads((run / "aggregate.json").read_text())
    assert (aggregate["verdict"], aggregate["missing"], aggregate["control_misses"]) == (
        "QUALIFIED",
        [],
        [],
    )
    trials = [
        TrialRecord.model_validate_json(line) for line in read_json_lines(run / "trials.jsonl")
    ]
    found = Counter((trial.subject, trial.verdict) for trial in trials)
    every = CRASHES + len(planned_integrity(Profile.SELFTEST, 1))
    assert found["vendor", Verdict.PASS] == every
    assert found["control:reference", Verdict.PASS] == every
    assert found["control:null", Verdict.FAIL] == every
    naive = [trial for trial in trials if trial.subject == "control:naive"]
    wrong = [trial for trial in naive if trial.verdict is Verdict.FAIL and trial.cell.window]
    assert len(wrong) == CRASHES
    crashes = [trial for trial in trials if trial.subject == "vendor" and trial.cell.window]
    assert all(trial.fault_receipt_id for trial in crashes)

    assert _memqual("verify", str(run)).returncode == 0
    assert _memqual("rescore", str(run)).returncode == 0
    again = _memqual("replay", str(run), "--trial", crashes[0].trial_id)
    assert again.returncode == 0, again.stdout + again.stderr

    engine = docker.from_env()
    label: dict[str, str | list[str] | bool] = {"label": f"memqual.run={run.name}"}
    left = (
        engine.containers.list(all=True, filters=label),
        engine.networks.list(filters=label),
        engine.volumes.list(filters=label),
    )
    assert left == ([], [], [])
