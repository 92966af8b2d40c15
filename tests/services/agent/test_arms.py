"""Every arm: who is called, with what, and what is told to whom (DESIGN §4)."""

from pathlib import Path

import grpc
import pytest

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2, observer_pb2
from services.common.canonical import operation_id, sha256_hex
from tests.services.agent.fake_memory import LEASE_MS
from tests.services.agent.fakes import NOW_UNIX_NS, TOOLS, World
from tests.services.agent.governed import (
    COMPLETED,
    FAILED,
    IDEMPOTENT,
    MEMORY_ARMS,
    NONE,
    PARKED,
    PLAIN_ARMS,
    QUERY,
    UNAVAILABLE,
    begins,
    invokes,
    run,
)
from tests.services.agent.hosts import TOKEN, HostClient, local_host, workflow


@pytest.mark.parametrize("arm", MEMORY_ARMS)
@pytest.mark.parametrize("capability", [NONE, QUERY, IDEMPOTENT])
def test_execute_dispatches_once_and_records(
    around: World,
    host: HostClient,
    arm: "agent_pb2.Arm.ValueType",
    capability: "common_pb2.EffectCapability.ValueType",
) -> None:
    around.destination.capability = capability
    found = run(host, arm)
    assert found.state == COMPLETED
    line = found.operations[0]
    assert line.operation_id == operation_id(line.identity)
    effect = around.destination.effects_of("w")[0]
    assert (line.last_decision, line.reason_code, line.attempt, line.result_digest) == (
        continuity_pb2.DECISION_KIND_EXECUTE,
        "granted",
        1,
        sha256_hex(effect.result_json.encode()),
    )
    assert invokes(around) == [
        destination_pb2.InvokeRequest(
            workflow_id="w",
            operation_id=line.operation_id,
            attempt=1,
            tool="publish",
            arguments_json='{"number":1}',
            not_after_unix_ns=NOW_UNIX_NS + LEASE_MS * 1_000_000,
            idempotency_key=line.operation_id if capability == IDEMPOTENT else "",
        )
    ]
    remembered = around.memory.operations[line.operation_id]
    assert remembered.receipt == continuity_pb2.Receipt(
        operation_id=line.operation_id,
        attempt=1,
        arguments_digest=sha256_hex(b'{"number":1}'),
        result_json=effect.result_json,
        result_digest=line.result_digest,
        effect_id=remembered.receipt.effect_id if remembered.receipt else "",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )
    assert remembered.spec.capability == capability


@pytest.mark.parametrize("arm", PLAIN_ARMS)
def test_arms_without_a_memory_call_the_destination_directly(
    around: World, host: HostClient, arm: "agent_pb2.Arm.ValueType"
) -> None:
    around.destination.capability = IDEMPOTENT
    found = run(host, arm)
    line = found.operations[0]
    assert (found.state, line.attempt, line.last_decision) == (
        COMPLETED,
        0,
        continuity_pb2.DECISION_KIND_UNSPECIFIED,
    )
    assert around.memory.calls == []
    assert [call.method for call in around.destination.calls] == ["Invoke"]
    assert invokes(around) == [
        destination_pb2.InvokeRequest(
            workflow_id="w",
            operation_id=line.operation_id,
            tool="publish",
            arguments_json='{"number":1}',
        )
    ]


@pytest.mark.parametrize("arm", PLAIN_ARMS)
def test_a_plain_arm_that_lost_its_answer_fails_and_dispatches_again_when_woken(
    around: World, host: HostClient, arm: "agent_pb2.Arm.ValueType"
) -> None:
    around.destination.after["Invoke"].append(UNAVAILABLE)
    found = run(host, arm)
    assert (found.state, found.error) == (FAILED, "UNAVAILABLE: invoke")
    host.resume("w")
    assert host.settled("w")[0].state == COMPLETED
    assert len(around.destination.effects_of("w")) == 2


@pytest.mark.parametrize("arm", MEMORY_ARMS + PLAIN_ARMS)
def test_every_call_is_made_in_order_and_a_refusal_is_a_result(
    around: World, host: HostClient, arm: "agent_pb2.Arm.ValueType"
) -> None:
    host.start(workflow("w", arm, ["publish", "lookup"], ["refuse"]))
    found = host.settled("w")[0]
    assert found.state == COMPLETED
    assert [(line.tool, line.tool_error_code) for line in found.operations] == [
        ("publish", ""),
        ("lookup", ""),
        ("refuse", "not_allowed"),
    ]
    assert [request.tool for request in invokes(around)] == ["publish", "lookup", "refuse"]
    if arm in MEMORY_ARMS:
        assert [begin.spec.tool for begin in begins(around)] == ["publish", "lookup", "refuse"]
        receipt = around.memory.operations[found.operations[2].operation_id].receipt
        assert receipt is not None
        assert receipt.outcome == continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR


