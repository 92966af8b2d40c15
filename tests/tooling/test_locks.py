"""Lock files pin everything by hash, name no location, and agree with each other."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPO_ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = REPO_ROOT / "requirements"
LOCKS = sorted(path.relative_to(REQUIREMENTS).as_posix() for path in REQUIREMENTS.rglob("*.lock"))
# A vendor may cap what the testbed itself takes newer; each such package is named here.
VENDOR_CAPS = {
    "vendors/atmem.lock": {"cryptography"},
    "vendors/atmem-2.3.6.lock": {"cryptography"},
}
# Installed by its own lock, before any other.
HOST_ONLY = {"pip.lock"}


@dataclass(frozen=True)
class Pin:
    """One locked package."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        (specifier,) = self.requirement.specifier
        assert specifier.operator == "=="
        return specifier.version


def read_lock(name: str) -> list[Pin]:
    text = (REQUIREMENTS / name).read_text(encoding="utf-8")
    logical = re.sub(r"\\\n", " ", text)
    pins = []
    for line in logical.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        requirement, *options = re.split(r"\s+--hash=", line)
        pins.append(Pin(Requirement(requirement), tuple(option.strip() for option in options)))
    return pins


def declared(*, group: str | None = None) -> list[Requirement]:
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = project["dependency-groups"][group] if group else project["project"]["dependencies"]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_by_hash(name: str) -> None:
    pins = read_lock(name)
    assert pins
    for pin in pins:
        assert pin.version, pin.name
        assert pin.hashes, pin.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in pin.hashes), pin.name


@pytest.mark.parametrize("name", LOCKS)
def test_no_line_names_a_location_or_an_option(name: str) -> None:
    text = (REQUIREMENTS / name).read_text(encoding="utf-8")
    for line in text.splitlines():
        assert "://" not in line
        if line.startswith((" ", "-")):
            assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line), line


@pytest.mark.parametrize("name", sorted(set(LOCKS) - {"dev.lock", "pip.lock"}))
def test_image_locks_need_no_marker_of_the_host(name: str) -> None:
    assert [pin.name for pin in read_lock(name) if pin.requirement.marker] == []


@pytest.mark.parametrize("name", sorted(set(LOCKS) - {"dev.lock"} - HOST_ONLY))
def test_image_locks_take_the_versions_that_the_host_tests(name: str) -> None:
    # A package may have one version for older interpreters and one for newer ones.
    pins = {(pin.name, pin.version) for pin in read_lock("dev.lock")}
    host = {package for package, _ in pins}
    image = {(pin.name, pin.version) for pin in read_lock(name) if pin.name in host}
    differing = {package for package, _ in image - pins}
    assert differing == VENDOR_CAPS.get(name, set())


@pytest.mark.parametrize("requirement", [*declared(), *declared(group="dev")], ids=str)
def test_dev_lock_satisfies_what_pyproject_declares(requirement: Requirement) -> None:
    versions = {pin.name: pin.version for pin in read_lock("dev.lock")}
    assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("name", sorted(set(LOCKS) - {"dev.lock"}))
def test_image_locks_hold_what_their_input_asks_for(name: str) -> None:
    source = (REQUIREMENTS / name).with_suffix(".in")
    lines = source.read_text(encoding="utf-8").splitlines()
    asked = [Requirement(line) for line in lines if line.strip() and line[0] not in "#-"]
    versions = {pin.name: pin.version for pin in read_lock(name)}
    assert asked
    for requirement in asked:
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])
