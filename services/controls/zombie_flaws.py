"""Memories that give way to what comes late, each the reference but for one rule (DESIGN §6)."""

import dataclasses
from collections.abc import Mapping

from services.controls.flaw import Flaw, named
from services.memory.answers import (
    Disposition,
    ReceiptCall,
    RecordStep,
    Refusal,
    Refused,
    RenewCall,
    RenewStep,
)
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, Change, LeaseClock, Operation, Receipt
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = [
    "FLAWS",
    "CompletesBySuperseded",
    "FreesLeaseByOldReceipt",
    "LastReceiptWins",
    "QuestionSupersedes",
    "RenewsEnded",
    "RenewsForSuperseded",
]


class CompletesBySuperseded(RecordingRules):
    """Completes an operation by whichever attempt's receipt comes first."""

    def keep_evidence(
        self, operation: Operation, record: AttemptRecord, receipt: Receipt
    ) -> RecordStep | Refused:
        """COMPLETED where a superseded attempt's receipt is evidence only."""
        if operation.receipt is None:
            return self.complete(operation, receipt)
        return super().keep_evidence(operation, record, receipt)


class LastReceiptWins(RecordingRules):
    """Lets a superseded attempt's receipt take the place of the one that completed."""

    def keep_evidence(
        self, operation: Operation, record: AttemptRecord, receipt: Receipt
    ) -> RecordStep | Refused:
        """COMPLETED once more, with another receipt."""
        if operation.receipt is not None:
            return RecordStep(
                operation.completed(receipt), Disposition.COMPLETED, Change.COMPLETED_BY_RECEIPT
            )
        return super().keep_evidence(operation, record, receipt)


class FreesLeaseByOldReceipt(RecordingRules):
    """Ends the present lease when an old attempt reports."""

    def keep_evidence(
        self, operation: Operation, record: AttemptRecord, receipt: Receipt
    ) -> RecordStep | Refused:
        """EVIDENCE_ONLY, and the latest attempt's lease is over."""
        step = super().keep_evidence(operation, record, receipt)
        latest = operation.latest
        if not isinstance(step, RecordStep) or step.change is None or latest is None:
            return step
        freed = dataclasses.replace(latest, lease_ends_at_ns=latest.granted_at_ns)
        return dataclasses.replace(step, operation=step.operation.revised(freed))


class QuestionSupersedes(RecordingRules):
    """Takes no receipt any more of an attempt that the destination was to be asked about."""

    def receipt(self, operation: Operation, call: ReceiptCall) -> RecordStep | Refused:
        """A refusal where the latest attempt's receipt completes."""
        record = operation.granted(call.attempt)
        if record is not None and record.questions and operation.receipt is None:
            return Refused(Refusal.STATE, "the attempt was given up")
        return super().receipt(operation, call)


class RenewsEnded(DecisionRules):
    """Gives more time to a lease that is over, as long as nobody else was granted one."""

    def renew(
        self, operation: Operation, clock: LeaseClock, call: RenewCall
    ) -> RenewStep | Refused:
        """A whole lease from now."""
        latest = operation.latest
        if latest is not None and latest.lease_ends_at_ns <= clock.effective_ns:
            longer = dataclasses.replace(latest, lease_ends_at_ns=clock.effective_ns + 1)
            attempts = (*operation.attempts[:-1], longer)
            operation = dataclasses.replace(operation, attempts=attempts)
        return super().renew(operation, clock, call)


class RenewsForSuperseded(DecisionRules):
    """Takes any lease that it ever gave for the present one when more time is asked for."""

    def renew(
        self, operation: Operation, clock: LeaseClock, call: RenewCall
    ) -> RenewStep | Refused:
        """More time for the latest attempt, on a superseded one's word."""
        old, latest = operation.granted(call.attempt), operation.latest
        if old is not None and latest is not None and old.lease_token == call.lease_token:
            call = dataclasses.replace(
                call,
                attempt=latest.attempt,
                lease_token=latest.lease_token,
                incarnation_id=latest.incarnation_id,
            )
        return super().renew(operation, clock, call)


FLAWS: Mapping[str, Flaw] = {
    "completes_by_superseded": Flaw(
        Composition(named("completes_by_superseded"), recordings=CompletesBySuperseded()),
        "a superseded attempt's receipt completes the operation",
        "unsafe_decision",
        "L",
    ),
    "last_receipt_wins": Flaw(
        Composition(named("last_receipt_wins"), recordings=LastReceiptWins()),
        "a superseded attempt's receipt replaces the one that completed",
        "unsafe_decision",
        "C",
    ),
    "frees_lease_by_old_receipt": Flaw(
        Composition(named("frees_lease_by_old_receipt"), recordings=FreesLeaseByOldReceipt()),
        "a superseded attempt's receipt ends the present lease",
        "unsafe_decision",
        "L",
        # Where the destination can be asked, the lease that ended too early shows as QUERY.
        consequences=("needless_decision",),
    ),
    "question_supersedes": Flaw(
        Composition(named("question_supersedes"), recordings=QuestionSupersedes()),
        "no receipt is taken any more once QUERY was answered",
        "needless_decision",
        "X, query",
    ),
    "renews_ended": Flaw(
        Composition(named("renews_ended"), decisions=RenewsEnded),
        "a lease that is over is renewed",
        "unsafe_decision",
        "X",
        # Whoever asks then is put off by a lease that had ended.
        consequences=("needless_decision",),
    ),
    "renews_for_superseded": Flaw(
        Composition(named("renews_for_superseded"), decisions=RenewsForSuperseded),
        "a superseded attempt renews the lease of its successor",
        "unsafe_decision",
        "L",
    ),
}
