"""Verdicts from raw lines: a pure function that a run and `memqual rescore` share (DESIGN §8).

Scoring plays the category's script once more, against the kept answers instead of a memory. Each
call that the script wants has to be the call that was kept, byte for byte, so that lines which were
altered, dropped or reordered are noticed before anything is concluded from them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence

from memqual.v1 import vendor_pb2
from orchestrator.errors import EvidenceError
from orchestrator.model import Check, CheckOutcome, NotRunSubtype, TrialRecord, Verdict
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
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.evidence import (
    CallLine,
    JobLines,
    KeyEntry,
    StackKind,
    StackLine,
    evidence_error,
    message_from_fields,
    parse_job,
)
from orchestrator.suites.integrity.playing import play
from orchestrator.suites.integrity.recorded import Recorded
from orchestrator.suites.integrity.unmarked import (
    CAUSE,
    Unmarked,
    knows_authority,
    without_marks,
)
from services.common.challenges import PublicKey

__all__ = ["HARMLESS_STATUSES", "score_integrity", "score_job"]

HARMLESS_STATUSES = frozenset(
    {
        OK,
        "FAILED_PRECONDITION",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "UNIMPLEMENTED",
    }
)
"""Statuses that a memory gives on purpose; after any other its health is looked at."""

_ERROR_KIND = "trial"
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
        return _record(job, member, findings.checks(), not_run=not_run)
    stack = tuple(line for line in job.stack if member.trial_id in line.trial_ids)
    recorded = _recorded(job, member)
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
    failed = (call for call in calls if call.status not in HARMLESS_STATUSES and not call.struck)
    if job.health is None and any(failed):
        raise evidence_error(f"trial {member.trial_id!r} has a failed call and no proof of health")
    checks = findings.checks()
    if not knows_authority(declared):
        settled = _without_marks(job, member, declared, checks)
        if settled is not None:
            not_run = not_run or NotRun(NotRunSubtype.NOT_EXPRESSIBLE, CAUSE)
            checks = settled
    return _record(job, member, checks, not_run=not_run, unproven=_unproven(stack))


def _recorded(job: JobLines, member: Member) -> Recorded:
    stack = tuple(line for line in job.stack if member.trial_id in line.trial_ids)
    keys = {key.signer: _public_key(key) for key in job.job.reviewer_keys}
    return Recorded(member.trial_id, job.calls[member.trial_id], stack, keys)


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
    unmarked = Unmarked(_recorded(job, member).answer)
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


def _unproven(stack: Iterable[StackLine]) -> str:
    """What is lacking to prove that what was to be done to the memory was done."""
    lacking = [
        f"{line.step}: {proof}"
        for line in stack
        if not line.unavailable and line.kind is not StackKind.SCAN_VOLUME
        for proof in (line.receipt.missing() if line.receipt else ["no receipt"])
    ]
    return "; ".join(lacking)


def _record(
    job: JobLines,
    member: Member,
    checks: tuple[Check, ...],
    *,
    not_run: NotRun | None,
    unproven: str = "",
) -> TrialRecord:
    if any(check.required and check.outcome is CheckOutcome.VIOLATED for check in checks):
        # What was seen to be wrong stays wrong, whatever the memory could not be asked afterwards.
        not_run = None
    verdict = Verdict.NOT_RUN if not_run is not None else _verdict(checks, unproven)
    return TrialRecord(
        trial_id=member.trial_id,
        cell=member.cell,
        subject=job.job.subject,
        batch_id=job.job.job_id,
        sub_seed=member.sub_seed,
        workflow_id=member.workflow_id,
        verdict=verdict,
        subtype=None if not_run is None else not_run.subtype,
        error_kind=_ERROR_KIND if verdict is Verdict.ERROR else "",
        cause=not_run.cause if not_run is not None else _cause(verdict, checks, unproven),
        checks=checks,
    )


def _verdict(checks: Iterable[Check], unproven: str) -> Verdict:
    outcomes = [check.outcome for check in checks if check.required]
    if CheckOutcome.VIOLATED in outcomes:
        return Verdict.FAIL
    return Verdict.ERROR if unproven or CheckOutcome.NOT_EVALUATED in outcomes else Verdict.PASS


def _cause(verdict: Verdict, checks: Iterable[Check], unproven: str) -> str:
    """What the verdict rests on: the violated checks, or those that could not be evaluated."""
    wanted = {
        Verdict.FAIL: CheckOutcome.VIOLATED,
        Verdict.ERROR: CheckOutcome.NOT_EVALUATED,
    }.get(verdict)
    told = [
        f"{check.check_id}: {check.actual}"
        for check in checks
        if check.outcome is wanted and check.required
    ]
    if verdict is Verdict.ERROR and unproven:
        told.append(f"no proof of the fault: {unproven}")
    return " | ".join(told)


def _public_key(entry: KeyEntry) -> PublicKey:
    try:
        raw = base64.b64decode(entry.public_key_base64, validate=True)
    except binascii.Error as error:
        raise evidence_error(f"reviewer key {entry.key_id!r} is no base64") from error
    return PublicKey(entry.key_id, entry.principal, raw)
