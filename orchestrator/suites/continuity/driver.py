"""Carries one batch out and keeps what was seen (DESIGN §5).

Order: configure, hold, inject, let the host recover, reach the lease's end, let the host go on,
release what was kept for later, read everything. The driver chooses nothing for the host: it
wakes it at points that the cell declares.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc
import structlog

from chaos.client import Fate as MessageFate
from chaos.errors import ChaosError, WindowMissed
from chaos.faults import ActiveFault
from chaos.injection import Injection
from chaos.late_release import release_late
from chaos.plans import KillPlan
from chaos.receipts import FaultReceipt, JournalPrecondition, KillReceipt
from chaos.telemetry_faults import ObserverDown, TelemetryFault
from chaos.windows import BarrierHold
from chaos.windows import window as window_named
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
from orchestrator.model import ExpiryMode, Fate, FaultKind
from orchestrator.plan import Batch
from orchestrator.suites.continuity.cells import needs_probe
from orchestrator.suites.continuity.clocks import mark_memory_clock
from orchestrator.suites.continuity.expiry import NS, jump_clock, reach_lease_end
from orchestrator.suites.continuity.mishaps import end_of_memory, error_of, with_end
from orchestrator.suites.continuity.preconditions import read_precondition
from orchestrator.suites.continuity.probe import probe_completed
from orchestrator.suites.continuity.rig import Rig, span_of
from orchestrator.suites.continuity.standby import StandbyRestart
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS

__all__ = ["BatchResult", "carry_out"]

_WAKES_MAX = 6
"""Wake-ups after the lease's end: more than declared uncertain answers may need."""

_QUESTIONS_A_WAKE = 10
"""Decisions that the host asks for in one wake-up (services.agent)."""

_WAKES_BOUND = 16
_WAKE_PAUSE_SECONDS = 0.1
_WAKE_PAUSE_SECONDS_MAX = 2.0
_BEHIND_NS = 3_600 * NS


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
class _Seen:
    """What has been seen so far; becomes evidence whatever happens."""

    receipts: list[FaultReceipt] = field(default_factory=list)
    snapshots: list[StatusSnapshot] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    error: BatchError | None = None


