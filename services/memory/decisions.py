"""What Begin, Peek and Renew decide: DESIGN §6's table as a pure, total function.

`DecisionRules` turns (what is stored, one clock reading, one call) into a decision and the next
state. It does no input or output and mints nothing: the caller brings a fresh secret, and keeps
the next state durably before it answers. Every rule is a small method, so that a memory that is
wrong on purpose (services.controls) replaces exactly one.

A clock behind its mark is read as if it stood at the mark (§6, row B): leases and keys never
become younger. What counts on a key's retention, be it the grant that starts it or a retry that
leans on it, waits until the clock has passed the mark, since nobody can tell time before that.
"""

import dataclasses
from dataclasses import dataclass

from services.memory.answers import (
    BeginCall,
    BeginStep,
    Confirm,
    Decision,
    Execute,
    Query,
    Refusal,
    Refused,
    Reject,
    RenewCall,
    RenewStep,
    Reuse,
    Wait,
)
from services.memory.model import (
    AttemptRecord,
    Capability,
    Change,
    LeaseClock,
    Operation,
    OperationBinding,
    Policy,
    Question,
    Reason,
)

__all__ = ["DecisionRules", "contradiction", "incoherence"]

# The contract's times are signed 64-bit numbers.
LATEST_NS = 2**63 - 1


def contradiction(bound: OperationBinding, asked: OperationBinding) -> Reason | None:
    """What of an asked binding differs from the bound one, most telling first; None when equal.

    The identity's fields cannot differ under one operation id, which is their digest.
    """
    differences = (
        (bound.arguments_digest != asked.arguments_digest, Reason.ARGUMENTS_MISMATCH),
        (bound.tool != asked.tool, Reason.TOOL_MISMATCH),
        (bound.destination != asked.destination, Reason.DESTINATION_MISMATCH),
        (bound.capability != asked.capability, Reason.CAPABILITY_MISMATCH),
        (bound.idempotency_key != asked.idempotency_key, Reason.KEY_MISMATCH),
        (bound.retention_seconds != asked.retention_seconds, Reason.RETENTION_MISMATCH),
        (bound.principal != asked.principal, Reason.PRINCIPAL_MISMATCH),
        (bound.workflow_id != asked.workflow_id, Reason.WORKFLOW_MISMATCH),
        (bound.intent_digest != asked.intent_digest, Reason.INTENT_MISMATCH),
        (bound.namespace != asked.namespace, Reason.NAMESPACE_MISMATCH),
    )
    return next((reason for differs, reason in differences if differs), None)


def incoherence(binding: OperationBinding) -> str | None:
    """Why a binding contradicts itself, or None: a key goes with IDEMPOTENT and only with it."""
    keyed = binding.capability is Capability.IDEMPOTENT
    if keyed and not binding.idempotency_key:
        return "the capability is IDEMPOTENT and idempotency_key is empty; send the key"
    if not keyed and (binding.idempotency_key or binding.retention_seconds):
        return "idempotency_key and retention_seconds go with IDEMPOTENT only; leave them unset"
    return None


