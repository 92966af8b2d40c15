"""Writes traces as the interposer would, for tests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from google.protobuf.message import Message

from memqual.v1 import common_pb2, continuity_pb2, interposer_pb2, vendor_pb2
from services.common.canonical import sha256_hex

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
CONTINUITY = "/memqual.v1.ContinuityService/"
WALL_OFFSET = 1_700_000_000 * SECOND
"""Difference of the memory's wall clock and the interposer's clock in these traces."""

ARGUMENTS = "a" * 64
LOST = frozenset({1, 4, 14})
"""What the interposer takes for no answer: CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE."""


@dataclass
class Trace:
    """A trace that is being written; `now` is the interposer's clock."""

    now: int = 1_000 * SECOND
    records: list[interposer_pb2.TraceRecord] = field(default_factory=list)
    calls: int = 0

    def put(self, kind: str, **fields: object) -> interposer_pb2.TraceRecord:
        """Adds one record at `now`."""
        record = interposer_pb2.TraceRecord(
            sequence=len(self.records) + 1,
            monotonic_ns=self.now,
            kind=interposer_pb2.TraceKind.Value(f"TRACE_KIND_{kind}"),
            **fields,  # type: ignore[arg-type]  # fields of a message, by name
        )
        self.records.append(record)
        return record

    def on_call(self, kind: str, opened: Opened, **fields: object) -> None:
        """Adds a record of a call."""
        self.put(
            kind,
            call_id=opened.call_id,
            method=opened.method,
            edge=interposer_pb2.Edge(source=opened.source, target=opened.target),
            metadata=opened.metadata,
            **fields,
        )

    def opened(self, method: str, request: Message, **where: object) -> Opened:
        """A request is received; nothing is forwarded yet."""
        self.calls += 1
        opened = Opened(self.calls, method, **where)  # type: ignore[arg-type]  # by name
        self.on_call("REQUEST_RECEIVED", opened, payload=request.SerializeToString())
        return opened

    def forwarded(self, opened: Opened) -> None:
        """The request goes on to its target."""
        self.on_call("REQUEST_FORWARDED", opened)

    def answered(self, opened: Opened, response: Message | None, status: int = 0) -> None:
        """The target's answer is seen."""
        payload = b"" if response is None else response.SerializeToString()
        kind = "UPSTREAM_FAILED" if status in LOST else "RESPONSE_RECEIVED"
        self.on_call(kind, opened, payload=payload, status_code=status)

    def called(
        self,
        method: str,
        request: Message,
        response: Message | None,
        *,
        status: int = 0,
        took: int = 2 * MILLISECOND,
        **where: object,
    ) -> Opened:
        """A whole call: received, forwarded, answered after `took` ns."""
        opened = self.opened(method, request, **where)
        self.forwarded(opened)
        self.now += took
        self.answered(opened, response, status)
        self.now += MILLISECOND
        return opened

    def mark_clock(self, jumped: int = 0, took: int = MILLISECOND) -> None:
        """The evaluator marks a reading of the memory's clocks."""
        asked = self.now
        self.now += took
        reading = {
            "kind": "memory_clock",
            "service": "memory",
            "wall_unix_ns": str(asked + took // 2 + WALL_OFFSET + jumped),
            "monotonic_ns": str(asked + took // 2),
            "asked_mono_ns": str(asked),
            "answered_mono_ns": str(self.now),
        }
        self.put("MARK", mark_json=json.dumps(reading))


@dataclass
class Opened:
    """A call under way."""

    call_id: int
    method: str
    source: str = "agent"
    target: str = "memory"
    metadata: dict[str, str] = field(default_factory=dict)


def spec(
    operation: str = "op",
    capability: common_pb2.EffectCapability.ValueType = common_pb2.EFFECT_CAPABILITY_NONE,
    arguments: str = ARGUMENTS,
    retention: int = 0,
    **fields: str,
) -> continuity_pb2.OperationSpec:
    """A specification."""
    keyed = capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
    return continuity_pb2.OperationSpec(
        operation_id=operation,
        namespace="n",
        workflow_id=fields.get("workflow", "w"),
        principal=fields.get("principal", "p"),
        tool=fields.get("tool", "publish_document"),
        destination="destination",
        intent_digest="i" * 64,
        arguments_digest=arguments,
        capability=capability,
        idempotency_key=operation if keyed else "",
        retention_seconds=retention,
    )


def begin(
    asked: continuity_pb2.OperationSpec | None = None, life: str = "A", begin_id: str = "b1"
) -> continuity_pb2.BeginRequest:
    """A Begin request."""
    return continuity_pb2.BeginRequest(spec=asked or spec(), incarnation_id=life, begin_id=begin_id)


def execute(
    at: int,
    attempt: int = 1,
    token: str = "t1",
    *,
    lease: int = 120,
    remaining_ms: int | None = None,
    key_deadline_ns: int = 0,
) -> continuity_pb2.BeginResponse:
    """EXECUTE, granted at a time of the memory's wall clock."""
    told = continuity_pb2.Execute(
        attempt=attempt,
        lease_token=token,
        remaining_lease_ms=lease * 1_000 if remaining_ms is None else remaining_ms,
        granted_at_ns=at,
        key_deadline_ns=key_deadline_ns,
    )
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(execute=told, reason_code="granted")
    )


def wait(remaining_ms: int = 1_000) -> continuity_pb2.BeginResponse:
    """WAIT."""
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(
            wait=continuity_pb2.Wait(remaining_ms=remaining_ms), reason_code="lease_live"
        )
    )


