"""SIGKILL of the orchestrator at any moment: gc leaves nothing, and RESUME ends as if uncut.

Twenty kills with each runtime, at moments that a seed gives, over the whole length of a run: images,
first stack, batches, swaps of the memory, the bundle. MEMQUAL_TEST_KILLS asks for fewer.
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
from tests.e2e.runs import Bench, Ended, expect, finish, trials_of, verdicts_of
from tests.e2e.small_run import CONTROLS_VARIABLE

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

KILLS = int(os.environ.get("MEMQUAL_TEST_KILLS", "20"))
SEED = 20260922
# Every batch of one window, the vendor's and three controls': stacks, kills and swaps.
CELLS = "in_request"
CONTROLS = "control:reference control:naive control:null"
WRONG_USAGE = 2
SETTLE_LOOKS, SETTLE_SECONDS = 100, 0.3

RUNTIMES = [
    pytest.param("process", marks=pytest.mark.e2e_process),
    pytest.param("docker", marks=pytest.mark.e2e_docker),
]


@dataclass(frozen=True)
class Uncut:
    """A run that nobody cut.

    Attributes:
        verdicts: By trial id.
        seconds: How long it took.
    """

    verdicts: dict[str, str]
    seconds: float


def _bench(folder: Path, runtime: str) -> Bench:
    return Bench(folder, runtime, CELLS, {CONTROLS_VARIABLE: CONTROLS})


@pytest.fixture(scope="module", params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def uncut(runtime: str, tmp_path_factory: pytest.TempPathFactory) -> Uncut:
    bench = _bench(tmp_path_factory.mktemp("uncut"), runtime)
    ended = bench.qualify()
    expect(ended, 0, ["QUALIFIED"])
    return Uncut(verdicts_of(bench.run_folders()[0]), ended.seconds)


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_leaves_nothing_and_ends_as_if_uncut(
    tmp_path: Path, runtime: str, uncut: Uncut, number: int
) -> None:
    bench = _bench(tmp_path, runtime)
    moment_seconds = random.Random(f"{SEED}:{number}").uniform(0, uncut.seconds)
    died = _kill_after(bench.start(), moment_seconds)
    _await_settled(lambda: _left(bench))
    found = len(_left(bench))
    expect(bench.gc(), 0, [])
    assert _left(bench) == []
    kept = [trials_of(run) for run in bench.run_folders()]
    print(
        f"{runtime} kill {number} after {moment_seconds:.1f} s: died {died}, {found} things left, "
        f"{sum(map(len, kept))} of {len(uncut.verdicts)} trials kept"
    )
    _resume(bench)
    (run,) = [run for run in bench.run_folders() if (run / "manifest.json").exists()]
    if kept and kept[0]:
        assert trials_of(run)[: len(kept[0])] == kept[0]
    assert verdicts_of(run) == uncut.verdicts
    for command in ("verify", "rescore"):
        expect(finish(bench.command(command, str(run))), 0, [])
    assert _left(bench) == []


def _kill_after(running: subprocess.Popen[str], seconds: float) -> bool:
    """SIGKILL at that moment; False when the run had ended before."""
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        kill_process(running.pid)
    return finish(running).code < 0


def _resume(bench: Bench) -> Ended:
    """Continue the run; one that was cut before it had planned anything is begun again."""
    for run in bench.run_folders():
        ended = bench.qualify("--resume", run.name)
        if (run / "manifest.json").exists():
            expect(ended, 0, ["QUALIFIED"])
            return ended
        expect(ended, WRONG_USAGE, ["it has no manifest.json", "Next step"])
    ended = bench.qualify()
    expect(ended, 0, ["QUALIFIED"])
    return ended


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
            filters = {"label": f"memqual.run={run.name}"}
            found += [f"container {c.name}" for c in client.containers.list(True, filters=filters)]
            found += [f"network {n.name}" for n in client.networks.list(filters=filters)]
            found += [f"volume {v.name}" for v in client.volumes.list(filters=filters)]
        return sorted(found) + bench.left()
    finally:
        client.close()
