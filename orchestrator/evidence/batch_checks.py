"""Whether the raw evidence of every batch and job is there and unbroken (DESIGN §8)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.evidence.bundle import ALTERED, Bundle
from orchestrator.evidence.chains import Segment, link_segments
from orchestrator.evidence.examination import Examination
from orchestrator.evidence.records import BatchEvidence, TraceSpan
from orchestrator.model import Suite, TrialRecord
from orchestrator.plan import Member
from orchestrator.report.text import counted
from orchestrator.suites.integrity.evidence import parse_job, raw_file_name
from services.common.journal import (
    EMPTY_HEAD,
    ChainError,
    JournalHead,
    JournalRecord,
    verify_chain,
)

__all__ = ["Owner", "check_batches", "check_calls"]


@dataclass(frozen=True)
class Owner:
    """What holds a trial's raw evidence.

    Attributes:
        file: File of the bundle.
        evidence_id: Batch or job.
        subject: `vendor` or `control:<flaw>`.
        cell_id: Cell that the evidence was made for.
        sub_seed: Sub-seed that it was made with.
        workflow_id: Workflow, or namespace.
    """

    file: str
    evidence_id: str
    subject: str
    cell_id: str
    sub_seed: int
    workflow_id: str

    def owns(self, record: TrialRecord) -> bool:
        """Whether a record says the same of itself."""
        return (
            record.batch_id,
            record.subject,
            record.cell.cell_id,
            record.sub_seed,
            record.workflow_id,
        ) == (self.evidence_id, self.subject, self.cell_id, self.sub_seed, self.workflow_id)


@dataclass(frozen=True)
class _Holder:
    file: str
    evidence_id: str
    subject: str


def check_batches(bundle: Bundle, owners: dict[str, Owner]) -> Examination:
    """Check traces and journals of every batch, and each stack's journal over its batches.

    Args:
        bundle: The bundle.
        owners: Is given an entry for each trial of each batch.
    """
    step = Examination("journals")
    segments: list[Segment] = []
    ids: list[str] = []
    with step.reading("batches"):
        ids = bundle.batch_ids()
    for batch_id in ids:
        name = f"batches/{batch_id}.json"
        with step.reading(name):
            evidence = bundle.batch(batch_id)
            batch = evidence.batch
            _own(step, owners, _Holder(name, batch_id, batch.subject), batch.members)
            _check_trace(bundle, step, evidence)
            segments.append(_segment(bundle, step, evidence))
    for folder in ("traces", "journals"):
        with step.reading(folder):
            for batch_id in set(bundle.ids(folder, ".jsonl")) - set(ids):
                step.problem(f"{folder}/{batch_id}.jsonl", "is of a batch that has no record")
    for broken in link_segments(segments):
        step.problem(f"journals/{broken.batch_id}.jsonl", broken.cause)
    records = sum(segment.last - segment.first + 1 for segment in segments)
    stacks = len({segment.stack_id for segment in segments})
    step.looked_at = (
        f"{records} records of {len(segments)} batches on {counted(stacks, 'stack')}, "
        "chains unbroken"
    )
    return step


def check_calls(bundle: Bundle, owners: dict[str, Owner], suite: Suite) -> Examination:
    """Check that the lines of every job of a suite of scripts are in their place.

    Args:
        bundle: The bundle.
        owners: Is given an entry for each trial of each job.
        suite: Whose jobs.
    """
    step = Examination(suite.value)
    calls = 0
    ids: list[str] = []
    with step.reading(suite.value):
        ids = bundle.ids(suite.value, ".jsonl")
    for job_id in ids:
        name = raw_file_name(job_id, suite)
        with step.reading(name):
            job = parse_job(bundle.lines(name))
            calls += sum(len(lines) for lines in job.calls.values())
            if job.job.job_id != job_id:
                step.problem(name, f"is of job {job.job.job_id}")
            _own(step, owners, _Holder(name, job_id, job.job.subject), job.job.trials)
    step.looked_at = f"{calls} calls of {len(ids)} jobs, all in their place"
    return step


def _own(
    step: Examination,
    owners: dict[str, Owner],
    holder: _Holder,
    members: Iterable[Member],
) -> None:
    for member in members:
        if member.trial_id in owners:
            other = owners[member.trial_id].file
            step.problem(holder.file, f"holds trial {member.trial_id}, which {other} holds, too")
        owners[member.trial_id] = Owner(
            holder.file,
            holder.evidence_id,
            holder.subject,
            member.cell.cell_id,
            member.sub_seed,
            member.workflow_id,
        )


def _check_trace(bundle: Bundle, step: Examination, evidence: BatchEvidence) -> None:
    name = f"traces/{evidence.batch.batch_id}.jsonl"
    with step.reading(name):
        sequences = (int(json.loads(line)["sequence"]) for line in bundle.lines(name))
        _check_span(step, name, evidence.trace, sequences)


def _check_span(step: Examination, name: str, span: TraceSpan, sequences: Iterable[int]) -> None:
    """The sequences of a file are those of its span, each once and in order."""
    wanted = span.first
    if span.first < 1 or span.last < span.first - 1:
        step.problem(name, f"its batch declares a span {span.first}..{span.last} that is none")
        return
    for sequence in sequences:
        if sequence != wanted:
            step.problem(name, f"record {sequence} stands where {wanted} belongs")
            return
        wanted += 1
    if wanted - 1 != span.last:
        step.problem(
            name, f"ends at record {wanted - 1}, and its batch declares {span.first}..{span.last}"
        )


def _segment(bundle: Bundle, step: Examination, evidence: BatchEvidence) -> Segment:
    """Check the journal of one batch within itself and return its ends."""
    batch_id, span = evidence.batch.batch_id, evidence.journal
    name = f"journals/{batch_id}.jsonl"
    records: list[JournalRecord] = []
    with step.reading(name):
        records = [JournalRecord.from_proto(record) for record in bundle.journal(batch_id)]
        _check_span(step, name, span, (record.sequence for record in records))
        if records:
            first = records[0]
            after = (
                EMPTY_HEAD
                if first.sequence == 1
                else JournalHead(first.sequence - 1, first.previous_digest)
            )
            try:
                verify_chain(records, after=after)
            except ChainError as error:
                step.problem(name, f"at sequence {error.position}, {error.cause}", ALTERED)
    return Segment(
        batch_id=batch_id,
        stack_id=evidence.stack_id,
        first=span.first,
        last=span.last,
        previous_digest=records[0].previous_digest if records else "",
        digest=records[-1].digest if records else "",
        trace_first=evidence.trace.first,
        trace_last=evidence.trace.last,
    )
