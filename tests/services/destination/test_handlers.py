import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from memqual.v1 import common_pb2, destination_pb2, destination_pb2_grpc
from services.common import clock
from services.common.channels import open_channel
from services.common.journal import JournalRecord, verify_chain
from services.common.server import start
from services.destination.app import AUDIT_SERVICE_NAME, SERVICE_NAME, Destination
from tests.services.destination.support import state_hash

DEADLINE_SECONDS = 30
TRANSFER = '{"amount_cents":100,"from":"alice","to":"bob"}'
NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT


@dataclass
class Client:
    """Both sides of one destination."""

    tool: destination_pb2_grpc.DestinationServiceStub
    audit: destination_pb2_grpc.DestinationAuditServiceStub

    def configure(self, **settings: Any) -> None:
        entry = destination_pb2.WorkflowSettings(**{"workflow_id": "workflow", **settings})
        self.audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(settings=[entry]), timeout=DEADLINE_SECONDS
        )

    def invoke(self, **fields: Any) -> destination_pb2.InvokeResponse:
        request = destination_pb2.InvokeRequest(
            **{
                "workflow_id": "workflow",
                "operation_id": "operation",
                "attempt": 1,
                "tool": "transfer_funds",
                "arguments_json": TRANSFER,
                **fields,
            }
        )
        return self.tool.Invoke(request, timeout=DEADLINE_SECONDS)

    def query(self, **fields: Any) -> destination_pb2.QueryEffectResponse:
        request = destination_pb2.QueryEffectRequest(
            **{"workflow_id": "workflow", "operation_id": "operation", "fence_attempt": 1, **fields}
        )
        return self.tool.QueryEffect(request, timeout=DEADLINE_SECONDS)

    def describe(self, tool: str = "transfer_funds") -> destination_pb2.DescribeToolResponse:
        return self.tool.DescribeTool(
            destination_pb2.DescribeToolRequest(workflow_id="workflow", tool=tool),
            timeout=DEADLINE_SECONDS,
        )

    def journal(self, from_sequence: int = 1) -> list[JournalRecord]:
        request = destination_pb2.ReadJournalRequest(from_sequence=from_sequence)
        return [
            JournalRecord.from_proto(answer.record)
            for answer in self.audit.ReadJournal(request, timeout=DEADLINE_SECONDS)
        ]

    def events(self) -> list[str]:
        return [json.loads(record.payload_json)["event"] for record in self.journal()]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    destination = Destination(tmp_path, name="bank")
    server = start(
        listen="127.0.0.1:0",
        registrars=[destination.register],
        service_names=[SERVICE_NAME],
        audit_listen="127.0.0.1:0",
        audit_registrars=[destination.register_audit],
        audit_service_names=[AUDIT_SERVICE_NAME],
    )
    with (
        open_channel(f"127.0.0.1:{server.port}") as channel,
        open_channel(f"127.0.0.1:{server.audit_port}") as audit_channel,
    ):
        yield Client(
            destination_pb2_grpc.DestinationServiceStub(channel),
            destination_pb2_grpc.DestinationAuditServiceStub(audit_channel),
        )
    server.stop()
    destination.close()


