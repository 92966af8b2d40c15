"""What the process runtime writes down for gc, should the orchestrator be killed (DESIGN §3).

Each stack has a folder of its own below the user's state folder, with its volumes and a record of
its owner and its processes. Each process also carries the marks below in its environment, as do the
processes that it starts: the record may be one process short when the orchestrator dies between a
start and the writing down; the marks never are.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from chaos.storage.mounts import mounts_below, unmount
from orchestrator.errors import StackError
from orchestrator.runtimes.owner import Owner, same_mark, start_mark
from services.common.platform import atomic_write_bytes

__all__ = [
    "MarkedProcess",
    "ProcessRecord",
    "StackRecord",
    "StateFolder",
    "marked_processes",
    "marks_of",
    "state_root",
    "stored_stacks",
]

STATE_VARIABLE = "MEMQUAL_STATE_DIR"
RECORD_FILE = "record.json"
# A folder without a record belongs to a stack that is being made; after this time, to one that
# never was.
UNRECORDED_SECONDS = 3600.0

RUN_MARK = "MEMQUAL_RUN"
STACK_MARK = "MEMQUAL_STACK"
OWNER_PID_MARK = "MEMQUAL_OWNER_PID"
OWNER_STARTED_MARK = "MEMQUAL_OWNER_STARTED"
OWNER_MACHINE_MARK = "MEMQUAL_OWNER_MACHINE"


@dataclass(frozen=True)
class ProcessRecord:
    """One process that was started: its service, its id and the moment at which it began."""

    service: str
    pid: int
    started: str

    def alive(self) -> bool:
        """Whether that very process still runs, and not another one with its id."""
        current = start_mark(self.pid)
        return current is not None and same_mark(self.started, current)


@dataclass(frozen=True)
class StackRecord:
    """Whose a stack is, and what belongs to it."""

    run_id: str
    stack_id: str
    owner: Owner
    processes: tuple[ProcessRecord, ...] = ()


@dataclass(frozen=True)
class MarkedProcess:
    """A process that carries memqual's marks."""

    process: psutil.Process
    run_id: str
    stack_id: str
    owner: Owner


def marks_of(record: StackRecord) -> dict[str, str]:
    """What a process of a stack carries in its environment."""
    return {
        RUN_MARK: record.run_id,
        STACK_MARK: record.stack_id,
        OWNER_PID_MARK: str(record.owner.pid),
        OWNER_STARTED_MARK: record.owner.started,
        OWNER_MACHINE_MARK: record.owner.machine,
    }


def state_root() -> Path:
    """The user's folder for stacks of processes; MEMQUAL_STATE_DIR names another one."""
    named = os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named)
    home = Path.home()
    system = platform.system()
    if system == "Windows":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif system == "Darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    return base / "memqual" / "stacks"


class StateFolder:
    """The folder of one stack. Its record is always whole: it is replaced, never written over."""

    def __init__(self, path: Path, record: StackRecord) -> None:
        self.path = path
        self.record = record

    @classmethod
    def create(cls, run_id: str, stack_id: str) -> StateFolder:
        """Makes the folder of a stack of this process.

        Raises:
            StackError: it cannot be made.
        """
        root = state_root()
        record = StackRecord(run_id, stack_id, Owner.this_process())
        try:
            root.mkdir(parents=True, exist_ok=True)
            path = Path(tempfile.mkdtemp(prefix=f"{run_id}.{stack_id}.", dir=root))
            made = cls(path, record)
            made._write()
        except OSError as error:
            raise StackError(
                f"The state folder {root} cannot be written to: {error.strerror}.",
                next_step=f"Free space there, or name another folder: {STATE_VARIABLE}=path.",
            ) from error
        return made

    def add_process(self, service: str, pid: int) -> None:
        """Writes a process down.

        Raises:
            StackError: it cannot be written; the folder may be gone already.
        """
        added = ProcessRecord(service, pid, start_mark(pid) or "")
        others = tuple(each for each in self.record.processes if each.service != service)
        self.record = StackRecord(
            self.record.run_id, self.record.stack_id, self.record.owner, (*others, added)
        )
        try:
            self._write()
        except OSError as error:
            raise StackError(
                f"The record of {service!r} cannot be written: {error.strerror}.",
                next_step=f"Free space in {self.path.parent}, then run again.",
            ) from error

    def volume(self, name: str) -> Path:
        """The folder that stands in for a volume; made when it is not there."""
        folder = self.path / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def work_folder(self, service: str) -> Path:
        """An empty folder for a service to run in."""
        folder = self.path / "work" / service
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def remove(self) -> None:
        """Removes the folder; raises OSError when something in it cannot be."""
        for target in mounts_below(self.path):
            unmount(target)
        if self.path.exists():
            shutil.rmtree(self.path)

    def _write(self) -> None:
        data = json.dumps(asdict(self.record)).encode()
        atomic_write_bytes(self.path / RECORD_FILE, data)


def stored_stacks() -> Iterator[StateFolder]:
    """Every stack's folder; an old one without a record has an owner with process id 0."""
    try:
        paths = sorted(state_root().iterdir())
    except OSError:
        return
    for path in paths:
        record = _read(path / RECORD_FILE)
        if record is not None:
            yield StateFolder(path, record)
        elif path.is_dir() and time.time() - path.stat().st_mtime > UNRECORDED_SECONDS:
            yield StateFolder(path, StackRecord("", "", Owner(0, "", "")))


def marked_processes() -> Iterator[MarkedProcess]:
    """Processes with memqual's marks that this user may see; not this one and its parents."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter():
        if process.pid in own:
            continue
        try:
            marks = process.environ()
        except (psutil.Error, OSError):
            continue  # Another user's, or gone meanwhile.
        marked = _marked(process, marks)
        if marked is not None:
            yield marked


def _marked(process: psutil.Process, marks: Mapping[str, str]) -> MarkedProcess | None:
    pid = marks.get(OWNER_PID_MARK, "")
    if not pid.isdecimal() or STACK_MARK not in marks or RUN_MARK not in marks:
        return None
    owner = Owner(
        pid=int(pid),
        started=marks.get(OWNER_STARTED_MARK, ""),
        machine=marks.get(OWNER_MACHINE_MARK, ""),
    )
    return MarkedProcess(process, marks[RUN_MARK], marks[STACK_MARK], owner)


def _read(path: Path) -> StackRecord | None:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return StackRecord(
            run_id=str(data["run_id"]),
            stack_id=str(data["stack_id"]),
            owner=Owner(**data["owner"]),
            processes=tuple(ProcessRecord(**each) for each in data["processes"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
