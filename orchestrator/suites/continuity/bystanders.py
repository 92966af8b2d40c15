"""Operations of the evaluator beside each workflow's own: one complete, one under a lease, one new.

They show what a fault does to what it must not touch. Nothing of them reaches the destination; the
oracle judges every answer about them, as it judges a host's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memqual.v1 import continuity_pb2
from orchestrator.plan import Member
from orchestrator.session import Session
from orchestrator.suites.continuity.incarnation import Incarnation
from orchestrator.suites.continuity.specs import receipt_for, spec_of

__all__ = ["Bystander", "bystanders"]


@dataclass
class Bystander:
    """The evaluator's operations in one workflow.

    Attributes:
        session: The stack's session.
        member: The trial whose workflow it is.
    """

    session: Session
    member: Member
    _lives: int = 0
    _holder: Incarnation = field(init=False)
    _lease: continuity_pb2.Execute | None = None

    def __post_init__(self) -> None:
        self._holder = self.another_life()

    def another_life(self) -> Incarnation:
        """The evaluator as a host that has just started."""
        self._lives += 1
        return Incarnation(self.session, f"evaluator-{self.member.workflow_id}-{self._lives}")

    def complete_one(self) -> None:
        """Begin an operation and report its receipt."""
        spec = self._spec("complete")
        granted = self._holder.begin(spec).answer
        if granted is not None and granted.WhichOneof("kind") == "execute":
            told = granted.execute
            receipt = receipt_for(spec, told.attempt)
            self._holder.record(spec, told.attempt, told.lease_token, receipt)

    def take_lease(self) -> None:
        """Begin an operation and keep its lease."""
        granted = self._holder.begin(self._spec("leased")).answer
        if granted is not None and granted.WhichOneof("kind") == "execute":
            self._lease = granted.execute

    def renew_lease(self) -> None:
        """Ask for more time under the lease that was taken, if one was granted."""
        if self._lease is not None:
            spec = self._spec("leased")
            self._holder.renew(spec, self._lease.attempt, self._lease.lease_token)

    def ask(self, *calls: str) -> None:
        """Ask about operations (`complete`, `leased`, `new`) as another life of a host."""
        host = self.another_life()
        for call in calls or ("complete", "leased", "new"):
            host.begin(self._spec(call))

    def _spec(self, call: str) -> continuity_pb2.OperationSpec:
        return spec_of(self.member, call)


def bystanders(session: Session, members: Sequence[Member]) -> list[Bystander]:
    """One for each trial."""
    return [Bystander(session, member) for member in members]
