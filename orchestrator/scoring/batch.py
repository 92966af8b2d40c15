"""All trials of a batch, scored from its raw evidence: what a run and `memqual rescore` share."""

from __future__ import annotations

from collections.abc import Sequence

from memqual.v1 import common_pb2, interposer_pb2
from orchestrator.evidence.records import BatchEvidence
from orchestrator.model import TrialRecord
from orchestrator.scoring.continuity import score_trial
from orchestrator.scoring.evidence import BatchFacts

__all__ = ["score_batch"]


def score_batch(
    evidence: BatchEvidence,
    trace: Sequence[interposer_pb2.TraceRecord],
    journal: Sequence[common_pb2.JournalRecord],
) -> tuple[TrialRecord, ...]:
    """Score every trial of a batch, in the batch's order.

    Raises:
        EvidenceError: The evidence cannot be read.
    """
    facts = BatchFacts(evidence, trace, journal)
    return tuple(score_trial(facts, member) for member in evidence.batch.members)
