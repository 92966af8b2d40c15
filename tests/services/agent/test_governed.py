"""Every decision in every arm: what the host then does, and what it leaves alone (DESIGN §6)."""

from pathlib import Path

import grpc
import pytest

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2, observer_pb2
from services.agent.calls import DECISIONS_A_WAKE_UP
from services.agent.checkpoints import CheckpointFiles
from services.common.canonical import operation_id, sha256_hex
from tests.services.agent.fakes import LEASE_MS, NOW_UNIX_NS, TOOLS, World, decision
from tests.services.agent.hosts import TOKEN, HostClient, local_host, workflow

NONE = common_pb2.EFFECT_CAPABILITY_NONE
QUERY = common_pb2.EFFECT_CAPABILITY_QUERY
IDEMPOTENT = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
MEMORY_ARMS = [agent_pb2.ARM_MEMORY, agent_pb2.ARM_BOTH]
PLAIN_ARMS = [agent_pb2.ARM_BASELINE, agent_pb2.ARM_OBSERVER]
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED


def begins(around: World) -> list[continuity_pb2.BeginRequest]:
    return [
        call.request
        for call in around.memory.of("Begin")
        if isinstance(call.request, continuity_pb2.BeginRequest)
    ]


def invokes(around: World) -> list[destination_pb2.InvokeRequest]:
    return [
        call.request
        for call in around.destination.of("Invoke")
        if isinstance(call.request, destination_pb2.InvokeRequest)
    ]


def queries(around: World) -> list[continuity_pb2.RecordQueryRequest]:
    return [
        call.request
        for call in around.memory.of("RecordQuery")
        if isinstance(call.request, continuity_pb2.RecordQueryRequest)
    ]


def run(
    host: HostClient, arm: "agent_pb2.Arm.ValueType" = agent_pb2.ARM_MEMORY
) -> agent_pb2.WorkflowStatus:
    host.start(workflow("w", arm))
    return host.settled("w")[0]


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


def expired_after_lost_answer(
    around: World, host: HostClient, *, applied: bool
) -> agent_pb2.WorkflowStatus:
    """One dispatch whose answer is lost, the lease ended, one wake-up."""
    switches = around.destination.after if applied else around.destination.before
    switches["Invoke"].append(UNAVAILABLE)
    assert run(host).state == PARKED
    around.memory.expire_leases()
    host.resume("w")
    return host.settled("w")[0]


def test_query_present_completes_without_a_dispatch(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    found = expired_after_lost_answer(around, host, applied=True)
    assert (found.state, found.operations[0].last_decision) == (
        COMPLETED,
        continuity_pb2.DECISION_KIND_REUSE,
    )
    assert len(invokes(around)) == 1
    recorded = queries(around)[0]
    assert (recorded.attempt, recorded.presence, recorded.receipt.attempt) == (
        1,
        common_pb2.EFFECT_PRESENCE_PRESENT,
        1,
    )
    assert recorded.receipt.result_json == around.destination.effects_of("w")[0].result_json


def test_query_absent_for_good_dispatches_the_next_attempt(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    found = expired_after_lost_answer(around, host, applied=False)
    assert (found.state, found.operations[0].attempt) == (COMPLETED, 2)
    assert [request.attempt for request in invokes(around)] == [1, 2]
    assert around.destination.fences == {found.operations[0].operation_id: 1}
    assert not queries(around)[0].HasField("receipt")


def test_query_without_an_end_parks_after_a_bounded_number_of_decisions(
    around: World, host: HostClient
) -> None:
    around.destination.capability = QUERY
    around.destination.fenced = False
    found = expired_after_lost_answer(around, host, applied=False)
    assert (found.state, found.wait_remaining_ms, found.operations[0].last_decision) == (
        PARKED,
        0,
        continuity_pb2.DECISION_KIND_QUERY,
    )
    assert [query.presence for query in queries(around)] == [
        common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN
    ] * DECISIONS_A_WAKE_UP
    assert len(invokes(around)) == 1


@pytest.mark.parametrize("codes", [[UNAVAILABLE] * 4, [grpc.StatusCode.FAILED_PRECONDITION]])
def test_a_destination_that_cannot_be_asked_is_unknown(
    around: World, host: HostClient, codes: list[grpc.StatusCode]
) -> None:
    around.destination.capability = QUERY
    around.destination.before["QueryEffect"].extend(codes)
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == COMPLETED
    assert [query.presence for query in queries(around)] == [
        common_pb2.EFFECT_PRESENCE_UNKNOWN,
        common_pb2.EFFECT_PRESENCE_PRESENT,
    ]


def test_a_query_that_cannot_be_recorded_is_asked_about(around: World, host: HostClient) -> None:
    around.destination.capability = QUERY
    around.memory.before["RecordQuery"].append(grpc.StatusCode.PERMISSION_DENIED)
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == COMPLETED
    assert len(queries(around)) == 2


def test_idempotent_dispatches_again_under_the_same_key(around: World, host: HostClient) -> None:
    around.destination.capability = IDEMPOTENT
    found = expired_after_lost_answer(around, host, applied=True)
    assert (found.state, found.operations[0].attempt) == (COMPLETED, 2)
    assert [request.idempotency_key for request in invokes(around)] == [
        found.operations[0].operation_id
    ] * 2
    assert len(around.destination.effects_of("w")) == 1


def test_without_a_capability_an_expired_lease_needs_confirmation(
    around: World, host: HostClient
) -> None:
    found = expired_after_lost_answer(around, host, applied=True)
    assert found.state == agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
    assert len(invokes(around)) == 1


def test_a_tool_that_is_not_there_fails(around: World, host: HostClient) -> None:
    host.start(workflow("w", agent_pb2.ARM_MEMORY, ["nothing"]))
    found = host.settled("w")[0]
    assert (found.state, found.error) == (FAILED, "NOT_FOUND: describe_tool")
    assert begins(around) == []


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


def test_every_tool_of_the_destination_is_governed(around: World, host: HostClient) -> None:
    host.start(workflow("w", agent_pb2.ARM_MEMORY, sorted(TOOLS)))
    assert host.settled("w")[0].state == COMPLETED
    assert [begin.spec.tool for begin in begins(around)] == sorted(TOOLS)
