"""The process runtime's records and marks, and what gc makes of them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import StackError
from orchestrator.runtimes import process_state
from orchestrator.runtimes.base import GcScope
from orchestrator.runtimes.owner import Owner, start_mark
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.runtimes.process_state import (
    RECORD_FILE,
    ProcessRecord,
    StackRecord,
    StateFolder,
    marked_processes,
    marks_of,
    state_root,
    stored_stacks,
)

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMQUAL_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def dead_owner(monkeypatch: pytest.MonkeyPatch) -> Owner:
    """An owner that is certainly dead: a process that ended, with the moment at which it began."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = start_mark(child.pid) or ""
    child.communicate(b"\n", timeout=10)
    return Owner(child.pid, started, Owner.this_process().machine)


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait(10)


def _sleep(
    sleepers: list[subprocess.Popen[bytes]], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(SLEEP, env={**os.environ, **environment}, stdout=subprocess.PIPE)
    sleepers.append(process)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"up"
    return process


def test_a_record_is_read_back_as_it_was_written() -> None:
    folder = StateFolder.create("run", "s1")
    folder.add_process("memory", os.getpid())
    folder.add_process("agent", os.getpid())
    folder.add_process("memory", os.getpid())
    assert [each.record for each in stored_stacks()] == [folder.record]
    assert [each.service for each in folder.record.processes] == ["agent", "memory"]
    assert all(each.alive() for each in folder.record.processes)
    assert folder.record.owner == Owner.this_process()
    folder.remove()
    folder.remove()
    assert list(stored_stacks()) == []


def test_volumes_and_work_folders_go_with_the_stack() -> None:
    folder = StateFolder.create("run", "s1")
    (folder.volume("data") / "file").touch()
    assert folder.volume("data").parent.parent == folder.path
    assert folder.work_folder("memory").is_dir()
    folder.remove()
    assert not folder.path.exists()


def test_a_folder_that_cannot_be_made_says_which(root: Path) -> None:
    root.parent.mkdir(exist_ok=True)
    root.write_text("in the way", encoding="utf-8")
    with pytest.raises(StackError, match="cannot be written to") as caught:
        StateFolder.create("run", "s1")
    assert "MEMQUAL_STATE_DIR" in caught.value.next_step


@pytest.mark.parametrize("content", ["", "{", "[]", '{"run_id": "x"}'])
def test_an_unreadable_record_is_nobodys_until_it_is_old(
    content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = StateFolder.create("run", "s1")
    (folder.path / RECORD_FILE).write_text(content, encoding="utf-8")
    assert list(stored_stacks()) == []
    # Processes that somebody else's killed run has left on this machine are swept, too.
    name = f"folder {folder.path.name}"
    assert name not in ProcessRuntime().gc(GcScope()).removed
    monkeypatch.setattr(process_state, "UNRECORDED_SECONDS", -1.0)
    assert name in ProcessRuntime().gc(GcScope()).removed
    assert not folder.path.exists()


@pytest.mark.parametrize(
    ("system", "variable", "below"),
    [
        ("Linux", "XDG_STATE_HOME", "memqual/stacks"),
        ("Windows", "LOCALAPPDATA", "memqual/stacks"),
    ],
)
def test_each_system_has_its_place(
    system: str, variable: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMQUAL_STATE_DIR")
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr("platform.system", lambda: system)
    assert state_root() == tmp_path / below


@pytest.mark.e2e_process
def test_marks_are_found_on_processes_and_on_what_they_start(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    record = StackRecord("marks-run", "s1", Owner.this_process())
    marked = _sleep(sleepers, marks_of(record))
    unmarked = _sleep(sleepers, {"MEMQUAL_RUN": "marks-run"})
    found = {
        each.process.pid: (each.run_id, each.stack_id, each.owner)
        for each in marked_processes()
        if each.run_id == "marks-run"
    }
    assert found == {marked.pid: ("marks-run", "s1", Owner.this_process())}
    assert unmarked.pid not in found


@pytest.mark.e2e_process
def test_gc_ends_a_dead_owners_processes_and_no_others(
    sleepers: list[subprocess.Popen[bytes]], dead_owner: Owner
) -> None:
    dead = _sleep(sleepers, marks_of(StackRecord("gc-run", "s1", dead_owner)))
    alive = _sleep(sleepers, marks_of(StackRecord("gc-run", "s2", Owner.this_process())))
    report = ProcessRuntime().gc(GcScope())
    assert f"process {alive.pid}" in report.kept
    assert not psutil.pid_exists(dead.pid)
    assert alive.poll() is None


@pytest.mark.e2e_process
def test_gc_of_one_run_ends_a_living_owners_processes_too(
    sleepers: list[subprocess.Popen[bytes]],
) -> None:
    mine = _sleep(sleepers, marks_of(StackRecord("gc-this", "s1", Owner.this_process())))
    other = _sleep(sleepers, marks_of(StackRecord("gc-that", "s1", Owner.this_process())))
    report = ProcessRuntime().gc(GcScope(run_id="gc-this"))
    assert f"process {mine.pid}" in report.removed
    assert f"process {other.pid}" in report.kept
    assert other.poll() is None


@pytest.mark.e2e_process
def test_gc_ends_a_recorded_process_whose_marks_cannot_be_read(
    sleepers: list[subprocess.Popen[bytes]], dead_owner: Owner
) -> None:
    recorded = _sleep(sleepers, {})
    folder = StateFolder.create("record-run", "s1")
    _rewrite(folder, dead_owner, ProcessRecord("m", recorded.pid, start_mark(recorded.pid) or ""))
    report = ProcessRuntime().gc(GcScope())
    assert {f"process {recorded.pid}", f"folder {folder.path.name}"} <= set(report.removed)
    assert not psutil.pid_exists(recorded.pid)


@pytest.mark.e2e_process
def test_gc_never_ends_a_process_that_only_has_a_recorded_id(
    sleepers: list[subprocess.Popen[bytes]], dead_owner: Owner
) -> None:
    foreign = _sleep(sleepers, {})
    folder = StateFolder.create("record-run", "s1")
    earlier = psutil.Process(foreign.pid).create_time() - 3600
    mark = start_mark(foreign.pid) or ""
    boot, colon, ticks = mark.rpartition(":")
    started = f"{boot}:{int(ticks) - 1}" if colon else f"{earlier:.3f}"
    _rewrite(folder, dead_owner, ProcessRecord("memory", foreign.pid, started))
    report = ProcessRuntime().gc(GcScope())
    assert f"folder {folder.path.name}" in report.removed
    assert foreign.poll() is None


def _rewrite(folder: StateFolder, owner: Owner, *processes: ProcessRecord) -> None:
    old = folder.record
    folder.record = StackRecord(old.run_id, old.stack_id, owner, processes)
    folder._write()
