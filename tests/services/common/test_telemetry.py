import queue
import threading
import time
from collections.abc import Callable, Iterator

import grpc
import pytest

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.server import RunningServer, start
from services.common.telemetry import QUEUE_EVENTS, Emitter

WAIT_SECONDS = 30


class Inbox(observer_pb2_grpc.ObserverServiceServicer):
    """Keeps what arrives; answers with the statuses that were put before."""

    def __init__(self) -> None:
        self.events: queue.Queue[tuple[str, dict[str, str]]] = queue.Queue()
        self.statuses: queue.Queue[grpc.StatusCode] = queue.Queue()
        self.open = threading.Event()
        self.open.set()

    def Emit(
        self, request: observer_pb2.EmitRequest, context: grpc.ServicerContext
    ) -> observer_pb2.EmitResponse:
        metadata = {
            str(key): str(value)
            for key, value in context.invocation_metadata()
            if str(key).startswith("memqual-")
        }
        for event in request.events:
            self.events.put((event.event_id, metadata))
        self.open.wait(WAIT_SECONDS)
        try:
            context.abort(self.statuses.get_nowait(), "as told")
        except queue.Empty:
            return observer_pb2.EmitResponse()


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def observer(inbox: Inbox) -> Iterator[RunningServer]:
    server = start(
        listen="127.0.0.1:0",
        registrars=[lambda to: observer_pb2_grpc.add_ObserverServiceServicer_to_server(inbox, to)],
        service_names=[],
    )
    yield server
    inbox.open.set()
    server.stop()


@pytest.fixture
def emitter(observer: RunningServer) -> Iterator[Emitter]:
    emitter = Emitter(f"127.0.0.1:{observer.port}", "token")
    yield emitter
    emitter.close()


def event(number: int, operation: str = "operation") -> observer_pb2.TelemetryEvent:
    return observer_pb2.TelemetryEvent(
        event_id=str(number), workflow_id="workflow", operation_id=operation
    )


def becomes(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def test_each_event_is_a_call_of_its_own_with_its_own_metadata(
    emitter: Emitter, inbox: Inbox
) -> None:
    emitter.emit(event(1))
    emitter.emit(event(2, operation=""))
    common = {"memqual-workflow": "workflow", "memqual-token": "token"}
    assert inbox.events.get(timeout=WAIT_SECONDS) == (
        "1",
        {**common, "memqual-operation": "operation"},
    )
    assert inbox.events.get(timeout=WAIT_SECONDS) == ("2", common)
    assert emitter.dropped == 0


def test_a_passing_failure_is_retried_once(emitter: Emitter, inbox: Inbox) -> None:
    inbox.statuses.put(grpc.StatusCode.UNAVAILABLE)
    emitter.emit(event(1))
    emitter.emit(event(2))
    assert [inbox.events.get(timeout=WAIT_SECONDS)[0] for _ in range(3)] == ["1", "1", "2"]
    assert emitter.dropped == 0


def test_a_second_failure_drops_the_event(emitter: Emitter, inbox: Inbox) -> None:
    for _ in range(2):
        inbox.statuses.put(grpc.StatusCode.UNAVAILABLE)
    emitter.emit(event(1))
    emitter.emit(event(2))
    assert [inbox.events.get(timeout=WAIT_SECONDS)[0] for _ in range(3)] == ["1", "1", "2"]
    assert emitter.dropped == 1


def test_a_refusal_is_not_retried(emitter: Emitter, inbox: Inbox) -> None:
    inbox.statuses.put(grpc.StatusCode.INVALID_ARGUMENT)
    emitter.emit(event(1))
    emitter.emit(event(2))
    assert [inbox.events.get(timeout=WAIT_SECONDS)[0] for _ in range(2)] == ["1", "2"]
    assert emitter.dropped == 1


def test_an_id_that_metadata_cannot_carry_is_dropped(emitter: Emitter, inbox: Inbox) -> None:
    emitter.emit(event(1, operation="é"))
    emitter.emit(event(2))
    assert inbox.events.get(timeout=WAIT_SECONDS)[0] == "2"
    assert emitter.dropped == 1


def test_an_observer_that_hangs_makes_nobody_wait(emitter: Emitter, inbox: Inbox) -> None:
    inbox.open.clear()
    emitter.emit(event(0))
    assert inbox.events.get(timeout=WAIT_SECONDS)[0] == "0"
    # The thread is in the call now; what fits the queue waits, what does not is dropped.
    for number in range(1, QUEUE_EVENTS + 11):
        emitter.emit(event(number))
    assert emitter.dropped == 10


def test_an_observer_that_is_down_is_counted_only(observer: RunningServer) -> None:
    observer.stop()
    emitter = Emitter(f"127.0.0.1:{observer.port}")
    for number in range(3):
        emitter.emit(event(number))
    assert becomes(lambda: emitter.dropped == 3)
    emitter.close()


def test_without_an_observer_nothing_happens() -> None:
    emitter = Emitter(None)
    emitter.emit(event(1))
    emitter.close()
    assert emitter.dropped == 0


def test_close_sends_what_waits_and_counts_what_comes_after(emitter: Emitter, inbox: Inbox) -> None:
    for number in range(5):
        emitter.emit(event(number))
    emitter.close()
    assert [inbox.events.get_nowait()[0] for _ in range(5)] == ["0", "1", "2", "3", "4"]
    emitter.emit(event(5))
    assert emitter.dropped == 1
    emitter.close()
