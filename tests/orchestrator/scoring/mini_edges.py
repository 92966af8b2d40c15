"""The interposer of a played trial: the trace, the hold at the window, the kill and its receipt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chaos.receipts import (
    ClockReading,
    ClockReceipt,
    FaultReceipt,
    JournalPrecondition,
    KillReceipt,
    ReleaseRecord,
    StepRecord,
    TargetKill,
)
from chaos.windows import BarrierHold, window
from memqual.v1 import interposer_pb2
from orchestrator.campaign.schedule import SHORT_LEASE_SECONDS
from orchestrator.model import Cell, ExpiryMode, Fate
from orchestrator.plan import Batch, Member, trial_id, workflow_id
from orchestrator.suites.continuity.lease_ends import way_to_lease_end
from orchestrator.suites.continuity.workload import settings_of
from tests.orchestrator.oracle.tracing import MILLISECOND, SECOND, WALL_OFFSET, Opened, Trace
from tests.orchestrator.scoring.mini_destination import MiniDestination

INVOKE = "/memqual.v1.DestinationService/Invoke"
STEPS = ("exited", "disconnected", "released", "restarted", "healthy")


class HostKilled(Exception):
    """The host died; what it held in RAM is gone."""


class Lost(Exception):
    """The host's call got no answer."""


