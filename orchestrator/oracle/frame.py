"""What stays the same while one operation's calls are judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.revisions import Revisions
from orchestrator.oracle.siblings import Siblings
from orchestrator.oracle.view import Call

__all__ = ["Frame"]


@dataclass(frozen=True)
class Frame:
    """The operation and the memory that it is asked of.

    Attributes:
        operation_id: The operation.
        clock: The memory's lease clock over the trial.
        declared: What the memory declares.
        siblings: The workflow's other operations.
        apart: The operation was asked about in another namespace before.
        revisions: When it can have been revised.
    """

    operation_id: str
    clock: ClockMap
    declared: DeclaredMemory
    siblings: Siblings = field(default_factory=Siblings)
    apart: bool = False
    revisions: Revisions = field(default_factory=Revisions)

    def may_be_used_up(self, call: Call) -> bool:
        """Whether no revision may be left when a call is taken, however the memory counts."""
        most = self.declared.max_revisions
        return 0 < most <= self.revisions.possible_by(call.last_ns)
