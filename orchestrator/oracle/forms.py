"""Whether a request keeps to the contract's formats: what breaks one is refused, by everybody."""

from __future__ import annotations

from memqual.v1 import continuity_pb2
from services.common.canonical import operation_id, sha256_hex

__all__ = ["ID_BYTES", "RESULT_BYTES", "receipt_is_well_formed", "spec_is_well_formed"]

ID_BYTES = 128
RESULT_BYTES = 65_536


def spec_is_well_formed(spec: continuity_pb2.OperationSpec) -> bool:
    """Whether ids are no longer than they may be and the operation id is its identity's digest."""
    place = spec.identity
    ids = (
        *(spec.namespace, spec.workflow_id, spec.principal, spec.tool, spec.destination),
        *(place.deployment, place.thread_id, place.checkpoint_namespace),
        *(place.message_id, place.tool_call_id, spec.idempotency_key),
    )
    if any(len(text.encode()) > ID_BYTES for text in ids):
        return False
    return not spec.HasField("identity") or operation_id(spec.identity) == spec.operation_id


def receipt_is_well_formed(receipt: continuity_pb2.Receipt) -> bool:
    """Whether sizes are within their bounds and the result's digest is its own."""
    result = receipt.result_json.encode()
    return (
        len(result) <= RESULT_BYTES
        and receipt.result_digest == sha256_hex(result)
        and len(receipt.effect_id.encode()) <= ID_BYTES
    )
