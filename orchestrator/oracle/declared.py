"""What a memory declares, as far as the oracle depends on it (DESIGN §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from memqual.v1 import vendor_pb2

__all__ = ["DEFAULT_UNCERTAIN_BOUND", "NANOSECONDS", "PAUSE_SECONDS", "DeclaredMemory"]

NANOSECONDS = 1_000_000_000

DEFAULT_UNCERTAIN_BOUND = 10
"""Answers ABSENT_UNCERTAIN after which CONFIRM is owed, where the memory declares no bound."""

PAUSE_SECONDS = 120
"""Longest pause after doubt that needs no declaration: DESIGN §4's lease. A memory's own pauses do
not shrink with the short lease that the evaluator may have asked it for."""


@dataclass(frozen=True)
class DeclaredMemory:
    """The declaration that a memory is measured by.

    Attributes:
        continuity: ContinuityService is served.
        lease_ns: Length of a fresh lease; 0 when not declared.
        wall_clock: Leases run on the wall clock; otherwise on the monotonic one.
        begin_replay: (incarnation, begin id) replays EXECUTE.
        final_absence: ABSENT_FINAL licenses a new EXECUTE.
        decision_peek: Peek is served.
        max_uncertain: Answers ABSENT_UNCERTAIN after which CONFIRM is owed.
        key_margin_ns: Safety margin before a key's end.
        question_ns: An open question keeps the next asker waiting for so long; 0: it does not.
        max_attempts: Attempts of one operation; 0 for no bound.
        max_revisions: Revisions of one operation; 0 for no bound.
        max_renewals: Renewals of one attempt; 0: it says nothing, or takes none.
        max_operations: Operations of one workflow; 0 for no bound.
        intent_matching: Operations of the same intent are recognised under a new identity.
    """

    continuity: bool = True
    lease_ns: int = 120 * NANOSECONDS
    wall_clock: bool = True
    begin_replay: bool = True
    final_absence: bool = True
    decision_peek: bool = False
    max_uncertain: int = DEFAULT_UNCERTAIN_BOUND
    key_margin_ns: int = 0
    question_ns: int = 0
    max_attempts: int = 0
    max_revisions: int = 0
    max_renewals: int = 0
    max_operations: int = 0
    intent_matching: bool = False

    @property
    def pause_ns(self) -> int:
        """Longest time that it may put a caller off for once leases are over, by a right clock.

        As long as a lease or a question's own, and two minutes in any case.
        """
        return max(self.lease_ns, self.question_ns, PAUSE_SECONDS * NANOSECONDS)

    @classmethod
    def from_describe(cls, response: vendor_pb2.DescribeResponse) -> Self:
        """Reads a declaration as it was answered; what is missing counts as not declared."""
        supported = {
            entry.capability
            for entry in response.capabilities
            if entry.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
        }
        limits = response.limits
        return cls(
            continuity=vendor_pb2.CAPABILITY_CONTINUITY in supported,
            lease_ns=limits.lease_seconds * NANOSECONDS,
            wall_clock=response.lease_clock != vendor_pb2.LEASE_CLOCK_MONOTONIC,
            begin_replay=vendor_pb2.CAPABILITY_BEGIN_REPLAY in supported,
            final_absence=vendor_pb2.CAPABILITY_FINAL_ABSENCE in supported,
            decision_peek=vendor_pb2.CAPABILITY_DECISION_PEEK in supported,
            max_uncertain=limits.max_uncertain_queries or DEFAULT_UNCERTAIN_BOUND,
            key_margin_ns=limits.key_margin_seconds * NANOSECONDS,
            question_ns=limits.question_lease_seconds * NANOSECONDS,
            max_attempts=limits.max_attempts_per_operation,
            max_revisions=limits.max_revisions_per_operation,
            max_renewals=limits.max_renewals,
            max_operations=limits.max_operations_per_workflow,
            intent_matching=vendor_pb2.CAPABILITY_INTENT_MATCHING in supported,
        )
