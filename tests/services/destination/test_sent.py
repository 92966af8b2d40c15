import threading
from collections.abc import Iterator, Sequence

import pytest

from services.common.database import DatabaseError
from services.destination import sent
from services.destination.engine import Engine
from services.destination.model import Invocation
from services.destination.sent import BATCH_ANSWERS, SentRecorder
from tests.services.destination.support import World, call, rules

WAIT_SECONDS = 30


class SlowEngine(Engine):
    """Keeps batches, and holds or fails them as told."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.entered = threading.Event()
        self.leave = threading.Event()
        self.failing = False

    def record_sent(self, calls: Sequence[tuple[Invocation, int]]) -> None:
        self.entered.set()
        assert self.leave.wait(WAIT_SECONDS)
        if self.failing:
            raise DatabaseError("the volume is full", transient=True)
        self.batches.append(len(calls))


@pytest.fixture
def engine() -> SlowEngine:
    return SlowEngine()


@pytest.fixture
def recorder(engine: SlowEngine) -> Iterator[SentRecorder]:
    recorder = SentRecorder(engine)
    yield recorder
    engine.leave.set()
    recorder.close()


def test_flush_returns_when_everything_is_in_the_journal(world: World) -> None:
    world.engine.configure([rules()])
    recorder = SentRecorder(world.engine)
    for number in range(20):
        recorder.add(call(), number)
    recorder.flush()
    assert world.events() == ["response_sent"] * 20
    recorder.add(call(), 20)
    recorder.close()
    assert world.events() == ["response_sent"] * 21
    recorder.close()


def test_answers_that_wait_share_commits(engine: SlowEngine, recorder: SentRecorder) -> None:
    recorder.add(call(), 1)
    assert engine.entered.wait(WAIT_SECONDS)
    for number in range(BATCH_ANSWERS + 10):
        recorder.add(call(), number)
    engine.leave.set()
    recorder.flush()
    assert engine.batches == [1, BATCH_ANSWERS, 10]


def test_a_full_queue_drops_and_counts(
    engine: SlowEngine, recorder: SentRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent, "QUEUE_ANSWERS", 3)
    recorder.add(call(), 0)
    assert engine.entered.wait(WAIT_SECONDS)
    for number in range(1, 6):
        recorder.add(call(), number)
    assert recorder.dropped == 2
    engine.leave.set()
    recorder.flush()
    assert engine.batches == [1, 3]


def test_a_store_that_fails_drops_and_counts_and_goes_on(
    engine: SlowEngine, recorder: SentRecorder
) -> None:
    engine.leave.set()
    engine.failing = True
    recorder.add(call(), 1)
    recorder.flush()
    assert recorder.dropped == 1
    engine.failing = False
    recorder.add(call(), 2)
    recorder.flush()
    assert engine.batches == [1]


def test_nothing_is_taken_after_the_end(engine: SlowEngine, recorder: SentRecorder) -> None:
    engine.leave.set()
    recorder.close()
    recorder.add(call(), 1)
    assert recorder.dropped == 1
