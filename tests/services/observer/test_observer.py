import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.channels import open_channel
from services.common.database import DatabaseError
from services.common.journal import JournalRecord, verify_chain
from services.common.platform import (
    KILLED_EXIT_CODE,
    kill_process,
    spawn_process,
    terminate_process,
)
from services.common.server import RunningServer, start
from services.observer.app import AUDIT_SERVICE_NAME, SERVICE_NAME, Observer
from services.observer.store import EventStore

DEADLINE_SECONDS = 30
EVENTS_MAX = 5


@dataclass
class Client:
    """Both sides of one observer."""

    emitter: observer_pb2_grpc.ObserverServiceStub
    audit: observer_pb2_grpc.ObserverAuditServiceStub

    def emit(self, *events: observer_pb2.TelemetryEvent) -> grpc.StatusCode:
        return self.emit_request(observer_pb2.EmitRequest(events=events))

    def emit_request(self, request: observer_pb2.EmitRequest) -> grpc.StatusCode:
        try:
            self.emitter.Emit(request, timeout=DEADLINE_SECONDS)
        except grpc.RpcError as error:
            return error.code()
        return grpc.StatusCode.OK

    def journal(self, from_sequence: int = 1) -> list[JournalRecord]:
        request = observer_pb2.ReadEventsRequest(from_sequence=from_sequence)
        return [
            JournalRecord.from_proto(answer.record)
            for answer in self.audit.ReadEvents(request, timeout=DEADLINE_SECONDS)
        ]

    def payloads(self) -> list[dict[str, Any]]:
        records = self.journal()
        verify_chain(records)
        return [json.loads(record.payload_json) for record in records]

    def counters(self) -> tuple[int, int, int]:
        answer = self.audit.ReadCounters(
            observer_pb2.ReadCountersRequest(), timeout=DEADLINE_SECONDS
        )
        return answer.accepted, answer.duplicates, answer.refused


def serve(observer: Observer) -> RunningServer:
    return start(
        listen="127.0.0.1:0",
        registrars=[observer.register],
        service_names=[SERVICE_NAME],
        audit_listen="127.0.0.1:0",
        audit_registrars=[observer.register_audit],
        audit_service_names=[AUDIT_SERVICE_NAME],
    )


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    observer = Observer(tmp_path, events_max=EVENTS_MAX)
    server = serve(observer)
    with (
        open_channel(f"127.0.0.1:{server.port}") as channel,
        open_channel(f"127.0.0.1:{server.audit_port}") as audit_channel,
    ):
        yield Client(
            observer_pb2_grpc.ObserverServiceStub(channel),
            observer_pb2_grpc.ObserverAuditServiceStub(audit_channel),
        )
    server.stop()
    observer.close()


def event(event_id: str = "event", **fields: Any) -> observer_pb2.TelemetryEvent:
    return observer_pb2.TelemetryEvent(
        **{
            "event_id": event_id,
            "run_id": "run",
            "workflow_id": "workflow",
            "kind": observer_pb2.EVENT_KIND_DISPATCHED,
            **fields,
        }
    )


def test_what_is_known_is_kept_and_what_is_not_stays_unknown(client: Client) -> None:
    full = event(
        "full",
        operation_id="operation",
        attempt=2,
        usage=observer_pb2.Usage(input_tokens=10),
        price=observer_pb2.Price(amount_micros=0, currency="EUR", provenance="table"),
    )
    assert client.emit(full, event("bare")) == grpc.StatusCode.OK
    bare = {
        "event_id": "bare",
        "run_id": "run",
        "workflow_id": "workflow",
        "operation_id": "",
        "attempt": 0,
        "kind": "EVENT_KIND_DISPATCHED",
    }
    assert client.payloads() == [
        {
            **bare,
            "event_id": "full",
            "operation_id": "operation",
            "attempt": 2,
            "usage": {"input_tokens": 10, "output_tokens": 0},
            "price": {"amount_micros": 0, "currency": "EUR", "provenance": "table"},
        },
        bare,
    ]
    assert client.counters() == (2, 0, 0)


def test_a_repeat_is_counted_and_kept_once_in_its_run(client: Client) -> None:
    assert client.emit(event(), event()) == grpc.StatusCode.OK
    assert client.emit(event(attempt=7)) == grpc.StatusCode.OK
    assert client.emit(event(run_id="another run")) == grpc.StatusCode.OK
    assert [(entry["run_id"], entry["attempt"]) for entry in client.payloads()] == [
        ("run", 0),
        ("another run", 0),
    ]
    assert client.counters() == (2, 2, 0)


def price(**changes: Any) -> observer_pb2.Price:
    known: dict[str, Any] = {"amount_micros": 1, "currency": "EUR", "provenance": "provider"}
    return observer_pb2.Price(**{**known, **changes})


@pytest.mark.parametrize(
    "fields",
    [
        {"event_id": ""},
        {"event_id": "x" * 129},
        {"run_id": ""},
        {"run_id": "x" * 129},
        {"workflow_id": ""},
        {"workflow_id": "x" * 129},
        {"operation_id": "x" * 129},
        {"attempt": 2**53},
        {"kind": observer_pb2.EVENT_KIND_UNSPECIFIED},
        {"kind": 99},
        {"usage": observer_pb2.Usage(output_tokens=2**53)},
        {"price": observer_pb2.Price()},
        {"price": price(currency="")},
        {"price": price(currency="eur")},
        {"price": price(currency="EURO")},
        {"price": price(provenance="")},
        {"price": price(provenance="x" * 65)},
        {"price": price(provenance="the user said so")},
        {"price": price(amount_micros=-1)},
        {"price": price(amount_micros=2**53)},
    ],
)
def test_a_value_outside_the_allow_list_refuses_the_request(
    client: Client, fields: dict[str, Any]
) -> None:
    assert client.emit(event("good"), event(**fields)) == grpc.StatusCode.INVALID_ARGUMENT
    assert client.payloads() == []
    assert client.counters() == (0, 0, 2)