class _Run:
    """One batch on its way; `step` names what is under way."""

    def __init__(self, context: StackContext, batch: Batch) -> None:
        self.context = context
        self.batch = batch
        self.cell = batch.cell
        if self.cell.window is None:
            raise ValueError(f"cell {self.cell.cell_id} has no window")
        self.window = window_named(self.cell.window.value)
        self.rig = Rig(context, batch, self.window)
        self.interposer = context.interposer
        self.trace_first = self.interposer.statistics().trace_head_sequence + 1
        self.journal_first = context.progress.journal_next
        self.started_ns = time.time_ns()
        self.seen = _Seen()
        self.step = "configure"
        self.killed = ""
        self.plan: KillPlan | None = None

    def carry_out(self) -> None:
        """Every step in order; what each of them saw is in `seen`."""
        rig = self.rig
        if not self.context.progress.operations_done:
            self._do("canary_before", lambda: self._canary(0))
        self._do("configure", rig.configure)
        self._do("clock", lambda: mark_memory_clock(self.context.session, self.interposer))
        self.step = "telemetry_fault"
        fault = self._begin_telemetry_fault()
        try:
            self._do("kill", self._hold_and_kill)
            self._do("recover", self._recover)
            self._late(Fate.LATE_AFTER_DECISION, "after_decision")
            if self.cell.expiry is not ExpiryMode.NONE:
                self._do("expire", self._expire)
            self._late(Fate.LATE_AFTER_COMPLETION, "after_completion")
            self._late(Fate.LATE_AFTER_KEY_END, "after_key_end")
            if needs_probe(self.cell):
                self._do("probe", lambda: probe_completed(rig, self.trace_first))
        finally:
            if fault is not None:
                self.seen.receipts.append(fault.lift())
        self._do("canary_after", lambda: self._canary(1))
        self._do("final", self._read_final)

    def _do(self, step: str, action: Callable[[], object]) -> object:
        self.step = step
        return action()

    def _canary(self, number: int) -> None:
        self.rig.canary(number)
        self.context.progress.operations_done += 1

    def _begin_telemetry_fault(self) -> ActiveFault | None:
        observer = self.context.stack.service("observer")
        match self.cell.fault:
            case FaultKind.TELEMETRY_DROP:
                rule_id = f"telemetry-{self.batch.batch_id}"
                return TelemetryFault(self.interposer, "drop", rule_id).inject(observer)
            case FaultKind.OBSERVER_DOWN:
                return ObserverDown(self.interposer).inject(observer)
            case _:
                return None

    def _hold_and_kill(self) -> None:
        hold = self.rig.arm()
        self.rig.start()
        self.rig.await_window(hold)
        services = tuple(
            self.context.session.active.service if name == "agent" else name
            for name in self.cell.target.services
        )
        if not services:
            return
        self.step = "standby"
        if self.context.progress.standby is not None:
            self.context.progress.standby.await_healthy()
            self.context.progress.standby = None
        self.step = "kill"
        restart = tuple(name for name in services if name not in ("agent", "standby"))
        self.plan = KillPlan(
            injection_id=self.batch.batch_id,
            window=self.window.name,
            targets=tuple(self.context.stack.service(name) for name in services),
            hold=hold,
            expected_held=len(self.batch.members),
            fate=self._fate_at_once(),
            restart=restart,
            refresh=restart,
        )
        self.context.progress.spoiled = "a kill was not carried out to its end"
        receipt = Injection(self.plan, self.interposer, self._precondition).run()
        self.context.progress.spoiled = ""
        self.seen.receipts.insert(0, receipt)
        if self.cell.target.kills_agent:
            self.killed = self.context.session.active.service

    def _fate_at_once(self) -> MessageFate | None:
        if isinstance(self.window.hold, BarrierHold):
            return MessageFate.DELIVER
        match self.cell.fate:
            case Fate.DROP:
                kills_agent = self.cell.target.kills_agent
                return MessageFate.DROP if kills_agent else MessageFate.DISCONNECT
            case Fate.DELIVER:
                return MessageFate.DELIVER
            case _:
                return None

    def _precondition(self) -> JournalPrecondition:
        journal = self.rig.journal_from(self.journal_first)
        return read_precondition(self.window, self.rig.workflow_ids, journal)

    def _recover(self) -> None:
        self._late(Fate.LATE_BEFORE_RESUME, "before_resume")
        if self.killed:
            self.context.session.swap_hosts()
        if self.cell.fault is FaultKind.CLOCK_JUMP:
            self._move_clock("memory", -_BEHIND_NS)
        if self.killed:
            self.rig.wake(new_life=True)
            self.context.progress.standby = StandbyRestart(
                self.context.stack.service(self.killed), self.interposer
            )
        self.seen.snapshots.append(self.rig.settle("live"))
        if self.cell.fault is FaultKind.CLOCK_JUMP:
            self._move_clock("memory", _BEHIND_NS)
            self._wake_until_settled("clock_back", wakes=1)

    def _move_clock(self, service: str, jump_ns: int) -> None:
        # Read right before and right after: in between, no call can be told from another time's.
        if service == "memory":
            mark_memory_clock(self.context.session, self.interposer)
        receipt = jump_clock(self.context, service, jump_ns)
        self.seen.receipts.append(receipt)
        if service == "memory":
            mark_memory_clock(self.context.session, self.interposer)

    def _expire(self) -> None:
        receipt = reach_lease_end(self.context, self.cell.expiry)
        if receipt is not None:
            self.seen.receipts.append(receipt)
        self._wake_until_settled("expired", self._wakes_for_declared_bound())

    def _wakes_for_declared_bound(self) -> int:
        """Wake-ups in which a memory can reach the uncertain answers that it declares, bounded."""
        declared = self.context.describe.limits.max_uncertain_queries
        wanted = -(-declared // _QUESTIONS_A_WAKE) + 1
        return min(max(_WAKES_MAX, wanted), _WAKES_BOUND)

    def _wake_until_settled(self, phase: str, wakes: int = _WAKES_MAX) -> None:
        """Wake the host until nothing waits any more, a bounded number of times."""
        pause_seconds = _WAKE_PAUSE_SECONDS
        for wake in range(wakes):
            if wake:
                time.sleep(pause_seconds)
            self.rig.wake(new_life=False)
            snapshot = self.rig.settle(phase)
            self.seen.snapshots.append(snapshot)
            statuses = [
                message_from_json(text, agent_pb2.WorkflowStatus, "status")
                for text in snapshot.status_json
            ]
            parked = [one for one in statuses if one.state == agent_pb2.WORKFLOW_STATE_PARKED]
            if not parked:
                return
            # A memory that asks for time gets it, within bounds.
            asked_seconds = max(one.wait_remaining_ms for one in parked) / 1_000
            pause_seconds = min(max(asked_seconds, _WAKE_PAUSE_SECONDS), _WAKE_PAUSE_SECONDS_MAX)

    def _late(self, fate: Fate, point: str) -> None:
        """Deliver now what was kept for this point, if this is the cell's point."""
        if self.cell.fate is not fate or self.plan is None:
            return
        self.step = f"release_{point}"
        if fate is Fate.LATE_AFTER_KEY_END:
            # The key ends at the destination, which counts from its first commit.
            self._move_clock("destination", (LONG_RETENTION_SECONDS + 1) * NS)
        kept = self.seen.receipts[0]
        assert isinstance(kept, KillReceipt)
        self.seen.receipts[0] = release_late(
            kept, self.plan, self.interposer, fate=MessageFate.DELIVER, point=point
        )
        if fate is not Fate.LATE_BEFORE_RESUME:
            self._wake_until_settled("late", wakes=1)

    def _read_final(self) -> None:
        self.seen.digests = self.rig.state_digests()
        self.seen.snapshots.append(self.rig.settle("final"))

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
            expiry=self.cell.expiry,
            skew=self.context.skew,
            describe_json=message_to_json(self.context.describe),
            trace=span_of((one.sequence for one in trace), self.trace_first),
            journal=journal_span,
            receipts_json=tuple(receipt.model_dump_json() for receipt in receipts),
            snapshots=tuple(self.seen.snapshots),
            state_digests=self.seen.digests,
            error=self.seen.error,
            started_unix_ns=self.started_ns,
            ended_unix_ns=time.time_ns(),
        )
        return BatchResult(evidence, trace, journal)


