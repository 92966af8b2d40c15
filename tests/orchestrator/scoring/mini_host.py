"""The agent host of a played trial: asks the memory, does what it says, asks again."""

from __future__ import annotations

from dataclasses import dataclass, field

from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, destination_pb2
from orchestrator.suites.continuity.workload import arguments_of
from services.common.canonical import sha256_hex
from tests.orchestrator.oracle.tracing import CONTINUITY
from tests.orchestrator.scoring.mini_edges import INVOKE, HostKilled, Lost, MiniEdges
from tests.orchestrator.scoring.mini_memory import MiniMemory

COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
CONFIRMATION = agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION
PARKED = agent_pb2.WORKFLOW_STATE_PARKED
FAILED = agent_pb2.WORKFLOW_STATE_FAILED
RUNNING = agent_pb2.WORKFLOW_STATE_RUNNING


@dataclass
class MiniHost(MiniEdges):
    """One workflow with one tool call, over as many lives as it takes."""

    memory: MiniMemory = field(default_factory=MiniMemory)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.message = 0
        self.begins = 0
        self.state = RUNNING
        self.error = ""
        self.checkpointed = False
        self.spec: continuity_pb2.OperationSpec | None = None

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
        keyed = self.destination.settings.capability == common_pb2.EFFECT_CAPABILITY_IDEMPOTENT
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
            capability=self.destination.settings.capability,
            idempotency_key=operation if keyed else "",
            retention_seconds=self.destination.settings.retention_seconds if keyed else 0,
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
            response = self.call(
                INVOKE,
                request,
                lambda: self.destination.invoke(request, self.trace.now + self.late_skew),
            )
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
        presence = self.destination.query(asked.attempt)
        receipt = None
        if presence == common_pb2.EFFECT_PRESENCE_PRESENT:
            response = next(iter(self.destination.effects.values()))["response"]
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