def test_bounds_themselves_are_allowed(client: Client) -> None:
    widest = event(
        "é" * 64,
        operation_id="x" * 128,
        attempt=2**53 - 1,
        usage=observer_pb2.Usage(input_tokens=2**53 - 1),
        price=price(provenance="x" * 64),
    )
    assert client.emit(widest) == grpc.StatusCode.OK
    assert client.counters() == (1, 0, 0)


# Field 100, a text of three bytes: no message of the observer has it.
UNKNOWN_FIELD = b"\xa2\x06\x03abc"


@pytest.mark.parametrize("place", ["request", "event", "usage", "price"])
def test_an_unknown_field_anywhere_refuses_the_request(client: Client, place: str) -> None:
    usage = observer_pb2.Usage(input_tokens=1)
    sent = event(usage=usage, price=price())
    request = observer_pb2.EmitRequest(events=[sent])
    where = {
        "request": request,
        "event": request.events[0],
        "usage": request.events[0].usage,
        "price": request.events[0].price,
    }
    where[place].MergeFromString(UNKNOWN_FIELD)
    assert client.emit_request(request) == grpc.StatusCode.INVALID_ARGUMENT
    assert client.counters() == (0, 0, 1)


def test_a_request_is_bounded_and_an_empty_one_is_nothing(client: Client) -> None:
    same = [event() for _ in range(1000)]
    assert client.emit(*same) == grpc.StatusCode.OK
    assert client.emit(*same, event()) == grpc.StatusCode.INVALID_ARGUMENT
    assert client.emit() == grpc.StatusCode.OK
    assert client.counters() == (1, 999, 1001)


def test_an_unknown_field_without_events_counts_as_one_refusal(client: Client) -> None:
    request = observer_pb2.EmitRequest()
    request.MergeFromString(UNKNOWN_FIELD)
    assert client.emit_request(request) == grpc.StatusCode.INVALID_ARGUMENT
    assert client.counters() == (0, 0, 1)


def test_a_full_store_refuses_whole_requests_and_still_knows_repeats(client: Client) -> None:
    assert client.emit(*[event(str(number)) for number in range(4)]) == grpc.StatusCode.OK
    assert client.emit(event("4"), event("5")) == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(client.payloads()) == 4
    assert client.emit(event("4"), event("0")) == grpc.StatusCode.OK
    assert client.emit(event("0")) == grpc.StatusCode.OK
    assert client.emit(event("5")) == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert client.counters() == (EVENTS_MAX, 2, 3)


def test_the_journal_streams_from_a_sequence_on(client: Client) -> None:
    client.emit(*[event(str(number)) for number in range(3)])
    records = client.journal()
    assert client.journal(2) == records[1:]
    assert client.journal(4) == []


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "observer.db").write_bytes(b"no database" * 1000)
    with pytest.raises(DatabaseError, match="fresh volume"):
        Observer(tmp_path)


def test_everything_acknowledged_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "observer.db"
    store = EventStore(path)
    store.add([event(), event()])
    store.count_refused(3)
    store.close()
    store = EventStore(path)
    store.add([event()])
    counters = store.counters()
    assert (counters.accepted, counters.duplicates, counters.refused) == (1, 2, 3)
    verify_chain(store.journal(1))
    store.close()


@pytest.mark.e2e_process
def test_the_process_keeps_what_it_acknowledged_when_killed_and_stops_when_told(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    for number, (end, code) in enumerate(
        [(kill_process, KILLED_EXIT_CODE), (terminate_process, 0)], start=1
    ):
        log.write_bytes(b"")
        with log.open("ab") as errors:
            child = spawn_process(
                [sys.executable, "-m", "services.observer"],
                environment={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    "MEMQUAL_DATA_DIR": str(tmp_path),
                    "MEMQUAL_LISTEN": "127.0.0.1:0",
                    "MEMQUAL_AUDIT_LISTEN": "127.0.0.1:0",
                },
                folder=tmp_path,
                output=subprocess.DEVNULL,
                errors=errors,
            )
        serving = wait_for_serving(log)
        with (
            open_channel(f"127.0.0.1:{serving['port']}") as channel,
            open_channel(f"127.0.0.1:{serving['audit_port']}") as audit_channel,
        ):
            client = Client(
                observer_pb2_grpc.ObserverServiceStub(channel),
                observer_pb2_grpc.ObserverAuditServiceStub(audit_channel),
            )
            assert client.emit(event("same"), event(f"event {number}")) == grpc.StatusCode.OK
            assert client.counters() == (number + 1, number - 1, 0)
            end(child.pid)
            assert child.wait(DEADLINE_SECONDS) == code


def wait_for_serving(log: Path) -> dict[str, Any]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for line in log.read_bytes().splitlines():
            if line.endswith(b"}") and (entry := json.loads(line))["event"] == "serving":
                return dict(entry)
        time.sleep(0.01)
    raise AssertionError(log.read_text())
