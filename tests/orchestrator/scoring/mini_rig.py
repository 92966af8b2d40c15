"""A whole trial in one process: host, destination, interposer and driver, small enough to read.

It writes the evidence that the real rig writes, for every cell of the table and any memory, so that
scoring is tested on whole histories.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
    TelemetryReceipt,
)
from chaos.windows import BarrierHold, window
from memqual.v1 import (
    agent_pb2,
    common_pb2,
    continuity_pb2,
    destination_pb2,
    interposer_pb2,
    vendor_pb2,
)
from orchestrator.evidence.records import (
    BatchError,
    BatchEvidence,
    StatusSnapshot,
    TraceSpan,
    message_to_json,
)
from orchestrator.model import Cell, ExpiryMode, Fate, FaultKind, TrialRecord
from orchestrator.plan import Batch, Member, trial_id, workflow_id
from orchestrator.scoring.batch import score_batch
from orchestrator.suites.continuity.cells import needs_probe
from orchestrator.suites.continuity.workload import (
    LONG_RETENTION_SECONDS,
    arguments_of,
    settings_of,
)
from services.common.canonical import sha256_hex
from tests.orchestrator.oracle.tracing import (
    CONTINUITY,
    MILLISECOND,
    SECOND,
    WALL_OFFSET,
    Opened,
    Trace,
)
from tests.orchestrator.scoring.mini_memory import MiniMemory

INVOKE = "/memqual.v1.DestinationService/Invoke"
COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
CONFIRMATION = agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED
RUNNING = agent_pb2.WORKFLOW_STATE_RUNNING
BEHIND = 3_600
WAKES = 6


class HostKilled(Exception):
    """The host died; what it held in RAM is gone."""


class Lost(Exception):
    """The host's call got no answer."""


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
class MiniRig:
    """One trial of one cell."""

    cell: Cell
    memory: MiniMemory
    declares: tuple[vendor_pb2.Capability.ValueType, ...] = (
        vendor_pb2.CAPABILITY_CONTINUITY,
        vendor_pb2.CAPABILITY_BEGIN_REPLAY,
        vendor_pb2.CAPABILITY_FINAL_ABSENCE,
    )
    number: int = 0
    trace: Trace = field(default_factory=Trace)
    skew: int = 0
    late_skew: int = 0

    def __post_init__(self) -> None:
        seed = int(hashlib.sha256(self.cell.cell_id.encode()).hexdigest()[:8], 16)
        self.member = Member(
            trial_id=trial_id("vendor", self.cell, self.number),
            cell=self.cell,
            sub_seed=seed,
            workflow_id=workflow_id("vendor", self.cell, self.number, seed),
        )
        self.batch = Batch(batch_id="b0", subject="vendor", kill_number=0, members=(self.member,))
        self.settings = settings_of(self.member)
        self.hold = window(self.cell.window.value if self.cell.window else "").hold
        self.armed = True
        self.killed = False
        self.message = 0
        self.begins = 0
        self.state = RUNNING
        self.error = ""
        self.checkpointed = False
        self.late: Callable[[], object] | None = None
        self.journal: list[dict[str, Any]] = []
        self.effects: dict[str, dict[str, Any]] = {}
        self.fence = 0
        self.receipts: list[FaultReceipt] = []
        self.kill: KillReceipt | None = None
        self.spec: continuity_pb2.OperationSpec | None = None

    # -- clocks ------------------------------------------------------------------------------------

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

    # -- interposer --------------------------------------------------------------------------------

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
        here = self.cell.window is not None and self.cell.window.value == name
        if not self.armed or not here:
            return
        self._kill()
        if self.cell.target.kills_agent:
            raise HostKilled

    def _kill(self) -> None:
        """The injection, step by step, with its receipt."""
        self.armed, self.killed = False, True
        frozen = self.trace.now
        steps = []
        for step in ("exited", "disconnected", "released", "restarted", "healthy"):
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
        name = self.cell.window.value if self.cell.window else ""
        self.kill = KillReceipt(
            injection_id=self.batch.batch_id,
            window=name,
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
            restarted=("memory",) if "memory" in self.cell.target.services else (),
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

    # -- destination -------------------------------------------------------------------------------

    def invoke(self, request: destination_pb2.InvokeRequest) -> tuple[Any, int]:
        """Applies once a call, once a key while it is kept, and never behind the fence."""
        fields = {
            "workflow_id": request.workflow_id,
            "operation_id": request.operation_id,
            "attempt": request.attempt,
            "arguments_digest": sha256_hex(request.arguments_json.encode()),
        }
        self._write(event="received", **fields)
        if request.attempt <= self.fence:
            self._write(event="refused", refused_by="destination", reason="fenced", **fields)
            return None, 9
        key = request.idempotency_key
        kept = self.effects.get(key) if key else None
        now = self.trace.now + self.late_skew
        if kept is not None and now <= kept["until"]:
            self._write(event="replayed", **fields)
            return kept["response"], 0
        self._write(event="applied", **fields)
        result = destination_pb2.ToolResult(
            result_json='{"done":true}', effect_id=f"e{len(self.journal)}"
        )
        response = destination_pb2.InvokeResponse(result=result)
        until = now + self.settings.retention_seconds * SECOND
        self.effects[key or str(len(self.journal))] = {"response": response, "until": until}
        return response, 0

    def _write(self, **payload: Any) -> None:
        self.journal.append(payload)

    def presence(self) -> common_pb2.EffectPresence.ValueType:
        """QueryEffect: fences at the latest attempt where it can."""
        if self.effects:
            return common_pb2.EFFECT_PRESENCE_PRESENT
        if self.settings.fenced:
            return common_pb2.EFFECT_PRESENCE_ABSENT_FINAL
        return common_pb2.EFFECT_PRESENCE_ABSENT_UNCERTAIN

    # -- host --------------------------------------------------------------------------------------

    def run_host(self, life: str) -> None:
        """One wake-up of one life of the host."""
        if self.state in (COMPLETED, FAILED):
            return
        try:
            self._drive(life)
        except HostKilled:
            self.state = RUNNING

    def _drive(self, life: str) -> None:
        if self.checkpointed:
            self.state = COMPLETED
            return
        if self.message == 0:
            self.barrier("before_intent_checkpoint")
            self.message = 1
        for _ in range(12):
            done = self._ask(life)
            if done is not None:
                self.state = done
                if done == COMPLETED:
                    self._checkpoint()
                return
        self.state, self.error = FAILED, "asked too often"

    def _checkpoint(self) -> None:
        self.barrier("before_checkpoint")
        self.checkpointed = True
        self.barrier("after_checkpoint")

    def _ask(self, life: str) -> agent_pb2.WorkflowState.ValueType | None:
        """One Begin and what follows from it; None: ask again."""
        answer = self._begin(life)
        if answer is None:
            self.error = "the memory did not answer"
            return FAILED
        kind = answer.decision.WhichOneof("kind")
        if kind == "execute":
            return COMPLETED if self._dispatch(life, answer.decision.execute) else None
        if kind == "query":
            self._query(life, answer.decision.query)
            return None
        if kind is None:
            self.error = "malformed_decision"
        return {
            "wait": PARKED,
            "reuse": COMPLETED,
            "confirm": CONFIRMATION,
            "reject": agent_pb2.WORKFLOW_STATE_REJECTED,
        }.get(kind or "", FAILED)

    def _begin(self, life: str, source: str = "agent") -> continuity_pb2.BeginResponse | None:
        self.begins += 1
        request = continuity_pb2.BeginRequest(
            spec=self.specification(), incarnation_id=life, begin_id=f"b{self.begins}"
        )
        for _ in range(3):
            try:
                answer = self.call(
                    CONTINUITY + "Begin",
                    request,
                    lambda: self.memory.begin(request, self.wall),
                    source,
                )
            except Lost:
                continue
            assert isinstance(answer, continuity_pb2.BeginResponse)
            return answer
        return None

    def specification(self) -> continuity_pb2.OperationSpec:
        """The operation; another message makes another one."""
        call = arguments_of(self.member)
        keyed = self.settings.capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
        operation = f"{self.member.workflow_id}-{'late' if self.killed and not self.spec else 'op'}"
        self.spec = self.spec or continuity_pb2.OperationSpec(
            operation_id=operation,
            namespace=self.member.workflow_id,
            workflow_id=self.member.workflow_id,
            principal="operator",
            tool=call.tool,
            destination="destination",
            intent_digest="i" * 64,
            arguments_digest=sha256_hex(call.arguments_json.encode()),
            capability=self.settings.capability,
            idempotency_key=operation if keyed else "",
            retention_seconds=self.settings.retention_seconds if keyed else 0,
        )
        return self.spec

    def _dispatch(self, life: str, granted: continuity_pb2.Execute) -> bool:
        spec = self.specification()
        request = destination_pb2.InvokeRequest(
            workflow_id=self.member.workflow_id,
            operation_id=spec.operation_id,
            attempt=granted.attempt,
            tool=spec.tool,
            arguments_json=arguments_of(self.member).arguments_json,
            idempotency_key=spec.idempotency_key,
        )
        try:
            response = self.call(INVOKE, request, lambda: self.invoke(request))
        except Lost:
            return False
        receipt = self._receipt(granted.attempt, response.result)
        told = continuity_pb2.RecordReceiptRequest(
            operation_id=spec.operation_id,
            incarnation_id=life,
            attempt=granted.attempt,
            lease_token=granted.lease_token,
            receipt=receipt,
        )
        for _ in range(3):
            try:
                taken = self.call(
                    CONTINUITY + "RecordReceipt", told, lambda: self.memory.record_receipt(told)
                )
            except Lost:
                continue
            assert isinstance(taken, continuity_pb2.RecordReceiptResponse)
            return taken.disposition in (1, 2)
        return False

    def _query(self, life: str, asked: continuity_pb2.Query) -> None:
        presence = self.presence()
        if presence == common_pb2.EFFECT_PRESENCE_ABSENT_FINAL:
            self.fence = asked.attempt
        receipt = None
        if presence == common_pb2.EFFECT_PRESENCE_PRESENT:
            response = next(iter(self.effects.values()))["response"]
            receipt = self._receipt(asked.attempt, response.result)
        told = continuity_pb2.RecordQueryRequest(
            operation_id=self.specification().operation_id,
            incarnation_id=life,
            attempt=asked.attempt,
            query_ticket=asked.query_ticket,
            presence=presence,
            receipt=receipt,
        )
        self.call(CONTINUITY + "RecordQuery", told, lambda: self.memory.record_query(told))

    def _receipt(self, attempt: int, result: destination_pb2.ToolResult) -> continuity_pb2.Receipt:
        spec = self.specification()
        return continuity_pb2.Receipt(
            operation_id=spec.operation_id,
            attempt=attempt,
            arguments_digest=spec.arguments_digest,
            result_json=result.result_json,
            result_digest=sha256_hex(result.result_json.encode()),
            effect_id=result.effect_id,
            assurance=continuity_pb2.RECEIPT_ASSURANCE_HOST_REPORTED,
            outcome=continuity_pb2.RECEIPT_OUTCOME_SUCCEEDED,
        )

    # -- driver ------------------------------------------------------------------------------------

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
        if self.cell.expiry is ExpiryMode.SKEWED:
            self.jump(self.memory.lease_seconds + 1)
        else:
            self.trace.now += (self.memory.lease_seconds + 1) * SECOND
            self.trace.mark_clock(self.skew)
        for _ in range(WAKES):
            self.trace.now += 100 * MILLISECOND
            self.run_host(life)
            if self.state != PARKED:
                return

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
            expiry=self.cell.expiry,
            skew=True,
            describe_json=message_to_json(describe),
            trace=TraceSpan(first=1, last=len(self.trace.records)),
            journal=TraceSpan(first=1, last=len(self.journal)),
            receipts_json=tuple(one.model_dump_json() for one in receipts),
            snapshots=(snapshot,),
            error=error,
        )
        journal = [
            common_pb2.JournalRecord(sequence=number, payload_json=json.dumps(payload))
            for number, payload in enumerate(self.journal, start=1)
        ]
        return Evidence(evidence, self.trace.records, journal)


def trial(cell: Cell, memory: MiniMemory | None = None, **fields: Any) -> Evidence:
    """A whole trial of a cell; the memory has the lease that the cell's stack asks for."""
    made = memory or MiniMemory()
    made.lease_seconds = 3 if cell.expiry is ExpiryMode.CONFIGURED else 120
    return MiniRig(cell, made, **fields).run()