def becomes(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def refused(call: Any, *arguments: Any, **fields: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details() or ""


def test_a_tool_is_described_by_the_workflows_rules(client: Client) -> None:
    client.configure(capability=IDEMPOTENT, retention_seconds=60)
    before_ns = clock.wall_ns()
    answer = client.describe()
    assert before_ns <= answer.now_unix_ns <= clock.wall_ns()
    answer.now_unix_ns = 0
    assert answer == destination_pb2.DescribeToolResponse(
        destination="bank", capability=IDEMPOTENT, retention_seconds=60
    )


def test_what_is_unknown_or_not_configured_says_what_to_do(client: Client) -> None:
    code, details = refused(client.describe)
    assert (code, "ConfigureWorkflow" in details) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    code, details = refused(client.invoke)
    assert (code, "ConfigureWorkflow" in details) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    assert refused(client.query)[0] == grpc.StatusCode.FAILED_PRECONDITION
    assert refused(client.describe, "no_such_tool")[0] == grpc.StatusCode.NOT_FOUND
    assert refused(client.invoke, tool="no_such_tool")[0] == grpc.StatusCode.NOT_FOUND


def test_a_call_answers_its_result_and_a_replay_says_so(client: Client) -> None:
    client.configure(capability=IDEMPOTENT, retention_seconds=60)
    first = client.invoke(idempotency_key="key").result
    assert json.loads(first.result_json)["to_balance_cents"] == 100
    assert 1 <= len(first.effect_id.encode("utf-8")) <= 128
    second = client.invoke(idempotency_key="key", attempt=2).result
    assert second == destination_pb2.ToolResult(
        result_json=first.result_json, effect_id=first.effect_id, replayed=True
    )


def test_a_tools_refusal_is_an_answer(client: Client) -> None:
    client.configure(capability=NONE)
    answer = client.invoke(arguments_json="{}")
    assert answer.WhichOneof("outcome") == "tool_error"
    assert answer.tool_error.code == "bad_arguments"


def test_a_query_answers_presence_and_result(client: Client) -> None:
    client.configure(capability=QUERY, fenced=True)
    absent = client.query(operation_id="absent")
    assert absent == destination_pb2.QueryEffectResponse(
        presence=common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
    )
    code, details = refused(client.invoke, operation_id="absent")
    assert (code, details[:6]) == (grpc.StatusCode.FAILED_PRECONDITION, "fenced")
    result = client.invoke().result
    assert client.query() == destination_pb2.QueryEffectResponse(
        presence=common_pb2.EFFECT_PRESENCE_PRESENT, result=result
    )


def test_an_unfenced_query_is_uncertain(client: Client) -> None:
    client.configure(capability=QUERY, visibility_delay_ms=3_600_000)
    client.invoke()
    assert client.query().presence == common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN


@pytest.mark.parametrize(
    "fields",
    [
        {"workflow_id": ""},
        {"operation_id": ""},
        {"operation_id": "x" * 129},
        {"attempt": 2**53},
        {"tool": ""},
        {"arguments_json": ""},
        {"arguments_json": '{"a": 1}'},
        {"arguments_json": '{"a":"' + "x" * 65_536 + '"}'},
        {"not_after_unix_ns": -1},
        {"idempotency_key": "x" * 129},
    ],
)
def test_a_malformed_call_is_refused_and_no_dispatch(
    client: Client, fields: dict[str, Any]
) -> None:
    client.configure(capability=NONE)
    code, details = refused(client.invoke, **fields)
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert next(iter(fields)) in details
    assert client.events() == ["configured"]


@pytest.mark.parametrize(
    "fields", [{"workflow_id": ""}, {"operation_id": ""}, {"fence_attempt": 2**53}]
)
def test_a_malformed_query_is_refused(client: Client, fields: dict[str, Any]) -> None:
    client.configure(capability=QUERY)
    assert refused(client.query, **fields)[0] == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"capability": 99},
        {"capability": NONE, "workflow_id": ""},
        {"capability": NONE, "fenced": True},
        {"capability": NONE, "visibility_delay_ms": 1},
        {"capability": NONE, "retention_seconds": 1},
        {"capability": QUERY, "fenced": True, "visibility_delay_ms": 1},
        {"capability": QUERY, "retention_seconds": 1},
        {"capability": IDEMPOTENT},
        {"capability": IDEMPOTENT, "retention_seconds": 1, "fenced": True},
    ],
)
def test_settings_that_contradict_themselves_are_refused(
    client: Client, settings: dict[str, Any]
) -> None:
    assert refused(client.configure, **settings)[0] == grpc.StatusCode.INVALID_ARGUMENT
    assert client.events() == []


def test_settings_name_a_workflow_once_and_are_bounded(client: Client) -> None:
    def configure(count: int, name: str) -> None:
        entries = [
            destination_pb2.WorkflowSettings(workflow_id=name.format(n=number), capability=NONE)
            for number in range(count)
        ]
        client.audit.ConfigureWorkflow(
            destination_pb2.ConfigureWorkflowRequest(settings=entries), timeout=DEADLINE_SECONDS
        )

    assert refused(configure, 2, "same")[0] == grpc.StatusCode.INVALID_ARGUMENT
    assert refused(configure, 1001, "w{n}")[0] == grpc.StatusCode.INVALID_ARGUMENT
    configure(20, "w{n}")
    assert client.events() == ["configured"] * 20


def test_rules_are_fixed_by_the_first_call(client: Client) -> None:
    client.configure(capability=NONE)
    client.invoke()
    client.configure(capability=NONE)
    assert refused(client.configure, capability=QUERY)[0] == grpc.StatusCode.FAILED_PRECONDITION


def test_the_journal_streams_what_was_sent_from_a_sequence_on(client: Client) -> None:
    client.configure(capability=NONE)
    client.invoke()
    refused(client.invoke, tool="no_such_tool")
    # gRPC tells the server that a call ended after the caller has its answer.
    assert becomes(lambda: client.events().count("response_sent") == 2)
    records = client.journal()
    verify_chain(records)
    events = [json.loads(record.payload_json)["event"] for record in records]
    # The first answer may be noted before or after the next call.
    assert sorted(events) == sorted(
        ["configured", "received", "applied", "received", "refused"] + ["response_sent"] * 2
    )
    assert client.journal(3) == records[2:]
    assert client.journal(len(records) + 1) == []


def test_the_state_hash_and_the_clock_are_read(client: Client) -> None:
    client.configure(capability=NONE)
    client.invoke(tool="publish_document", arguments_json='{"content":"text","path":"report.md"}')

    def read(workflow_id: str) -> str:
        request = destination_pb2.ReadStateHashRequest(workflow_id=workflow_id)
        return client.audit.ReadStateHash(request, timeout=DEADLINE_SECONDS).digest

    everything = state_hash({("workflow", "report.md"): "text"}, {}, retail=True)
    assert read("workflow") == read("") == everything
    assert read("other") == state_hash({}, {}, retail=True)
    before = clock.reading()
    answer = client.audit.ReadClock(
        destination_pb2.ReadClockRequest(), timeout=DEADLINE_SECONDS
    ).clock
    assert before.wall_unix_ns <= answer.wall_unix_ns <= clock.wall_ns()
    assert before.monotonic_ns <= answer.monotonic_ns <= clock.monotonic_ns()