def confirm() -> continuity_pb2.BeginResponse:
    """CONFIRM."""
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(confirm=continuity_pb2.Confirm(), reason_code="expired")
    )


def reject() -> continuity_pb2.BeginResponse:
    """REJECT."""
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(reject=continuity_pb2.Reject(), reason_code="differs")
    )


def query(attempt: int = 1, ticket: str = "q1") -> continuity_pb2.BeginResponse:
    """QUERY."""
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(
            query=continuity_pb2.Query(attempt=attempt, query_ticket=ticket), reason_code="ask"
        )
    )


def receipt(
    operation: str = "op", attempt: int = 1, result: str = '{"ok":true}', arguments: str = ARGUMENTS
) -> continuity_pb2.Receipt:
    """A receipt."""
    return continuity_pb2.Receipt(
        operation_id=operation,
        attempt=attempt,
        arguments_digest=arguments,
        result_json=result,
        # Of the canonical spelling: what a host gave stays what it was.
        result_digest=sha256_hex(result.replace(" ", "").encode()),
        effect_id="e1",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    )


def reuse(given: continuity_pb2.Receipt | None = None) -> continuity_pb2.BeginResponse:
    """REUSE."""
    return continuity_pb2.BeginResponse(
        decision=continuity_pb2.Decision(
            reuse=continuity_pb2.Reuse(receipt=given or receipt()), reason_code="complete"
        )
    )


def record_receipt(
    attempt: int = 1, token: str = "t1", life: str = "A", **fields: str
) -> continuity_pb2.RecordReceiptRequest:
    """A RecordReceipt request."""
    return continuity_pb2.RecordReceiptRequest(
        namespace="n",
        operation_id=fields.get("operation", "op"),
        incarnation_id=life,
        attempt=attempt,
        lease_token=token,
        receipt=receipt(fields.get("operation", "op"), attempt),
    )


def taken(
    disposition: continuity_pb2.ReceiptDisposition.ValueType = (
        continuity_pb2.RECEIPT_DISPOSITION_COMPLETED
    ),
) -> continuity_pb2.RecordReceiptResponse:
    """A receipt's acknowledgement."""
    return continuity_pb2.RecordReceiptResponse(disposition=disposition)


def record_query(
    presence: common_pb2.EffectPresence.ValueType, attempt: int = 1, ticket: str = "q1"
) -> continuity_pb2.RecordQueryRequest:
    """A RecordQuery request."""
    present = presence == common_pb2.EFFECT_PRESENCE_PRESENT
    return continuity_pb2.RecordQueryRequest(
        namespace="n",
        operation_id="op",
        incarnation_id="B",
        attempt=attempt,
        query_ticket=ticket,
        presence=presence,
        receipt=receipt(attempt=attempt) if present else None,
    )


def now_response(wall: int, monotonic: int) -> vendor_pb2.NowResponse:
    """An answer to Now."""
    return vendor_pb2.NowResponse(
        clock=common_pb2.ClockReading(wall_unix_ns=wall, monotonic_ns=monotonic)
    )