def test_every_call_carries_its_metadata(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    around.destination.before["Invoke"].append(UNAVAILABLE)
    found = run(host, agent_pb2.ARM_BOTH)
    assert found.state == PARKED
    around.memory.expire_leases()
    host.resume("w")
    host.settled("w")
    line = found.operations[0]
    incarnation_id = begins(around)[0].incarnation_id
    carried = [
        (call.method, call.metadata.pop("memqual-attempt"), call.metadata)
        for call in (*around.destination.calls, *around.memory.calls)
    ]
    assert [(method, attempt) for method, attempt, _ in carried] == [
        ("DescribeTool", "0"),
        ("Invoke", "1"),
        ("DescribeTool", "0"),
        ("QueryEffect", "1"),
        ("Invoke", "2"),
        ("Begin", "0"),
        ("Begin", "1"),
        ("Begin", "0"),
        ("RecordQuery", "1"),
        ("Begin", "1"),
        ("RecordReceipt", "2"),
    ]
    assert all(
        metadata
        == {
            "memqual-run": "run-1",
            "memqual-workflow": "w",
            "memqual-operation": line.operation_id,
            "memqual-incarnation": incarnation_id,
            "memqual-token": TOKEN,
        }
        for _, _, metadata in carried
    )


def test_a_tool_that_is_not_there_fails(around: World, host: HostClient) -> None:
    host.start(workflow("w", agent_pb2.ARM_MEMORY, ["nothing"]))
    found = host.settled("w")[0]
    assert (found.state, found.error) == (FAILED, "NOT_FOUND: describe_tool")
    assert begins(around) == []


def test_every_tool_of_the_destination_is_governed(around: World, host: HostClient) -> None:
    host.start(workflow("w", agent_pb2.ARM_MEMORY, sorted(TOOLS)))
    assert host.settled("w")[0].state == COMPLETED
    assert [begin.spec.tool for begin in begins(around)] == sorted(TOOLS)


@pytest.mark.parametrize("arm", MEMORY_ARMS + PLAIN_ARMS)
def test_only_observed_arms_emit_and_ids_only(
    around: World, tmp_path: Path, arm: "agent_pb2.Arm.ValueType"
) -> None:
    with local_host(around, tmp_path, observed=True) as host:
        found = run(host, arm)
    events = around.observer.events_of("w")
    if arm in {agent_pb2.ARM_MEMORY, agent_pb2.ARM_BASELINE}:
        assert events == []
        return
    governed = [observer_pb2.EVENT_KIND_DECISION_RECEIVED] if arm == agent_pb2.ARM_BOTH else []
    recorded = [observer_pb2.EVENT_KIND_RECEIPT_RECORDED] if arm == agent_pb2.ARM_BOTH else []
    assert [event.kind for event in events] == [
        observer_pb2.EVENT_KIND_WORKFLOW_STARTED,
        observer_pb2.EVENT_KIND_MODEL_CALLED,
        *governed,
        observer_pb2.EVENT_KIND_DISPATCHED,
        observer_pb2.EVENT_KIND_RESULT_RECEIVED,
        *recorded,
        observer_pb2.EVENT_KIND_WORKFLOW_SETTLED,
    ]
    assert len({event.event_id for event in events}) == len(events)
    assert {event.run_id for event in events} == {"run-1"}
    attempt = 1 if arm == agent_pb2.ARM_BOTH else 0
    assert {(event.operation_id, event.attempt) for event in events if event.operation_id} == {
        (found.operations[0].operation_id, attempt)
    }


@pytest.mark.parametrize(
    "codes", [[], [UNAVAILABLE] * 100, [grpc.StatusCode.INVALID_ARGUMENT] * 100]
)
def test_decisions_are_the_same_whatever_the_observer_does(
    around: World, tmp_path: Path, codes: list[grpc.StatusCode]
) -> None:
    around.observer.before["Emit"].extend(codes)
    around.destination.capability = QUERY
    with local_host(around, tmp_path, observed=True) as host:
        around.destination.after["Invoke"].append(UNAVAILABLE)
        host.start(workflow("w", agent_pb2.ARM_BOTH))
        host.settled("w")
        around.memory.expire_leases()
        host.resume("w")
        assert host.settled("w")[0].state == COMPLETED
    assert [call.method for call in around.memory.calls] == [
        "Begin",
        "Begin",
        "Begin",
        "RecordQuery",
        "Begin",
    ]
