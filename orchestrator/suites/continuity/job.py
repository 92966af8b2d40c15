"""A lane's job of the continuity axis: one batch, carried out, kept and scored (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.campaign.jobs import StackContext
from orchestrator.evidence.records import BatchError, BatchEvidence, TraceSpan, message_to_json
from orchestrator.model import ExpiryMode, TrialRecord
from orchestrator.plan import Batch
from orchestrator.scoring.batch import score_batch
from orchestrator.scoring.declared import not_run
from orchestrator.suites.continuity.driver import carry_out
from orchestrator.suites.continuity.lease_ends import lease_clock_moves, way_to_lease_end
from orchestrator.suites.continuity.plays import carry_out_case
from orchestrator.suites.integrity.reviewer import Reviewer

__all__ = ["ContinuityJob"]


class ContinuityJob:
    """One batch on one subject (a `campaign.jobs.Job`).

    Args:
        batch: What is carried out.
        reviewer: The run's operator, who signs where a case wants it.
    """

    def __init__(self, batch: Batch, reviewer: Reviewer | None = None) -> None:
        self._batch = batch
        self._reviewer = reviewer

    @property
    def name(self) -> str:
        """What a person is shown while it runs."""
        cell = self._batch.cell
        return f"{cell.cell_id} ({len(self._batch.members)} operations)"

    @property
    def trial_ids(self) -> Sequence[str]:
        """The trials that it ends with."""
        return tuple(member.trial_id for member in self._batch.members)

    def run(self, context: StackContext) -> Sequence[TrialRecord]:
        """Carry the batch out, keep its evidence, and score it from what was kept.

        Raises:
            MemqualError, ChaosError, grpc.RpcError: The evidence could not be read.
        """
        cell = self._batch.cell
        if not_run(cell, context.describe, skew=context.skew, unavailable=context.unavailable):
            evidence = self._unused(context, error=None)
            context.sink.batch(evidence, (), ())
            return score_batch(evidence, (), ())
        if cell.case:
            result = carry_out_case(context, self._batch, self._reviewer)
        else:
            result = carry_out(context, self._batch)
        context.sink.batch(result.evidence, result.trace_lines(), result.journal_lines())
        return score_batch(result.evidence, result.trace, result.journal)

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        """The trials as ERROR of the infrastructure's kind, when the work could not be done."""
        error = BatchError(kind="infrastructure", step="stack", cause=cause)
        return score_batch(self._unused(None, error), (), ())

    def _unused(self, context: StackContext | None, error: BatchError | None) -> BatchEvidence:
        nothing = TraceSpan(first=1, last=0)
        return BatchEvidence(
            batch=self._batch,
            stack_id="" if context is None else context.stack.spec.stack_id,
            expiry=self._way(context),
            skew=context is not None and context.skew,
            unavailable={} if context is None else dict(context.unavailable),
            describe_json="{}" if context is None else message_to_json(context.describe),
            trace=nothing,
            journal=nothing,
            error=error,
        )

    def _way(self, context: StackContext | None) -> ExpiryMode:
        cell = self._batch.cell
        if context is None:
            return cell.expiry
        moves = lease_clock_moves(context.describe, skew=context.skew)
        return way_to_lease_end(cell, moves=moves)
