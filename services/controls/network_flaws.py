"""Wrong answers to what a network brings twice or late; each replaces one rule of the reference."""

from collections.abc import Mapping

from services.controls.flaw import Flaw, named
from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Execute,
    Presence,
    QueryCall,
    RecordStep,
    Refusal,
    Refused,
)
from services.memory.decisions import DecisionRules
from services.memory.model import AttemptRecord, LeaseClock, Operation, Reason, Receipt
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = [
    "FLAWS",
    "ConfirmsRepeats",
    "GrantsRepeats",
    "RefusesRepeatedReceipts",
    "ReplaysEndedGrants",
    "ReplaysToOtherLives",
    "TakesOldAbsences",
]


def _is_repeat(latest: AttemptRecord, call: BeginCall) -> bool:
    return (latest.incarnation_id, latest.begin_id) == (call.incarnation_id, call.begin_id)


def _replayed(operation: Operation, record: AttemptRecord, clock: LeaseClock) -> BeginStep:
    execute = Execute(
        attempt=record.attempt,
        lease_token=record.lease_token,
        remaining_ns=max(record.lease_ends_at_ns - clock.effective_ns, 0),
        granted_at_ns=record.granted_at_ns,
        key_deadline_ns=operation.key_deadline_ns,
        reason=record.reason,
    )
    return BeginStep(execute, operation)


class GrantsRepeats(DecisionRules):
    """Grants a second attempt to a Begin that arrives twice."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The next attempt where the same EXECUTE is right."""
        if _is_repeat(latest, call):
            return self.grant(operation, clock, call, latest.reason)
        return super().decide_live(operation, latest, clock, call)


class ConfirmsRepeats(DecisionRules):
    """Calls a person when a Begin arrives twice, although its lease is live."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """CONFIRM where the same EXECUTE, or WAIT, is right."""
        if _is_repeat(latest, call):
            return BeginStep(Confirm(Reason.EXPIRED_CANNOT_TELL), operation)
        return super().decide_live(operation, latest, clock, call)


class ReplaysToOtherLives(DecisionRules):
    """Knows a repeat by its begin id alone, whoever asks."""

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """EXECUTE to another life where WAIT is right."""
        if latest.begin_id == call.begin_id:
            return _replayed(operation, latest, clock)
        return super().decide_live(operation, latest, clock, call)


class ReplaysEndedGrants(DecisionRules):
    """Replays what a begin id was answered, although that attempt is over."""

    def decide_granted(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The old EXECUTE for a late copy of its Begin."""
        for record in operation.attempts:
            if _is_repeat(record, call):
                return _replayed(operation, record, clock)
        return super().decide_granted(operation, latest, clock, call)


class RefusesRepeatedReceipts(RecordingRules):
    """Takes a receipt once, and calls its repetition an error."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """A refusal where an acknowledgement is owed."""
        if operation.receipt == receipt:
            return Refused(Refusal.STATE, "the receipt is there already")
        return super().complete(operation, receipt)


class TakesOldAbsences(RecordingRules):
    """Counts an absence that was told of an earlier attempt for the latest one."""

    def query(self, operation: Operation, call: QueryCall) -> RecordStep | Refused:
        """ABSENT_FINAL of an attempt that was superseded fences the latest, too."""
        record, latest = operation.granted(call.attempt), operation.latest
        late = record is not None and latest is not None and record is not latest
        if late and call.presence is Presence.ABSENT_FINAL and operation.receipt is None:
            assert latest is not None  # `late` has seen it
            return self.absent(operation, latest, call)
        return super().query(operation, call)


FLAWS: Mapping[str, Flaw] = {
    "grants_repeats": Flaw(
        Composition(named("grants_repeats"), decisions=GrantsRepeats),
        "a Begin that arrives twice is granted twice",
        "unsafe_decision",
        "S",
    ),
    "confirms_repeats": Flaw(
        Composition(named("confirms_repeats"), decisions=ConfirmsRepeats),
        "a Begin that arrives twice is left to a person",
        "needless_decision",
        "S",
    ),
    "replays_to_other_lives": Flaw(
        Composition(named("replays_to_other_lives"), decisions=ReplaysToOtherLives),
        "EXECUTE is replayed to another life that asks with the same begin id",
        "unsafe_decision",
        "L",
    ),
    "replays_ended_grants": Flaw(
        Composition(named("replays_ended_grants"), decisions=ReplaysEndedGrants),
        "EXECUTE is replayed for a begin id whose attempt is over",
        "unsafe_decision",
        "X",
    ),
    "refuses_repeated_receipts": Flaw(
        Composition(named("refuses_repeated_receipts"), recordings=RefusesRepeatedReceipts()),
        "a receipt that arrives twice is an error",
        "needless_decision",
        "C",
    ),
    "takes_old_absences": Flaw(
        Composition(named("takes_old_absences"), recordings=TakesOldAbsences()),
        "ABSENT_FINAL of an earlier attempt licenses a retry of a later one",
        "unsafe_decision",
        "X, query fenced",
    ),
}
