"""The main path, whole: a run with its controls, on containers; then verify, rescore and replay."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import docker
import pytest

from orchestrator.evidence.rundir import read_json_lines
from orchestrator.model import Profile, TrialRecord, Verdict
from orchestrator.suites.integrity.planned import planned_integrity
from tests.e2e.runs import memqual

# Operations of the selftest, all of which crash.
CRASHES = 30

pytestmark = [pytest.mark.e2e_docker, pytest.mark.timeout(600)]


def test_the_reference_qualifies_on_containers_and_its_bundle_holds(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    ended = memqual(
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

    assert memqual("verify", str(run)).returncode == 0
    assert memqual("rescore", str(run)).returncode == 0
    again = memqual("replay", str(run), "--trial", crashes[0].trial_id)
    assert again.returncode == 0, again.stdout + again.stderr

    engine = docker.from_env()
    label: dict[str, str | list[str] | bool] = {"label": f"memqual.run={run.name}"}
    left = (
        engine.containers.list(all=True, filters=label),
        engine.networks.list(filters=label),
        engine.volumes.list(filters=label),
    )
    assert left == ([], [], [])
