"""What a job does when calls go wrong: the vendor's failure, ours, or nobody's."""

import threading
import time

import grpc
import pytest

from chaos.errors import NotInTime
from memqual.v1 import memory_pb2
from orchestrator.errors import StackError
from orchestrator.model import CheckOutcome, Verdict
from orchestrator.suites.integrity import driver, trial
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.trial import (
    HANGS_MAX,
    LONG_CALL_SECONDS,
    TRIES_MAX,
    Patience,
)
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import check_of, found, jobs_of, rig_for


def test_a_hanging_memory_that_is_healthy_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LONG_CALL_SECONDS", 0.2)
    monkeypatch.setattr(trial, "CALL_SECONDS", 0.2)
    (job,) = jobs_of("C", 3, None)

    with rig_for(memories.Hangs()) as rig:
        records = job.run(rig.context)

    assert rig.health.asked == 1
    for record in records:
        assert record.verdict is Verdict.FAIL
        assert found(record, CheckOutcome.VIOLATED) == ["integrity.C.contract"]
        assert "before.write: DEADLINE_EXCEEDED" in record.cause


def test_a_memory_that_is_not_healthy_any_more_is_nobodys_verdict() -> None:
    (job,) = jobs_of("C", 3, None)

    with (
        rig_for(memories.Broken(), healthy=False) as rig,
        pytest.raises(StackError, match="not healthy after Recall ended with INTERNAL") as raised,
    ):
        job.run(rig.context)

    assert rig.kept.files == {}
    assert isinstance(raised.value.__cause__, NotInTime)


def test_health_is_not_asked_for_when_every_answer_was_meant() -> None:
    (job,) = jobs_of("C", 3, None)

    with rig_for(memories.ParanoidByStatus(), healthy=False) as rig:
        assert {record.verdict for record in job.run(rig.context)} == {Verdict.FAIL}

    assert rig.health.asked == 0


def test_unavailable_is_tried_again_three_times_and_then_a_failure() -> None:
    (job,) = jobs_of("C", 1, None)

    with rig_for(memories.NeverAvailable()) as rig:
        (record,) = job.run(rig.context)
        (lines,) = rig.kept.files.values()

    assert sum('"UNAVAILABLE"' in line for line in lines) == TRIES_MAX
    assert "before.write: UNAVAILABLE 'busy'" in record.cause
    assert record.verdict is Verdict.FAIL


def test_a_refusal_by_the_interposer_is_our_own_fault() -> None:
    class WrongToken(memories.SmallMemory):
        def Write(
            self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
        ) -> memory_pb2.WriteResponse:
            context.abort(
                grpc.StatusCode.PERMISSION_DENIED,
                "interposer: the control port wants the run's token in metadata memqual-token",
            )

    (job,) = jobs_of("C", 1, None)

    with rig_for(WrongToken()) as rig, pytest.raises(StackError, match="refused Write"):
        job.run(rig.context)


def test_without_a_reviewer_a_memory_that_wants_one_is_not_blamed() -> None:
    (job,) = jobs_of("A", 2, None)

    with rig_for(memories.SmallMemory()) as rig:
        records = job.run(rig.context)

    for record in records:
        twin = check_of(record, "integrity.A.utility")
        assert record.verdict is Verdict.PASS
        assert (twin.outcome, twin.required) == (CheckOutcome.NOT_EVALUATED, False)
        assert "the run has no reviewer" in twin.actual


def test_trials_run_side_by_side_and_never_more_than_the_limit() -> None:
    class Counting(memories.SmallMemory):
        now: int = 0
        most: int = 0
        gate: threading.Lock = threading.Lock()

        def Write(
            self, request: memory_pb2.WriteRequest, context: grpc.ServicerContext
        ) -> memory_pb2.WriteResponse:
            with self.gate:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.05)
            with self.gate:
                self.now -= 1
            return super().Write(request, context)

    (job,) = jobs_of("C", 20, None)
    memory = Counting()

    with rig_for(memory) as rig:
        records = job.run(rig.context)

    assert [record.verdict for record in records] == [Verdict.PASS] * 20
    assert [record.trial_id for record in records] == list(job.trial_ids)
    assert 1 < memory.most <= driver.TRIALS_AT_ONCE


@pytest.mark.parametrize("llm_in_loop", [True, False])
def test_a_slow_memory_gets_time_until_it_hangs_again_and_again(llm_in_loop: bool) -> None:
    patience = Patience(llm_in_loop)
    patience.saw("OK")

    seen = []
    for _ in range(HANGS_MAX):
        seen.append(patience.seconds)
        patience.saw("DEADLINE_EXCEEDED")

    assert seen == [LONG_CALL_SECONDS] * HANGS_MAX
    assert (patience.seconds == LONG_CALL_SECONDS) is llm_in_loop


def test_work_that_could_not_be_done_is_an_error_of_the_infrastructure() -> None:
    (job,) = jobs_of("L", 2, Reviewer.generate())

    for record, trial_id in zip(job.infrastructure_error("no engine"), job.trial_ids, strict=True):
        assert record.trial_id == trial_id
        assert record.verdict is Verdict.ERROR
        assert (record.error_kind, record.cause) == ("infrastructure", "no engine")
        assert {check.outcome for check in record.checks} == {CheckOutcome.NOT_EVALUATED}
