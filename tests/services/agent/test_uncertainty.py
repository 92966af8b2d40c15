"""Lost and refused answers: asked about, never repeated on its own (DESIGN §4)."""

from pathlib import Path

import grpc
import pytest

from memqual.v1 import agent_pb2, continuity_pb2, destination_pb2
from tests.services.agent.fakes import World
from tests.services.agent.governed import (
    COMPLETED,
    FAILED,
    PARKED,
    UNAVAILABLE,
    begins,
    invokes,
    run,
)
from tests.services.agent.hosts import HostClient, local_host


def test_a_lost_begin_is_repeated_with_its_begin_id(around: World, host: HostClient) -> None:
    around.memory.after["Begin"].extend([UNAVAILABLE, grpc.StatusCode.CANCELLED])
    assert run(host).state == COMPLETED
    assert len(begins(around)) == 3
    assert len({begin.begin_id for begin in begins(around)}) == 1
    assert [request.attempt for request in invokes(around)] == [1]


def test_begin_is_retried_three_times_and_then_fails(around: World, host: HostClient) -> None:
    around.memory.before["Begin"].extend([UNAVAILABLE] * 4)
    found = run(host)
    assert (found.state, found.error) == (FAILED, "UNAVAILABLE: begin")
    assert len(begins(around)) == 4
    host.resume("w")
    assert host.settled("w")[0].state == COMPLETED


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.INTERNAL,
    ],
)
def test_a_refused_begin_is_not_retried(
    around: World, host: HostClient, code: grpc.StatusCode
) -> None:
    around.memory.before["Begin"].append(code)
    found = run(host)
    assert (found.state, found.error) == (FAILED, f"{code.name}: begin")
    assert len(begins(around)) == 1


@pytest.mark.parametrize(
    "code",
    [UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.INTERNAL],
)
@pytest.mark.parametrize("applied", [True, False])
def test_an_uncertain_dispatch_is_asked_about_and_not_repeated(
    around: World, host: HostClient, code: grpc.StatusCode, applied: bool
) -> None:
    switches = around.destination.after if applied else around.destination.before
    switches["Invoke"].append(code)
    found = run(host)
    assert (found.state, found.operations[0].last_decision, found.operations[0].attempt) == (
        PARKED,
        continuity_pb2.DECISION_KIND_WAIT,
        1,
    )
    assert len(invokes(around)) == 1
    assert len({begin.begin_id for begin in begins(around)}) == 2
    assert around.memory.of("RecordReceipt") == []


def test_a_dispatch_beyond_its_deadline_is_uncertain(around: World, tmp_path: Path) -> None:
    held = around.destination.hold("Invoke", before=True)
    with local_host(around, tmp_path, deadline_seconds=0.5) as host:
        found = run(host)
    held.release()
    assert found.state == PARKED
    assert len(invokes(around)) == 1


@pytest.mark.parametrize("code", [grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND])
def test_a_call_that_the_destination_cannot_take_fails(
    around: World, host: HostClient, code: grpc.StatusCode
) -> None:
    around.destination.before["Invoke"].append(code)
    found = run(host)
    assert (found.state, found.error) == (FAILED, f"{code.name}: invoke")


def test_a_fenced_dispatch_is_asked_about_again(around: World, host: HostClient) -> None:
    around.destination.before["Invoke"].append(grpc.StatusCode.FAILED_PRECONDITION)
    found = run(host)
    assert (found.state, found.operations[0].last_decision) == (
        PARKED,
        continuity_pb2.DECISION_KIND_WAIT,
    )


@pytest.mark.parametrize(
    "response",
    [
        destination_pb2.InvokeResponse(),
        destination_pb2.InvokeResponse(result=destination_pb2.ToolResult(result_json="nothing")),
    ],
)
def test_an_answer_that_is_none_is_uncertain(
    around: World, host: HostClient, response: destination_pb2.InvokeResponse
) -> None:
    around.destination.responses["w"].append(response)
    assert run(host).state == PARKED
    assert around.memory.of("RecordReceipt") == []


def test_a_receipt_is_retried_like_begin(around: World, host: HostClient) -> None:
    around.memory.after["RecordReceipt"].extend([UNAVAILABLE] * 3)
    assert run(host).state == COMPLETED
    requests = [call.request for call in around.memory.of("RecordReceipt")]
    assert requests == [requests[0]] * 4
    assert len(begins(around)) == 1


@pytest.mark.parametrize("recorded", [True, False])
def test_a_receipt_that_cannot_be_delivered_is_asked_about(
    around: World, host: HostClient, recorded: bool
) -> None:
    switches = around.memory.after if recorded else around.memory.before
    switches["RecordReceipt"].extend([UNAVAILABLE] * 4)
    found = run(host)
    assert (found.state, found.operations[0].last_decision) == (
        (COMPLETED, continuity_pb2.DECISION_KIND_REUSE)
        if recorded
        else (PARKED, continuity_pb2.DECISION_KIND_WAIT)
    )
    assert len(invokes(around)) == 1


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION]
)
def test_a_refused_receipt_is_asked_about(
    around: World, host: HostClient, code: grpc.StatusCode
) -> None:
    around.memory.before["RecordReceipt"].append(code)
    assert run(host).state == PARKED
    assert len(around.memory.of("RecordReceipt")) == 1


@pytest.mark.parametrize(
    ("disposition", "expected"),
    [
        (continuity_pb2.RECEIPT_DISPOSITION_ALREADY_RECORDED, (COMPLETED, "", 1)),
        (continuity_pb2.RECEIPT_DISPOSITION_EVIDENCE_ONLY, (PARKED, "", 2)),
        (
            continuity_pb2.RECEIPT_DISPOSITION_UNSPECIFIED,
            (FAILED, "INTERNAL: malformed_acknowledgement: no disposition", 1),
        ),
    ],
)
def test_what_the_memory_says_of_a_receipt_counts(
    around: World,
    host: HostClient,
    disposition: "continuity_pb2.ReceiptDisposition.ValueType",
    expected: "tuple[agent_pb2.WorkflowState.ValueType, str, int]",
) -> None:
    around.memory.dispositions["w"] = disposition
    found = run(host)
    assert (found.state, found.error, len(begins(around))) == expected
    assert (found.operations[0].result_digest != "") == (found.state == COMPLETED)
