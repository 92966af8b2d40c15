"""Verdicts and figures from raw lines: pure, and shared by a run and `memqual rescore` (DESIGN §8).

Scoring plays each trial's script once more, against the kept answers instead of a memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from memqual.v1 import narrative_pb2, vendor_pb2
from orchestrator.model import NotRunSubtype, TrialRecord
from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import ContractBreach, NotPossible
from orchestrator.suites.integrity.concluding import (
    expect_health,
    record_of,
    recorded_of,
    unproven,
)
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.evidence import (
    JobLines,
    evidence_error,
    message_from_fields,
    parse_job,
)
from orchestrator.suites.integrity.playing import play
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.staging import Staging

__all__ = ["score_narrative"]

_INGEST = "Ingest"


def score_narrative(lines: Iterable[str], corpus: Corpus) -> tuple[TrialRecord, ...]:
    """Score every trial of a job, in the job's order.

    Args:
        lines: All lines of `narrative/<job id>.jsonl`, without newlines.
        corpus: What was told and asked.

    Raises:
        EvidenceError: The lines are not what a run writes with this corpus.
    """
    job = parse_job(lines)
    if not job.job.trials:
        raise evidence_error(f"job {job.job.job_id} has no trial")
    where = f"Describe of job {job.job.job_id}"
    describe = message_from_fields(job.job.describe, vendor_pb2.DescribeResponse, where)
    assert isinstance(describe, vendor_pb2.DescribeResponse)  # what was asked for above
    staging = Staging(job.job, corpus, Declared.of(describe), describe.deterministic)
    # A trial may be asked for what another one was told: all facts are known before the first.
    staging.facts.update(_facts(job))
    return tuple(_score(job, member, staging) for member in job.job.trials)


def _score(job: JobLines, member: Member, staging: Staging) -> TrialRecord:
    scene = staging.scene(member)
    findings = scene.findings
    calls = job.calls[member.trial_id]
    not_run = staging.not_run(member)
    if not_run is not None:
        if calls:
            raise evidence_error(f"trial {member.trial_id!r} does not apply, and has calls")
        return record_of(job, member, findings.checks(), not_run=not_run)
    recorded = recorded_of(job, member)
    try:
        play(staging.script(scene), recorded.answer)
        findings.held(scene.case.contract, f"{len(calls)} calls")
    except NotPossible as impossible:
        not_run = NotRun(NotRunSubtype.PLATFORM, impossible.cause)
    except ContractBreach as breach:
        findings.violated(scene.case.contract, str(breach))
        if scene.case.graded:
            scene.gauge.unasked()
    recorded.expect_end()
    expect_health(job, member)
    return record_of(
        job,
        member,
        findings.checks(),
        not_run=not_run,
        lacking=unproven(recorded.stack),
        graded=scene.case.graded,
        figures=scene.gauge.figures(),
    )


def _facts(job: JobLines) -> dict[str, str]:
    """The text of every fact that the memory told of, by id."""
    found: dict[str, str] = {}
    for calls in job.calls.values():
        for call in calls:
            if call.method != _INGEST:
                continue
            for fields in call.responses:
                response = message_from_fields(
                    fields, narrative_pb2.IngestResponse, f"call {call.position}"
                )
                assert isinstance(response, narrative_pb2.IngestResponse)  # as asked for
                found.update((fact.fact_id, fact.text) for fact in response.trace.facts)
    return found
