"""What hosts say that they must not: specifications and receipts with one thing wrong.

What can be another, or too long, is taken from the contract's own descriptors, so that a new field
is drawn without a word here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from google.protobuf.descriptor import FieldDescriptor

from memqual.v1 import common_pb2, continuity_pb2
from orchestrator.suites.continuity.retail_tasks import WRITES
from orchestrator.suites.continuity.specs import receipt_for, tool_error_receipt
from services.common.canonical import canonical_json, operation_id, sha256_hex

__all__ = ["RECEIPT_CHANGES", "SPEC_CHANGES", "changed_receipt", "changed_spec", "receipt_of"]

_ID_BYTES = 128
_RESULT_BYTES = 65_536
_LONG = "long:"
_OTHER_DIGEST = sha256_hex(b"other")
_SPEC = continuity_pb2.OperationSpec.DESCRIPTOR
_IDENTITY = continuity_pb2.OperationIdentity.DESCRIPTOR
_TOOLS = (*sorted(WRITES), "publish_document", "transfer_funds")
_KEYED = common_pb2.EFFECT_CAPABILITY_IDEMPOTENT


def _is_id(field: FieldDescriptor) -> bool:
    digest = field.name == "operation_id" or field.name.endswith("_digest")
    return field.type == FieldDescriptor.TYPE_STRING and not digest


_FIELDS = tuple(field.name for field in _SPEC.fields if field.name != "identity")
_LONG_FIELDS = tuple(field.name for field in (*_SPEC.fields, *_IDENTITY.fields) if _is_id(field))

SPEC_CHANGES = (*_FIELDS, *(f"{_LONG}{name}" for name in _LONG_FIELDS))
"""Ways in which a specification can differ from the lane's own: a field that is another, or an id
that is a byte too long."""


def changed_spec(
    spec: continuity_pb2.OperationSpec, change: str, which: int = 0
) -> continuity_pb2.OperationSpec:
    """A specification with one of SPEC_CHANGES.

    What cannot be another on its own (a key without its capability) stays as it is.

    Args:
        spec: The lane's own.
        change: Empty for none.
        which: Of several others, such as tools: equal ones are equal in every playing.
    """
    other = continuity_pb2.OperationSpec()
    other.CopyFrom(spec)
    if change.startswith(_LONG):
        _lengthen(other, change.removeprefix(_LONG))
    elif change == "tool":
        # Which tools there are is the destination's affair; a memory knows none by its name.
        others = [tool for tool in _TOOLS if tool != spec.tool]
        other.tool = others[which % len(others)]
    elif change == "capability":
        _another_capability(other)
    elif change in ("idempotency_key", "retention_seconds"):
        _another_key(other, change)
    elif change == "operation_id" or change.endswith("_digest"):
        setattr(other, change, _OTHER_DIGEST)
    elif change:
        setattr(other, change, f"{getattr(spec, change)}-other")
    return other


def _another_key(spec: continuity_pb2.OperationSpec, change: str) -> None:
    if spec.capability != _KEYED:
        return
    if change == "idempotency_key":
        spec.idempotency_key = f"{spec.idempotency_key[:32]}-other"
    else:
        spec.retention_seconds *= 2


def _lengthen(spec: continuity_pb2.OperationSpec, name: str) -> None:
    text = "i" * (_ID_BYTES + 1)
    if name in _SPEC.fields_by_name:
        setattr(spec, name, text)
        return
    # Another identity is another operation, whose id is that identity's digest.
    setattr(spec.identity, name, text)
    spec.operation_id = operation_id(spec.identity)


def _another_capability(spec: continuity_pb2.OperationSpec) -> None:
    """Another one that is coherent in itself: a key goes with IDEMPOTENT only."""
    query = common_pb2.EFFECT_CAPABILITY_QUERY
    none = common_pb2.EFFECT_CAPABILITY_NONE
    spec.capability = none if spec.capability == query else query
    spec.idempotency_key, spec.retention_seconds = "", 0


def _of_operation(receipt: continuity_pb2.Receipt) -> None:
    receipt.operation_id = sha256_hex(receipt.operation_id.encode())


def _of_arguments(receipt: continuity_pb2.Receipt) -> None:
    receipt.arguments_digest = _OTHER_DIGEST


def _of_attempt(receipt: continuity_pb2.Receipt) -> None:
    receipt.attempt += 1


def _of_digest(receipt: continuity_pb2.Receipt) -> None:
    receipt.result_digest = _OTHER_DIGEST


def _of_effect(receipt: continuity_pb2.Receipt) -> None:
    receipt.effect_id = "e" * (_ID_BYTES + 1)


def _of_size(receipt: continuity_pb2.Receipt) -> None:
    frame = len(canonical_json({"value": ""}))
    told = canonical_json({"value": "x" * (_RESULT_BYTES + 1 - frame)}).decode()
    receipt.result_json, receipt.result_digest = told, sha256_hex(told.encode())


def _of_result(receipt: continuity_pb2.Receipt) -> None:
    told = canonical_json({"value": {"result": f"another than {receipt.result_digest}"}}).decode()
    receipt.result_json, receipt.result_digest = told, sha256_hex(told.encode())


RECEIPT_CHANGES: Mapping[str, Callable[[continuity_pb2.Receipt], None]] = {
    "operation": _of_operation,
    "arguments": _of_arguments,
    "mislabelled": _of_attempt,
    "digest": _of_digest,
    "long:effect": _of_effect,
    "long:result": _of_size,
    "other_result": _of_result,
}
"""Ways in which a receipt can be unlike the attempt's own."""


def changed_receipt(
    spec: continuity_pb2.OperationSpec, receipt: continuity_pb2.Receipt, change: str
) -> continuity_pb2.Receipt:
    """A receipt with one of RECEIPT_CHANGES, or `tool_error` in its place; otherwise as it is."""
    if change == "tool_error":
        return tool_error_receipt(spec, receipt.attempt)
    other = continuity_pb2.Receipt()
    other.CopyFrom(receipt)
    alter = RECEIPT_CHANGES.get(change)
    if alter is not None:
        alter(other)
    return other


def receipt_of(
    spec: continuity_pb2.OperationSpec, attempt: int, agent: str
) -> continuity_pb2.Receipt:
    """What an agent reports that did not call the tool: no other agent's result is the same."""
    return receipt_for(spec, attempt, f"told by {agent}")
