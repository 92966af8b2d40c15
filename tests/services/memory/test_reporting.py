"""The memory's own telemetry: what it tells, and that nothing depends on it."""

import queue
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from memqual.v1 import continuity_pb2, continuity_pb2_grpc, observer_pb2, observer_pb2_grpc
from services.common import server
from services.common.channels import open_channel
from services.memory.process import Composition, MemorySettings, build
from tests.services.memory.processes import free_port
from tests.services.memory.samples import receipt_message, spec

DEADLINE_SECONDS = 10


class ObserverOfTest(observer_pb2_grpc.ObserverServiceServicer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: queue.Queue[observer_pb2.TelemetryEvent] = queue.Queue()

    def Emit(
        self, request: observer_pb2.EmitRequest, context: grpc.ServicerContext
    ) -> observer_pb2.EmitResponse:
        for event in request.events:
            self.events.put(event)
        return observer_pb2.EmitResponse()


@pytest.fixture
def observer() -> Iterator[tuple[ObserverOfTest, str]]:
    told = ObserverOfTest()
    running = grpc.server(futures.ThreadPoolExecutor(2))
    observer_pb2_grpc.add_ObserverServiceServicer_to_server(told, running)
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    yield told, f"127.0.0.1:{port}"
    running.stop(None)


def run_one_operation(folder: Path, observer_address: str) -> list[str]:
    """Reason codes and dispositions of one operation's life."""
    process = build(
        MemorySettings(
            folder / "memory.db", observer_address=observer_address, edge_token="t", run_id="run-1"
        ),
        Composition(),
    )
    answering = server.start(
        listen="127.0.0.1:0", registrars=process.registrars, service_names=process.service_names
    )
    channel = open_channel(f"127.0.0.1:{answering.port}")
    stub = continuity_pb2_grpc.ContinuityServiceStub(channel)
    asked = spec()
    told = []
    try:
        begin = continuity_pb2.BeginRequest(spec=asked, incarnation_id="life-1", begin_id="b")
        decision = stub.Begin(begin, timeout=DEADLINE_SECONDS).decision
        told.append(decision.reason_code)
        receipt = continuity_pb2.RecordReceiptRequest(
            namespace=asked.namespace,
            operation_id=asked.operation_id,
            incarnation_id="life-1",
            attempt=1,
            lease_token=decision.execute.lease_token,
            receipt=receipt_message(asked, 1),
        )
        told.append(str(stub.RecordReceipt(receipt, timeout=DEADLINE_SECONDS).disposition))
        told.append(stub.Begin(begin, timeout=DEADLINE_SECONDS).decision.reason_code)
        with pytest.raises(grpc.RpcError):
            stub.Begin(continuity_pb2.BeginRequest(), timeout=DEADLINE_SECONDS)
    finally:
        channel.close()
        answering.stop()
        process.close()
    return told


def test_each_decision_and_recording_is_told_once(
    tmp_path: Path, observer: tuple[ObserverOfTest, str]
) -> None:
    told, address = observer
    run_one_operation(tmp_path, address)
    events = [told.events.get(timeout=DEADLINE_SECONDS) for _ in range(3)]
    assert told.events.empty()
    decided, recorded = (
        observer_pb2.EVENT_KIND_MEMORY_DECIDED,
        observer_pb2.EVENT_KIND_MEMORY_RECORDED,
    )
    assert [event.kind for event in events] == [decided, recorded, decided]
    assert len({event.event_id for event in events}) == 3
    for event in events:
        assert (event.run_id, event.workflow_id) == ("run-1", "workflow-1")
        assert (event.operation_id, event.attempt) == (spec().operation_id, 1)


def test_nothing_depends_on_an_observer(
    tmp_path: Path, observer: tuple[ObserverOfTest, str]
) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    _, address = observer
    heard = run_one_operation(tmp_path / "with", address)
    unheard = run_one_operation(tmp_path / "without", f"127.0.0.1:{free_port()}")
    assert heard == unheard == ["first_grant", "1", "complete"]
