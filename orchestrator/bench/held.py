"""Counts, from trace and receipt alone, the operations that a kill hit where it was to (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chaos.plans import Step
from chaos.receipts import KillReceipt, parse_receipt
from memqual.v1 import interposer_pb2 as pb
from orchestrator.evidence.records import BatchEvidence

__all__ = ["Hits", "count_cut", "count_held", "workflow_of_record"]

_WORKFLOW_KEY = "memqual-workflow"
# A held message that one of these follows stands at its window no more.
_MOVED_ON = frozenset(
    {
        pb.TRACE_KIND_RELEASED,
        pb.TRACE_KIND_DROPPED,
        pb.TRACE_KIND_RESPONSE_DELIVERED,
        pb.TRACE_KIND_FAILED,
    }
)


@dataclass(frozen=True)
class Hits:
    """Operations and how many of them were hit.

    Attributes:
        operations: How many there were.
        held_once: Held exactly once at the window, by the trace.
        hit: And standing there when the proven kill came.
    """

    operations: int
    held_once: int
    hit: int

    def __add__(self, other: Hits) -> Hits:
        return Hits(
            self.operations + other.operations,
            self.held_once + other.held_once,
            self.hit + other.hit,
        )

    @property
    def rate(self) -> float:
        """Share of the operations that were hit; 0 without one."""
        return self.hit / self.operations if self.operations else 0.0


def workflow_of_record(record: pb.TraceRecord) -> str:
    """The workflow whose call a record belongs to; empty without one."""
    return record.metadata.get(_WORKFLOW_KEY, "")


def count_held(evidence: BatchEvidence, trace: Sequence[pb.TraceRecord]) -> Hits:
    """Operations of a batch that were held once and killed there.

    A kill counts only with every proof of its receipt; an operation only when the receipt names it
    once and nothing moved its message between the hold and the kill's mark.
    """
    workflows = [member.workflow_id for member in evidence.batch.members]
    rule_id = f"hold-{evidence.batch.batch_id}"
    holds: dict[str, list[pb.TraceRecord]] = {name: [] for name in workflows}
    moved: dict[int, list[int]] = {}
    for record in trace:
        if record.kind == pb.TRACE_KIND_HELD and record.rule_id == rule_id:
            holds.setdefault(workflow_of_record(record), []).append(record)
        elif record.kind in _MOVED_ON:
            moved.setdefault(record.call_id, []).append(record.sequence)
    kill = _proven_kill(evidence)
    killed_at = 0 if kill is None else _killed_sequence(kill)
    once = [name for name in workflows if len(holds[name]) == 1]
    hit = [
        name
        for name in once
        if kill is not None
        and kill.held_workflows.count(name) == 1
        and _stood(holds[name][0], killed_at, moved)
    ]
    return Hits(len(workflows), len(once), len(hit))


def count_cut(
    workflows: Iterable[str], trace: Iterable[pb.TraceRecord], methods: Iterable[str]
) -> int:
    """Workflows that lost a call of these methods with their host: a kill hit them in it.

    The whole call counts, from its request to its answer, which is more than any one window of it.
    """
    wanted = frozenset(methods)
    lost: set[str] = set()
    for record in trace:
        if record.kind == pb.TRACE_KIND_CLIENT_GONE and record.method in wanted:
            lost.add(workflow_of_record(record))
    return len(lost & set(workflows))


def _stood(held: pb.TraceRecord, killed_at: int, moved: dict[int, list[int]]) -> bool:
    left = [at for at in moved.get(held.call_id, []) if held.sequence < at < killed_at]
    return held.sequence < killed_at and not left


def _proven_kill(evidence: BatchEvidence) -> KillReceipt | None:
    for text in evidence.receipts_json:
        receipt = parse_receipt(text)
        if isinstance(receipt, KillReceipt) and not receipt.missing():
            return receipt
    return None


def _killed_sequence(kill: KillReceipt) -> int:
    return next((step.trace_sequence for step in kill.steps if step.step == Step.KILLED.value), 0)