@dataclass
class MiniEdges:
    """Every message of one trial, and the fault that hits it."""

    cell: Cell
    number: int = 0
    trace: Trace = field(default_factory=Trace)
    skew: int = 0
    late_skew: int = 0
    moves: bool = True

    def __post_init__(self) -> None:
        seed = int(hashlib.sha256(self.cell.cell_id.encode()).hexdigest()[:8], 16)
        self.member = Member(
            trial_id=trial_id("vendor", self.cell, self.number),
            cell=self.cell,
            sub_seed=seed,
            workflow_id=workflow_id("vendor", self.cell, self.number, seed),
        )
        self.batch = Batch(batch_id="b0", subject="vendor", kill_number=0, members=(self.member,))
        self.way = way_to_lease_end(self.cell, moves=self.moves)
        if self.way is ExpiryMode.CONFIGURED:
            self.batch = self.batch.with_short_lease(SHORT_LEASE_SECONDS)
            self.member = self.batch.members[0]
        self.window = self.cell.window.value if self.cell.window else ""
        self.hold = window(self.window).hold
        self.destination = MiniDestination(settings_of(self.member))
        self.armed = True
        self.killed = False
        self.late: Callable[[], object] | None = None
        self.receipts: list[FaultReceipt] = []
        self.kill: KillReceipt | None = None

    @property
    def wall(self) -> int:
        """The memory's wall clock."""
        return self.trace.now + WALL_OFFSET + self.skew

    def jump(self, seconds: int, service: str = "memory") -> None:
        """Sets a clock, with its receipt, and reads it before and after."""
        self.trace.mark_clock(self.skew)
        before = ClockReading(wall_unix_ns=self.wall, monotonic_ns=self.trace.now)
        self.trace.now += MILLISECOND
        if service == "memory":
            self.skew += seconds * SECOND
        else:
            self.late_skew += seconds * SECOND
        moved = before.wall_unix_ns + MILLISECOND + seconds * SECOND
        self.receipts.append(
            ClockReceipt(
                service=service,
                asked_skew_ns=seconds * SECOND,
                before=before,
                after=ClockReading(wall_unix_ns=moved, monotonic_ns=self.trace.now),
                operations_before=1,
                operations_after=1,
            )
        )
        self.trace.mark_clock(self.skew)

    def call(
        self, method: str, request: Any, act: Callable[[], tuple[Any, int]], source: str = "agent"
    ) -> Any:
        """One call of the host through the interposer, held where the cell says so."""
        target = "destination" if method == INVOKE else "memory"
        where = {"source": source, "target": target}
        metadata = {"memqual-workflow": self.member.workflow_id}
        opened = self.trace.opened(method, request, metadata=metadata, **where)
        if self._holds(method, interposer_pb2.MESSAGE_PHASE_REQUEST, source):
            self._hold(opened)
            if self.cell.fate is Fate.DROP:
                self.trace.on_call("DROPPED", opened)
                raise HostKilled if self.cell.target.kills_agent else Lost
            if self.cell.target.kills_agent:
                self.late = lambda: self._forward(opened, act)
                raise HostKilled
        response, status = self._forward(opened, act)
        if self._holds(method, interposer_pb2.MESSAGE_PHASE_RESPONSE, source):
            self._hold(opened)
            if self.cell.target.kills_agent:
                raise HostKilled
            if self.cell.fate is Fate.DROP:
                raise Lost
        if status:
            raise Lost
        return response

    def _forward(self, opened: Opened, act: Callable[[], tuple[Any, int]]) -> tuple[Any, int]:
        self.trace.forwarded(opened)
        self.trace.now += MILLISECOND
        response, status = act()
        self.trace.now += MILLISECOND
        self.trace.answered(opened, response, status)
        self.trace.now += MILLISECOND
        return response, status

    def _holds(self, method: str, phase: int, source: str) -> bool:
        if not self.armed or source == "orchestrator" or isinstance(self.hold, BarrierHold):
            return False
        return (self.hold.method, self.hold.phase) == (method, phase)

    def _hold(self, opened: Opened) -> None:
        self.trace.on_call("HELD", opened, rule_id=f"hold-{self.batch.batch_id}")
        self._kill()

    def barrier(self, name: str) -> None:
        """A window of the host's own."""
        if not self.armed or self.window != name:
            return
        self._kill()
        if self.cell.target.kills_agent:
            raise HostKilled

    def _kill(self) -> None:
        """The injection, step by step, with its receipt."""
        self.armed, self.killed = False, True
        frozen = self.trace.now
        steps = []
        for step in STEPS:
            self.trace.now += 10 * MILLISECOND
            self.trace.put("MARK", mark_json=json.dumps({"kind": "injection", "step": step}))
            steps.append(
                StepRecord(
                    step=step,
                    evaluator_monotonic_ns=self.trace.now,
                    interposer_monotonic_ns=self.trace.now,
                    trace_sequence=len(self.trace.records),
                )
            )
        self.kill = KillReceipt(
            injection_id=self.batch.batch_id,
            window=self.window,
            expected_held=1,
            held_workflows=(self.member.workflow_id,),
            precondition=JournalPrecondition(name="effect", expected=1, seen=1, journal_sequence=1),
            frozen_monotonic_ns=frozen,
            targets=tuple(
                TargetKill(
                    service=service,
                    pid=1,
                    started_before_ns=1,
                    kill_monotonic_ns=2,
                    exit_code=137,
                    oom_killed=False,
                    exit_monotonic_ns=3,
                    started_after_ns=4,
                )
                for service in self.cell.target.services
            ),
            eof_clients_gone=0,
            strays=0,
            release=None,
            restarted=tuple(name for name in self.cell.target.services if name != "agent"),
            healthy_after_ms={},
            steps=tuple(steps),
            operations_before=1,
            operations_after=1,
        )
        self._released(self._fate(), "at once")
        self.trace.now += 10 * MILLISECOND

    def _fate(self) -> str | None:
        if isinstance(self.hold, BarrierHold) and self.cell.target.kills_agent:
            return "died with its host"
        if self.cell.fate is Fate.DROP:
            return "drop" if self.cell.target.kills_agent else "disconnect"
        return "deliver" if self.cell.fate is Fate.DELIVER else None

    def _released(self, fate: str | None, point: str) -> None:
        if fate is None or self.kill is None:
            return
        release = ReleaseRecord.model_validate(
            {
                "fate": fate,
                "point": point,
                "released": 0 if fate.startswith("died") else 1,
                "interposer_monotonic_ns": self.trace.now,
            }
        )
        self.kill = self.kill.model_copy(update={"release": release})
