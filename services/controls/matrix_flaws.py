"""Wrong answers about keys, absences and effects; each replaces one rule of the reference."""

import dataclasses
from collections.abc import Mapping

from services.common.canonical import sha256_hex
from services.controls.flaw import Flaw, named
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Disposition,
    Presence,
    QueryCall,
    RecordStep,
    Refused,
    Reuse,
)
from services.memory.decisions import DecisionRules
from services.memory.model import (
    Assurance,
    AttemptRecord,
    LeaseClock,
    Operation,
    Reason,
    Receipt,
    ReceiptOutcome,
)
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = ["FLAWS", "ForgetsToolErrors", "InventsReceipts", "TakesDoubtForAbsence"]


class ForgetsToolErrors(RecordingRules):
    """Acknowledges the receipt of a tool's refusal and does not count it."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """COMPLETED is told; a refusal is not kept."""
        if receipt.outcome is ReceiptOutcome.TOOL_ERROR:
            return RecordStep(operation, Disposition.COMPLETED)
        return super().complete(operation, receipt)


class TakesDoubtForAbsence(RecordingRules):
    """Counts an absence that may only lag for one that is final."""

    def absent(self, operation: Operation, record: AttemptRecord, call: QueryCall) -> RecordStep:
        """ABSENT_UNCERTAIN as if the destination had fenced."""
        if call.presence is Presence.ABSENT_UNCERTAIN:
            final = dataclasses.replace(call, presence=Presence.ABSENT_FINAL)
            return super().absent(operation, record, final)
        return super().absent(operation, record, call)


class InventsReceipts(DecisionRules):
    """Calls an operation complete of which nobody can tell what became."""

    def expired_none(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """REUSE of a receipt that nobody reported."""
        result = "{}"
        receipt = Receipt(
            operation_id=operation.binding.operation_id,
            attempt=operation.latest.attempt if operation.latest else 1,
            arguments_digest=operation.binding.arguments_digest,
            result_json=result,
            result_digest=sha256_hex(result.encode()),
            effect_id="",
            outcome=ReceiptOutcome.SUCCEEDED,
            assurance=Assurance.HOST_REPORTED,
        )
        return BeginStep(Reuse(receipt, Reason.COMPLETE), operation)


FLAWS: Mapping[str, Flaw] = {
    "forgets_tool_errors": Flaw(
        Composition(named("forgets_tool_errors"), recordings=ForgetsToolErrors()),
        "a tool's refusal is acknowledged and not kept, so that it is called again",
        "unsafe_decision",
        "C",
        consequences=("continuity.matrix.key_reused", "needless_decision"),
    ),
    "takes_doubt_for_absence": Flaw(
        Composition(named("takes_doubt_for_absence"), recordings=TakesDoubtForAbsence()),
        "EXECUTE after a query that may only lag",
        "unsafe_decision",
        "X, query unfenced",
    ),
    "invents_receipts": Flaw(
        Composition(named("invents_receipts"), decisions=InventsReceipts),
        "REUSE where only a person can tell: what was lost is never done",
        "unsafe_decision",
        "X, none",
        consequences=(
            "continuity.golden.failures",
            "continuity.golden.state",
            "continuity.lost_effect",
        ),
    ),
}
