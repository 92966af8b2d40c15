"""Every decision: what the host then does, and what it leaves alone (DESIGN §6)."""

from pathlib import Path

import pytest

from memqual.v1 import agent_pb2, continuity_pb2
from services.agent.checkpoints import CheckpointFiles
from services.common.canonical import sha256_hex
from tests.services.agent.fake_memory import decision
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
from tests.services.agent.hosts import HostClient


def test_wait_parks_and_a_wake_up_asks_again(around: World, host: HostClient) -> None:
    around.memory.scripts["w"].extend(
        [decision("lease_live", wait=continuity_pb2.Wait(remaining_ms=ms)) for ms in (700, 300)]
    )
    found = run(host)
    assert (found.state, found.wait_remaining_ms, found.operations[0].reason_code) == (
        PARKED,
        700,
        "lease_live",
    )
    assert '"next":["act"]' in host.checkpoint("w")
    host.resume("w")
    assert host.settled("w")[0].wait_remaining_ms == 300
    assert invokes(around) == []
    host.resume("w")
    found = host.settled("w")[0]
    assert (found.state, found.wait_remaining_ms) == (COMPLETED, 0)
    assert len({begin.begin_id for begin in begins(around)}) == 3


def test_confirm_interrupts_and_every_wake_up_asks_once(
    around: World, host: HostClient, tmp_path: Path
) -> None:
    confirm = decision("outcome_unknown", confirm=continuity_pb2.Confirm())
    around.memory.scripts["w"].extend([confirm] * 4)
    found = run(host)
    for asked in range(1, 4):
        assert found.state == agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
        assert len(begins(around)) == asked
        host.resume("w")
        found = host.settled("w")[0]
    assert invokes(around) == []
    writes = CheckpointFiles(tmp_path).read("w").saved.pending_writes or ()
    # The graph itself was resumed, three times, and stands at a fourth interrupt.
    assert ["wake-up"] * 3 in [value for _, channel, value in writes if channel == "__resume__"]
    host.resume("w")
    assert host.settled("w")[0].state == COMPLETED
    assert len(invokes(around)) == 1


def test_confirm_then_wait_then_reuse(around: World, host: HostClient) -> None:
    around.memory.scripts["w"].extend(
        [
            decision("outcome_unknown", confirm=continuity_pb2.Confirm()),
            decision("lease_live", wait=continuity_pb2.Wait(remaining_ms=1)),
            decision("outcome_unknown", confirm=continuity_pb2.Confirm()),
        ]
    )
    states = [run(host).state]
    for _ in range(3):
        host.resume("w")
        states.append(host.settled("w")[0].state)
    assert states == [
        agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION,
        PARKED,
        agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION,
        COMPLETED,
    ]


def test_reject_ends_in_rejected_and_dispatches_nothing(around: World, host: HostClient) -> None:
    around.memory.scripts["w"].append(decision("spec_differs", reject=continuity_pb2.Reject()))
    found = run(host)
    assert (found.state, found.operations[0].last_decision, found.error) == (
        agent_pb2.WORKFLOW_STATE_REJECTED,
        continuity_pb2.DECISION_KIND_REJECT,
        "",
    )
    assert invokes(around) == []


def reuse_of(around: World, outcome: "continuity_pb2.ReceiptOutcome.ValueType") -> str:
    """Lets the memory answer REUSE to whatever w asks; returns the result."""
    result = '{"code":"sold_out","message":""}'

    def answer(request: continuity_pb2.BeginRequest) -> continuity_pb2.BeginResponse:
        receipt = continuity_pb2.Receipt(
            operation_id=request.spec.operation_id,
            attempt=4,
            arguments_digest=request.spec.arguments_digest,
            result_json=result,
            result_digest=sha256_hex(result.encode()),
            outcome=outcome,
        )
        return decision("complete", reuse=continuity_pb2.Reuse(receipt=receipt))

    around.memory.answers["w"] = answer
    return result


@pytest.mark.parametrize(
    ("outcome", "tool_error_code"),
    [
        (continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED, ""),
        (continuity_pb2.RECEIPT_OUTCOME_TOOL_ERROR, "sold_out"),
    ],
)
def test_reuse_takes_the_result_and_dispatches_nothing(
    around: World,
    host: HostClient,
    outcome: "continuity_pb2.ReceiptOutcome.ValueType",
    tool_error_code: str,
) -> None:
    result = reuse_of(around, outcome)
    found = run(host)
    line = found.operations[0]
    assert (found.state, line.last_decision, line.attempt) == (
        COMPLETED,
        continuity_pb2.DECISION_KIND_REUSE,
        4,
    )
    assert (line.result_digest, line.tool_error_code) == (
        sha256_hex(result.encode()),
        tool_error_code,
    )
    assert invokes(around) == []
    assert around.memory.of("RecordReceipt") == []


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (continuity_pb2.BeginResponse(), "no kind of decision"),
        (
            decision("why", execute=continuity_pb2.Execute(attempt=1, remaining_lease_ms=9)),
            "no lease token",
        ),
        (
            decision("why", execute=continuity_pb2.Execute(lease_token="t", remaining_lease_ms=9)),
            "execute without a valid attempt",
        ),
        (decision("why", reuse=continuity_pb2.Reuse()), "reuse without a receipt"),
    ],
)
def test_a_malformed_decision_fails_and_dispatches_nothing(
    around: World, host: HostClient, answer: continuity_pb2.BeginResponse, cause: str
) -> None:
    around.memory.scripts["w"].append(answer)
    found = run(host)
    assert (found.state, found.error) == (FAILED, f"INTERNAL: malformed_decision: {cause}")
    assert found.operations[0].last_decision == continuity_pb2.DECISION_KIND_UNSPECIFIED
    assert invokes(around) == []


def test_an_attempt_is_never_dispatched_twice(around: World, host: HostClient) -> None:
    grant = decision(
        "why",
        execute=continuity_pb2.Execute(attempt=1, lease_token="token-1", remaining_lease_ms=9),
    )
    around.memory.scripts["w"].extend([grant, grant])
    around.destination.before["Invoke"].append(UNAVAILABLE)
    found = run(host)
    assert (found.state, found.error) == (
        FAILED,
        "INTERNAL: malformed_decision: execute with an attempt that was dispatched already",
    )
    assert len(invokes(around)) == 1
