"""A whole trial in one process: host, destination, interposer and driver, small enough to read.

It writes the evidence that the real rig writes, for every cell of the table and any memory, so that
scoring is tested on whole histories.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from chaos.receipts import LeaseWaitReceipt, TelemetryReceipt
from memqual.v1 import agent_pb2, common_pb2, interposer_pb2, vendor_pb2
from orchestrator.campaign.schedule import SHORT_LEASE_SECONDS
from orchestrator.evidence.records import (
    BatchError,
    BatchEvidence,
    StatusSnapshot,
    TraceSpan,
    message_to_json,
)
from orchestrator.model import Cell, ExpiryMode, Fate, FaultKind, TrialRecord
from orchestrator.scoring.batch import score_batch
from orchestrator.suites.continuity.cells import needs_probe
from orchestrator.suites.continuity.lease_ends import way_to_lease_end
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS
from tests.orchestrator.oracle.tracing import MILLISECOND, SECOND
from tests.orchestrator.scoring.mini_host import PARKED, MiniHost
from tests.orchestrator.scoring.mini_memory import MiniMemory

BEHIND = 3_600
WAKES = 6


@dataclass
class Evidence:
    """What a batch leaves behind, and its only trial's score."""

    evidence: BatchEvidence
    trace: list[interposer_pb2.TraceRecord]
    journal: list[common_pb2.JournalRecord]

    def scored(self) -> TrialRecord:
        """The trial's record."""
        return score_batch(self.evidence, self.trace, self.journal)[0]

    def changed(self, **fields: Any) -> Evidence:
        """The same, with other fields in the batch's record."""
        return replace(self, evidence=self.evidence.model_copy(update=fields))


@dataclass
class MiniRig(MiniHost):
    """One trial of one cell."""

    declares: tuple[vendor_pb2.Capability.ValueType, ...] = (
        vendor_pb2.CAPABILITY_CONTINUITY,
        vendor_pb2.CAPABILITY_BEGIN_REPLAY,
        vendor_pb2.CAPABILITY_FINAL_ABSENCE,
    )

    def run(self) -> Evidence:
        """The whole trial, in the driver's order."""
        self.trace.mark_clock(self.skew)
        self.run_host("A")
        if self.killed:
            self._recover()
        error = None
        if not self.killed:
            error = BatchError(kind="trial", step="kill", cause="nobody came to the window")
        elif self.cell.fault in (FaultKind.TELEMETRY_DROP, FaultKind.OBSERVER_DOWN):
            dropped = self.cell.fault is FaultKind.TELEMETRY_DROP
            self.receipts.append(
                TelemetryReceipt(
                    fault="drop" if dropped else "observer_down",
                    rule_id="r",
                    events_affected=3,
                    first_sequence=1,
                    last_sequence=2,
                    operations_before=1,
                    operations_after=1,
                )
            )
        return self._evidence(error)

    def _recover(self) -> None:
        life = "B" if self.cell.target.kills_agent else "A"
        self._late(Fate.LATE_BEFORE_RESUME, "before_resume", life)
        back = self.cell.fault is FaultKind.CLOCK_JUMP
        if back:
            self.jump(-BEHIND)
        if self.cell.target.kills_agent:
            self.run_host(life)
        if back:
            self.jump(BEHIND)
            self.run_host(life)
        self._late(Fate.LATE_AFTER_DECISION, "after_decision", life)
        if self.cell.expiry is not ExpiryMode.NONE:
            self._expire(life)
        self._late(Fate.LATE_AFTER_COMPLETION, "after_completion", life)
        self._late(Fate.LATE_AFTER_KEY_END, "after_key_end", life)
        if needs_probe(self.cell):
            self._begin("evaluator-probe", "orchestrator")

    def _expire(self, life: str) -> None:
        self.trace.mark_clock(self.skew)
        if self.way is ExpiryMode.SKEWED:
            self.jump(self.memory.lease_seconds + 1)
        else:
            self._wait(self.memory.lease_seconds + 1)
        for _ in range(WAKES):
            self.trace.now += 100 * MILLISECOND
            self.run_host(life)
            if self.state != PARKED:
                return

    def _wait(self, seconds: int) -> None:
        began, wall = self.trace.now, self.wall
        self.trace.now += seconds * SECOND
        self.receipts.append(
            LeaseWaitReceipt(
                service="memory",
                lease_clock="wall",
                lease_seconds=self.memory.lease_seconds,
                before_ns=wall,
                after_ns=self.wall,
                began_monotonic_ns=began,
                ended_monotonic_ns=self.trace.now,
                operations_before=1,
                operations_after=1,
            )
        )
        self.trace.mark_clock(self.skew)

    def _late(self, fate: Fate, point: str, life: str) -> None:
        if self.cell.fate is not fate:
            return
        if fate is Fate.LATE_AFTER_KEY_END:
            self.jump(LONG_RETENTION_SECONDS + 1, "destination")
        self._released("deliver", point)
        if self.late is not None:
            self.late()
        if fate is not Fate.LATE_BEFORE_RESUME:
            self.run_host(life)

    def _evidence(self, error: BatchError | None) -> Evidence:
        status = agent_pb2.WorkflowStatus(
            workflow_id=self.member.workflow_id, state=self.state, error=self.error
        )
        snapshot = StatusSnapshot(
            phase="final",
            trace_sequence=len(self.trace.records),
            status_json=(message_to_json(status),),
        )
        receipts = [*([self.kill] if self.kill else []), *self.receipts]
        describe = vendor_pb2.DescribeResponse(
            name="mini",
            limits=vendor_pb2.Limits(
                lease_seconds=self.memory.lease_seconds,
                max_uncertain_queries=self.memory.max_uncertain,
            ),
            lease_clock=vendor_pb2.LEASE_CLOCK_WALL,
            capabilities=[
                vendor_pb2.CapabilityDeclaration(
                    capability=capability, status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED
                )
                for capability in self.declares
            ],
        )
        evidence = BatchEvidence(
            batch=self.batch,
            stack_id="s",
            expiry=self.way,
            skew=self.moves,
            describe_json=message_to_json(describe),
            trace=TraceSpan(first=1, last=len(self.trace.records)),
            journal=TraceSpan(first=1, last=len(self.destination.journal)),
            receipts_json=tuple(one.model_dump_json() for one in receipts),
            snapshots=(snapshot,),
            error=error,
        )
        journal = [
            common_pb2.JournalRecord(sequence=number, payload_json=json.dumps(payload))
            for number, payload in enumerate(self.destination.journal, start=1)
        ]
        return Evidence(evidence, self.trace.records, journal)


def trial(cell: Cell, memory: MiniMemory | None = None, **fields: Any) -> Evidence:
    """A whole trial of a cell; the memory has the lease that the cell's stack asks for."""
    made = memory or MiniMemory()
    way = way_to_lease_end(cell, moves=fields.get("moves", True))
    made.lease_seconds = SHORT_LEASE_SECONDS if way is ExpiryMode.CONFIGURED else 120
    return MiniRig(cell, memory=made, **fields).run()
