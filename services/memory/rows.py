"""The form that bindings, attempts and receipts have in a row of SQLite, both ways."""

import dataclasses
import json
from typing import Any, TypeAlias, cast

from services.common.canonical import canonical_json
from services.memory.model import (
    Assurance,
    AttemptRecord,
    Capability,
    OperationBinding,
    Question,
    Reason,
    Receipt,
    ReceiptOutcome,
)

__all__ = [
    "attempt_of",
    "attempt_row",
    "binding_of",
    "binding_text",
    "receipt_of",
    "receipt_text",
]

SqlValue: TypeAlias = int | str | None


def binding_text(binding: OperationBinding) -> str:
    """Canonical JSON of a binding."""
    fields = {**dataclasses.asdict(binding), "capability": binding.capability.value}
    return canonical_json(fields).decode()


def binding_of(text: str) -> OperationBinding:
    """The binding that `binding_text` wrote."""
    fields = cast("dict[str, Any]", json.loads(text))
    return OperationBinding(**{**fields, "capability": Capability(fields["capability"])})


def receipt_text(receipt: Receipt | None) -> str | None:
    """Canonical JSON of a receipt; None stays None."""
    if receipt is None:
        return None
    fields = dataclasses.asdict(receipt)
    fields["outcome"] = receipt.outcome.value
    fields["assurance"] = receipt.assurance.value
    return canonical_json(fields).decode()


def receipt_of(text: str | None) -> Receipt | None:
    """The receipt that `receipt_text` wrote; None stays None."""
    if text is None:
        return None
    fields = cast("dict[str, Any]", json.loads(text))
    fields["outcome"] = ReceiptOutcome(fields["outcome"])
    fields["assurance"] = Assurance(fields["assurance"])
    return Receipt(**fields)


def attempt_row(record: AttemptRecord) -> tuple[SqlValue, ...]:
    """The columns of `store.ATTEMPT_COLUMNS`."""
    questions = [dataclasses.asdict(question) for question in record.questions]
    return (
        record.attempt,
        record.incarnation_id,
        record.begin_id,
        record.lease_token,
        record.reason.value,
        record.granted_at_ns,
        record.lease_ends_at_ns,
        record.renewals,
        record.absent_final,
        record.released,
        json.dumps(questions),
        receipt_text(record.evidence),
    )


def attempt_of(row: tuple[Any, ...]) -> AttemptRecord:
    """The record that `attempt_row` wrote."""
    return AttemptRecord(
        attempt=row[0],
        incarnation_id=row[1],
        begin_id=row[2],
        lease_token=row[3],
        reason=Reason(row[4]),
        granted_at_ns=row[5],
        lease_ends_at_ns=row[6],
        renewals=row[7],
        absent_final=bool(row[8]),
        released=bool(row[9]),
        questions=tuple(Question(**question) for question in json.loads(row[10])),
        evidence=receipt_of(row[11]),
    )
