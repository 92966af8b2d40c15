"""Verdicts from raw lines: a pure function that a run and `memqual rescore` share (DESIGN §8).

Scoring plays the category's script once more, against the kept answers instead of a memory. Each
call that the script wants has to be the call that was kept, byte for byte, so that lines which were
altered, dropped or reordered are noticed before anything is concluded from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memqual.v1 import vendor_pb2
from orchestrator.errors import EvidenceError
from orchestrator.model import Check, NotRunSubtype, TrialRecord
from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import (
    OK,
    ContractBreach,
    NotExpressible,
    NotPossible,
    NotServed,
)
from orchestrator.suites.integrity.categories import CATEGORIES, Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.concluding import (
    expect_health,
    record_of,
    recorded_of,
    unproven,
)
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.evidence import (
    CallLine,
    JobLines,
    evidence_error,
    message_from_fields,
    parse_job,
)
from orchestrator.suites.integrity.playing import play
from orchestrator.suites.integrity.unmarked import (
    CAUSE,
    Unmarked,
    knows_authority,
    without_marks,
)

__all__ = ["score_integrity", "score_job"]

_FIRST_METHOD = "Write"


def score_job(lines: Iterable[str]) -> tuple[TrialRecord, ...]:
    """Score every trial of a job, in the job's order.

    Args:
        lines: All lines of `integrity/<job id>.jsonl`, without newlines.

    Raises:
        EvidenceError: The lines are not what a run writes.
    """
    job = parse_job(lines)
    return tuple(_score(job, member) for member in job.job.trials)


def score_integrity(lines: Iterable[str], trial_id: str) -> TrialRecord:
    """Score one trial of a job.

    Args:
        lines: All lines of the job.
        trial_id: The trial.

    Raises:
        EvidenceError: As `score_job`, or the job has no such trial.
    """
    job = parse_job(lines)
    for member in job.job.trials:
        if member.trial_id == trial_id:
            return _score(job, member)
    raise evidence_error(f"job {job.job.job_id} has no trial {trial_id!r}")


def _score(job: JobLines, member: Member) -> TrialRecord:
    category = CATEGORIES.get(job.job.category)
    if category is None or member.cell.case != category.case:
        raise evidence_error(f"trial {member.trial_id!r} is of no category {job.job.category!r}")
    describe = message_from_fields(
        job.job.describe, vendor_pb2.DescribeResponse, f"Describe of job {job.job.job_id}"
    )
    assert isinstance(describe, vendor_pb2.DescribeResponse)  # what was asked for above
    declared = Declared.of(describe)
    calls = job.calls[member.trial_id]
    findings = Findings(category.checks)
    not_run = category.not_run(declared)
    if not_run is not None:
        if calls:
            raise evidence_error(f"trial {member.trial_id!r} does not apply, and has calls")
        return record_of(job, member, findings.checks(), not_run=not_run)
    stack = tuple(line for line in job.stack if member.trial_id in line.trial_ids)
    recorded = recorded_of(job, member)
    try:
        play(category.script(_scene(job, member, declared, findings)), recorded.answer)
        findings.held(category.contract, f"{len(calls)} calls")
    except NotServed as unserved:
        not_run = _not_served(category, declared, findings, unserved.method, calls)
    except NotExpressible as unknown:
        not_run = NotRun(NotRunSubtype.NOT_EXPRESSIBLE, unknown.cause)
    except NotPossible as impossible:
        not_run = NotRun(NotRunSubtype.PLATFORM, impossible.cause)
    except ContractBreach as breach:
        findings.violated(category.contract, str(breach))
    recorded.expect_end()
    expect_health(job, member)
    checks = findings.checks()
    if not knows_authority(declared):
        settled = _without_marks(job, member, declared, checks)
        if settled is not None:
            not_run = not_run or NotRun(NotRunSubtype.NOT_EXPRESSIBLE, CAUSE)
            checks = settled
    return record_of(job, member, checks, not_run=not_run, lacking=unproven(stack))


def _scene(job: JobLines, member: Member, declared: Declared, findings: Findings) -> Scene:
    return Scene(
        case=CATEGORIES[job.job.category].build(member.sub_seed),
        namespace=member.workflow_id,
        declared=declared,
        reviewed=bool(job.job.reviewer_keys),
        findings=findings,
    )


def _without_marks(
    job: JobLines, member: Member, declared: Declared, checks: Sequence[Check]
) -> tuple[Check, ...] | None:
    """The checks of a memory that knows nothing of authority; None where more than that is wrong.

    The same answers are played once more as if what was recalled were marked. A script that goes
    another way then asks for what was not kept, and proves nothing.
    """
    category = CATEGORIES[job.job.category]
    taken = Findings(category.checks)
    unmarked = Unmarked(recorded_of(job, member).answer)
    try:
        play(category.script(_scene(job, member, declared, taken)), unmarked.answer)
    except (NotExpressible, NotPossible, NotServed):
        pass  # what was concluded before it stands
    except (ContractBreach, EvidenceError):
        return None
    return None if unmarked.marked else without_marks(checks, taken.checks())


def _not_served(
    category: Category,
    declared: Declared,
    findings: Findings,
    method: str,
    calls: Iterable[CallLine],
) -> NotRun | None:
    """A method is UNIMPLEMENTED: it is not there, or something declared or served is missing.

    Methods that no capability stands for are simply absent; every memory that claims anything of
    the axis has Write.
    """
    served = any(call.status == OK and call.method == method for call in calls)
    claimed = declared.claims_integrity and method == _FIRST_METHOD
    if not served and not claimed:
        return NotRun(
            NotRunSubtype.CAPABILITY_ABSENT,
            f"MemoryService.{method} is not served, and no capability that needs it is declared",
        )
    findings.violated(
        category.contract,
        f"{method} is UNIMPLEMENTED, although it is declared or was served before",
    )
    return None
