"""Memories that take reports that they must not, or refuse those that they must take."""

import dataclasses
from collections.abc import Mapping

from memqual.v1 import continuity_pb2
from services.common.canonical import sha256_hex
from services.common.clock import wall_ns
from services.common.limits import JSON_BYTES
from services.controls.flaw import Flaw, named
from services.controls.zombie_flaws import CompletesBySuperseded
from services.memory.answers import (
    Disposition,
    Presence,
    QueryCall,
    ReceiptCall,
    RecordStep,
    Refusal,
    Refused,
)
from services.memory.formats import Formats
from services.memory.messages import receipt_from
from services.memory.model import AttemptRecord, Change, Operation, Receipt, ReceiptOutcome
from services.memory.process import Composition
from services.memory.recordings import RecordingRules

__all__ = ["FLAWS"]

_PREFIX = "continuity.receipts"
# What is taken and must be refused, and what is answered after it.
_TAKEN = ("unsafe_decision", "needless_decision")


class AnyToken(RecordingRules):
    """Takes a receipt of the right life under any token."""

    def holds_lease(self, record: AttemptRecord, call: ReceiptCall) -> bool:
        """Whether the life is the one that was granted the attempt."""
        return record.incarnation_id == call.incarnation_id


class AnyLife(RecordingRules):
    """Takes a receipt of any life under the right token."""

    def holds_lease(self, record: AttemptRecord, call: ReceiptCall) -> bool:
        """Whether the token is the attempt's."""
        return record.lease_token == call.lease_token


class AnyOperation(RecordingRules):
    """Takes a receipt that names another operation."""

    def unbound(self, operation: Operation, attempt: int, receipt: Receipt) -> str | None:
        """Why a receipt is not this attempt's; the operation that it names is nothing."""
        named_so = dataclasses.replace(receipt, operation_id=operation.binding.operation_id)
        return super().unbound(operation, attempt, named_so)

    def found(
        self, operation: Operation, attempt: int, receipt: Receipt | None
    ) -> RecordStep | Refused:
        """As the reference: what this memory overlooks, it overlooks in receipts only."""
        problem = None if receipt is None else RecordingRules().unbound(operation, attempt, receipt)
        if problem is not None:
            return Refused(Refusal.STATE, problem)
        return super().found(operation, attempt, receipt)


class AnyAttempt(RecordingRules):
    """Takes a receipt that names another attempt."""

    def unbound(self, operation: Operation, attempt: int, receipt: Receipt) -> str | None:
        """Why a receipt is not this operation's."""
        return super().unbound(operation, attempt, dataclasses.replace(receipt, attempt=attempt))


class AnyArguments(RecordingRules):
    """Takes a receipt of a dispatch with other arguments."""

    def unbound(self, operation: Operation, attempt: int, receipt: Receipt) -> str | None:
        """Why a receipt is not this attempt's, whatever was dispatched."""
        asked = operation.binding.arguments_digest
        fitting = dataclasses.replace(receipt, arguments_digest=asked)
        return super().unbound(operation, attempt, fitting)

    def found(
        self, operation: Operation, attempt: int, receipt: Receipt | None
    ) -> RecordStep | Refused:
        """As the reference: what this memory overlooks, it overlooks in receipts only."""
        problem = None if receipt is None else RecordingRules().unbound(operation, attempt, receipt)
        if problem is not None:
            return Refused(Refusal.STATE, problem)
        return super().found(operation, attempt, receipt)


def _any_digest(message: continuity_pb2.Receipt) -> Receipt:
    """The receipt, whatever digest it came with."""
    fitting = continuity_pb2.Receipt()
    fitting.CopyFrom(message)
    fitting.result_digest = sha256_hex(message.result_json.encode())
    return receipt_from(fitting)


def _any_size(message: continuity_pb2.Receipt) -> Receipt:
    """The receipt, however long its result is."""
    if len(message.result_json.encode()) <= JSON_BYTES:
        return receipt_from(message)
    short = continuity_pb2.Receipt()
    short.CopyFrom(message)
    short.result_json = "{}"
    short.result_digest = sha256_hex(b"{}")
    return dataclasses.replace(
        receipt_from(short),
        result_json=message.result_json,
        result_digest=message.result_digest,
    )


