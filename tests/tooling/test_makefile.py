"""The Makefile's help is complete, and variables reach the command as flags."""

import os
import re
import subprocess
from pathlib import Path

import pytest

REPO_ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (REPO_ROOT / "Makefile").read_text(encoding="utf-8")
WANTED = {
    *("setup", "protos", "check-protos", "lint", "test", "test-unit", "qualify", "images"),
    *("lock", "bench", "gc", "doctor", "clean", "help"),
}


def make(*arguments: str) -> str:
    # Run inside `make test`, the outer make's flags must not leak into this one.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=REPO_ROOT,
        env=inherited,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return result.stdout


def documented() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))


def phony() -> set[str]:
    return set(re.findall(r"^\.PHONY: ([a-z-]+)$", MAKEFILE, re.MULTILINE))


def test_every_target_that_people_use_is_documented() -> None:
    assert documented() >= WANTED
    assert documented() <= phony()


def test_help_shows_each_documented_target_once() -> None:
    shown = [line.split()[0] for line in make("help").splitlines()]
    assert sorted(shown) == sorted(documented())


def test_help_is_what_plain_make_does() -> None:
    assert make() == make("help")


@pytest.mark.parametrize(
    ("variables", "flags"),
    [
        ([], "--profile quick"),
        (["PROFILE=standard"], "--profile standard"),
        (["SEED=7", "RUNTIME=process"], "--profile quick --seed 7 --runtime process"),
        (["VENDOR=a/vendor.yaml"], "--profile quick --vendor a/vendor.yaml"),
        (["MEMORY_IMAGE=mine:1"], "--profile quick --memory-image mine:1"),
        (["RESUME=20260101-1"], "--profile quick --resume 20260101-1"),
    ],
)
def test_qualify_passes_set_variables_and_no_others(variables: list[str], flags: str) -> None:
    (command,) = [
        line for line in make("-n", "qualify", *variables).splitlines() if " qualify " in line
    ]
    assert " ".join(command.split()).endswith(f"memqual qualify {flags}")
