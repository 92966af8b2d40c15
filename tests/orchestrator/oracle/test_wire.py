"""Messages on the wire, and the values that they become."""

import pytest
from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    Capability,
    DecisionKind,
    DecisionTold,
    Disposition,
    Malformed,
    PeekAsked,
    Presence,
    QueryAsked,
    ReceiptAsked,
    ReceiptKey,
    RenewAsked,
    Renewed,
)
from orchestrator.oracle.wire import read_answer, read_request
from services.common.canonical import sha256_hex
from tests.orchestrator.oracle.tracing import (
    ARGUMENTS,
    CONTINUITY,
    begin,
    confirm,
    execute,
    query,
    receipt,
    record_query,
    record_receipt,
    reject,
    reuse,
    spec,
    taken,
    wait,
)

DIGEST = sha256_hex(b'{"ok":true}')
RECEIPT = ReceiptKey("op", 1, ARGUMENTS, '{"ok":true}', DIGEST, "e1", "succeeded")


def answer(method: str, message: Message) -> Answer:
    return read_answer(CONTINUITY + method, message.SerializeToString())


def decision(**fields: object) -> continuity_pb2.BeginResponse:
    made = continuity_pb2.Decision(**fields)  # type: ignore[arg-type]  # fields by name
    return continuity_pb2.BeginResponse(decision=made)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            execute(5, 2, "t", key_deadline_ns=9),
            DecisionTold(DecisionKind.EXECUTE, "granted", 2, "t", 120_000, 5, 9),
        ),
        (wait(7), DecisionTold(DecisionKind.WAIT, "lease_live", remaining_ms=7)),
        (query(3, "q"), DecisionTold(DecisionKind.QUERY, "ask", 3, "q")),
        (reuse(), DecisionTold(DecisionKind.REUSE, "complete", 1, receipt=RECEIPT)),
        (confirm(), DecisionTold(DecisionKind.CONFIRM, "expired")),
        (reject(), DecisionTold(DecisionKind.REJECT, "differs")),
    ],
)
def test_decisions(message: Message, expected: DecisionTold) -> None:
    assert answer("Begin", message) == expected


EXECUTE = continuity_pb2.Execute
QUERY = continuity_pb2.Query


@pytest.mark.parametrize(
    "message",
    [
        continuity_pb2.BeginResponse(),
        decision(reason_code="granted"),
        decision(confirm=continuity_pb2.Confirm()),
        decision(confirm=continuity_pb2.Confirm(), reason_code="Not_Lower"),
        decision(confirm=continuity_pb2.Confirm(), reason_code="x" * 65),
        decision(execute=EXECUTE(lease_token="t"), reason_code="r"),
        decision(execute=EXECUTE(attempt=1), reason_code="r"),
        decision(execute=EXECUTE(attempt=1, lease_token="t" * 129), reason_code="r"),
        decision(query=QUERY(query_ticket="q"), reason_code="r"),
        decision(query=QUERY(attempt=1), reason_code="r"),
        decision(reuse=continuity_pb2.Reuse(), reason_code="r"),
    ],
)
def test_what_is_no_decision_is_malformed(message: Message) -> None:
    assert isinstance(answer("Begin", message), Malformed)


def test_other_answers() -> None:
    assert answer("RecordReceipt", taken()) == Accepted(Disposition.COMPLETED)
    none = continuity_pb2.RecordReceiptResponse()
    assert isinstance(answer("RecordReceipt", none), Malformed)
    assert answer("RecordQuery", continuity_pb2.RecordQueryResponse()) == Accepted()
    renewed = continuity_pb2.RenewResponse(remaining_lease_ms=5)
    assert answer("Renew", renewed) == Renewed(5)
    peeked = continuity_pb2.PeekResponse(
        kind=continuity_pb2.DECISION_KIND_WAIT, reason_code="lease_live"
    )
    assert answer("Peek", peeked) == DecisionTold(DecisionKind.WAIT, "lease_live")
    assert isinstance(answer("Peek", continuity_pb2.PeekResponse()), Malformed)


def asked(method: str, message: Message) -> object:
    return read_request(CONTINUITY + method, message.SerializeToString()).request


def test_requests() -> None:
    assert asked("RecordReceipt", record_receipt()) == ReceiptAsked("A", 1, "t1", RECEIPT)
    present = record_query(common_pb2.EFFECT_PRESENCE_PRESENT)
    assert asked("RecordQuery", present) == QueryAsked("B", 1, "q1", Presence.PRESENT, RECEIPT)
    unset = record_query(common_pb2.EFFECT_PRESENCE_UNSPECIFIED)
    assert asked("RecordQuery", unset) == QueryAsked("B", 1, "q1", None, None)
    renewal = continuity_pb2.RenewRequest(
        operation_id="op", incarnation_id="A", attempt=1, lease_token="t1"
    )
    assert asked("Renew", renewal) == RenewAsked("A", 1, "t1")
    peek = continuity_pb2.PeekRequest(spec=spec(), incarnation_id="A")
    read = asked("Peek", peek)
    assert isinstance(read, PeekAsked)
    assert read.spec.capability is Capability.NONE


def read_spec(**fields: str) -> BeginAsked:
    read = asked("Begin", begin(spec(**fields)))  # type: ignore[arg-type]  # fields by name
    assert isinstance(read, BeginAsked)
    return read


@pytest.mark.parametrize("field", ["tool", "arguments"])
def test_the_core_of_a_specification_binds_what_must_be_rejected(field: str) -> None:
    changed = read_spec(**{field: "x" * 64}).spec
    assert changed.core != read_spec().spec.core
    assert changed.rest == read_spec().spec.rest


@pytest.mark.parametrize("field", ["workflow", "principal"])
def test_the_rest_of_a_specification_is_bound_apart(field: str) -> None:
    changed = read_spec(**{field: "other"}).spec
    assert changed.core == read_spec().spec.core
    assert changed.rest != read_spec().spec.rest


def test_the_capability_is_of_the_core_and_a_key_comes_with_its_retention() -> None:
    keyed = asked(
        "Begin", begin(spec(capability=common_pb2.EFFECT_CAPABILITY_IDEMPOTENT, retention=9))
    )
    assert isinstance(keyed, BeginAsked)
    assert keyed.spec.core != read_spec().spec.core
    assert (keyed.spec.has_key, keyed.spec.retention_ns) == (True, 9_000_000_000)


def test_equal_results_in_other_spelling_are_equal() -> None:
    spaced = reuse(receipt(result='{ "ok" : true }'))
    assert answer("Begin", spaced) == answer("Begin", reuse())
    broken = answer("Begin", reuse(receipt(result="no json")))
    assert isinstance(broken, DecisionTold)
    assert broken.receipt is not None
    assert broken.receipt.result == "no json"
