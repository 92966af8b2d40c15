"""Flawed rules of Begin and of recordings; each replaces one rule of the reference and no other."""

import dataclasses

from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Decision,
    Disposition,
    RecordStep,
    Refused,
    Wait,
)
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, Change, LeaseClock, Operation, Reason, Receipt
from services.memory.recordings import RecordingRules

__all__ = [
    "AlwaysConfirm",
    "AlwaysWait",
    "ExpiredNoneExecutes",
    "ForgetsReceipts",
    "IgnoresLease",
    "Naive",
    "NaiveRecordings",
]


class Naive(DecisionRules):
    """Answers every Begin with a fresh EXECUTE, whatever is known; only the limits hold."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt, always."""
        return self.grant(operation or Operation(call.binding), clock, call, Reason.FIRST_GRANT)


class NaiveRecordings(RecordingRules):
    """Takes the latest attempt's receipt each time, so that a host with `Naive` gets on."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """The last receipt wins."""
        return RecordStep(
            operation.completed(receipt), Disposition.COMPLETED, Change.COMPLETED_BY_RECEIPT
        )


class ExpiredNoneExecutes(DecisionRules):
    """Dispatches anew after an expired lease although nobody can tell what became of the last."""

    def expired_none(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt where only a person could tell."""
        return self.grant(operation, clock, call, Reason.EXPIRED_CANNOT_TELL)


class IgnoresLease(DecisionRules):
    """Grants a second attempt while the first one's lease is live."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt where WAIT is right; a transport retry is still replayed."""
        step = super().decide_live(operation, latest, clock, call)
        if isinstance(step, BeginStep) and isinstance(step.decision, Wait):
            return self.grant(operation, clock, call, Reason.LEASE_LIVE)
        return step


class AlwaysConfirm(DecisionRules):
    """Asks a person about everything: never unsafe, and of no use."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """CONFIRM, always."""
        return _bound(Confirm(Reason.EXPIRED_CANNOT_TELL), operation, call)


class AlwaysWait(DecisionRules):
    """Puts everybody off for ever."""

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """WAIT for one lease, always."""
        return _bound(Wait(self.policy.lease_ns, Reason.LEASE_LIVE), operation, call)


class ForgetsReceipts(RecordingRules):
    """Acknowledges receipts and keeps none."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """COMPLETED is told, and nothing is kept."""
        return RecordStep(operation, Disposition.COMPLETED)


def _bound(decision: Decision, operation: Operation | None, call: BeginCall) -> BeginStep:
    """A decision that keeps nothing but the first sight of the operation."""
    if operation is not None:
        return BeginStep(decision, operation)
    first = dataclasses.replace(Operation(call.binding), revision=1)
    return BeginStep(decision, first, Change.BOUND)
