"""Calls that are answered although their memory is to be killed, and moments of kills."""

import threading
from collections.abc import Iterator

import pytest

from memqual.v1 import memory_pb2
from orchestrator.suites.integrity.calls import OK, UNANSWERED, Ask, StrikeBurst
from orchestrator.suites.integrity.moments import Gate, Start
from orchestrator.suites.integrity.trial import LiveMemory, Patience
from tests.orchestrator.suites.integrity import memories
from tests.orchestrator.suites.integrity.contexts import rig_for
from tests.orchestrator.suites.integrity.memories import SmallMemory

SCOPE = memory_pb2.Scope(namespace="space", principal="alice")


def listing(step: str) -> Ask:
    return Ask(step, memory_pb2.ListProceduresRequest(scope=SCOPE))


@pytest.fixture
def broken() -> Iterator[LiveMemory]:
    yield from live(memories.Broken())


@pytest.fixture
def refusing() -> Iterator[LiveMemory]:
    yield from live(memories.WithoutMemory())


@pytest.fixture
def healthy() -> Iterator[LiveMemory]:
    yield from live(SmallMemory())


def live(memory: SmallMemory) -> Iterator[LiveMemory]:
    with rig_for(memory) as rig:
        stubs = rig.context.session.with_workflow("w")
        yield LiveMemory("trial", stubs, None, Patience(llm_in_loop=False))


def write(step: str) -> Ask:
    observation = memory_pb2.Observation(scope=SCOPE, kind=memory_pb2.RECORD_KIND_FACT, content="x")
    return Ask(step, memory_pb2.WriteRequest(observation=observation))


def test_a_failure_after_the_kill_is_no_answer(broken: LiveMemory) -> None:
    answer = broken.struck(listing("list"), lambda: True)

    assert answer.status == UNANSWERED
    assert [line.struck for line in broken.lines] == [True]


def test_a_failure_before_the_kill_is_the_memorys_own(broken: LiveMemory) -> None:
    answer = broken.struck(listing("list"), lambda: False)

    assert answer.status == "INTERNAL"
    assert [line.struck for line in broken.lines] == [False]


def test_what_a_memory_says_on_purpose_is_an_answer_whenever_it_comes(
    refusing: LiveMemory,
) -> None:
    answer = refusing.struck(write("write"), lambda: True)

    assert answer.status == "UNIMPLEMENTED"
    assert [line.struck for line in refusing.lines] == [False]


def test_an_answer_that_came_before_the_end_counts(healthy: LiveMemory) -> None:
    assert healthy.struck(listing("list"), lambda: True).status == OK


def test_nothing_is_called_after_the_memory_is_gone(broken: LiveMemory) -> None:
    began: list[int] = []
    step = StrikeBurst("burst", (listing("one"), listing("two"), listing("three")))

    answer = broken.burst(step, lambda: began.append(1), lambda: True)

    assert [part.status for part in answer.parts] == [UNANSWERED] * 3
    assert len(began) == len(broken.lines) == 1


def test_a_burst_goes_on_after_a_refusal(refusing: LiveMemory) -> None:
    step = StrikeBurst("burst", (write("one"), write("two")))

    answer = refusing.burst(step, lambda: None, lambda: False)

    assert [part.status for part in answer.parts] == ["UNIMPLEMENTED"] * 2


def test_a_gate_acts_once_in_the_thread_of_its_call() -> None:
    gate, acted = Gate(2), list[str]()
    gate.when_reached(lambda: acted.append(threading.current_thread().name))

    gate.passing()
    assert acted == []
    gate.passing()
    gate.passing()
    gate.await_done(0.0)

    assert acted == [threading.current_thread().name]


def test_a_gate_that_nobody_reaches_acts_all_the_same() -> None:
    gate, acted = Gate(2), list[int]()
    gate.when_reached(lambda: acted.append(1))
    gate.passing()

    gate.await_done(0.0)

    assert acted == [1]


def test_nobody_goes_on_before_the_start() -> None:
    start, went = Start(), threading.Event()

    def go() -> None:
        start.sleep_until(0.0)
        went.set()

    waiting = threading.Thread(target=go)
    waiting.start()

    assert not went.is_set()
    start.now()
    waiting.join()

    assert went.is_set()
