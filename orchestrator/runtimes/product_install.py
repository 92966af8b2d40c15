"""Builds the services' wheel from their sources and installs it (`runtimes.product`).

pip builds and installs without an index and without a network. The libraries are the ones that are
installed here, file by file and only what the wheel requires: whatever else this environment has,
a checkout among it, stays out.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from orchestrator.errors import StackError
from orchestrator.runtimes.product import Product, Wheel

__all__ = ["PRODUCT_NAME", "REQUIREMENTS", "install_product"]

PRODUCT_NAME = "memqual-services"
REQUIREMENTS = (
    *("cryptography", "grpcio", "grpcio-health-checking", "grpcio-reflection", "httpx"),
    *("langgraph", "langgraph-checkpoint-sqlite", "protobuf", "pydantic", "rfc8785"),
    *("structlog", "tenacity", "psutil; sys_platform == 'win32'"),
)
"""What the services import (requirements/agent.in)."""

_PACKAGES = ("memqual", "services")
_PIP_SECONDS = 120
_SHOWN_LINES = 10
_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "{version}"
requires-python = ">=3.11"
dependencies = [{requirements}]

[tool.hatch.build.targets.wheel]
packages = ["memqual", "services"]
"""


def install_product(folder: Path) -> Product:
    """Builds the wheel and installs it below `folder`, which must be empty; takes about 3 s.

    Raises:
        StackError: pip, or a library that the wheel requires, is not there or fails.
    """
    source, wheels = folder / "source", folder / "wheels"
    version = _version()
    try:
        _write_source(source, version)
        _pip(
            *("wheel", "--no-deps", "--no-index", "--no-build-isolation"),
            *("--wheel-dir", str(wheels), str(source)),
        )
        (file,) = wheels.glob("*.whl")
        code, libraries = folder / "code", folder / "libraries"
        _pip("install", "--no-deps", "--no-index", "--target", str(code), str(file))
        _copy_libraries(libraries)
        # Containers run as another user, whatever this one's umask is.
        for path in (code, *code.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        shutil.rmtree(source)
    except (OSError, ValueError) as error:
        raise StackError(
            f"The services' wheel cannot be installed below {folder}: {error}.",
            next_step="Free space there, then run again.",
        ) from error
    return Product(Wheel(PRODUCT_NAME, version, digest), code, libraries)


def _version() -> str:
    try:
        return importlib.metadata.version("memqual")
    except importlib.metadata.PackageNotFoundError:
        # A source tree that nobody installed.
        return "0.0.0"


def _write_source(folder: Path, version: str) -> None:
    for package in _PACKAGES:
        found = importlib.util.find_spec(package)
        for location in (found.submodule_search_locations or ()) if found else ():
            shutil.copytree(
                location,
                folder / package,
                ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "*.proto", "*.pyi"),
                dirs_exist_ok=True,
            )
    quoted = ", ".join(f'"{one}"' for one in REQUIREMENTS)
    text = _PROJECT.format(name=PRODUCT_NAME, version=version, requirements=quoted)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    try:
        result = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=_PIP_SECONDS,
            env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
        )
    except subprocess.TimeoutExpired as error:
        raise StackError(
            f"pip {arguments[0]} of the services took more than {_PIP_SECONDS} s.",
            next_step="Run again on a machine that is less busy.",
        ) from error
    if result.returncode != 0:
        shown = "\n".join(result.stderr.strip().splitlines()[-_SHOWN_LINES:])
        raise StackError(
            f"pip {arguments[0]} of the services failed:\n{shown}",
            next_step="Run `make setup`, which installs what the build needs.",
        )


def _copy_libraries(folder: Path) -> None:
    """Every file of every library that is required, directly or not."""
    for distribution in _closure(REQUIREMENTS):
        for file in distribution.files or ():
            if ".." in file.parts:
                continue  # A script beside the interpreter.
            target = folder / file
            if target.exists():
                continue
            source = Path(str(distribution.locate_file(file)))
            if not source.is_file():
                continue  # A bytecode file that was named and is not there.
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _closure(requirements: Iterable[str]) -> list[importlib.metadata.Distribution]:
    """The distributions that are required, directly or not, under this environment's markers."""
    found: dict[str, importlib.metadata.Distribution] = {}
    followed: set[tuple[str, str]] = set()
    left = [(Requirement(text), "") for text in requirements]
    while left:
        wanted, extra = left.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = str(canonicalize_name(wanted.name))
        if name not in found:
            found[name] = _installed(wanted.name)
        for asked in {"", *wanted.extras}:
            if (name, asked) not in followed:
                followed.add((name, asked))
                left += [(Requirement(text), asked) for text in found[name].requires or ()]
    return list(found.values())


def _installed(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError as error:
        raise StackError(
            f"The services require {name}, which is not installed here.",
            next_step="Run `make setup`, which installs what the services need.",
        ) from error
