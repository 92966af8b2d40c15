"""SIGKILL of the orchestrator at any moment: gc leaves nothing, and RESUME ends as if uncut.

Twenty kills with each runtime, at moments that a seed gives, over the whole length of a run: before
and during the first stack's start, in batches, in swaps of the memory. A moment is a state of the
run and a delay, so that it means the same on a slow machine. MEMQUAL_TEST_KILLS asks for fewer.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest

from services.common.platform import kill_process
from tests.e2e.runs import Bench, await_that, expect, finish, trials_of, verdicts_of
from tests.e2e.small_run import CONTROLS_VARIABLE

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

KILLS = int(os.environ.get("MEMQUAL_TEST_KILLS", "20"))
SEED = 20260922
# Batches with and without a lease's end, the vendor's and three controls': stacks, kills, swaps.
CELLS = "in_request/none,after_receipt"
CONTROLS = "control:reference control:naive control:null"
WRONG_USAGE = 2
SETTLE_LOOKS, SETTLE_SECONDS = 100, 0.3

RUNTIMES = [
    pytest.param("process", marks=pytest.mark.e2e_process),
    pytest.param("docker", marks=pytest.mark.e2e_docker),
]


@dataclass(frozen=True)
class Moment:
    """When the orchestrator is killed.

    Attributes:
        trials: So many trials are kept; -1: its folder is made; -2: it was just started.
        delay_seconds: So much later.
    """

    trials: int
    delay_seconds: float

    @classmethod
    def draw(cls, number: int, whole: int) -> Moment:
        """The moment of one kill; one in ten is before there is a folder."""
        chance = random.Random(f"{SEED}:{number}")
        stage = chance.random()
        trials = -2 if stage < 0.1 else -1 if stage < 0.3 else chance.randrange(whole)
        return cls(trials, chance.uniform(0.0, 3.0 if trials < 0 else 1.5))

    def has_come(self, bench: Bench) -> bool:
        """Whether the run is there, but for the delay."""
        kept = [len(trials_of(run)) for run in bench.run_folders()]
        return self.trials == -2 or max(kept, default=-2) >= max(self.trials, 0)


def _bench(folder: Path, runtime: str) -> Bench:
    return Bench(folder, runtime, CELLS, {CONTROLS_VARIABLE: CONTROLS})


@pytest.fixture(scope="module", params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def uncut(runtime: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The verdict of every trial of a run that nobody cut."""
    bench = _bench(tmp_path_factory.mktemp("uncut"), runtime)
    expect(bench.qualify(), 0, ["QUALIFIED"])
    return verdicts_of(bench.run_folders()[0])


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_leaves_nothing_and_ends_as_if_uncut(
    tmp_path: Path, runtime: str, uncut: dict[str, str], number: int
) -> None:
    bench = _bench(tmp_path, runtime)
    moment = Moment.draw(number, len(uncut))
    died = _kill_at(bench, moment)
    _await_settled(lambda: _left(bench))
    found = len(_left(bench))
    expect(bench.gc(), 0, [])
    assert _left(bench) == []
    kept = [one for run in bench.run_folders() for one in trials_of(run)]
    print(f"{runtime} {number} {moment}: died {died}, left {found}, kept {len(kept)}/{len(uncut)}")
    _resume(bench)
    (run,) = [run for run in bench.run_folders() if (run / "manifest.json").exists()]
    assert trials_of(run)[: len(kept)] == kept
    assert verdicts_of(run) == uncut
    for command in ("verify", "rescore"):
        expect(finish(bench.command(command, str(run))), 0, [])
    assert _left(bench) == []


def _kill_at(bench: Bench, moment: Moment) -> bool:
    """SIGKILL at that moment; False when the run had ended just before."""
    running = bench.start()
    await_that(running, lambda: moment.has_come(bench))
    try:
        running.wait(moment.delay_seconds)
        died = False
    except subprocess.TimeoutExpired:
        kill_process(running.pid)
        died = True
    finish(running)
    return died


def _resume(bench: Bench) -> None:
    """Continue the run; one that was cut before it had planned anything is begun again."""
    for run in bench.run_folders():
        ended = bench.qualify("--resume", run.name)
        if (run / "manifest.json").exists():
            expect(ended, 0, ["QUALIFIED"])
            return
        expect(ended, WRONG_USAGE, ["it has no manifest.json", "Next step"])
    expect(bench.qualify(), 0, ["QUALIFIED"])


def _await_settled(look: Callable[[], list[str]]) -> None:
    """Wait until the engine has done what the killed orchestrator had still asked for."""
    before: list[str] | None = None
    for _ in range(SETTLE_LOOKS):
        now = look()
        if now == before:
            return
        before = now
        time.sleep(SETTLE_SECONDS)
    raise AssertionError("the engine goes on making things")


def _left(bench: Bench) -> list[str]:
    """Processes, state folders, containers, networks and volumes of the bench's runs."""
    if bench.runtime != "docker":
        return bench.left()
    client = docker.from_env(timeout=60)
    try:
        found = []
        for run in bench.run_folders():
            filters: dict[str, str | list[str] | bool] = {"label": f"memqual.run={run.name}"}
            found += [f"container {c.name}" for c in client.containers.list(True, filters=filters)]
            found += [f"network {n.name}" for n in client.networks.list(filters=filters)]
            found += [f"volume {v.name}" for v in client.volumes.list(filters=filters)]
        return sorted(found) + bench.left()
    finally:
        client.close()
