"""`memqual doctor`: what it says, what it makes of it, and that it changes nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from orchestrator.campaign import doctor, doctor_engine, doctor_machine
from orchestrator.campaign.doctor_findings import Finding, State
from orchestrator.errors import EngineError, ImageError, StackError
from orchestrator.images import Presence, look_for, recipe_names
from orchestrator.runtimes import process_state
from orchestrator.runtimes.owner import Owner
from orchestrator.runtimes.process_state import StackRecord, StateFolder

READY, NOT_READY = 0, 4
GIB = 1 << 30
DEAD = Owner(pid=2**22 + 1, started="boot:1", machine="")


def found(name: str, state: State) -> Callable[..., Finding]:
    """A check that always comes to the same."""
    return lambda *_, **__: Finding(name, state, "seen", "" if state is State.OK else "Mend it.")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes every check come to `ok`, and the named ones to something else."""
    checks = [
        "check_python",
        "check_engine",
        "check_images",
        "check_debootstrap",
        "check_state_folder",
        "check_ports",
        "check_loopback",
        "check_disk",
        "check_memory",
        "check_skew",
        "check_fuse",
    ]

    def become(**states: State) -> None:
        for check in checks:
            name = check.removeprefix("check_")
            monkeypatch.setattr(doctor, check, found(name, states.get(name, State.OK)))
        leftovers = found("leftovers", states.get("leftovers", State.OK))
        monkeypatch.setattr(doctor, "check_leftovers", lambda *, engine: (leftovers(),))

    become()
    return become


@pytest.mark.parametrize(
    ("lacking", "runtimes"),
    [
        ((), ["docker", "process"]),
        (("engine",), ["process"]),
        (("images",), ["process"]),
        (("ports",), ["docker"]),
        (("state_folder",), ["docker"]),
        (("python",), []),
        (("loopback",), []),
        (("disk",), []),
        (("memory",), []),
        (("engine", "ports"), []),
        (("skew", "fuse", "debootstrap", "leftovers"), ["docker", "process"]),
    ],
)
def test_what_is_missing_decides_which_runtimes_there_are(
    machine: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    lacking: Sequence[str],
    runtimes: list[str],
) -> None:
    machine(**dict.fromkeys(lacking, State.MISSING))
    code = doctor.examine(json_output=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["runtimes"], told["ready"]) == (runtimes, bool(runtimes))
    assert code == (READY if runtimes else NOT_READY)
    for finding in told["findings"]:
        missing = finding["name"] in lacking
        assert finding["state"] == ("missing" if missing else "ok")
        assert finding["next_step"] == ("Mend it." if missing else "")


def test_warnings_keep_no_run_from_going_on(machine: Callable[..., None]) -> None:
    machine(disk=State.WARNING, memory=State.WARNING, images=State.WARNING)
    assert doctor.diagnose().runtimes == ("docker", "process")


def test_without_an_engine_nobody_looks_for_images(machine: Callable[..., None]) -> None:
    machine(engine=State.MISSING)
    assert "images" not in [one.name for one in doctor.diagnose().findings]


def test_each_line_has_a_state_a_name_and_a_next_step(
    machine: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    machine(engine=State.MISSING, disk=State.WARNING)
    assert doctor.examine(json_output=False) == READY
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ok", "python", "seen"]
    assert lines[1].split() == ["missing", "engine", "seen"]
    assert lines[2].strip() == "next step: Mend it."
    assert lines[-1] == "This machine can run the quick profile with: process."
    machine(loopback=State.MISSING)
    assert doctor.examine(json_output=False) == NOT_READY
    assert capsys.readouterr().out.splitlines()[-1].startswith("This machine cannot run")


def test_this_machine_runs_these_tests_and_so_local_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is replaced but the engine's address: the checks look at what is really here."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    diagnosis = doctor.diagnose()
    states = {one.name: one.state for one in diagnosis.findings}
    assert states["container engine"] is State.MISSING
    assert (states["python"], states["loopback"]) == (State.OK, State.OK)
    assert states["free ports"] is State.OK
    for finding in diagnosis.findings:
        assert (finding.next_step == "") == (finding.state is State.OK)


def test_an_old_python_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_machine, "OLDEST_PYTHON", (99, 0))
    assert doctor_machine.check_python().state is State.MISSING


@dataclass
class Amount:
    """What psutil and shutil answer."""

    free: int = 0
    available: int = 0


