"""What stays the same while one operation's calls are judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.siblings import Siblings

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
    """

    operation_id: str
    clock: ClockMap
    declared: DeclaredMemory
    siblings: Siblings = field(default_factory=Siblings)
    apart: bool = False
