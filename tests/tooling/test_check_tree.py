"""The check of tracked text finds machine paths and registry hosts, and nothing else."""

import pytest

from tools.check_tree import REPO_ROOT, Finding, findings_in, tracked_files

# Put together here, so that this file itself passes the check.
HOST = "files.python" + "hosted.org"
HOME = "/ro" + "ot/"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"--index-url=https://{HOST}/simple", "names a package registry's host"),
        ("deb http://deb." + "debian.org/debian bookworm main", "names a package registry's host"),
        (f"cp x {HOME}y", "names an absolute path of one machine"),
        (f'path = "{HOME}cache"', "names an absolute path of one machine"),
        (f"see {REPO_ROOT}/README.md", "names an absolute path of one machine"),
    ],
)
def test_finds(line: str, reason: str) -> None:
    assert findings_in(f"first\n{line}\n", "f") == [Finding("f", 2, reason)]


@pytest.mark.parametrize(
    "line",
    [
        "chown 10001:10001 /data /opt/memqual/app",
        "build/wheelhouse/work/x",
        "https://example.org/work/item",
        "${HOME}/work/x",
        "a teamwork/farm/home game",
    ],
)
def test_leaves_ordinary_lines_alone(line: str) -> None:
    assert findings_in(line, "f") == []


def test_looks_at_the_tracked_files() -> None:
    assert REPO_ROOT / "pyproject.toml" in tracked_files()
