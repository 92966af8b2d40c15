"""Verdicts and figures from raw lines: pure, and shared by a run and `memqual rescore` (DESIGN §8).

Scoring plays each trial's script once more, against the kept answers instead of a memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from orchestrator.suites.narrative.scene import Scene
from orchestrator.suites.narrative.staging import Staging
from orchestrator.suites.narrative.told import FactsTold

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
    _tell_facts(job, staging.facts)
    played = [_played(job, member, staging) for member in job.job.trials]
    for one in played:
        if one.ended:
            _judge_answered(one.scene)
    return tuple(_record(job, one) for one in played)


@dataclass(frozen=True)
class _Played:
    """A trial whose script was played.

    Attributes:
        member: The trial.
        scene: With what its script concluded.
        not_run: Why it does not apply to the memory.
        ended: The script came to its end.
        lacking: What is lacking to prove what was to be done to the memory.
    """

    member: Member
    scene: Scene
    not_run: NotRun | None
    ended: bool = False
    lacking: str = ""


def _played(job: JobLines, member: Member, staging: Staging) -> _Played:
    scene = staging.scene(member)
    findings = scene.findings
    calls = job.calls[member.trial_id]
    not_run = staging.not_run(member)
    if not_run is not None:
        if calls:
            raise evidence_error(f"trial {member.trial_id!r} does not apply, and has calls")
        return _Played(member, scene, not_run)
    recorded, ended = recorded_of(job, member), False
    try:
        play(staging.script(scene), recorded.answer, staging.wants_max(scene))
        findings.held(scene.case.contract, f"{len(calls)} calls")
        ended = True
    except NotPossible as impossible:
        not_run = NotRun(NotRunSubtype.PLATFORM, impossible.cause)
    except ContractBreach as breach:
        findings.violated(scene.case.contract, str(breach))
        if scene.case.graded:
            scene.gauge.unasked(traced=scene.traced)
    recorded.expect_end()
    expect_health(job, member)
    return _Played(member, scene, not_run, ended, unproven(recorded.stack))


def _judge_answered(scene: Scene) -> None:
    """Whether anything was answered undisturbed, when all trials of the job were played."""
    check, tally = scene.case.answered, scene.tally
    if check is None:
        return
    told = f"{tally.asked} questions of all trials"
    if not tally.asked:
        scene.findings.open(check, "no question expects an answer", required=False)
    elif not tally.answered:
        scene.findings.violated(check, f"{told}: each was declined")
    elif not tally.found:
        why = f"{told}: no answer holds what was told, so that nothing shows that it was kept"
        scene.findings.open(check, why, required=True)
    else:
        scene.findings.held(check, f"{told}: {tally.found} answers hold what was told")


def _record(job: JobLines, played: _Played) -> TrialRecord:
    scene = played.scene
    return record_of(
        job,
        played.member,
        scene.findings.checks(),
        not_run=played.not_run,
        lacking=played.lacking,
        graded=scene.case.graded,
        figures=scene.gauge.figures(),
    )


def _tell_facts(job: JobLines, told: FactsTold) -> None:
    """Take up every fact that the memory told of."""
    for calls in job.calls.values():
        for call in calls:
            if call.method != _INGEST:
                continue
            request = message_from_fields(
                call.request, narrative_pb2.IngestRequest, f"request {call.position}"
            )
            assert isinstance(request, narrative_pb2.IngestRequest)  # as asked for
            turn = request.turn
            for fields in call.responses:
                response = message_from_fields(
                    fields, narrative_pb2.IngestResponse, f"call {call.position}"
                )
                assert isinstance(response, narrative_pb2.IngestResponse)  # as asked for
                told.add(turn.namespace, response.trace.facts, turn.speaker)
