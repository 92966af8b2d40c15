"""Workflows stand at a barrier once each, until it is released."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from memqual.v1 import agent_pb2
from services.agent.barriers import Barriers, TooFewStanding
from services.agent.stops import Failed

BEFORE = agent_pb2.BARRIER_BEFORE_CHECKPOINT
AFTER = agent_pb2.BARRIER_AFTER_CHECKPOINT


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as found:
        yield found


def stand(threads: ThreadPoolExecutor, barriers: Barriers, workflow_id: str) -> Future[None]:
    return threads.submit(barriers.stand, BEFORE, workflow_id)


def test_only_armed_workflows_stop_and_only_once(threads: ThreadPoolExecutor) -> None:
    barriers = Barriers()
    barriers.arm(BEFORE, ["a", "b"])
    barriers.stand(BEFORE, "other")
    barriers.stand(AFTER, "a")
    first = [stand(threads, barriers, "a"), stand(threads, barriers, "b")]
    assert {"a", "b"} == set(barriers.await_standing(BEFORE, 2, 10))
    barriers.release(BEFORE)
    for one in first:
        one.result(10)
    barriers.stand(BEFORE, "a")


def test_release_disarms_those_that_did_not_come(threads: ThreadPoolExecutor) -> None:
    barriers = Barriers()
    barriers.arm(BEFORE, ["a", "late"])
    here = stand(threads, barriers, "a")
    assert barriers.await_standing(BEFORE, 1, 10) == ("a",)
    barriers.release(BEFORE)
    here.result(10)
    barriers.stand(BEFORE, "late")
    with pytest.raises(TooFewStanding) as few:
        barriers.await_standing(BEFORE, 1, 0)
    assert few.value.standing == 0


def test_a_workflow_that_is_held_too_long_fails() -> None:
    barriers = Barriers(hold_seconds=0.01)
    barriers.arm(BEFORE, ["a"])
    with pytest.raises(Failed) as failed:
        barriers.stand(BEFORE, "a")
    assert (
        failed.value.error
    ) == "DEADLINE_EXCEEDED: held at before_checkpoint for more than 0 s; release the barrier"
    with pytest.raises(TooFewStanding):
        barriers.await_standing(BEFORE, 1, 0)


def test_close_fails_what_is_held_and_ends_waits(threads: ThreadPoolExecutor) -> None:
    barriers = Barriers()
    barriers.arm(BEFORE, ["a"])
    held = stand(threads, barriers, "a")
    barriers.await_standing(BEFORE, 1, 10)
    waiting = threads.submit(barriers.await_standing, AFTER, 1, 60)
    barriers.close()
    with pytest.raises(Failed, match="the host stops"):
        held.result(10)
    with pytest.raises(TooFewStanding):
        waiting.result(10)


def test_many_threads_all_come_through(threads: ThreadPoolExecutor) -> None:
    barriers = Barriers()
    names = [f"w{number}" for number in range(50)]
    barriers.arm(BEFORE, names)
    passed: list[str] = []

    def go(name: str) -> None:
        barriers.stand(BEFORE, name)
        passed.append(name)

    runners = [threading.Thread(target=go, args=(name,)) for name in names]
    for runner in runners:
        runner.start()
    assert set(names) == set(barriers.await_standing(BEFORE, 50, 10))
    assert passed == []
    barriers.release(BEFORE)
    for runner in runners:
        runner.join(10)
    assert set(names) == set(passed)
