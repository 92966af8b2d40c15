"""One run from its options to its verdict, with stacks that are fakes: how each of them ends."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.campaign import runner
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import EngineError, ImageError, MemqualError, RunDirectoryError
from orchestrator.evidence.rundir import RunDirectory
from orchestrator.model import RunVerdict
from orchestrator.runtimes.base import GcScope
from tests.orchestrator.campaign.campaigns import Campaign
from tests.orchestrator.campaign.fakes import (
    FakeJob,
    always,
    broken,
    raising,
)


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    made = Campaign(tmp_path / "runs", jobs=[FakeJob(f"vendor:c#{number}") for number in range(4)])
    made.install(monkeypatch)
    return made


def _jobs(*acts: Callable[[FakeJob, StackContext], None] | None) -> list[FakeJob]:
    return [
        FakeJob(f"vendor:c#{number}") if act is None else FakeJob(f"vendor:c#{number}", act)
        for number, act in enumerate(acts)
    ]


def test_a_run_that_goes_well(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    assert campaign.run() == 0
    assert campaign.kept() == [(f"vendor:c#{number}", "PASS") for number in range(4)]
    assert campaign.runtime.log == [
        "start a0 reference 120",
        "close a0",
        f"gc {campaign.root.name}",
        "finish",
    ]
    assert capsys.readouterr().err == ""
    # A memory's own words do not steer a terminal.
    assert any("fake⟨U+001B⟩[2J 1; isolation held" in text for text in campaign.told.told)
    assert campaign.told.told[-1] == "closed"


@pytest.mark.parametrize("verdict", RunVerdict)
def test_the_exit_code_is_the_verdicts(campaign: Campaign, verdict: RunVerdict) -> None:
    campaign.verdict = verdict
    assert campaign.run() == verdict.exit_code


@pytest.mark.parametrize("skew", [True, False])
def test_where_no_clock_can_be_set_the_plan_is_one_of_short_leases(
    campaign: Campaign, skew: bool
) -> None:
    campaign.skew = skew
    assert campaign.run() == 0
    assert campaign.skews == ([True] if skew else [True, False])
    assert len(campaign.kept()) == 4


def test_several_lanes_share_the_work(campaign: Campaign) -> None:
    campaign.jobs = [FakeJob(f"vendor:c#{number}") for number in range(40)]
    assert campaign.run(stacks=3) == 0
    assert sorted(campaign.kept()) == sorted((job.name, "PASS") for job in campaign.jobs)
    assert all(len(job.runs) == 1 for job in campaign.jobs)


@pytest.mark.parametrize("error", [broken("no port"), ImageError("no image", next_step="build it")])
def test_a_first_stack_that_does_not_start_ends_the_run(
    campaign: Campaign, error: MemqualError
) -> None:
    campaign.runtime.failures = [error]
    with pytest.raises(type(error)) as caught:
        campaign.run()
    assert caught.value is error
    assert caught.value.exit_code == 4
    assert campaign.kept() == []
    assert campaign.runtime.log == ["start a0 reference 120", f"gc {campaign.root.name}"]
    assert campaign.told.told[-1] == "closed"


def test_a_first_stack_that_is_not_as_it_must_be_is_removed(campaign: Campaign) -> None:
    campaign.examined = broken("it reaches the destination")
    campaign.runtime.close_error = EngineError("cannot close", next_step="none")
    with pytest.raises(MemqualError, match="it reaches the destination"):
        campaign.run()
    assert campaign.runtime.log[:2] == ["start a0 reference 120", "close a0"]
    assert campaign.runtime.collected == [GcScope(campaign.root.name)]


def test_a_run_whose_stack_never_started_can_be_resumed(campaign: Campaign) -> None:
    campaign.runtime.failures = [broken()]
    with pytest.raises(MemqualError):
        campaign.run()
    assert campaign.run(resume=campaign.root.name) == 0
    assert len(campaign.kept()) == 4


def test_resume_does_what_is_left_and_what_met_trouble(campaign: Campaign) -> None:
    campaign.jobs = _jobs(None, always("no memory"), None, None)
    campaign.verdict = RunVerdict.INCOMPLETE
    campaign.run()
    assert campaign.kept() == [
        ("vendor:c#0", "PASS"),
        ("vendor:c#1", "ERROR"),
        ("vendor:c#2", "PASS"),
        ("vendor:c#3", "PASS"),
    ]
    campaign.jobs = _jobs(*[None] * 4)
    campaign.verdict = RunVerdict.QUALIFIED
    assert campaign.run(resume=str(campaign.root)) == 0
    assert campaign.handed == [set(), {"vendor:c#0", "vendor:c#2", "vendor:c#3"}]
    assert campaign.kept()[4:] == [("vendor:c#1", "PASS")]
    assert campaign.told.told.count("planned 4") == 1
    assert "planned 1" in campaign.told.told


def test_a_resumed_runs_stacks_have_names_of_their_own(campaign: Campaign) -> None:
    campaign.runtime.failures = [None, broken()]
    campaign.jobs = _jobs(raising(broken()), always())
    for resume in (None, "again"):
        campaign.run(resume=resume and campaign.root.name)
    names = [stack.spec.stack_id for stack in campaign.runtime.stacks]
    assert len(names) > 4
    assert len(set(names)) == len(names)


def test_a_whole_run_is_only_closed_again(campaign: Campaign) -> None:
    campaign.run()
    campaign.runtime.log.clear()
    assert campaign.run(resume=campaign.root.name) == 0
    assert campaign.runtime.log == ["finish"]
    assert len(campaign.bundled) == 4


def test_another_seed_is_another_run(campaign: Campaign) -> None:
    campaign.run()
    with pytest.raises(RunDirectoryError, match="another profile, seed") as caught:
        campaign.run(resume=campaign.root.name, seed=2)
    assert caught.value.exit_code == 2
    assert len(campaign.kept()) == 4


def test_what_no_lane_could_do_is_an_error_of_the_infrastructure(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.jobs = _jobs(None, *[always("the engine is gone")] * 3, None, None)
    campaign.verdict = RunVerdict.INCOMPLETE
    assert campaign.run() == 4
    assert [verdict for _, verdict in campaign.kept()] == ["PASS", *["ERROR"] * 5]
    assert {one.error_kind for one in campaign.bundled[1:]} == {"infrastructure"}
    assert all("the engine is gone" in one.cause for one in campaign.bundled[1:])
    said = capsys.readouterr().err
    assert "5 trials met trouble of the infrastructure, first: the engine is gone" in said
    assert f"RESUME={campaign.root.name}" in said


def test_trouble_that_a_retry_mended_is_not_told(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.jobs = _jobs(raising(broken()), None)
    assert campaign.run() == 0
    assert "trouble" not in capsys.readouterr().err


def test_a_defect_of_memqual_is_never_a_verdict(campaign: Campaign) -> None:
    campaign.jobs = _jobs(None, raising(KeyError("oh")))
    with pytest.raises(MemqualError) as caught:
        campaign.run()
    assert caught.value.exit_code == 4
    assert "memqual itself failed (KeyError: 'oh')" in caught.value.diagnosis
    assert f"RESUME={campaign.root.name}" in caught.value.next_step
    assert campaign.kept() == [("vendor:c#0", "PASS")]
    assert campaign.runtime.log[-2:] == ["close a0", f"gc {campaign.root.name}"]


def test_a_full_disk_ends_the_run_and_says_so(campaign: Campaign) -> None:
    campaign.jobs = _jobs(None, raising(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(MemqualError, match="No space left on device") as caught:
        campaign.run()
    assert "Free space" in caught.value.next_step
    assert f"RESUME={campaign.root.name}" in caught.value.next_step
    assert campaign.kept() == [("vendor:c#0", "PASS")]


def test_a_signal_ends_the_run_in_order(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.jobs = _jobs(None, None, None)
    # In the main thread, as a person's Ctrl-C is: while the first stack is looked at.
    examine = campaign.examine

    def examine_and_stop(*args: object) -> object:
        signal.raise_signal(signal.SIGTERM)
        return examine(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "examine_stack", examine_and_stop)
        assert campaign.run() == 4
    assert "memqual: stopped; what was finished is kept." in capsys.readouterr().err
    assert campaign.runtime.log.count("close a0") == 1
    assert "finish" not in campaign.runtime.log
    assert campaign.kept() == []
    assert campaign.run(resume=campaign.root.name) == 0


def test_a_signal_before_there_is_anything_to_clean_up(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(*args: object, **kwargs: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(runner, "images_for", build)
    assert campaign.run() == 4
    assert "Next step: start the run again" in capsys.readouterr().err
    assert campaign.runtime.log == []


def test_what_cannot_be_removed_is_told(campaign: Campaign) -> None:
    campaign.runtime.gc_failed = ("container a: busy", "network b: in use")
    assert campaign.run() == 0
    assert (
        "Left behind: container a: busy (and 1 more). Next step: mend that, then run `memqual gc`."
        in campaign.told.told
    )


def test_a_run_directory_that_exists_is_refused(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "new_run_id", lambda: "taken")
    (campaign.folder / "taken").mkdir(parents=True)
    with pytest.raises(RunDirectoryError, match="exists already") as caught:
        campaign.run()
    assert caught.value.exit_code == 2
    assert list((campaign.folder / "taken").iterdir()) == []
    assert campaign.runtime.log == []


def test_a_place_where_no_folder_can_be_made_is_refused(campaign: Campaign) -> None:
    campaign.folder.write_text("a file")
    with pytest.raises(RunDirectoryError, match="cannot be used") as caught:
        campaign.run()
    assert caught.value.exit_code == 2
    assert "--runs" in caught.value.next_step


def test_a_run_that_goes_on_is_not_resumed_beside_it(campaign: Campaign) -> None:
    campaign.run()
    with (
        RunDirectory.reopen(campaign.root),
        pytest.raises(RunDirectoryError, match="Another process is using"),
    ):
        campaign.run(resume=campaign.root.name)
