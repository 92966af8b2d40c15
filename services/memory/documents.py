"""What leaves the memory as bytes: canonical documents for StateHash and Export (DESIGN §4).

The state document holds content only: no time, no lease token, no ticket, no id of a process or
call. It is equal across restarts and equal for equal histories. The audit document adds when and
by whom; tokens and tickets stay in the database file.
"""

import dataclasses

from services.common.canonical import JsonObject, JsonValue
from services.memory.model import AttemptRecord, Operation, Receipt
from services.memory.store import RevisionRow

__all__ = ["audit_document", "audit_item_id", "state_document"]


def state_document(operation: Operation) -> JsonObject:
    """An operation's content."""
    binding = dataclasses.asdict(operation.binding)
    binding["capability"] = operation.binding.capability.value
    return {
        "kind": "operation",
        "binding": binding,
        "attempts": [_attempt_document(record) for record in operation.attempts],
        "abandoned": operation.abandoned,
        "receipt": _receipt_document(operation.receipt),
    }


def audit_item_id(operation_id: str, row: RevisionRow) -> str:
    """Id of an audit item: the operation and the revision, in an order that sorts."""
    return f"{operation_id}:{row.revision:06d}"


def audit_document(operation_id: str, row: RevisionRow) -> JsonObject:
    """One change; nanoseconds go as text, since canonical JSON holds no 64-bit numbers."""
    return {
        "kind": "operation_revision",
        "operation_id": operation_id,
        "revision": row.revision,
        "at_unix_ns": str(row.at_ns),
        "change": row.change.value,
        "attempt": row.attempt,
        "actor": row.actor,
    }


def _attempt_document(record: AttemptRecord) -> JsonValue:
    return {
        "attempt": record.attempt,
        "reason": record.reason.value,
        "absent_final": record.absent_final,
        "released": record.released,
        "uncertain_answers": record.uncertain_answers,
        "evidence": _receipt_document(record.evidence),
    }


def _receipt_document(receipt: Receipt | None) -> JsonValue:
    if receipt is None:
        return None
    document = dataclasses.asdict(receipt)
    document["outcome"] = receipt.outcome.value
    document["assurance"] = receipt.assurance.value
    return document
