"""A whole run of the narrative profile on own stories; then verify, rescore and replay."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from orchestrator.evidence.rundir import read_json_lines
from orchestrator.model import TrialRecord, Verdict
from tests.e2e.runs import SMALL_MEMORY, memqual
from tests.orchestrator.suites.narrative.tiny_stories import TINY

pytestmark = [pytest.mark.e2e_process, pytest.mark.nightly, pytest.mark.timeout(1_800)]


def _stories(folder: Path) -> Path:
    """The tiny corpus as files, in JSON: every JSON document is a YAML one."""
    folder.mkdir()
    for story in TINY.every:
        fields = story.model_dump(mode="json", exclude={"form"}, exclude_defaults=True)
        fields |= {
            "description": "Of tests alone.",
            "duration_simulated": "3 weeks",
            "total_batches": len(story.batches),
        }
        (folder / f"{story.story_id}.yaml").write_text(json.dumps(fields), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("narrative")
    vendor = folder / "vendor.yaml"
    vendor.write_text(SMALL_MEMORY, encoding="utf-8")
    ended = memqual(
        *("qualify", "--profile", "atant", "--runtime", "process", "--json-progress"),
        *("--stories", str(_stories(folder / "stories")), "--vendor", str(vendor)),
        *("--runs", str(folder / "runs")),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (found,) = (folder / "runs").iterdir()
    return found


def test_every_property_passes_and_every_level_is_graded(run: Path) -> None:
    trials = [
        TrialRecord.model_validate_json(line) for line in read_json_lines(run / "trials.jsonl")
    ]
    found = Counter((trial.subject, trial.verdict) for trial in trials)

    assert {verdict for subject, verdict in found if subject == "vendor"} <= {
        Verdict.PASS,
        Verdict.UNSCORED,
        Verdict.NOT_RUN,
    }
    assert {verdict for subject, verdict in found if subject == "control:null"} == {Verdict.FAIL}
    assert {verdict for subject, verdict in found if subject == "control:reference"} <= {
        Verdict.PASS,
        Verdict.UNSCORED,
        Verdict.NOT_RUN,
    }


def test_the_bundle_holds_and_knows_whose_stories_they_are(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    assert (manifest["stories_own"], len(manifest["stories_digest"])) == (True, 64)

    verified = memqual("verify", str(run))
    assert verified.returncode == 0, verified.stdout
    assert "the stories are the maker's own" in verified.stdout
    rescored = memqual("rescore", str(run))
    assert rescored.returncode == 0, rescored.stdout


def test_other_stories_in_the_bundle_are_noticed(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / run.name
    shutil.copytree(run, copy)
    stories = copy / "stories.json"
    stories.write_text(stories.read_text().replace("Isaura", "Isabel"))

    assert memqual("verify", str(copy)).returncode == 3
    assert memqual("rescore", str(copy)).returncode == 3


def test_a_level_is_replayed_alike(run: Path) -> None:
    again = memqual("replay", str(run), "--trial", "vendor:narrative/memory/level.scale_open#1")
    assert again.returncode == 0, again.stdout + again.stderr