@pytest.mark.parametrize(
    ("amount", "state"),
    [(0, State.MISSING), (GIB // 2, State.WARNING), (3 * GIB, State.OK), (99 * GIB, State.OK)],
)
def test_room(monkeypatch: pytest.MonkeyPatch, amount: int, state: State) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Amount(free=amount))
    monkeypatch.setattr("psutil.virtual_memory", lambda: Amount(available=amount))
    assert doctor_machine.check_disk().state is state
    assert doctor_machine.check_memory().state is state


def test_a_loopback_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", refuse)
    finding = doctor_machine.check_loopback()
    assert (finding.state, finding.detail) == (State.MISSING, "Network is unreachable")


def test_no_free_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> NoReturn:
        raise StackError("No free port.", next_step="End what holds them.")

    monkeypatch.setattr(doctor_machine, "HeldPorts", none)
    finding = doctor_machine.check_ports()
    assert finding == Finding("free ports", State.MISSING, "No free port.", "End what holds them.")


def test_a_state_folder_that_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("MEMQUAL_STATE_DIR", str(file / "stacks"))
    assert doctor_machine.check_state_folder().state is State.MISSING
    monkeypatch.setenv("MEMQUAL_STATE_DIR", str(tmp_path / "new" / "stacks"))
    assert doctor_machine.check_state_folder().state is State.OK
    assert sorted(tmp_path.iterdir()) == [file]


def test_what_a_platform_cannot_do_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor_machine, "shared_object", lambda: None)
    monkeypatch.setattr(doctor_machine, "FUSE", tmp_path / "fuse")
    assert doctor_machine.check_skew().state is State.WARNING
    assert "N/R (platform)" in doctor_machine.check_skew().next_step
    assert doctor_machine.check_fuse().detail == "is not here"
    (tmp_path / "fuse").touch()
    monkeypatch.setattr(doctor_machine, "find_library", lambda name: f"lib{name}.so")
    assert doctor_machine.check_fuse().state is State.OK
    monkeypatch.setattr(doctor_machine, "find_library", lambda name: None)
    found = doctor_machine.check_fuse()
    assert (found.state, found.detail) == (
        State.WARNING,
        "can be opened, but there is no libfuse",
    )


@pytest.mark.parametrize(
    ("presence", "can_make", "state", "told"),
    [
        (Presence(("a", "b"), (), "base:1", True, False), True, State.OK, "all 2 present"),
        (Presence(("a",), ("b",), "base:1", True, False), False, State.WARNING, "is present"),
        (Presence((), ("a",), "my:1", False, True), False, State.WARNING, "base my:1 is not here"),
        (Presence((), ("a",), "base:1", False, False), True, State.WARNING, "not made yet"),
        (Presence((), ("a",), "base:1", False, False), False, State.MISSING, "no base can be made"),
    ],
)
def test_images(
    monkeypatch: pytest.MonkeyPatch, presence: Presence, can_make: bool, state: State, told: str
) -> None:
    monkeypatch.setattr(doctor_engine, "look_for", lambda _: presence)
    debootstrap = found("debootstrap", State.OK if can_make else State.WARNING)()
    finding = doctor_engine.check_images(debootstrap)
    assert finding.state is state
    assert told in finding.detail


@pytest.mark.parametrize("kind", [EngineError, ImageError])
def test_images_that_cannot_be_looked_for(
    monkeypatch: pytest.MonkeyPatch, kind: type[EngineError | ImageError]
) -> None:
    def fail(_: object) -> NoReturn:
        raise kind("It broke.", next_step="Mend it.")

    monkeypatch.setattr(doctor_engine, "look_for", fail)
    finding = doctor_engine.check_images(found("debootstrap", State.OK)())
    assert finding == Finding("images", State.MISSING, "It broke.", "Mend it.")


def test_a_host_without_debootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    finding = doctor_engine.check_debootstrap()
    assert finding.state is State.WARNING
    assert finding.detail == "not installed: debootstrap, apt-get, tar"
    assert "BASE_IMAGE=name:tag" in finding.next_step


@pytest.fixture
def stacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An own state folder, and no process of another test in sight."""
    root = tmp_path / "stacks"
    monkeypatch.setenv(process_state.STATE_VARIABLE, str(root))
    monkeypatch.setattr(doctor_engine, "marked_processes", lambda: iter(()))
    return root


def test_leftovers_are_named_and_stay(stacks: Path) -> None:
    (none,) = doctor_engine.check_leftovers(engine=False)
    assert (none.state, none.detail) == (State.OK, "none")
    StateFolder.create("run-alive", "a0")
    (alive,) = doctor_engine.check_leftovers(engine=False)
    assert (alive.state, alive.detail) == (
        State.OK,
        "none; 1 thing of runs that go on",
    )
    left = StateFolder.create("run-dead", "a0")
    left.record = StackRecord("run-dead", "a0", DEAD)
    left.add_process("memory", DEAD.pid)
    (dead,) = doctor_engine.check_leftovers(engine=False)
    assert dead.state is State.WARNING
    assert dead.detail == (f"1 of dead runs: folder {left.path.name}; 1 thing of runs that go on")
    assert "memqual gc" in dead.next_step
    assert len(list(stacks.iterdir())) == 2


@pytest.mark.e2e_docker
def test_images_are_looked_for_and_neither_built_nor_pulled() -> None:
    names = recipe_names()
    seen = look_for(names)
    assert sorted(seen.present + seen.missing) == sorted(names)
    assert look_for(names) == seen
    absent = look_for(names, base_image="memqual-tests/there-is-none:1")
    assert absent == Presence((), names, "memqual-tests/there-is-none:1", False, True)