class TakesOnce(RecordingRules):
    """Refuses a receipt that it has already."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """A refusal of what is complete, the same receipt included."""
        if operation.receipt is not None:
            return Refused(Refusal.STATE, "the operation is complete")
        return super().complete(operation, receipt)


class LastOneWins(RecordingRules):
    """Lets a later receipt of the same attempt replace the one that completed the operation."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """COMPLETED, with whatever came last."""
        if operation.receipt in (None, receipt):
            return super().complete(operation, receipt)
        return RecordStep(
            operation.completed(receipt), Disposition.COMPLETED, Change.COMPLETED_BY_RECEIPT
        )


class ForgetsRefusals(RecordingRules):
    """Acknowledges a tool's own refusal and keeps nothing of it."""

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """COMPLETED is told; nothing is kept of a refusal."""
        if operation.receipt is None and receipt.outcome is ReceiptOutcome.TOOL_ERROR:
            return RecordStep(operation, Disposition.COMPLETED)
        return super().complete(operation, receipt)


class RefusesLate(RecordingRules):
    """Refuses a receipt that comes after its lease's end."""

    def receipt(self, operation: Operation, call: ReceiptCall) -> RecordStep | Refused:
        """As the reference while the lease is live."""
        record = operation.granted(call.attempt)
        open_still = operation.receipt is None and record is operation.latest
        if record is not None and open_still and wall_ns() >= record.lease_ends_at_ns:
            return Refused(Refusal.STATE, "the lease has ended")
        return super().receipt(operation, call)


class AnyTicket(RecordingRules):
    """Takes a query's answer under any ticket."""

    def holds_ticket(self, record: AttemptRecord, call: QueryCall) -> bool:
        """True, once anything was asked."""
        return bool(record.questions)


class AnyAskedAttempt(RecordingRules):
    """Takes a query's answer for an attempt that was never granted."""

    def query(self, operation: Operation, call: QueryCall) -> RecordStep | Refused:
        """The answer, counted for the latest attempt."""
        latest = operation.latest
        if latest is not None and operation.granted(call.attempt) is None:
            receipt = call.receipt
            if receipt is not None:
                receipt = dataclasses.replace(receipt, attempt=latest.attempt)
            call = dataclasses.replace(call, attempt=latest.attempt, receipt=receipt)
        return super().query(operation, call)


class AnyPresence(RecordingRules):
    """PRESENT completes with whatever receipt it brings."""

    def found(
        self, operation: Operation, attempt: int, receipt: Receipt | None
    ) -> RecordStep | Refused:
        """COMPLETED, with the receipt made to fit."""
        if receipt is not None:
            receipt = dataclasses.replace(
                receipt,
                operation_id=operation.binding.operation_id,
                arguments_digest=operation.binding.arguments_digest,
            )
        return super().found(operation, attempt, receipt)


class UnknownIsAbsent(RecordingRules):
    """Takes a destination that could not be asked for one that has nothing."""

    def absent(self, operation: Operation, record: AttemptRecord, call: QueryCall) -> RecordStep:
        """UNKNOWN as ABSENT_FINAL."""
        if call.presence is Presence.UNKNOWN:
            call = dataclasses.replace(call, presence=Presence.ABSENT_FINAL)
        return super().absent(operation, record, call)


class OldAbsenceCounts(RecordingRules):
    """Counts ABSENT_FINAL for a superseded attempt as one for the latest."""

    def query(self, operation: Operation, call: QueryCall) -> RecordStep | Refused:
        """The absence, under whichever attempt's ticket it comes."""
        record, latest = operation.granted(call.attempt), operation.latest
        old = record is not None and record is not latest
        if old and latest is not None and call.presence is Presence.ABSENT_FINAL:
            return self.absent(operation, latest, call)
        return super().query(operation, call)


