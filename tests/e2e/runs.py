"""What tests of whole runs share: `memqual` as a process of its own, and what it leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.evidence.rundir import read_json_lines
from orchestrator.model import TrialRecord
from orchestrator.runtimes.process_state import marked_processes
from tests.e2e.small_run import CELLS_VARIABLE

# Windows interrupts groups of processes, and ours would be this one.
if sys.platform == "win32":
    NEW_GROUP = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    NEW_GROUP = 0
ROOT = Path(__file__).resolve().parents[2]
RUN_SECONDS = 300.0
SMALL_MEMORY = """\
name: small
process: {module: tests.orchestrator.suites.narrative.small_memory, args: []}
"""
"""A vendor.yaml of a small narrative memory that passes."""
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Ended:
    """A command that has ended.

    Attributes:
        code: Its exit code; negative: the signal that ended it.
        out, err: What it wrote.
        seconds: How long it took.
    """

    code: int
    out: str
    err: str
    seconds: float

    @property
    def said(self) -> str:
        """All that a person saw."""
        return self.out + self.err


@dataclass
class Bench:
    """A folder for runs, a folder for the stacks' state, and commands that use both.

    Attributes:
        folder: Empty folder of the test.
        runtime: `process` or `docker`.
        cells: Parts of the ids of the cells that are run.
    """

    folder: Path
    runtime: str = "process"
    cells: str = "after_receipt/none"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        """Where runs are made."""
        return self.folder / "runs"

    @property
    def state(self) -> Path:
        """Where stacks of processes keep their state."""
        return self.folder / "state"

    def run_folders(self) -> list[Path]:
        """Every run's folder, oldest first."""
        return sorted(self.runs.iterdir()) if self.runs.exists() else []

    def vendor(self, *arguments: str) -> Path:
        """A vendor.yaml of the broken memory."""
        path = self.folder / "vendor.yaml"
        path.write_text(
            "name: broken\n"
            "recipe: control\n"
            f"process: {{module: tests.e2e.vendors.broken, args: {json.dumps(arguments)}}}\n"
        )
        return path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `memqual qualify` with few cells; see `finish`."""
        return self.command(
            "qualify",
            *("--profile", "selftest", "--stacks", "1", "--json-progress"),
            *("--runtime", self.runtime, "--runs", str(self.runs)),
            *arguments,
        )

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        """Start any command of memqual's."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.small_run", *arguments],
            cwd=ROOT,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            creationflags=NEW_GROUP,
        )

    def qualify(self, *arguments: str) -> Ended:
        """A whole `memqual qualify`."""
        return finish(self.start(*arguments))

    def gc(self) -> Ended:
        """A whole `memqual gc`."""
        return finish(self.command("gc"))

    def left(self) -> list[str]:
        """Processes of this bench's runs and folders of their stacks that are still there."""
        runs = {path.name for path in self.run_folders()}
        alive = [
            f"process {each.process.pid} of {each.run_id}"
            for each in marked_processes()
            if each.run_id in runs
        ]
        kept = [str(path) for path in self.state.iterdir()] if self.state.exists() else []
        return alive + kept

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "protos"))),
            "MEMQUAL_STATE_DIR": str(self.state),
            CELLS_VARIABLE: self.cells,
            **self.environment,
        }


def finish(process: subprocess.Popen[str], seconds: float = RUN_SECONDS) -> Ended:
    """Wait for a command's end; one that does not end is killed and fails the test."""
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {seconds} s:\n{out}\n{err}") from None
    return Ended(process.returncode, out, err, time.monotonic() - began)


def memqual(*arguments: str, seconds: float = 4 * RUN_SECONDS) -> subprocess.CompletedProcess[str]:
    """A whole command of memqual's, with every cell of its profile."""
    return subprocess.run(
        [sys.executable, "-m", "orchestrator.cli", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def await_that(
    process: subprocess.Popen[str], seen: Callable[[], bool], seconds: float = 120.0
) -> None:
    """Wait until something is seen while a command runs."""
    until = time.monotonic() + seconds
    while not seen():
        if process.poll() is not None:
            out, err = process.communicate()
            raise AssertionError(f"ended with {process.returncode} before:\n{out}\n{err}")
        if time.monotonic() > until:
            process.terminate()
            raise AssertionError("was not seen in time")
        time.sleep(POLL_SECONDS)


def trials_of(folder: Path) -> list[TrialRecord]:
    """The finished trials of a run, in order."""
    return [
        TrialRecord.model_validate_json(line) for line in read_json_lines(folder / "trials.jsonl")
    ]


def verdicts_of(folder: Path) -> dict[str, str]:
    """The verdict of each trial of a run, the last record of it."""
    return {trial.trial_id: trial.verdict.value for trial in trials_of(folder)}


def expect(ended: Ended, code: int, words: Sequence[str]) -> None:
    """Check how a command ended: its exit code, and that it said all of this, however wrapped."""
    said = " ".join(ended.said.split())
    missing = [text for text in words if text not in said]
    assert (ended.code, missing) == (code, []), ended.said
