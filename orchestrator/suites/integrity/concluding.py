"""What a trial's checks amount to, and whether its evidence is whole: alike for all scripts.

A script that is played from kept lines (`recorded`) concludes checks; here they become a verdict.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from orchestrator.model import (
    Check,
    CheckOutcome,
    Figure,
    TrialRecord,
    Verdict,
)
from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import OK
from orchestrator.suites.integrity.declared import NotRun
from orchestrator.suites.integrity.evidence import (
    CallLine,
    JobLines,
    KeyEntry,
    StackKind,
    StackLine,
    evidence_error,
)
from orchestrator.suites.integrity.recorded import Recorded
from services.common.challenges import PublicKey

__all__ = ["HARMLESS_STATUSES", "expect_health", "record_of", "recorded_of", "unproven"]

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
_NOTHING_DONE = (StackKind.SCAN_VOLUME, StackKind.GATHER)


def recorded_of(job: JobLines, member: Member) -> Recorded:
    """One trial's lines, as its script is answered from them.

    Raises:
        EvidenceError: A key of the run is no key.
    """
    stack = tuple(line for line in job.stack if member.trial_id in line.trial_ids)
    keys = {key.signer: _public_key(key) for key in job.job.reviewer_keys}
    return Recorded(member.trial_id, job.calls[member.trial_id], stack, keys)


def expect_health(job: JobLines, member: Member) -> None:
    """Raises EvidenceError when a call of a trial failed and no line proves a healthy memory."""
    calls: Iterable[CallLine] = job.calls[member.trial_id]
    failed = (call for call in calls if call.status not in HARMLESS_STATUSES and not call.struck)
    if job.health is None and any(failed):
        raise evidence_error(f"trial {member.trial_id!r} has a failed call and no proof of health")


def unproven(stack: Iterable[StackLine]) -> str:
    """What is lacking to prove that what was to be done to the memory was done."""
    lacking = [
        f"{line.step}: {proof}"
        for line in stack
        if not line.unavailable and line.kind not in _NOTHING_DONE
        for proof in (line.receipt.missing() if line.receipt else ["no receipt"])
    ]
    return "; ".join(lacking)


def record_of(
    job: JobLines,
    member: Member,
    checks: tuple[Check, ...],
    *,
    not_run: NotRun | None,
    lacking: str = "",
    graded: bool = False,
    figures: tuple[Figure, ...] = (),
) -> TrialRecord:
    """The record of one trial.

    Args:
        job: The job that it is of.
        member: The trial.
        checks: What its script concluded.
        not_run: Why it does not apply; a violated check outweighs that.
        lacking: What is lacking to prove its faults, as `unproven`; makes it ERROR.
        graded: It cannot pass: where no required check is violated or open, it is UNSCORED.
        figures: What it shows beside its checks.
    """
    if any(check.required and check.outcome is CheckOutcome.VIOLATED for check in checks):
        # What was seen to be wrong stays wrong, whatever the memory could not be asked afterwards.
        not_run = None
    verdict = Verdict.NOT_RUN if not_run is not None else _verdict(checks, lacking)
    if graded and verdict is Verdict.PASS:
        verdict = Verdict.UNSCORED
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
        cause=not_run.cause if not_run is not None else _cause(verdict, checks, lacking),
        checks=checks,
        figures=figures,
    )


def _verdict(checks: Iterable[Check], lacking: str) -> Verdict:
    outcomes = [check.outcome for check in checks if check.required]
    if CheckOutcome.VIOLATED in outcomes:
        return Verdict.FAIL
    return Verdict.ERROR if lacking or CheckOutcome.NOT_EVALUATED in outcomes else Verdict.PASS


def _cause(verdict: Verdict, checks: Iterable[Check], lacking: str) -> str:
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
    if verdict is Verdict.ERROR and lacking:
        told.append(f"no proof of the fault: {lacking}")
    return " | ".join(told)


def _public_key(entry: KeyEntry) -> PublicKey:
    try:
        raw = base64.b64decode(entry.public_key_base64, validate=True)
    except binascii.Error as error:
        raise evidence_error(f"reviewer key {entry.key_id!r} is no base64") from error
    return PublicKey(entry.key_id, entry.principal, raw)
