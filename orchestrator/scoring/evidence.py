"""What a continuity trial is scored from: one batch's raw files, read once (DESIGN §8)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from chaos.receipts import FaultReceipt, KillReceipt, LeaseWaitReceipt, parse_receipt
from chaos.windows import BEGIN, INVOKE
from memqual.v1 import agent_pb2, common_pb2, continuity_pb2, interposer_pb2, vendor_pb2
from orchestrator.errors import EvidenceError
from orchestrator.evidence.records import BatchEvidence, message_from_json
from orchestrator.model import ExpiryMode
from orchestrator.oracle.clockmap import ClockMap, readings_from_trace
from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judge import judge_operation
from orchestrator.oracle.judgement import OperationJudgement
from orchestrator.oracle.marks import with_marks
from orchestrator.oracle.siblings import Siblings
from orchestrator.oracle.view import OperationView, Outage, build_views
from orchestrator.scoring.effects import EffectFacts, effects_by_workflow
from orchestrator.scoring.outages import outages_from_marks

__all__ = ["BatchFacts"]


def _outages_of(kill: KillReceipt) -> Iterable[Outage]:
    at = {step.step: step.interposer_monotonic_ns for step in kill.steps}
    began = kill.frozen_monotonic_ns
    dies = any(target.service == "memory" for target in kill.targets)
    if dies and began is not None and "exited" in at:
        yield Outage(
            began_ns=began,
            dead_ns=at["exited"],
            # The restart is asked for after the fate was given, or after EOF without one.
            restarted_ns=at.get("released", at.get("disconnected")),
            healthy_ns=at.get("healthy"),
        )


@dataclass(frozen=True)
class BatchFacts:
    """A batch's evidence with its messages, and what follows from them for every trial.

    Attributes:
        evidence: The batch's record.
        trace: The interposer's records of the batch.
        journal: The destination's records of the batch.
    """

    evidence: BatchEvidence
    trace: Sequence[interposer_pb2.TraceRecord]
    journal: Sequence[common_pb2.JournalRecord]

    @cached_property
    def describe(self) -> vendor_pb2.DescribeResponse:
        """The memory's declaration."""
        return message_from_json(
            self.evidence.describe_json, vendor_pb2.DescribeResponse, "describe_json"
        )

    @cached_property
    def receipts(self) -> tuple[FaultReceipt, ...]:
        """The fault receipts.

        Raises:
            EvidenceError: A receipt cannot be read.
        """
        try:
            return tuple(parse_receipt(text) for text in self.evidence.receipts_json)
        except ValueError as error:
            raise EvidenceError(
                f"A fault receipt of batch {self.evidence.batch.batch_id} cannot be read.",
                next_step="The bundle was altered or is of another version: run `memqual verify`.",
            ) from error

    @property
    def kill(self) -> KillReceipt | None:
        """The kill's receipt."""
        return next((one for one in self.receipts if isinstance(one, KillReceipt)), None)

    @property
    def fault_ns(self) -> int | None:
        """When the kill began, on the interposer's clock."""
        return None if self.kill is None else self.kill.frozen_monotonic_ns

    @cached_property
    def effects(self) -> dict[str, EffectFacts]:
        """Effects by workflow."""
        return effects_by_workflow(self.journal)

    @cached_property
    def operations(self) -> dict[str, tuple[str, ...]]:
        """Operation ids that each workflow asked Begin about, in order of first sight."""
        found: dict[str, list[str]] = {}
        for record in self.trace:
            if record.kind != interposer_pb2.TRACE_KIND_REQUEST_RECEIVED:
                continue
            if record.method == BEGIN:
                spec = continuity_pb2.BeginRequest.FromString(record.payload).spec
                operations = found.setdefault(spec.workflow_id, [])
                if spec.operation_id not in operations:
                    operations.append(spec.operation_id)
        return {workflow: tuple(operations) for workflow, operations in found.items()}

    @cached_property
    def dispatches(self) -> Counter[str]:
        """Invoke requests that hosts sent, by workflow: what the interposer saw."""
        return Counter(
            record.metadata["memqual-workflow"]
            for record in self.trace
            if record.kind == interposer_pb2.TRACE_KIND_REQUEST_RECEIVED and record.method == INVOKE
        )

    @cached_property
    def held(self) -> Counter[str]:
        """How often the batch's rule held a message, by workflow."""
        rule_id = f"hold-{self.evidence.batch.batch_id}"
        return Counter(
            record.metadata["memqual-workflow"]
            for record in self.trace
            if record.kind == interposer_pb2.TRACE_KIND_HELD and record.rule_id == rule_id
        )

    @cached_property
    def held_calls(self) -> frozenset[int]:
        """Interposer ids of the calls that the batch's rule held."""
        rule_id = f"hold-{self.evidence.batch.batch_id}"
        return frozenset(
            record.call_id
            for record in self.trace
            if record.kind == interposer_pb2.TRACE_KIND_HELD and record.rule_id == rule_id
        )

    @cached_property
    def final(self) -> dict[str, agent_pb2.WorkflowStatus]:
        """Where each workflow stood in the last snapshot."""
        if not self.evidence.snapshots:
            return {}
        statuses = (
            message_from_json(text, agent_pb2.WorkflowStatus, "status_json")
            for text in self.evidence.snapshots[-1].status_json
        )
        return {status.workflow_id: status for status in statuses}

    def judgements(self, workflow_id: str) -> tuple[OperationJudgement, ...]:
        """Every answer about the workflow's operations, judged.

        Raises:
            OracleError: The view cannot be judged.
        """
        views = self.views(workflow_id)
        return tuple(
            judge_operation(view, self.clock, self.declared, Siblings.of(view, views))
            for view in views
        )

    @cached_property
    def declared(self) -> DeclaredMemory:
        """The declaration, as far as the oracle depends on it."""
        return DeclaredMemory.from_describe(self.describe)

    def views(self, workflow_id: str) -> tuple[OperationView, ...]:
        """The view of each of the workflow's operations.

        Raises:
            OracleError: The trace does not hold what a view is made of.
        """
        return tuple(
            view
            for operation in self.operations.get(workflow_id, ())
            for view in self._views.get(operation, ())
        )

    @cached_property
    def clock(self) -> ClockMap:
        """The memory's lease clock.

        Raises:
            OracleError: It was never read.
        """
        return ClockMap.from_readings(readings_from_trace(self.trace, self.describe.lease_clock))

    @cached_property
    def _views(self) -> dict[str, list[OperationView]]:
        found: dict[str, list[OperationView]] = {}
        for view in with_marks(build_views(self.trace, self._outages()), self.clock):
            found.setdefault(view.operation_id, []).append(view)
        return found

    @cached_property
    def lease_may_end_early(self) -> bool:
        """Whether what was asked while leases lived may straddle their end.

        A short lease goes on running while the batch comes to the moment at which its end is
        waited for. Then nothing says which of two rows a question met, and histories of two
        batches cannot be compared.
        """
        if self.evidence.expiry is not ExpiryMode.CONFIGURED:
            return False
        began_ns = next((one.monotonic_ns for one in self.trace if one.method == BEGIN), math.inf)
        lease_ns = self.declared.lease_ns
        for wait in (one for one in self.receipts if isinstance(one, LeaseWaitReceipt)):
            if wait.began_monotonic_ns - began_ns >= lease_ns:
                return True
            began_ns = wait.ended_monotonic_ns
        return False

    def _outages(self) -> tuple[Outage, ...]:
        """Times in which the memory was dead: from the kills' marked steps, and from marks."""
        kills = (one for one in self.receipts if isinstance(one, KillReceipt))
        told = (outage for kill in kills for outage in _outages_of(kill))
        return (*told, *outages_from_marks(self.trace))
