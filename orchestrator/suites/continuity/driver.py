"""Carries one batch of the window table out and keeps what was seen (DESIGN §5).

Order: configure, hold, inject, let the host recover, reach the lease's end, let the host go on,
release what was kept for later, read everything. The driver chooses nothing for the host: it
wakes it at points that the cell declares.
"""

from __future__ import annotations

import grpc

from chaos.client import Fate as MessageFate
from chaos.errors import ChaosError, WindowMissed
from chaos.faults import ActiveFault
from chaos.injection import Injection
from chaos.late_release import release_late
from chaos.plans import KillPlan
from chaos.receipts import JournalPrecondition, KillReceipt
from chaos.telemetry_faults import ObserverDown, TelemetryFault
from chaos.windows import BarrierHold
from chaos.windows import window as window_named
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import MemqualError
from orchestrator.model import ExpiryMode, Fate, FaultKind
from orchestrator.plan import Batch
from orchestrator.suites.continuity.cells import needs_probe
from orchestrator.suites.continuity.ending import prove_end
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.killing import channels_of
from orchestrator.suites.continuity.mishaps import error_of
from orchestrator.suites.continuity.preconditions import read_precondition
from orchestrator.suites.continuity.probe import probe_completed
from orchestrator.suites.continuity.stage import BatchResult, Stage
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS

__all__ = ["carry_out"]

_BEHIND_NS = 3_600 * NS


class _Run(Stage):
    """One batch of the table on its way."""

    def __init__(self, context: StackContext, batch: Batch) -> None:
        if batch.cell.window is None:
            raise ValueError(f"cell {batch.cell.cell_id} has no window")
        self.window = window_named(batch.cell.window.value)
        super().__init__(context, batch, self.window)
        self.killed = ""
        self.plan: KillPlan | None = None

    def carry_out(self) -> None:
        """Every step in order; what each of them saw is in `seen`."""
        self.begin()
        self.await_slow_standby()
        self.step = "telemetry_fault"
        fault = self._begin_telemetry_fault()
        try:
            self.do("kill", self._hold_and_kill)
            self.do("recover", self._recover)
            self._late(Fate.LATE_AFTER_DECISION, "after_decision")
            if self.cell.expiry is not ExpiryMode.NONE:
                self.do("expire", self._expire)
            self._late(Fate.LATE_AFTER_COMPLETION, "after_completion")
            self._late(Fate.LATE_AFTER_KEY_END, "after_key_end")
            if needs_probe(self.cell):
                self.do("probe", lambda: probe_completed(self.rig, self.trace_first))
        finally:
            if fault is not None:
                self.keep(fault.lift())
        self.finish()

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
        self.await_standby()
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
            refresh=tuple(channel for name in restart for channel in channels_of(name)),
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
            self.move_clock("memory", -_BEHIND_NS)
        if self.killed:
            self.rig.wake(new_life=True)
            self.restart_standby(self.killed)
        self.settle("live")
        if not self.killed and not self.cell.arm.has_memory:
            # Nobody tells a comparator's host what became of its call: woken, it calls again.
            self.wake_until_settled("woken", wakes=1)
        if self.cell.fault is FaultKind.CLOCK_JUMP:
            self.move_clock("memory", _BEHIND_NS)
            self.wake_until_settled("clock_back", wakes=1)

    def _expire(self) -> None:
        self.reach_lease_end()
        self.wake_until_settled("expired", self.wakes_for_declared_bound())

    def _late(self, fate: Fate, point: str) -> None:
        """Deliver now what was kept for this point, if this is the cell's point."""
        if self.cell.fate is not fate or self.plan is None:
            return
        self.step = f"release_{point}"
        if fate is Fate.LATE_AFTER_KEY_END:
            # The key ends at the destination, which counts from its first commit.
            self.move_clock("destination", (LONG_RETENTION_SECONDS + 1) * NS)
        kept = self.seen.receipts[0]
        assert isinstance(kept, KillReceipt)
        self.seen.receipts[0] = release_late(
            kept, self.plan, self.interposer, fate=MessageFate.DELIVER, point=point
        )
        if fate is not Fate.LATE_BEFORE_RESUME:
            self.wake_until_settled("late", wakes=1)


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
    # An injection that was cut may have killed the memory: that end may be its doing.
    cut = run.plan is not None and "memory" in run.plan.restart and not run.kill_receipts
    run.look_at_memory(being_killed=cut)
    prove_end(run)
    run.tell_error()
    return run.result()
