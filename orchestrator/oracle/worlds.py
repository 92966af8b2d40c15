"""One possible state of a correct memory, for one operation (DESIGN §6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from orchestrator.oracle.messages import OperatorWord, ReceiptKey, Spec
from orchestrator.oracle.zone import Zone

__all__ = ["Completion", "Grant", "Row", "World", "first_world"]


class Row(StrEnum):
    """Why a decision is allowed: the rows of DESIGN §6, and those that its text adds."""

    NEVER_GRANTED = "N"
    LEASE_LIVE = "L"
    SAME_BEGIN = "S"
    EXPIRED = "X"
    FINAL_ABSENCE = "F"
    OPERATOR = "O"
    COMPLETE = "C"
    CLOCK_BEHIND = "B"
    IDENTITY = "R"
    ABANDONED = "A"
    LIMIT = "M"
    FORKED = "K"


@dataclass(frozen=True)
class Grant:
    """One EXECUTE that the memory gave.

    Attributes:
        attempt: The attempt, or the least that it can be while it is not known.
        known: Whether an answer told the attempt.
        token: The lease token; None while no answer told it.
        incarnation_id: Incarnation that asked.
        begin_id: Begin id that asked.
    """

    attempt: int
    known: bool
    token: str | None
    incarnation_id: str
    begin_id: str

    def can_be(self, attempt: int) -> bool:
        """Whether this grant's attempt can be that number."""
        return attempt == self.attempt if self.known else attempt >= self.attempt


@dataclass(frozen=True)
class Completion:
    """What completed the operation.

    Attributes:
        receipt: What REUSE must give back.
        by_operator: Only the result is bound; the memory made the rest of the receipt.
    """

    receipt: ReceiptKey
    by_operator: bool = False

    def equals(self, told: ReceiptKey) -> bool:
        """Whether a receipt that was given back is the one that was taken."""
        if self.by_operator:
            return told.result == self.receipt.result
        return told == self.receipt


@dataclass(frozen=True)
class World:
    """A state that a correct memory can be in, as far as this operation is concerned.

    Attributes:
        zone: Bounds of the lease's end, the first grant, the clock's mark and the latest call.
        segment: Segment of the memory's clock at the latest call.
        spec: The bound specification; None while nothing was taken.
        grants: All EXECUTEs, in order.
        completion: Set when complete.
        absent_final: ABSENT_FINAL was recorded for the latest attempt.
        uncertain: ABSENT_UNCERTAIN recorded since the latest grant.
        ticket: Query ticket that was issued last, while it was not used.
        old_tickets: (attempt, ticket) of every other ticket that was issued.
        asking: A question was asked since the latest grant, and nothing recorded under it yet.
        operator: The operator's word since the latest grant.
        renewals: Renewals of the latest attempt.
        evidence: Attempt and receipt of what a superseded attempt reported first.
    """

    zone: Zone
    segment: int = 0
    spec: Spec | None = None
    grants: tuple[Grant, ...] = ()
    completion: Completion | None = None
    absent_final: bool = False
    uncertain: int = 0
    ticket: str | None = None
    old_tickets: frozenset[tuple[int, str]] = frozenset()
    asking: bool = False
    operator: OperatorWord | None = None
    renewals: int = 0
    evidence: frozenset[tuple[int, ReceiptKey]] = frozenset()

    @property
    def latest(self) -> Grant | None:
        """The grant that is current; only the next grant supersedes it."""
        return self.grants[-1] if self.grants else None

    def with_latest(self, attempt: int, token: str | None) -> World:
        """This world after the latest grant's attempt (and token, unless None) became known."""
        latest = self.grants[-1]
        told = replace(latest, attempt=attempt, known=True, token=token or latest.token)
        return replace(self, grants=(*self.grants[:-1], told))

    def with_used_ticket(self) -> World:
        """This world after the ticket that was issued last was used or replaced."""
        if self.ticket is None:
            return self
        used = (self.grants[-1].attempt, self.ticket)
        return replace(self, ticket=None, old_tickets=self.old_tickets | {used})


def first_world() -> World:
    """The world in which nothing was asked yet."""
    return World(Zone.everything())
