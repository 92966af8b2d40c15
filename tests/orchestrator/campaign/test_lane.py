"""A lane loses stacks, never a finished trial, and never an unfinished one in silence."""

from __future__ import annotations

import threading
from pathlib import Path

import grpc
import pytest

from chaos.errors import WindowMissed
from orchestrator.campaign import lane as lane_module
from orchestrator.campaign.jobs import StackContext
from orchestrator.campaign.queue import WorkQueue
from orchestrator.errors import EngineError, StackError
from orchestrator.model import Verdict
from orchestrator.runtimes.base import StackSpec
from tests.orchestrator.campaign.fakes import (
    CONTROL,
    VENDOR,
    FakeJob,
    FakeRuntime,
    FakeSink,
    always,
    broken,
    declared,
    make_lane,
    raising,
    spoiling,
    work,
)


@pytest.fixture(autouse=True)
def _no_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_module, "declaration", declared)


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime()


@pytest.fixture
def sink() -> FakeSink:
    return FakeSink()


def test_one_stack_serves_all_work_of_one_subject_and_is_removed(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    jobs = [FakeJob("vendor:1"), FakeJob("vendor:2"), FakeJob("vendor:3")]
    make_lane(runtime, sink).run(WorkQueue([work(*jobs[:2]), work(jobs[2])]))
    assert runtime.log == ["start a1 reference 120", "close a1"]
    assert list(sink.verdicts) == [(job.name, "PASS") for job in jobs]
    assert {job.runs[0].subject for job in jobs} == {VENDOR}
    assert jobs[0].runs[0] is jobs[2].runs[0]


def test_another_memory_is_swapped_in_and_another_lease_gets_another_stack(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    own, other, short = FakeJob("vendor:1"), FakeJob("c:2"), FakeJob("vendor:3")
    queue = WorkQueue([work(own), work(other, subject=CONTROL), work(short, lease_seconds=3)])
    make_lane(runtime, sink).run(queue)
    assert runtime.log == [
        "start a1 reference 120",
        "swap a1 naive",
        "close a1",
        "start a2 reference 3",
        "close a2",
    ]
    # What happened on a stack outlives its memory, and nothing else does.
    assert own.runs[0].progress is other.runs[0].progress
    assert short.runs[0].progress is not own.runs[0].progress
    assert (own.runs[0].subject, other.runs[0].subject) == (VENDOR, CONTROL)


def test_an_adopted_stack_is_used_and_removed(runtime: FakeRuntime, sink: FakeSink) -> None:
    lane = make_lane(runtime, sink)
    stack = runtime.start(StackSpec(run_id="run", stack_id="a0", folder=Path()))
    lane.adopt(stack, VENDOR)
    job = FakeJob("vendor:1")
    lane.run(WorkQueue([work(job)]))
    assert runtime.log == ["start a0 reference 120", "close a0"]
    assert job.runs[0].stack is stack


class _Refused(grpc.RpcError):
    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE

    def details(self) -> str:
        return "gone."


@pytest.mark.parametrize(
    "error", [broken(), WindowMissed("held", "none"), _Refused()], ids=["stack", "chaos", "rpc"]
)
def test_work_that_met_an_unusable_stack_is_tried_once_more_on_a_fresh_one(
    runtime: FakeRuntime, sink: FakeSink, error: Exception
) -> None:
    job = FakeJob("vendor:1", raising(error))
    make_lane(runtime, sink).run(WorkQueue([work(job, FakeJob("vendor:2"))]))
    assert runtime.log == [
        "start a1 reference 120",
        "close a1",
        "start a2 reference 120",
        "close a2",
    ]
    assert list(sink.verdicts) == [("vendor:1", "PASS"), ("vendor:2", "PASS")]


def test_what_fails_twice_is_an_error_of_the_infrastructure_and_the_lane_goes_on(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    job = FakeJob("vendor:1", raising(broken("first"), _Refused()))
    make_lane(runtime, sink).run(WorkQueue([work(job, FakeJob("vendor:2"))]))
    assert [line for line in runtime.log if line.startswith("start")] == [
        f"start a{number} reference 120" for number in (1, 2, 3)
    ]
    assert list(sink.verdicts) == [("vendor:1", "ERROR"), ("vendor:2", "PASS")]
    assert (sink.kept[0].error_kind, sink.kept[0].cause) == ("infrastructure", "UNAVAILABLE: gone")


def test_three_failures_in_a_row_end_the_lane_and_leave_the_rest_in_the_queue(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    bad = [FakeJob(f"vendor:{number}", always(f"no {number}")) for number in (1, 2, 3)]
    rest = [FakeJob("vendor:4"), FakeJob("vendor:5")]
    queue = WorkQueue([work(*bad, rest[0]), work(rest[1])])
    with pytest.raises(StackError, match="3 pieces of work in a row") as caught:
        make_lane(runtime, sink).run(queue)
    assert "no 3" in caught.value.diagnosis
    assert "RESUME" in caught.value.next_step
    assert list(sink.verdicts) == [(job.name, "ERROR") for job in bad]
    assert [[job.name for job in piece.jobs] for piece in queue.drain()] == [
        ["vendor:4"],
        ["vendor:5"],
    ]
    assert [job.runs for job in rest] == [[], []]
    assert runtime.log[-1].startswith("close")


def test_failures_are_counted_in_a_row(runtime: FakeRuntime, sink: FakeSink) -> None:
    def named(number: int) -> FakeJob:
        return FakeJob(f"vendor:{number}", always())

    jobs = [named(1), named(2), FakeJob("vendor:3"), named(4), named(5), FakeJob("vendor:6")]
    make_lane(runtime, sink).run(WorkQueue([work(*jobs)]))
    assert [verdict for _, verdict in sink.verdicts] == [
        *("ERROR", "ERROR", "PASS"),
        *("ERROR", "ERROR", "PASS"),
    ]


def test_a_stack_that_cannot_be_started_counts_as_unusable(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    runtime.failures = [broken("port"), None]
    make_lane(runtime, sink).run(WorkQueue([work(FakeJob("vendor:1"))]))
    assert list(sink.verdicts) == [("vendor:1", "PASS")]
    runtime.failures = [broken("no engine")] * 6
    with pytest.raises(StackError, match="no engine"):
        make_lane(runtime, sink).run(
            WorkQueue([work(*(FakeJob(f"vendor:{number}") for number in range(2, 6)))])
        )
    assert runtime.failures == []


def test_a_spoiled_stack_is_given_up_and_its_trials_are_kept(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    jobs = [FakeJob("vendor:1", spoiling), FakeJob("vendor:2")]
    make_lane(runtime, sink).run(WorkQueue([work(*jobs)]))
    assert runtime.log == [
        "start a1 reference 120",
        "close a1",
        "start a2 reference 120",
        "close a2",
    ]
    assert list(sink.verdicts) == [("vendor:1", "PASS"), ("vendor:2", "PASS")]
    assert jobs[1].runs[0].progress.spoiled == ""


def test_what_could_not_be_evaluated_is_tried_once_more_on_a_fresh_stack(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    job = FakeJob("vendor:1", verdicts=(Verdict.ERROR, Verdict.PASS))
    make_lane(runtime, sink).run(WorkQueue([work(job)]))
    assert list(sink.verdicts) == [("vendor:1", "PASS")]
    assert job.runs[0].stack is not job.runs[1].stack


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.NOT_RUN, Verdict.UNSCORED])
def test_nothing_else_is_tried_again(
    runtime: FakeRuntime, sink: FakeSink, verdict: Verdict
) -> None:
    job = FakeJob("vendor:1", verdicts=(verdict, Verdict.PASS))
    make_lane(runtime, sink).run(WorkQueue([work(job)]))
    assert list(sink.verdicts) == [("vendor:1", verdict.value)]


def test_second_tries_end_where_they_come_to_nothing(runtime: FakeRuntime, sink: FakeSink) -> None:
    jobs = [FakeJob(f"vendor:{number}", verdicts=(Verdict.ERROR,)) for number in range(5)]
    make_lane(runtime, sink).run(WorkQueue([work(*jobs)]))
    assert [len(job.runs) for job in jobs] == [2, 2, 2, 1, 1]
    assert {verdict for _, verdict in sink.verdicts} == {"ERROR"}


def test_a_stack_that_does_not_close_costs_nothing_but_itself(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    runtime.close_error = EngineError("no engine", next_step="none")
    jobs = [FakeJob("vendor:1", spoiling), FakeJob("vendor:2")]
    make_lane(runtime, sink).run(WorkQueue([work(*jobs)]))
    assert list(sink.verdicts) == [("vendor:1", "PASS"), ("vendor:2", "PASS")]


def test_a_lane_that_is_to_stop_takes_no_work(runtime: FakeRuntime, sink: FakeSink) -> None:
    stopping = threading.Event()
    stopping.set()
    queue = WorkQueue([work(FakeJob("vendor:1"))])
    make_lane(runtime, sink, stopping).run(queue)
    assert (runtime.log, sink.kept) == ([], [])
    assert len(queue.drain()) == 1


@pytest.mark.parametrize("error", [None, broken(), ValueError("cut")])
def test_what_was_under_way_when_the_run_stopped_is_not_kept(
    runtime: FakeRuntime, sink: FakeSink, error: Exception | None
) -> None:
    stopping = threading.Event()

    def stop(job: FakeJob, context: StackContext) -> None:
        stopping.set()
        if error is not None:
            raise error

    jobs = [FakeJob("vendor:1"), FakeJob("vendor:2", stop), FakeJob("vendor:3")]
    make_lane(runtime, sink, stopping).run(WorkQueue([work(*jobs)]))
    assert list(sink.verdicts) == [("vendor:1", "PASS")]
    assert jobs[2].runs == []
    assert runtime.log[-1] == "close a1"


def test_a_stack_that_was_made_while_the_run_stopped_is_removed(
    runtime: FakeRuntime, sink: FakeSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = threading.Event()
    lane = make_lane(runtime, sink, stopping)
    start = runtime.start

    def cut(spec: StackSpec) -> object:
        stopping.set()
        # The signal's own clean-up, which comes before there is anything to remove.
        lane.close()
        return start(spec)

    monkeypatch.setattr(runtime, "start", cut)
    lane.run(WorkQueue([work(FakeJob("vendor:1"))]))
    assert runtime.log == ["start a1 reference 120", "close a1"]
    assert sink.kept == []


def test_a_defect_of_the_testbed_is_not_taken_for_a_bad_stack(
    runtime: FakeRuntime, sink: FakeSink
) -> None:
    job = FakeJob("vendor:1", raising(KeyError("defect")))
    with pytest.raises(KeyError, match="defect"):
        make_lane(runtime, sink).run(WorkQueue([work(job)]))
    assert (len(job.runs), sink.kept) == (1, [])
    assert runtime.log[-1] == "close a1"
