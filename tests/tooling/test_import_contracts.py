"""The import contracts of pyproject.toml catch each arrow that DESIGN §2 forbids, and no other."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

REPO_ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *("memqual", "memqual.v1", "chaos", "orchestrator", "services", "services.agent"),
    *("services.common", "services.controls", "services.destination", "services.memory"),
    *("services.observer", "services.vendors", "services.vendors.atmem"),
)
ALLOWED = (
    ("orchestrator", "chaos"),
    ("orchestrator", "services.common"),
    ("orchestrator", "memqual.v1"),
    ("chaos", "services.common"),
    ("services.memory", "services.common"),
    ("services.controls", "services.memory"),
    ("services.vendors.atmem", "services.common"),
    ("services.vendors.atmem", "memqual.v1"),
)
FORBIDDEN = (
    ("chaos", "orchestrator"),
    ("chaos", "services.memory"),
    ("orchestrator", "services.destination"),
    ("services.common", "chaos"),
    ("services.common", "services.memory"),
    ("services.memory", "orchestrator"),
    ("services.memory", "services.destination"),
    ("services.agent", "services.observer"),
    ("services.memory", "services.controls"),
    ("services.controls", "services.destination"),
    ("services.controls", "chaos"),
    ("services.vendors.atmem", "services.memory"),
    ("services.vendors.atmem", "services.controls"),
    ("services.vendors.atmem", "orchestrator"),
    ("memqual.v1", "services.common"),
    ("memqual.v1", "services.memory"),
)


def write_tree(root: Path, imports: tuple[tuple[str, str], ...]) -> None:
    shutil.copy(REPO_ROOT / "pyproject.toml", root)
    for package in PACKAGES:
        folder = root / package.replace(".", "/")
        folder.mkdir(parents=True)
        lines = [f"import {target}" for importer, target in imports if importer == package]
        (folder / "__init__.py").write_text("\n".join(lines), encoding="utf-8")


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    # Away from this repository's own packages: only the tree below root is linted.
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r}); "
        "from importlinter.cli import lint_imports_command as command; command()"
    )
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


def test_allowed_arrows_pass(tmp_path: Path) -> None:
    write_tree(tmp_path, ALLOWED)
    result = lint_imports(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("arrow", FORBIDDEN, ids=" imports ".join)
def test_forbidden_arrow_is_caught(tmp_path: Path, arrow: tuple[str, str]) -> None:
    write_tree(tmp_path, (arrow,))
    result = lint_imports(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert " -> ".join(arrow) in result.stdout


def test_every_service_package_is_in_a_contract() -> None:
    settings = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    named = {
        module
        for contract in contracts
        if contract["type"] == "layers"
        for layer in contract["layers"]
        for module in layer.split(" | ")
    }
    packages = {
        f"services.{path.parent.name}" for path in (REPO_ROOT / "services").glob("*/__init__.py")
    }
    assert packages <= named
