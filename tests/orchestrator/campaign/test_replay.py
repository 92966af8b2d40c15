"""`memqual replay`: the same batch again; what could not be repeated is no divergence."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.campaign import lane as lane_module
from orchestrator.campaign import replay
from orchestrator.campaign.jobs import StackContext
from orchestrator.campaign.manifests import planned_manifest
from orchestrator.campaign.options import QualifyOptions
from orchestrator.campaign.replay import divergences, replay_trial
from orchestrator.campaign.schedule import Schedule
from orchestrator.errors import EvidenceError, StackError, UsageError
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import TrialRecord, Verdict
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.select import Selection
from tests.orchestrator.campaign.fakes import (
    FakeJob,
    FakeRuntime,
    FakeSink,
    always,
    declared,
    raising,
    trial,
    work,
)

TRIAL = "vendor:1"


def _record(verdict: Verdict = Verdict.PASS, *decisions: str, cause: str = "") -> TrialRecord:
    return trial(TRIAL, verdict, cause=cause).model_copy(update={"decisions": decisions})


class Replay:
    """A bundle of one trial, and a batch that does what a test says."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.run = folder / "run"
        self.runtime = FakeRuntime()
        self.job = FakeJob(TRIAL)
        patch.setattr(lane_module, "declaration", declared)
        for name, fake in {
            "select_runtime": lambda name: Selection(self.runtime, "fakes"),
            "images_for": lambda *args, **kwargs: {},
            "log_to": lambda path, run_id: None,
            "progress_for": lambda lines: FakeSink(),
            "schedule": lambda *args, **kwargs: Schedule((work(FakeJob("vendor:0"), self.job),), 1),
        }.items():
            patch.setattr(replay, name, fake)

    def keep(self, record: TrialRecord) -> None:
        """Make the bundle."""
        with RunDirectory.create(self.run) as folder:
            folder.append_trials([record])
            folder.write_json(
                "manifest.json",
                planned_manifest(
                    QualifyOptions(),
                    None,
                    run_id="run",
                    runtime="process",
                    reason="",
                    images={},
                    expected_trials=1,
                    batches=1,
                ),
            )

    def again(self, on_run: Callable[[FakeJob, StackContext], None] | None = None) -> int:
        """`memqual replay`."""
        if on_run is not None:
            self.job.on_run = on_run
        return replay_trial(self.run, TRIAL)


@pytest.fixture
def replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replay:
    return Replay(tmp_path, monkeypatch)


def test_the_same_again(replayed: Replay, capsys: pytest.CaptureFixture[str]) -> None:
    replayed.keep(_record())
    assert replayed.again() == 0
    assert "1 trials decided and ended as in run run." in capsys.readouterr().out
    assert replayed.runtime.log == ["start r1 reference 120", "close r1"]


def test_the_first_divergence_is_told(replayed: Replay, capsys: pytest.CaptureFixture[str]) -> None:
    replayed.keep(_record(Verdict.FAIL, cause="unsafe"))
    assert replayed.again() == 1
    told = capsys.readouterr().out
    assert f"First divergence: {TRIAL}: FAIL before, PASS now (unsafe)" in told


def test_a_batch_that_a_fresh_stack_mends_is_repeated(replayed: Replay) -> None:
    replayed.keep(_record())
    assert replayed.again(raising(StackError("gone", next_step="none"))) == 0


def test_trouble_of_the_infrastructure_is_no_divergence(replayed: Replay) -> None:
    replayed.keep(_record())
    with pytest.raises(StackError, match="could not be repeated: no engine") as caught:
        replayed.again(always("no engine"))
    assert caught.value.exit_code == 4


def test_a_replay_that_was_stopped_says_nothing_of_the_memory(
    replayed: Replay, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed.keep(_record())
    start = replayed.runtime.start

    def cut(spec: StackSpec) -> object:
        signal.raise_signal(signal.SIGINT)
        return start(spec)

    monkeypatch.setattr(replayed.runtime, "start", cut)
    with pytest.raises(StackError, match="was stopped") as caught:
        replayed.again()
    assert caught.value.exit_code == 4
    assert replayed.job.runs == []


def test_a_trial_that_the_bundle_does_not_hold(replayed: Replay) -> None:
    replayed.keep(_record())
    with pytest.raises(UsageError, match=r"no trial 'vendor:9'"):
        replay_trial(replayed.run, "vendor:9")


def test_a_trial_that_is_planned_no_more(replayed: Replay) -> None:
    replayed.keep(_record())
    replayed.job.name = "vendor:2"
    with pytest.raises(EvidenceError, match="plans no trial"):
        replayed.again()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (("EXECUTE:1", "WAIT"), ("EXECUTE:1", "WAIT"), None),
        (("EXECUTE:1", "WAIT"), ("EXECUTE:1", "REUSE"), " decision 2: WAIT before, REUSE now"),
        (("EXECUTE:1",), ("EXECUTE:1", "REUSE"), ": 1 decisions before, 2 now"),
        ((), ("EXECUTE:1",), ": 0 decisions before, 1 now"),
    ],
)
def test_decisions_are_compared_in_order(
    old: tuple[str, ...], new: tuple[str, ...], words: str | None
) -> None:
    before = {TRIAL: _record(Verdict.PASS, *old)}
    found = divergences(before, [_record(Verdict.PASS, *new)])
    assert found == ([] if words is None else [f"{TRIAL}{words}"])
