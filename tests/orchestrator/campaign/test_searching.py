"""`memqual search` on a stack of local processes: finds, keeps, replays, and its exit codes."""

import json
from pathlib import Path

import pytest

from orchestrator.cli import main
from orchestrator.errors import UsageError
from orchestrator.suites.integrity.search.moves import Case

FLAWED = "name: Flawed\nprocess: {module: services.controls, args: [--flaw, %s]}\n"


def search(runs: Path, *arguments: str) -> int:
    """Run the command on local processes; returns its exit code."""
    return main(["search", "--runtime", "process", "--runs", str(runs), *arguments])


def vendor(folder: Path, flaw: str) -> str:
    """A vendor.yaml of a flawed memory."""
    path = folder / f"{flaw}.yaml"
    path.write_text(FLAWED % flaw)
    return str(path)


@pytest.mark.e2e_process
def test_a_find_is_told_kept_and_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flawed = vendor(tmp_path, "forgets_taints")
    runs = tmp_path / "runs"

    assert search(runs, "--vendor", flawed, "--sequences", "15") == 1
    told = capsys.readouterr().out
    (folder,) = runs.iterdir()
    summary = json.loads((folder / "search.json").read_text())
    path = folder / summary["cases"][0]
    case = Case.model_validate_json(path.read_bytes())
    assert case.violation.kind.value == "taint"
    assert f"--replay {path}" in told
    assert case.violation.words in told
    lines = (folder / "logs" / "orchestrator.jsonl").read_text().splitlines()
    assert {json.loads(line)["run"] for line in lines} == {folder.name}

    assert search(tmp_path / "again", "--vendor", flawed, "--replay", str(path)) == 1
    assert "The same rule is broken again." in capsys.readouterr().out
    assert search(tmp_path / "right", "--replay", str(path)) == 0
    assert "First divergence: " in capsys.readouterr().out


@pytest.mark.e2e_process
def test_a_right_memory_has_nothing_found_also_over_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(tmp_path, "--sequences", "3", "--restarts", "--seed", "5") == 0
    assert capsys.readouterr().out.startswith("0 found in 3 sequences")
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "search.json").read_text())["cases"] == []


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", None])
def test_what_is_no_case_is_wrong_usage(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "case.json"
    if content is not None:
        path.write_bytes(content)
    assert search(tmp_path / "runs", "--replay", str(path)) == UsageError.exit_code
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--sequences", "0"), ("--sequences", "x"), ("--minutes", "0"), ("--minutes", "nan")],
)
def test_bounds_that_are_none_are_wrong_usage(tmp_path: Path, arguments: tuple[str, str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        search(tmp_path, *arguments)
