"""What every batch of the axis does the same way, and the hands that it does it with (DESIGN §5).

A stage is one batch on one stack: it starts, wakes, waits, moves clocks, lets leases end and keeps
what was seen. It never helps: it chooses no step for the host or the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from chaos.client import InterposerClient
from chaos.receipts import FaultReceipt, KillReceipt
from chaos.windows import Window
from memqual.v1 import agent_pb2, common_pb2, interposer_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import MemqualError
from orchestrator.evidence.records import (
    BatchError,
    BatchEvidence,
    StatusSnapshot,
    message_from_json,
    message_to_json,
    messages_to_lines,
)
from orchestrator.model import Cell, ExpiryMode
from orchestrator.plan import Batch
from orchestrator.suites.continuity.clocks import mark_memory_clock
from orchestrator.suites.continuity.expiry import jump_clock, reach_lease_end
from orchestrator.suites.continuity.lease_ends import lease_clock_moves, way_to_lease_end
from orchestrator.suites.continuity.mishaps import end_of_memory, with_end
from orchestrator.suites.continuity.pausing import Pauses, pause
from orchestrator.suites.continuity.rig import Rig, span_of
from orchestrator.suites.continuity.standby import StandbyRestart
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = ["BatchResult", "Stage"]

_T = TypeVar("_T")

_VAIN_PAUSES = 5
"""Pauses that could not be as long as they were asked for, after which nothing is waited for."""

_STANDBY_SECONDS = 3.0


@dataclass(frozen=True)
class BatchResult:
    """A batch's evidence with its messages."""

    evidence: BatchEvidence
    trace: tuple[interposer_pb2.TraceRecord, ...]
    journal: tuple[common_pb2.JournalRecord, ...]

    def trace_lines(self) -> list[str]:
        """The trace as lines of protobuf JSON."""
        return messages_to_lines(self.trace)

    def journal_lines(self) -> list[str]:
        """The journal as lines of protobuf JSON."""
        return messages_to_lines(self.journal)


@dataclass
class Seen:
    """What has been seen so far; becomes evidence whatever happens.

    Attributes:
        receipts: Fault receipts, in order.
        snapshots: Host statuses, in order.
        digests: State hash of each workflow.
        error: What cut the batch short.
    """

    receipts: list[FaultReceipt] = field(default_factory=list)
    snapshots: list[StatusSnapshot] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    error: BatchError | None = None


