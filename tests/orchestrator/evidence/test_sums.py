"""SHA256SUMS."""

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.evidence.sums import SUMS_FILE, check_sums, write_sums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("one\n")
    (tmp_path / "logs.txt").write_text("two\n")
    (tmp_path / "b.json").write_text("{}\n")
    (tmp_path / ".lock").touch()
    write_sums(tmp_path)
    return tmp_path


def test_it_lists_every_file_by_name(folder: Path) -> None:
    names = [line.split("  ")[1] for line in (folder / SUMS_FILE).read_text().splitlines()]
    assert names == ["b.json", "logs.txt", "logs/a.log"]
    assert check_sums(folder) == []


@pytest.mark.skipif(sys.platform != "linux", reason="sha256sum is GNU's")
def test_sha256sum_reads_it(folder: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", SUMS_FILE],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout.splitlines() == ["b.json: OK", "logs.txt: OK", "logs/a.log: OK"]


def test_what_differs_is_named(folder: Path) -> None:
    (folder / "b.json").write_text("[]\n")
    (folder / "logs.txt").unlink()
    (folder / "new").write_text("")
    assert check_sums(folder) == [
        "logs.txt is listed and missing",
        "new is not listed",
        "b.json was changed",
    ]


def test_nothing_of_its_own_lines_may_change(folder: Path) -> None:
    path = folder / SUMS_FILE
    first, second, third = path.read_text().splitlines(keepends=True)
    for text, told in (
        (second + first + third, [f"{SUMS_FILE} is not sorted by name"]),
        (first + first + second + third, [f"{SUMS_FILE} line 2 lists a file twice"]),
        (first + second + third[:-1], [f"{SUMS_FILE} ends in the middle of a line"]),
        (first + second + third + "\n", [f"{SUMS_FILE} line 4 is no digest and name"]),
    ):
        path.write_text(text)
        assert check_sums(folder)[: len(told)] == told
    path.write_bytes(b"\xff" + (first + second + third).encode()[1:])
    assert check_sums(folder) == [
        f"{SUMS_FILE} line 1 is no digest and name",
        "b.json is not listed",
    ]


def test_the_lock_holds_nothing(folder: Path) -> None:
    (folder / ".lock").write_text("x")
    assert check_sums(folder) == [".lock is not empty"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes no links without privileges")
def test_a_link_is_no_file_of_a_bundle(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("x")
    (folder / "link").symlink_to(outside)
    (folder / "logs" / "folder").symlink_to(outside.parent)
    assert check_sums(folder) == [
        "link is no regular file",
        "logs/folder is no regular file",
    ]


def test_without_sums_there_is_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check_sums(tmp_path)