def carry_out(context: StackContext, batch: Batch) -> BatchResult:
    """Carry a batch out; whatever goes wrong is in the evidence, with the step that it met.

    Raises:
        MemqualError, ChaosError, grpc.RpcError: The evidence itself could not be read any more.
    """
    run = _Run(context, batch)
    try:
        run.carry_out()
    except (MemqualError, ChaosError, grpc.RpcError) as error:
        run.seen.error = error_of(run.step, error)
        if not isinstance(error, WindowMissed):
            context.progress.spoiled = run.seen.error.cause
        elif not context.progress.spoiled:
            run.rig.disarm()
    _look_at_memory(run)
    if run.seen.error is not None:
        log = structlog.get_logger().bind(batch=batch.batch_id, cell=batch.cell.cell_id)
        log.warning("batch_not_finished", **run.seen.error.model_dump())
    return run.result()


def _look_at_memory(run: _Run) -> None:
    """A memory that ended by itself explains what else went wrong, and spoils the stack."""
    killed = any(isinstance(receipt, KillReceipt) for receipt in run.seen.receipts)
    if run.plan is not None and "memory" in run.plan.restart and not killed:
        # The injection itself was cut, so that this end may be its doing.
        return
    progress = run.context.progress
    try:
        end = end_of_memory(run.context.stack)
    except MemqualError as error:
        progress.spoiled = error.diagnosis
        return
    if end is not None:
        progress.spoiled = end.cause
        run.seen.error = with_end(run.seen.error, run.step, end)


def _completed(snapshots: list[StatusSnapshot]) -> int:
    if not snapshots:
        return 0
    return sum(
        message_from_json(text, agent_pb2.WorkflowStatus, "status").state
        == agent_pb2.WORKFLOW_STATE_COMPLETED
        for text in snapshots[-1].status_json
    )
