"""What a lane carries out: one subject's work on one stack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from chaos.client import InterposerClient
from memqual.v1 import vendor_pb2
from orchestrator.campaign.sink import Sink
from orchestrator.model import TrialRecord
from orchestrator.runtimes.base import Stack
from orchestrator.session import Session
from orchestrator.stacks import StackVariant
from orchestrator.vendors import VendorConfig

__all__ = ["Job", "StackContext", "StackProgress", "SubjectWork"]


class Restart(Protocol):
    """A service that is coming back."""

    @property
    def seconds(self) -> float:
        """How long it took; 0 before its end."""

    def await_healthy(self) -> None:
        """Wait for it; raises what it met."""


@dataclass
class StackProgress:
    """What has happened on one stack so far, over all its subjects.

    Attributes:
        journal_next: First sequence of the destination's journal that no batch has read yet.
        operations_done: Operations that were seen to complete.
        standby: The host that is coming back, None when none is.
        standby_seconds: How long the one before took to come back; infinite before the first.
        spoiled: Why the stack must not be used any more; empty while it may.
    """

    journal_next: int = 1
    operations_done: int = 0
    standby: Restart | None = None
    standby_seconds: float = math.inf
    spoiled: str = ""


@dataclass(frozen=True)
class StackContext:
    """Everything that a job may touch.

    Attributes:
        run_id: Run id of the campaign.
        subject: `vendor` or `control:<flaw>`.
        stack: The running stack; its memory is the subject's.
        session: Typed calls to its services.
        interposer: Control of its interposer.
        describe: The subject's declaration, read after it became healthy.
        progress: What has happened on the stack.
        skew: Whether the preflight showed that the memory's clock can be set.
        sink: Where finished work goes.
        unavailable: What this machine lacks of what a case may need (`families.Need`), and why.
    """

    run_id: str
    subject: str
    stack: Stack
    session: Session
    interposer: InterposerClient
    describe: vendor_pb2.DescribeResponse
    progress: StackProgress
    skew: bool
    sink: Sink
    unavailable: Mapping[str, str] = field(default_factory=dict)


class Job(Protocol):
    """A piece of work whose trials are kept together or not at all."""

    @property
    def name(self) -> str:
        """What a person is shown while it runs."""

    @property
    def trial_ids(self) -> Sequence[str]:
        """The trials that it ends with."""

    def run(self, context: StackContext) -> Sequence[TrialRecord]:
        """Carry the work out, keep its raw evidence and return its scored trials.

        Raises:
            MemqualError: The stack is not usable any more; the lane makes a new one.
        """

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        """The trials as ERROR of the infrastructure's kind, when the work could not be done."""


@dataclass(frozen=True)
class SubjectWork:
    """All that one subject has to do on one kind of stack.

    Attributes:
        subject: `vendor` or `control:<flaw>`.
        vendor: The memory, None for the reference.
        lease_seconds: Lease that the memory is asked for.
        jobs: In order.
        variant: Kind of stack that they need.
    """

    subject: str
    vendor: VendorConfig | None
    lease_seconds: int
    jobs: tuple[Job, ...]
    variant: StackVariant = StackVariant.USUAL

    def only(self, *jobs: Job) -> SubjectWork:
        """The same work with these jobs of it."""
        return replace(self, jobs=jobs)