@dataclass(frozen=True)
class DecisionRules:
    """The rules under one policy. No state beside it."""

    policy: Policy = dataclasses.field(default_factory=Policy)

    def begin(
        self, operation: Operation | None, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Decides one Begin (DESIGN §4, §6).

        Args:
            operation: what is stored under the operation id, or None at first sight.
            clock: one reading of the lease clock with its mark.
            call: the question; its formats have been checked.
        """
        if operation is None:
            return self._first_sight(clock, call)
        difference = self.difference(operation, clock, call)
        if difference is not None:
            return BeginStep(Reject(difference), operation)
        if operation.receipt is not None:
            return BeginStep(Reuse(operation.receipt, Reason.COMPLETE), operation)
        if operation.latest is None:
            return self.first_decision(operation, clock, call)
        return self.decide_granted(operation, operation.latest, clock, call)

    def difference(self, operation: Operation, clock: LeaseClock, call: BeginCall) -> Reason | None:
        """What of the question differs from what is bound, whatever has become of the operation."""
        return contradiction(operation.binding, call.binding)

    def first_decision(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Row N, unless the same intent was granted in a past that the host was set back from.

        There the first result is handed over, or a person is asked: the host dispatches its intent
        once, whatever identity it has by now.
        """
        complete = next((one.receipt for one in call.forked if one.receipt is not None), None)
        if complete is not None:
            return _bind(Reuse(complete, Reason.INTENT_COMPLETE), operation)
        if any(self.may_have_happened(one) for one in call.forked):
            return _bind(Confirm(Reason.INTENT_UNCERTAIN), operation)
        return self.first_grant(operation, clock, call)

    def may_have_happened(self, operation: Operation) -> bool:
        """Whether an operation that is not complete was granted and nobody ruled its effect out."""
        latest = operation.latest
        return latest is not None and not (latest.released or latest.absent_final)

    def decide_granted(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Rows O, L, X and F: granted before, and not complete."""
        if operation.abandoned:
            return BeginStep(Confirm(Reason.OPERATOR_ABANDONED), operation)
        if latest.released:
            return self.retry(operation, clock, call, Reason.OPERATOR_DID_NOT_HAPPEN)
        if self.lease_is_live(latest, clock):
            return self.decide_live(operation, latest, clock, call)
        return self.decide_expired(operation, latest, clock, call)

    def lease_is_live(self, latest: AttemptRecord, clock: LeaseClock) -> bool:
        """True before the lease's end on the lease clock."""
        return clock.effective_ns < latest.lease_ends_at_ns

    def decide_live(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Row L: the same EXECUTE for a transport retry of the granted call, else WAIT."""
        remaining_ns = latest.lease_ends_at_ns - clock.effective_ns
        granted_call = (latest.incarnation_id, latest.begin_id)
        if granted_call == (call.incarnation_id, call.begin_id):
            return BeginStep(_execute(operation, latest, remaining_ns), operation)
        return BeginStep(Wait(remaining_ns, Reason.LEASE_LIVE), operation)

    def decide_expired(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Rows X and F: by what the destination lets a caller do after an uncertain dispatch."""
        match operation.binding.capability:
            case Capability.NONE:
                return self.expired_none(operation, clock, call)
            case Capability.QUERY:
                return self.expired_query(operation, latest, clock, call)
            case Capability.IDEMPOTENT:
                return self.expired_idempotent(operation, clock, call)

    def expired_none(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Nobody but a person can tell whether the dispatch took effect."""
        return BeginStep(Confirm(Reason.EXPIRED_CANNOT_TELL), operation)

    def expired_query(
        self, operation: Operation, latest: AttemptRecord, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """QUERY until it is answered; a new attempt after ABSENT_FINAL, a person after doubt."""
        if latest.absent_final:
            return self.retry(operation, clock, call, Reason.ABSENT_FINAL)
        if latest.uncertain_answers >= self.policy.max_uncertain_queries:
            return BeginStep(Confirm(Reason.ABSENCE_UNCERTAIN), operation)
        asked = latest.open_question
        if asked is not None:
            # One question, one ticket: another incarnation that asks gets the same, and an answer
            # that several bring counts once.
            return BeginStep(
                Query(latest.attempt, asked.ticket, Reason.EXPIRED_ASK_DESTINATION), operation
            )
        if operation.revision >= self.policy.max_revisions:
            return _too_many_revisions(self.policy)
        questions = (*latest.questions, Question(call.fresh_secret))
        return BeginStep(
            Query(latest.attempt, call.fresh_secret, Reason.EXPIRED_ASK_DESTINATION),
            operation.revised(dataclasses.replace(latest, questions=questions)),
            Change.ASKED,
        )

    def expired_idempotent(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """The same key again if it covers the whole new lease, else a person."""
        lease_would_end_ns = clock.effective_ns + self.policy.lease_ns
        if lease_would_end_ns + self.policy.key_margin_ns <= operation.key_deadline_ns:
            return self.retry(operation, clock, call, Reason.KEY_COVERS_LEASE)
        return BeginStep(Confirm(Reason.KEY_ENDS_TOO_SOON), operation)

    def first_grant(
        self, operation: Operation, clock: LeaseClock, call: BeginCall
    ) -> BeginStep | Refused:
        """Row N: EXECUTE; under a key only by a clock that can tell when its retention starts."""
        if clock.behind and operation.binding.capability is Capability.IDEMPOTENT:
            return _bind(_wait_for_mark(clock), operation)
        return self.grant(operation, clock, call, Reason.FIRST_GRANT)

    def retry(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        """A new attempt after one that ended; never under a key while the clock is behind."""
        if clock.behind and operation.binding.capability is Capability.IDEMPOTENT:
            return BeginStep(_wait_for_mark(clock), operation)
        return self.grant(operation, clock, call, reason)

    def grant(
        self, operation: Operation, clock: LeaseClock, call: BeginCall, reason: Reason
    ) -> BeginStep | Refused:
        """Mints the next attempt and its lease."""
        if len(operation.attempts) >= self.policy.max_attempts:
            return Refused(
                Refusal.LIMIT,
                f"the operation has taken its {self.policy.max_attempts} attempts; ask a person",
            )
        if operation.revision >= self.policy.max_revisions:
            return _too_many_revisions(self.policy)
        record = AttemptRecord(
            attempt=len(operation.attempts) + 1,
            incarnation_id=call.incarnation_id,
            begin_id=call.begin_id or "",
            lease_token=call.fresh_secret,
            reason=reason,
            granted_at_ns=clock.effective_ns,
            lease_ends_at_ns=clock.effective_ns + self.policy.lease_ns,
        )
        granted = operation.revised(record)
        if not operation.attempts and operation.binding.capability is Capability.IDEMPOTENT:
            deadline_ns = record.granted_at_ns + operation.binding.retention_ns
            granted = dataclasses.replace(granted, key_deadline_ns=min(deadline_ns, LATEST_NS))
        decision = _execute(granted, record, self.policy.lease_ns)
        return BeginStep(decision, granted, Change.GRANTED)

    def renew(
        self, operation: Operation, clock: LeaseClock, call: RenewCall
    ) -> RenewStep | Refused:
        """Extends a live lease by one whole lease from now, at most `max_renewals` times."""
        latest = operation.latest
        if latest is None or latest.attempt != call.attempt:
            return Refused(Refusal.STATE, "the attempt is not the latest; begin again")
        if not self.may_renew(latest, call):
            return Refused(Refusal.AUTHORITY, "the lease is another's; renew with its own token")
        # An operator's "did not happen" supersedes nothing: the lease is live until the next grant.
        settled = operation.receipt is not None or operation.abandoned
        if settled or not self.lease_is_live(latest, clock):
            return Refused(Refusal.STATE, "the lease has ended; begin again")
        if latest.renewals >= self.policy.max_renewals:
            return Refused(
                Refusal.LIMIT, f"the lease has taken its {self.policy.max_renewals} renewals"
            )
        if operation.revision >= self.policy.max_revisions:
            return _too_many_revisions(self.policy)
        ends_at_ns = clock.effective_ns + self.policy.lease_ns
        if operation.key_deadline_ns and latest.attempt > 1:
            # A retry leans on its key: its lease must not outlive it. The first attempt needs none.
            ends_at_ns = min(ends_at_ns, operation.key_deadline_ns - self.policy.key_margin_ns)
        ends_at_ns = max(ends_at_ns, latest.lease_ends_at_ns)
        renewed = dataclasses.replace(
            latest, lease_ends_at_ns=ends_at_ns, renewals=latest.renewals + 1
        )
        return RenewStep(
            operation=operation.revised(renewed),
            change=Change.RENEWED,
            remaining_ns=ends_at_ns - clock.effective_ns,
            remaining_renewals=self.policy.max_renewals - renewed.renewals,
        )

    def may_renew(self, latest: AttemptRecord, call: RenewCall) -> bool:
        """Whether the caller holds the latest attempt's lease."""
        holder = (latest.lease_token, latest.incarnation_id)
        return holder == (call.lease_token, call.incarnation_id)

    def _first_sight(self, clock: LeaseClock, call: BeginCall) -> BeginStep | Refused:
        problem = incoherence(call.binding)
        if problem is not None:
            return Refused(Refusal.MALFORMED, problem)
        if call.workflow_operations >= self.policy.max_operations_per_workflow:
            return Refused(
                Refusal.LIMIT,
                f"the workflow holds its {self.policy.max_operations_per_workflow} operations; "
                "start another",
            )
        return self.first_decision(Operation(call.binding), clock, call)


def _bind(decision: Decision, operation: Operation) -> BeginStep:
    """A decision that grants nothing; at first sight the operation is bound all the same."""
    bound = dataclasses.replace(operation, revision=max(operation.revision, 1))
    return BeginStep(decision, bound, None if bound == operation else Change.BOUND)


def _execute(operation: Operation, record: AttemptRecord, remaining_ns: int) -> Execute:
    return Execute(
        attempt=record.attempt,
        lease_token=record.lease_token,
        remaining_ns=remaining_ns,
        granted_at_ns=record.granted_at_ns,
        key_deadline_ns=operation.key_deadline_ns,
        reason=record.reason,
    )


def _wait_for_mark(clock: LeaseClock) -> Wait:
    return Wait(clock.mark_ns - clock.now_ns, Reason.CLOCK_BEHIND_MARK)


def _too_many_revisions(policy: Policy) -> Refused:
    return Refused(
        Refusal.LIMIT, f"the operation has taken its {policy.max_revisions} revisions; ask a person"
    )