class DoubtIsFinal(RecordingRules):
    """Refuses PRESENT once an absence was uncertain."""

    def found(
        self, operation: Operation, attempt: int, receipt: Receipt | None
    ) -> RecordStep | Refused:
        """As the reference while there was no doubt."""
        latest = operation.latest
        if operation.receipt is None and latest is not None and latest.uncertain_answers:
            return Refused(Refusal.STATE, "its absence was told before")
        return super().found(operation, attempt, receipt)


class NeverDoubts(RecordingRules):
    """Counts no uncertain answer, and so asks for ever."""

    def doubt(self, operation: Operation, record: AttemptRecord, ticket: str) -> RecordStep:
        """Nothing is kept."""
        return RecordStep(operation)


def _rules(name: str, rules: RecordingRules, wrong: str, check: str, *more: str) -> Flaw:
    composition = Composition(named(name), recordings=rules)
    return Flaw(composition, wrong, f"{_PREFIX}.{check}", consequences=(*_TAKEN, *more))


FLAWS: Mapping[str, Flaw] = {
    "any_token": _rules(
        "any_token",
        AnyToken(),
        "takes a receipt under a token that it never gave",
        "forged",
        # Another operation's lease is a token that was never given, too.
        f"{_PREFIX}.foreign",
    ),
    "any_life": _rules(
        "any_life", AnyLife(), "takes a receipt of another incarnation", "other_life"
    ),
    "any_operation": _rules(
        "any_operation", AnyOperation(), "takes a receipt that names another operation", "foreign"
    ),
    "any_attempt": _rules(
        "any_attempt", AnyAttempt(), "takes a receipt that names another attempt", "wrong_attempt"
    ),
    "any_arguments": _rules(
        "any_arguments",
        AnyArguments(),
        "takes a receipt of a dispatch with other arguments",
        "other_arguments",
    ),
    "any_digest": Flaw(
        Composition(named("any_digest"), formats=Formats(receipt=_any_digest)),
        "takes a result that is not its digest's",
        f"{_PREFIX}.wrong_digest",
        consequences=_TAKEN,
    ),
    "any_size": Flaw(
        Composition(named("any_size"), formats=Formats(receipt=_any_size)),
        "takes a result that is longer than it may be",
        f"{_PREFIX}.oversize",
        consequences=_TAKEN,
    ),
    "takes_once": _rules("takes_once", TakesOnce(), "refuses a receipt that is repeated", "repeat"),
    "last_one_wins": _rules(
        "last_one_wins",
        LastOneWins(),
        "replaces what completed the operation by a later receipt",
        "other_result",
    ),
    "forgets_refusals": _rules(
        "forgets_refusals",
        ForgetsRefusals(),
        "keeps nothing of a tool's own refusal",
        "tool_error",
    ),
    "refuses_late": _rules(
        "refuses_late", RefusesLate(), "refuses a receipt after its lease's end", "late"
    ),
    "any_attempt_completes": _rules(
        "any_attempt_completes",
        CompletesBySuperseded(),
        "completes by a superseded attempt's receipt",
        "superseded",
    ),
    "any_ticket": _rules(
        "any_ticket", AnyTicket(), "takes a query's answer under any ticket", "wrong_ticket"
    ),
    "any_asked_attempt": _rules(
        "any_asked_attempt",
        AnyAskedAttempt(),
        "takes a query's answer for an attempt that was never granted",
        "query_attempt",
    ),
    "any_presence": _rules(
        "any_presence",
        AnyPresence(),
        "PRESENT completes with another operation's receipt",
        "query_foreign",
    ),
    "unknown_is_absent": _rules(
        "unknown_is_absent", UnknownIsAbsent(), "takes UNKNOWN for a final absence", "unknown"
    ),
    "old_absence_counts": _rules(
        "old_absence_counts",
        OldAbsenceCounts(),
        "a superseded attempt's final absence licenses another",
        "old_absence",
    ),
    "doubt_is_final": _rules(
        "doubt_is_final", DoubtIsFinal(), "refuses PRESENT after an uncertain answer", "present"
    ),
    "never_doubts": _rules(
        "never_doubts", NeverDoubts(), "asks for ever where nothing is certain", "uncertain"
    ),
}
