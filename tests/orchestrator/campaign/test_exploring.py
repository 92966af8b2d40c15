"""`memqual explore` on a stack of local processes: finds, keeps, replays, and its exit codes."""

import json
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.errors import UsageError
from orchestrator.suites.continuity.explore.cases import read_case

FLAWED = "name: Flawed\nprocess: {module: services.controls, args: [--flaw, %s]}\n"


def explore(runs: Path, *arguments: str) -> int:
    """Run the command on local processes; returns its exit code."""
    return main(["explore", "--runtime", "process", "--runs", str(runs), *arguments])


def vendor(folder: Path, flaw: str) -> str:
    """A vendor.yaml of a flawed memory."""
    path = folder / f"{flaw}.yaml"
    path.write_text(FLAWED % flaw)
    return str(path)


@pytest.mark.e2e_process
@pytest.mark.timeout(600)
def test_a_find_is_told_kept_and_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flawed = vendor(tmp_path, "ignores_lease")
    runs = tmp_path / "runs"

    assert explore(runs, "--vendor", flawed, "--schedules", "20", "--finds", "1") == 1
    told = capsys.readouterr().out
    (folder,) = runs.iterdir()
    summary = json.loads((folder / "explore.json").read_text())
    path = folder / summary["cases"][0]
    case = read_case(path)
    assert case.rule.endswith(":EXECUTE:unsafe")
    assert 1 <= len(case.schedule.steps) <= 2
    assert case.confirmed == 2
    assert f"--replay {path}" in told
    assert case.words in told
    assert sum(summary["trials"].values()) == 12 * summary["schedules"]

    assert explore(tmp_path / "again", "--vendor", flawed, "--replay", str(path)) == 1
    assert "The same rule is broken again." in capsys.readouterr().out
    assert explore(tmp_path / "right", "--replay", str(path)) == 0
    assert "no rule broken" in capsys.readouterr().out


@pytest.mark.e2e_process
def test_a_right_memory_has_nothing_found_and_every_trial_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explore(tmp_path, "--schedules", "3", "--seed", "5") == 0
    assert capsys.readouterr().out.startswith("0 found in 3 schedules, 36 of 36 trials judged")
    (folder,) = tmp_path.iterdir()
    summary = json.loads((folder / "explore.json").read_text())
    assert (summary["cases"], summary["errors"]) == ([], {})


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", None])
def test_what_is_no_case_is_wrong_usage(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "case.json"
    if content is not None:
        path.write_bytes(content)
    assert explore(tmp_path / "runs", "--replay", str(path)) == UsageError.exit_code
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--schedules", "0"), ("--finds", "x"), ("--minutes", "0"), ("--minutes", "nan")],
)
def test_bounds_that_are_none_are_wrong_usage(tmp_path: Path, arguments: tuple[str, str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        explore(tmp_path, *arguments)
