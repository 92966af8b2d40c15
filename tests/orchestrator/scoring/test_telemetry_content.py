"""What telemetry must not carry is found in every form; what it may carry is never taken for it."""

import base64

import pytest

from chaos.telemetry_faults import EMIT
from chaos.windows import BEGIN, INVOKE, RECORD_RECEIPT
from memqual.v1 import continuity_pb2, destination_pb2, interposer_pb2, observer_pb2
from orchestrator.scoring.telemetry_content import emitted, leaks, secrets_of, unlisted

WORKFLOW = "workflow0123456789abcdef"
OPERATION = "0" * 63 + "a"
TOKEN = "leaseTOKEN0123456789"
RESULT = (
    '{"value":{"of":"'
    + WORKFLOW
    + '","part":"'
    + OPERATION[-16:]
    + '","result":"canary0123456789abcdef"}}'
)
CONTENT = "Notice0123456789abcdef"


def record(
    kind: interposer_pb2.TraceKind.ValueType,
    method: str,
    payload: bytes,
    source: str = "agent",
    *,
    status_code: int = 0,
) -> interposer_pb2.TraceRecord:
    return interposer_pb2.TraceRecord(
        kind=kind,
        method=method,
        payload=payload,
        call_id=1,
        status_code=status_code,
        edge=interposer_pb2.Edge(source=source),
        metadata={"memqual-workflow": WORKFLOW},
    )


def request(method: str, payload: bytes, source: str = "agent") -> interposer_pb2.TraceRecord:
    return record(interposer_pb2.TRACE_KIND_REQUEST_RECEIVED, method, payload, source)


def emit(event_id: str, source: str = "memory") -> interposer_pb2.TraceRecord:
    event = observer_pb2.TelemetryEvent(
        event_id=event_id,
        run_id="run",
        workflow_id=WORKFLOW,
        operation_id=OPERATION,
        kind=observer_pb2.EVENT_KIND_MEMORY_DECIDED,
    )
    payload = observer_pb2.EmitRequest(events=[event]).SerializeToString()
    return request(EMIT, payload, source)


def traffic() -> list[interposer_pb2.TraceRecord]:
    decision = continuity_pb2.Decision(execute=continuity_pb2.Execute(attempt=1, lease_token=TOKEN))
    receipt = continuity_pb2.Receipt(result_json=RESULT, effect_id=f"effect-{OPERATION[:16]}")
    invoked = destination_pb2.InvokeRequest(arguments_json='{"content":"' + CONTENT + '"}')
    recorded = continuity_pb2.RecordReceiptRequest(receipt=receipt)
    begun = continuity_pb2.BeginResponse(decision=decision)
    return [
        record(
            interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED, BEGIN, begun.SerializeToString(), "memory"
        ),
        request(INVOKE, invoked.SerializeToString()),
        request(RECORD_RECEIPT, recorded.SerializeToString()),
    ]


def found_in(event_id: str) -> set[str]:
    trace = [*traffic(), emit(event_id)]
    secrets = secrets_of(trace, WORKFLOW, (WORKFLOW, OPERATION))
    return set(leaks(secrets, emitted(trace)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TOKEN, "lease token"),
        ("canary0123456789abcdef", "result"),
        (CONTENT, "arguments"),
    ],
)
def test_each_secret_is_found_as_it_is_in_hexadecimal_and_in_base64(text: str, name: str) -> None:
    forms = (
        text,
        text.upper(),
        text.encode().hex(),
        base64.b64encode(text.encode()).decode(),
        base64.b64encode(b"x" + text.encode()).decode(),
        base64.urlsafe_b64encode(b"xy" + text.encode()).decode(),
    )
    assert [found_in(f"id-{form}") for form in forms] == [{name}] * len(forms)


def test_ids_that_telemetry_may_carry_are_no_leak() -> None:
    assert found_in("opaque") == set()
    assert found_in(f"{WORKFLOW}-{OPERATION}-1") == set()
    assert found_in(f"{OPERATION[:16]}-{OPERATION[-16:]}") == set()


def test_only_what_services_send_is_looked_at() -> None:
    trace = [*traffic(), emit(TOKEN, source="orchestrator")]
    assert emitted(trace) == ()


def test_what_the_contract_does_not_list_is_told() -> None:
    (fine,) = emitted([emit("opaque")])
    assert unlisted(fine) == ""
    assert fine.workflow_ids == {WORKFLOW}
    strange = request(EMIT, b"\xff\xff", "memory")
    extra = emit("opaque")
    parsed = observer_pb2.EmitRequest.FromString(extra.payload)
    parsed.events[0].MergeFromString(bytes((0xA2, 0x06, 0x01, 0x78)))
    extra.payload = parsed.SerializeToString()
    kind = emit("opaque")
    parsed = observer_pb2.EmitRequest.FromString(kind.payload)
    parsed.events[0].ClearField("kind")
    kind.payload = parsed.SerializeToString()
    told = [unlisted(one) for one in emitted([strange, extra, kind])]
    assert told == [
        "it is no EmitRequest",
        "a field that the contract does not have",
        "a kind that the contract does not have",
    ]


def test_what_the_observer_refuses_as_malformed_is_told() -> None:
    refused = record(
        interposer_pb2.TRACE_KIND_RESPONSE_RECEIVED, EMIT, b"", "memory", status_code=3
    )
    (one,) = emitted([emit("opaque"), refused])
    assert unlisted(one) == "the observer refused it as malformed"
