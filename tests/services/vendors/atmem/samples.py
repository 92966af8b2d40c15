"""Specifications, receipts, native calls and records that the adapter's tests share."""

from dataclasses import replace

from memqual.v1 import common_pb2, continuity_pb2, memory_pb2
from services.common.canonical import operation_id, sha256_hex
from services.vendors.atmem.definitions import definition_of
from services.vendors.atmem.model import NativeAttempt, NativeOperation, OperationStatus
from services.vendors.atmem.record_model import Circle, Proposal, Record

NOW_SECONDS = 1_700_000_000.0
RESULT_JSON = '{"document":"d1","pages":2}'
CIRCLE = Circle("alice", "any-agent", "any-workspace")


def spec(
    capability: common_pb2.EffectCapability.ValueType = common_pb2.EFFECT_CAPABILITY_NONE,
    *,
    call: str = "call-1",
    namespace: str = "space",
    workflow: str = "workflow-1",
    retention_seconds: int = 3_600,
) -> continuity_pb2.OperationSpec:
    """A valid specification; key and retention only where they belong."""
    identity = continuity_pb2.OperationIdentity(
        deployment="deployment", thread_id="thread", message_id="message", tool_call_id=call
    )
    keyed = capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
    return continuity_pb2.OperationSpec(
        operation_id=operation_id(identity),
        identity=identity,
        namespace=namespace,
        workflow_id=workflow,
        principal="operator",
        tool="publish_document",
        destination="destination",
        intent_digest=sha256_hex(b"intent"),
        arguments_digest=sha256_hex(b"arguments"),
        capability=capability,
        idempotency_key=f"key-{call}" if keyed else "",
        retention_seconds=retention_seconds if keyed else 0,
    )


def receipt(
    asked: continuity_pb2.OperationSpec,
    *,
    attempt: int = 1,
    outcome: continuity_pb2.ReceiptOutcome.ValueType = continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
    result_json: str = RESULT_JSON,
) -> continuity_pb2.Receipt:
    """A valid receipt of an operation."""
    succeeded = outcome == continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED
    return continuity_pb2.Receipt(
        operation_id=asked.operation_id,
        attempt=attempt,
        arguments_digest=asked.arguments_digest,
        result_json=result_json,
        result_digest=sha256_hex(result_json.encode()),
        effect_id="effect-1" if succeeded else "",
        assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
        outcome=outcome,
    )


def native_operation(
    asked: continuity_pb2.OperationSpec, *modes: str, status: str = "", **changes: object
) -> NativeOperation:
    """The call of an operation with one attempt for each mode, `execute` or `query`."""
    attempts = tuple(
        NativeAttempt(f"attempt-{number}", f"run-{number}", mode, NOW_SECONDS)
        for number, mode in enumerate(modes, start=1)
    )
    base = NativeOperation(
        workflow_id="wf_1",
        operation_id="op_1",
        status=OperationStatus(status or ("uncertain" if modes else "pending")),
        definition=definition_of(asked),
        lease_until_seconds=NOW_SECONDS + 120 if modes else 0.0,
        first_dispatch_seconds=NOW_SECONDS if modes else None,
        clock_high_water_seconds=NOW_SECONDS,
        attempts=attempts,
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # the keys are the dataclass's


def record(record_id: str = "rec_1", **changes: object) -> Record:
    """An active fact of a trusted user."""
    base = Record(
        record_id=record_id,
        circle=CIRCLE,
        content=f"What {record_id} says.",
        status="active",
        excluded=False,
        archived=False,
        trust_tier="trusted_user",
        source_type="user_message",
        memory_class="",
        proposal_id=f"fact_{record_id}",
        taints=(),
        source_ids=(f"alice.{record_id}",),
        parents=(),
        superseded_by="",
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # the keys are the dataclass's


def proposal(proposal_id: str = "prop_1", **changes: object) -> Proposal:
    """A procedure that waits for its review."""
    base = Proposal(
        proposal_id=proposal_id,
        circle=CIRCLE,
        memory_class="procedure",
        content=f"How {proposal_id} is done.",
        review_state="pending_review",
        reasons=("offered_verbatim", "non_durable_class"),
        record_ids=(),
        source_ids=("alice.1",),
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # the keys are the dataclass's


def scope(**changes: str) -> memory_pb2.Scope:
    """The circle of alice."""
    return memory_pb2.Scope(**{"namespace": "space", "principal": "alice", **changes})


def observation(
    content: str = "The harbour opens at nine.",
    *,
    kind: memory_pb2.RecordKind.ValueType = memory_pb2.RECORD_KIND_FACT,
    source_type: memory_pb2.SourceType.ValueType = memory_pb2.SOURCE_TYPE_USER,
    binding: memory_pb2.SourceBinding.ValueType = memory_pb2.SOURCE_BINDING_HOST_AUTHENTICATED,
    source_id: str = "alice",
) -> memory_pb2.Observation:
    """What the authenticated user says."""
    return memory_pb2.Observation(
        scope=scope(),
        kind=kind,
        content=content,
        source=memory_pb2.Source(type=source_type, binding=binding, source_id=source_id),
    )
