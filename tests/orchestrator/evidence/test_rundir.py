"""The run folder: made once, appended to durably, resumed after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import EvidenceError, RunDirectoryError
from orchestrator.evidence.manifest import Manifest
from orchestrator.evidence.rundir import RunDirectory, json_bytes, read_json_lines
from orchestrator.model import Arm, Cell, Suite, TrialRecord, Verdict
from orchestrator.plan import trial_id
from tests.orchestrator.evidence.bundles import manifest

CELL = Cell(suite=Suite.INTEGRITY, arm=Arm.MEMORY, case="C")


def record(number: int) -> TrialRecord:
    return TrialRecord(
        trial_id=trial_id("vendor", CELL, number),
        cell=CELL,
        subject="vendor",
        batch_id="i0",
        sub_seed=number,
        verdict=Verdict.PASS,
        cause="é\u2028 \U0001f9e0",
    )


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    root = tmp_path / "runs" / "r"
    with RunDirectory.create(root):
        pass
    with pytest.raises(RunDirectoryError, match="exists already"):
        RunDirectory.create(root)
    assert sorted(path.name for path in root.iterdir() if path.is_dir()) == [
        "batches",
        "integrity",
        "journals",
        "logs",
        "narrative",
        "traces",
    ]


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "r"
    with RunDirectory.create(root) as folder:
        folder.write_json("manifest.json", manifest())
        with pytest.raises(RunDirectoryError, match="Another process is using"):
            RunDirectory.reopen(root)
    with RunDirectory.reopen(root):
        pass


def test_only_a_run_that_was_started_is_resumed(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"has no manifest\.json"):
        RunDirectory.reopen(tmp_path)


def test_what_was_appended_is_read_back_in_order(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path / "r") as folder:
        folder.append_trials([record(0), record(1)])
        folder.append_trials([record(2)])
        assert list(folder.trials()) == [record(0), record(1), record(2)]


def test_a_torn_line_is_cut_when_the_run_is_resumed(tmp_path: Path) -> None:
    root = tmp_path / "r"
    with RunDirectory.create(root) as folder:
        folder.write_json("manifest.json", manifest())
        folder.append_trials([record(0)])
    path = root / "trials.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert len(list(read_json_lines(path))) == 1
    with RunDirectory.reopen(root) as folder:
        folder.append_trials([record(1)])
        assert list(folder.trials()) == [record(0), record(1)]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path / "r") as folder:
        folder.append_trials([record(0)])
        with (folder.root / "trials.jsonl").open("a") as file:
            file.write("{}\n")
        with pytest.raises(EvidenceError, match=r"trials.jsonl line 2 is no trial record"):
            list(folder.trials())


def test_models_and_lines_come_back(tmp_path: Path) -> None:
    with RunDirectory.create(tmp_path / "r") as folder:
        folder.write_json("manifest.json", manifest())
        assert folder.read_model("manifest.json", Manifest) == manifest()
        assert (folder.root / "manifest.json").read_bytes() == json_bytes(manifest())
        folder.write_lines("traces/x.jsonl", ["a", "é"])
        assert list(read_json_lines(folder.root / "traces" / "x.jsonl")) == ["a", "é"]
        folder.write_text("junit.xml", "<é/>")
        assert (folder.root / "junit.xml").read_bytes() == "<é/>".encode()
        with pytest.raises(EvidenceError, match=r"nothing\.json of the run r cannot be read"):
            folder.read_model("nothing.json", Manifest)


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert list(read_json_lines(tmp_path / "nothing.jsonl")) == []


def test_json_files_have_one_form() -> None:
    assert json_bytes({"b": 1, "a": ["é"]}) == '{\n "a": [\n  "é"\n ],\n "b": 1\n}\n'.encode()
