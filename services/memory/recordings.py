"""What receipts, answers and operators do to an operation: DESIGN §6's rules, pure and total.

A receipt binds operation, incarnation, attempt and arguments; one that does not fit changes nothing
and frees no lease. Only the next grant supersedes an attempt: expiry, QUERY, CONFIRM and a person's
decision do not, so the latest attempt's receipt always completes. What completes is exempt from the
limit on revisions.
"""

import dataclasses
import hmac
from dataclasses import dataclass

from services.memory.answers import (
    Disposition,
    OperatorWord,
    Presence,
    QueryCall,
    ReceiptCall,
    RecordStep,
    Refusal,
    Refused,
    ResolveCall,
)
from services.memory.model import AttemptRecord, Change, Operation, Receipt

__all__ = ["RecordingRules"]


@dataclass(frozen=True)
class RecordingRules:
    """The rules of recording; a memory that is wrong on purpose replaces one method."""

    def receipt(self, operation: Operation, call: ReceiptCall) -> RecordStep | Refused:
        """Takes what the destination answered to a dispatch."""
        record = operation.granted(call.attempt)
        if record is None:
            return Refused(Refusal.STATE, "the attempt was never granted; send the granted one")
        if not self.holds_lease(record, call):
            return Refused(
                Refusal.AUTHORITY, "the attempt's lease is another's; send its own token"
            )
        problem = self.unbound(operation, call.attempt, call.receipt)
        if problem is not None:
            return Refused(Refusal.STATE, problem)
        if record is operation.latest:
            return self.complete(operation, call.receipt)
        return self.keep_evidence(operation, record, call.receipt)

    def complete(self, operation: Operation, receipt: Receipt) -> RecordStep | Refused:
        """A bound receipt of the latest attempt, whatever its lease's time."""
        if operation.receipt is None:
            return RecordStep(
                operation.completed(receipt), Disposition.COMPLETED, Change.COMPLETED_BY_RECEIPT
            )
        if operation.receipt == receipt:
            return RecordStep(operation, Disposition.ALREADY_RECORDED)
        return Refused(
            Refusal.STATE, "the operation is complete with another receipt; begin again to read it"
        )

    def keep_evidence(
        self, operation: Operation, record: AttemptRecord, receipt: Receipt
    ) -> RecordStep | Refused:
        """A bound receipt of a superseded attempt completes nothing."""
        if receipt in (operation.receipt, record.evidence):
            return RecordStep(operation, Disposition.ALREADY_RECORDED)
        if record.evidence is not None:
            return Refused(Refusal.STATE, "the attempt has another receipt as evidence already")
        kept = dataclasses.replace(record, evidence=receipt)
        return RecordStep(
            operation.revised(kept), Disposition.EVIDENCE_ONLY, Change.KEPT_AS_EVIDENCE
        )

    def query(self, operation: Operation, call: QueryCall) -> RecordStep | Refused:
        """Takes what the destination answered to a question.

        PRESENT completes, from whichever attempt was asked about; an absence counts only for the
        latest attempt, since what was granted later was not fenced by it.
        """
        record = operation.granted(call.attempt)
        if record is None:
            return Refused(Refusal.STATE, "the attempt was never granted; send the asked one")
        if call.presence is not Presence.PRESENT and record is not operation.latest:
            return Refused(Refusal.STATE, "the attempt is not the latest; begin again")
        if not self.holds_ticket(record, call):
            return Refused(Refusal.AUTHORITY, "the ticket is not this attempt's; send its own")
        if call.presence is Presence.PRESENT:
            return self.found(operation, call.attempt, call.receipt)
        if operation.receipt is not None:
            # Complete from elsewhere: an absence takes nothing back.
            return RecordStep(operation)
        return self.absent(operation, record, call)

    def found(
        self, operation: Operation, attempt: int, receipt: Receipt | None
    ) -> RecordStep | Refused:
        """PRESENT: the destination holds the effect."""
        if receipt is None:
            return Refused(Refusal.MALFORMED, "PRESENT comes without its receipt; send it")
        problem = self.unbound(operation, attempt, receipt)
        if problem is not None:
            return Refused(Refusal.STATE, problem)
        if operation.receipt is None:
            return RecordStep(
                operation.completed(receipt), Disposition.COMPLETED, Change.COMPLETED_BY_QUERY
            )
        if operation.receipt.same_answer(receipt):
            return RecordStep(operation, Disposition.ALREADY_RECORDED)
        return Refused(
            Refusal.STATE, "the operation is complete with another receipt; begin again to read it"
        )

    def absent(self, operation: Operation, record: AttemptRecord, call: QueryCall) -> RecordStep:
        """An absence of the latest attempt, or no answer at all."""
        if call.presence is Presence.ABSENT_FINAL and not record.absent_final:
            fenced = dataclasses.replace(record, absent_final=True)
            return RecordStep(operation.revised(fenced), change=Change.FOUND_ABSENT)
        if call.presence is Presence.ABSENT_UNCERTAIN:
            return self.doubt(operation, record, call.query_ticket)
        return RecordStep(operation)

    def doubt(self, operation: Operation, record: AttemptRecord, ticket: str) -> RecordStep:
        """ABSENT_UNCERTAIN counts once a ticket, so that a repeated call does not count twice."""
        questions = tuple(
            dataclasses.replace(question, left_uncertain=True)
            if question.ticket == ticket
            else question
            for question in record.questions
        )
        if questions == record.questions:
            return RecordStep(operation)
        doubted = dataclasses.replace(record, questions=questions)
        return RecordStep(operation.revised(doubted), change=Change.LEFT_UNCERTAIN)

    def resolve(self, operation: Operation, call: ResolveCall) -> RecordStep | Refused:
        """Takes an operator's word on the attempt that the challenge was issued for.

        It supersedes nothing: a later word, receipt or PRESENT still counts.
        """
        latest = operation.latest
        if operation.receipt is not None or latest is None or latest.attempt != call.attempt:
            return Refused(
                Refusal.AUTHORITY,
                "the operation has moved on since the challenge; request another",
            )
        match call.word:
            case OperatorWord.HAPPENED:
                if call.receipt is None:
                    return Refused(Refusal.MALFORMED, "HAPPENED comes without its result; send it")
                return RecordStep(
                    operation.completed(call.receipt),
                    Disposition.COMPLETED,
                    Change.COMPLETED_BY_OPERATOR,
                )
            case OperatorWord.DID_NOT_HAPPEN:
                released = operation.revised(dataclasses.replace(latest, released=True))
                return RecordStep(
                    dataclasses.replace(released, abandoned=False),
                    change=Change.RELEASED_BY_OPERATOR,
                )
            case OperatorWord.ABANDON:
                kept = operation.revised(dataclasses.replace(latest, released=False))
                return RecordStep(
                    dataclasses.replace(kept, abandoned=True),
                    change=Change.ABANDONED_BY_OPERATOR,
                )

    def holds_lease(self, record: AttemptRecord, call: ReceiptCall) -> bool:
        """Whether a receipt comes from the life that was granted the attempt, under its token."""
        token_fits = hmac.compare_digest(record.lease_token.encode(), call.lease_token.encode())
        return token_fits and record.incarnation_id == call.incarnation_id

    def holds_ticket(self, record: AttemptRecord, call: QueryCall) -> bool:
        """Whether an answer comes under one of the attempt's own tickets."""
        return record.has_ticket(call.query_ticket)

    def unbound(self, operation: Operation, attempt: int, receipt: Receipt) -> str | None:
        """Why a receipt is not this attempt's, or None."""
        if receipt.operation_id != operation.binding.operation_id:
            return "the receipt names another operation"
        if receipt.attempt != attempt:
            return "the receipt names another attempt"
        if receipt.arguments_digest != operation.binding.arguments_digest:
            return "the receipt is for other arguments"
        return None
