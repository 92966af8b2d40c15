"""Runs that are cut, or in each other's way: what was finished is kept, nothing is left behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from services.common.platform import interrupt_process, suspend_process, terminate_process
from tests.e2e.runs import Bench, await_that, expect, finish, trials_of, verdicts_of

pytestmark = [pytest.mark.e2e_process, pytest.mark.timeout(400)]

WRONG_USAGE, INCOMPLETE = 2, 4
TRIALS_A_BATCH = 5


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, cells="after_receipt/none,after_receipt/idempotent")


def _batch_is_done(bench: Bench) -> bool:
    return any(len(trials_of(run)) >= TRIALS_A_BATCH for run in bench.run_folders())


def _is_starting(bench: Bench) -> bool:
    return bench.state.exists() and any(bench.state.iterdir())


def test_ctrl_c_keeps_what_was_finished_and_resume_does_the_rest(bench: Bench) -> None:
    running = bench.start()
    await_that(running, lambda: _batch_is_done(bench))
    interrupt_process(running.pid)
    (run,) = bench.run_folders()
    expect(finish(running), INCOMPLETE, ["memqual: stopped", f"RESUME={run.name}"])
    assert bench.left() == []
    kept = trials_of(run)
    assert len(kept) >= TRIALS_A_BATCH
    expect(bench.qualify("--resume", run.name), 0, ["QUALIFIED"])
    assert trials_of(run)[: len(kept)] == kept
    assert list(verdicts_of(run).values()) == ["PASS"] * 2 * TRIALS_A_BATCH
    assert len(trials_of(run)) == 2 * TRIALS_A_BATCH


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no request to end, only an end")
def test_sigterm_while_the_first_stack_starts(bench: Bench) -> None:
    running = bench.start()
    await_that(running, lambda: _is_starting(bench))
    terminate_process(running.pid)
    expect(finish(running), INCOMPLETE, ["memqual: stopped", "Next step: continue with RESUME="])
    assert bench.left() == []


def test_a_killed_run_is_collected_and_resumed_and_a_living_one_is_let_be(bench: Bench) -> None:
    running = bench.start()
    await_that(running, lambda: _batch_is_done(bench))
    (run,) = bench.run_folders()
    # It lives, and does not get to its end while the others look at it.
    suspend_process(running.pid)
    expect(
        bench.qualify("--resume", run.name),
        WRONG_USAGE,
        ["Another process is using the run directory", "Next step: Wait until it ends"],
    )
    expect(bench.gc(), 0, ["nothing to remove (process)"])
    assert bench.left() != []
    running.kill()
    finish(running)
    expect(bench.gc(), 0, ["removed (process): process", "removed (process): folder"])
    assert bench.left() == []
    kept = trials_of(run)
    expect(bench.qualify("--resume", run.name), 0, ["QUALIFIED"])
    assert trials_of(run)[: len(kept)] == kept
    assert list(verdicts_of(run).values()) == ["PASS"] * 2 * TRIALS_A_BATCH


def test_two_runs_at_once_do_not_touch_each_other(bench: Bench) -> None:
    bench.cells = "after_receipt/none"
    first = bench.start()
    await_that(first, lambda: _is_starting(bench))
    second = bench.start()
    for ended in (finish(first), finish(second)):
        expect(ended, 0, ["QUALIFIED"])
    assert [verdicts_of(run) for run in bench.run_folders()[1:]] == [
        verdicts_of(bench.run_folders()[0])
    ]
    assert bench.left() == []


def test_a_run_is_resumed_only_as_what_it_was(bench: Bench) -> None:
    bench.cells = "after_receipt/none"
    running = bench.start()
    await_that(running, lambda: _is_starting(bench))
    interrupt_process(running.pid)
    finish(running)
    (run,) = bench.run_folders()
    before = (run / "manifest.json").read_bytes()
    refusals = {
        ("--seed", "7"): "another profile, seed or requirement revision",
        ("--vendor", str(bench.vendor())): "differs in: subject_source, vendor_json",
    }
    for arguments, words in refusals.items():
        ended = bench.qualify("--resume", run.name, *arguments)
        expect(ended, WRONG_USAGE, [words, "Next step: Resume"])
    assert (run / "manifest.json").read_bytes() == before
    assert bench.left() == []
