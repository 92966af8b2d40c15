"""Events count only with their sender's token, and are kept under the sender's name."""

import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memqual.v1 import observer_pb2, observer_pb2_grpc
from services.common.channels import open_channel
from services.common.server import RunningServer, start
from services.common.settings import SettingsError
from services.common.telemetry import INGEST_VARIABLE, Emitter
from services.observer.app import AUDIT_SERVICE_NAME, SERVICE_NAME, Observer
from services.observer.senders import TOKENS_VARIABLE, Senders

TOKENS = {"token-of-agent": "agent", "token-of-memory": "memory"}
DEADLINE_SECONDS = 5.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    observer = Observer(tmp_path, senders=Senders(TOKENS))
    running = start(
        listen="127.0.0.1:0",
        registrars=[observer.register],
        service_names=[SERVICE_NAME],
        audit_listen="127.0.0.1:0",
        audit_registrars=[observer.register_audit],
        audit_service_names=[AUDIT_SERVICE_NAME],
    )
    yield running
    running.stop()
    observer.close()


def event(event_id: str) -> observer_pb2.TelemetryEvent:
    return observer_pb2.TelemetryEvent(
        event_id=event_id,
        run_id="run",
        workflow_id="workflow",
        kind=observer_pb2.EVENT_KIND_DISPATCHED,
    )


def emit(server: RunningServer, event_id: str, *metadata: tuple[str, str]) -> grpc.StatusCode:
    with open_channel(f"127.0.0.1:{server.port}") as channel:
        stub = observer_pb2_grpc.ObserverServiceStub(channel)
        request = observer_pb2.EmitRequest(events=[event(event_id)])
        try:
            stub.Emit(request, timeout=DEADLINE_SECONDS, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


def kept(server: RunningServer) -> list[tuple[str, str]]:
    with open_channel(f"127.0.0.1:{server.audit_port}") as channel:
        stub = observer_pb2_grpc.ObserverAuditServiceStub(channel)
        stream = stub.ReadEvents(
            observer_pb2.ReadEventsRequest(from_sequence=1), timeout=DEADLINE_SECONDS
        )
        payloads = [json.loads(answer.record.payload_json) for answer in stream]
    return [(payload["event_id"], payload["source"]) for payload in payloads]


def counters(server: RunningServer) -> tuple[int, int]:
    with open_channel(f"127.0.0.1:{server.audit_port}") as channel:
        stub = observer_pb2_grpc.ObserverAuditServiceStub(channel)
        answer = stub.ReadCounters(observer_pb2.ReadCountersRequest(), timeout=DEADLINE_SECONDS)
    return answer.accepted, answer.refused


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("authorization", "Bearer wrong"),),
        (("authorization", "Bearer "),),
        (("authorization", "token-of-agent"),),
        (("memqual-token", "token-of-agent"),),
    ],
)
def test_without_a_senders_token_nothing_counts(
    server: RunningServer, metadata: tuple[tuple[str, str], ...]
) -> None:
    assert emit(server, "forged", *metadata) == grpc.StatusCode.PERMISSION_DENIED
    assert kept(server) == []
    assert counters(server) == (0, 1)


def test_an_event_is_kept_under_the_sender_of_its_token(server: RunningServer) -> None:
    assert emit(server, "a", ("authorization", "Bearer token-of-agent")) == grpc.StatusCode.OK
    assert emit(server, "m", ("authorization", "Bearer token-of-memory")) == grpc.StatusCode.OK
    assert kept(server) == [("a", "agent"), ("m", "memory")]


def test_an_emitter_sends_its_own_token(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INGEST_VARIABLE, "token-of-agent")
    emitter = Emitter(f"127.0.0.1:{server.port}")
    emitter.emit(event("own"))
    emitter.close()
    assert (emitter.dropped, kept(server)) == (0, [("own", "agent")])


def test_an_emitter_without_a_token_drops_and_counts(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(INGEST_VARIABLE, raising=False)
    emitter = Emitter(f"127.0.0.1:{server.port}")
    emitter.emit(event("foreign"))
    emitter.close()
    assert (emitter.dropped, kept(server)) == (1, [])


@pytest.mark.parametrize("text", ["secret", "[]", "{}", '{"secret": 1}', '{"": "agent"}'])
def test_a_malformed_variable_is_refused_without_telling_it(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKENS_VARIABLE, text)
    with pytest.raises(SettingsError) as caught:
        Senders.from_environment()
    assert TOKENS_VARIABLE in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