class Stage:
    """One batch on its way.

    Attributes:
        way: How the end of its leases is reached here.
        step: What is under way.
        pauses: The time that the memory asks for.
        killing: A kill of the memory was begun, and it was not seen healthy again yet.

    Args:
        context: The stack.
        batch: What is played.
        window: Where its operations are held; None where none is.
        reviewer: The run's operator, who can sign; None where nobody signs.
    """

    def __init__(
        self,
        context: StackContext,
        batch: Batch,
        window: Window | None = None,
        reviewer: Reviewer | None = None,
    ) -> None:
        self.context = context
        moves = lease_clock_moves(context.describe, skew=context.skew)
        self.way = way_to_lease_end(batch.cell, moves=moves)
        if self.way is ExpiryMode.CONFIGURED:
            batch = batch.with_short_lease(context.describe.limits.lease_seconds)
        self.batch = batch
        self.reviewer = reviewer
        self.rig = Rig(context, batch, window)
        self.trace_first = self.interposer.statistics().trace_head_sequence + 1
        self.journal_first = context.progress.journal_next
        self.started_ns = time.time_ns()
        self.seen = Seen()
        self.step = "configure"
        self.pauses = Pauses(context, self.move_clock)
        self.killing = False

    @property
    def cell(self) -> Cell:
        """The batch's cell."""
        return self.batch.cell

    @property
    def interposer(self) -> InterposerClient:
        """Control of the stack's interposer."""
        return self.context.interposer

    def do(self, step: str, action: Callable[[], _T]) -> _T:
        """Carry out a step under its name, so that what cuts it short is told with it."""
        self.step = step
        return action()

    def begin(self) -> None:
        """What precedes every fault: the stack was seen to work, and is told of the workflows."""
        if not self.context.progress.operations_done:
            self.do("canary_before", lambda: self.canary(0))
        self.do("configure", self.rig.configure)
        self.do("clock", self.mark_clock)

    def finish(self) -> None:
        """What follows every fault: the stack works still, and everything is read."""
        self.do("canary_after", lambda: self.canary(1))
        self.do("final", self._read_final)

    def canary(self, number: int) -> None:
        """One operation without a memory. Raises as `Rig.canary`."""
        self.rig.canary(number)
        self.context.progress.operations_done += 1

    def mark_clock(self) -> None:
        """Put a reading of the memory's clocks into the trace, which the oracle judges by."""
        mark_memory_clock(self.context.session, self.interposer)

    def keep(self, receipt: FaultReceipt) -> None:
        """Keep the proof of a fault."""
        self.seen.receipts.append(receipt)

    def move_clock(self, service: str, jump_ns: int) -> None:
        """Move a service's wall clock once and keep the proof.

        Raises:
            FaultNotPossible, ClockError: It cannot be set here.
            SilentClock: The memory does not answer Now.
        """
        # Read right before and right after: in between, no call can be told from another time's.
        if service == "memory":
            self.mark_clock()
        self.keep(jump_clock(self.context, service, jump_ns))
        if service == "memory":
            self.mark_clock()

    def reach_lease_end(self) -> None:
        """Let every lease of the batch end, and keep the proof. Raises as `expiry`."""
        self.keep(reach_lease_end(self.context, self.way))

    def await_standby(self) -> None:
        """Wait until the host that was killed last can take over again.

        Raises:
            MemqualError, ChaosError: It did not come back.
        """
        progress = self.context.progress
        if progress.standby is not None:
            progress.standby.await_healthy()
            progress.standby_seconds = progress.standby.seconds
            progress.standby = None

    def await_slow_standby(self) -> None:
        """Where hosts are slow to come back, wait before anything is held. As `await_standby`.

        A host's calls have a deadline of ten seconds: what is held while another host starts must
        not wait for longer. Where a start is quick, it goes on beside the next batch's first steps.
        """
        if self.context.progress.standby_seconds > _STANDBY_SECONDS:
            self.do("standby", self.await_standby)

    def take_over(self, killed: str) -> None:
        """The warm standby opens the batch's checkpoints; the killed host becomes the next one.

        Args:
            killed: Service that was killed.
        """
        self.context.session.swap_hosts()
        self.rig.wake(new_life=True)
        self.restart_standby(killed)

    def restart_standby(self, killed: str) -> None:
        """Start a killed host again, beside everything else."""
        self.context.progress.standby = StandbyRestart(
            self.context.stack.service(killed), self.interposer
        )

    def settle(self, phase: str) -> StatusSnapshot:
        """Wait until no workflow runs, and keep where they stand. Raises as `Rig.settle`."""
        snapshot = self.rig.settle(phase)
        self.seen.snapshots.append(snapshot)
        return snapshot

    def wakes_for_declared_bound(self) -> int:
        """Wake-ups in which a memory can reach the uncertain answers that it declares, bounded."""
        return self.pauses.wakes_max

    def wake_until_settled(
        self, phase: str, wakes: int | None = None, *, others_work: bool = False
    ) -> None:
        """Wake the host until nothing waits any more, a bounded number of times.

        Between two wake-ups passes what the memory asked for, where it can.

        Args:
            phase: Name of the snapshots.
            wakes: How often at most; None: as often as the memory's declared bound may take.
            others_work: Somebody else holds leases and gets on, so no clock is moved meanwhile.

        Raises:
            NotSettled, FaultNotPossible, ClockError, SilentClock: As `settle` and `let_pass`.
        """
        vain = stops = 0
        asked_seconds: float | None = None
        for _ in range(self.wakes_for_declared_bound() if wakes is None else wakes):
            if asked_seconds is not None:
                vain += not self._pause(asked_seconds, others_work=others_work)
            self.rig.wake(new_life=False)
            statuses = statuses_of(self.settle(phase))
            parked = [one for one in statuses if one.state == agent_pb2.WORKFLOW_STATE_PARKED]
            if not parked or vain >= _VAIN_PAUSES:
                return
            asked_seconds = max(one.wait_remaining_ms for one in parked) / 1_000
            stops += asked_seconds == 0
            if stops >= self.pauses.stops_max:
                return

    def _pause(self, asked_seconds: float, *, others_work: bool) -> bool:
        """Whether what the memory asked for passed."""
        if not others_work:
            return self.pauses.let_pass(asked_seconds)
        pause(asked_seconds)
        return False

    def look_at_memory(self, *, being_killed: bool) -> None:
        """A memory that ended by itself explains what else went wrong, and spoils the stack.

        Args:
            being_killed: A kill of the memory was begun, and not seen to its end.
        """
        if being_killed:
            return
        progress = self.context.progress
        try:
            end = end_of_memory(self.context.stack)
        except MemqualError as error:
            progress.spoiled = error.diagnosis
            return
        if end is not None:
            progress.spoiled = end.cause
            self.seen.error = with_end(self.seen.error, self.step, end)

    def tell_error(self) -> None:
        """Log what cut the batch short, if anything did."""
        if self.seen.error is not None:
            log = structlog.get_logger().bind(batch=self.batch.batch_id, cell=self.cell.cell_id)
            log.warning("batch_not_finished", **self.seen.error.model_dump())

    def result(self) -> BatchResult:
        """Everything that was seen, read from the services now."""
        trace = tuple(self.rig.trace_from(self.trace_first))
        journal = tuple(self.rig.journal_from(self.journal_first))
        journal_span = span_of((one.sequence for one in journal), self.journal_first)
        progress = self.context.progress
        before = progress.operations_done
        completed = _completed(self.seen.snapshots)
        progress.operations_done += completed
        progress.journal_next = journal_span.last + 1
        after = completed + (1 if self.step == "final" else 0)
        receipts = [
            receipt.model_copy(update={"operations_before": before, "operations_after": after})
            for receipt in self.seen.receipts
        ]
        evidence = BatchEvidence(
            batch=self.batch,
            stack_id=self.context.stack.spec.stack_id,
            expiry=self.way,
            skew=self.context.skew,
            describe_json=message_to_json(self.context.describe),
            trace=span_of((one.sequence for one in trace), self.trace_first),
            journal=journal_span,
            receipts_json=tuple(receipt.model_dump_json() for receipt in receipts),
            snapshots=tuple(self.seen.snapshots),
            state_digests=self.seen.digests,
            unavailable=dict(self.context.unavailable),
            error=self.seen.error,
            started_unix_ns=self.started_ns,
            ended_unix_ns=time.time_ns(),
        )
        return BatchResult(evidence, trace, journal)

    @property
    def kill_receipts(self) -> tuple[KillReceipt, ...]:
        """The kills at a window that were seen to their end, in order."""
        return tuple(one for one in self.seen.receipts if isinstance(one, KillReceipt))

    def _read_final(self) -> None:
        self.seen.digests = self.rig.state_digests()
        if self.rig.started:
            self.settle("final")


def statuses_of(snapshot: StatusSnapshot) -> list[agent_pb2.WorkflowStatus]:
    """Where each workflow stands in a snapshot."""
    return [
        message_from_json(text, agent_pb2.WorkflowStatus, "status") for text in snapshot.status_json
    ]


def _completed(snapshots: list[StatusSnapshot]) -> int:
    if not snapshots:
        return 0
    return sum(
        status.state == agent_pb2.WORKFLOW_STATE_COMPLETED for status in statuses_of(snapshots[-1])
    )
