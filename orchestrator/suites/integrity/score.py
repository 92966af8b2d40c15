"""Verdicts from raw lines: a pure function that a run and `memqual rescore` share (DESIGN §8).

Scoring plays the category's script once more, against the kept answers instead of a memory. Each
call that the script wants has to be the call that was kept, byte for byte, so that lines which were
altered, dropped or reordered are noticed before anything is concluded from them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from memqual.v1 import vendor_pb2
from orchestrator.model import Check, CheckOutcome, NotRunSubtype, TrialRecord, Verdict
from orchestrator.plan import Member
from orchestrator.suites.integrity.calls import (
    METHODS,
    OK,
    Answer,
    Ask,
    ContractBreach,
    NotServed,
    Signing,
    method_of,
)
from orchestrator.suites.integrity.categories import CATEGORIES, Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared, NotRun
from orchestrator.suites.integrity.evidence import (
    CallLine,
    JobLines,
    KeyEntry,
    evidence_error,
    message_from_fields,
    message_to_fields,
    parse_job,
)
from orchestrator.suites.integrity.playing import play
from services.common.challenges import PublicKey, signature_valid, signing_bytes

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
    if category is None or member.cell.case != category.letter:
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
        return _record(job, member, findings, not_run=not_run)
    keys = {key.key_id: _public_key(key) for key in job.job.reviewer_keys}
    recorded = _Recorded(member.trial_id, calls, keys)
    scene = Scene(
        case=category.build(member.sub_seed),
        namespace=member.workflow_id,
        declared=declared,
        reviewed=bool(keys),
        findings=findings,
    )
    try:
        play(category.script(scene), recorded.answer)
        findings.held(category.contract, f"{len(calls)} calls")
    except NotServed:
        served = any(call.status == OK for call in calls)
        not_run = _not_served(category, declared, findings, served=served)
    except ContractBreach as breach:
        findings.violated(category.contract, str(breach))
    recorded.expect_end()
    if job.health is None and any(call.status not in HARMLESS_STATUSES for call in calls):
        raise evidence_error(f"trial {member.trial_id!r} has a failed call and no proof of health")
    return _record(job, member, findings, not_run=not_run)


def _not_served(
    category: Category, declared: Declared, findings: Findings, *, served: bool
) -> NotRun | None:
    """Write is UNIMPLEMENTED: nothing of the axis is there, or something declared is missing."""
    if not declared.claims_integrity and not served:
        return NotRun(
            NotRunSubtype.CAPABILITY_ABSENT,
            "MemoryService.Write is not served, and no capability that needs it is declared",
        )
    findings.violated(
        category.contract, "Write is UNIMPLEMENTED, although it is declared or was served before"
    )
    return None


def _record(
    job: JobLines, member: Member, findings: Findings, *, not_run: NotRun | None
) -> TrialRecord:
    checks = findings.checks()
    verdict = Verdict.NOT_RUN if not_run is not None else _verdict(checks)
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
        cause=not_run.cause if not_run is not None else _cause(verdict, checks),
        checks=checks,
    )


def _verdict(checks: Iterable[Check]) -> Verdict:
    outcomes = [check.outcome for check in checks if check.required]
    if CheckOutcome.VIOLATED in outcomes:
        return Verdict.FAIL
    return Verdict.ERROR if CheckOutcome.NOT_EVALUATED in outcomes else Verdict.PASS


def _cause(verdict: Verdict, checks: Iterable[Check]) -> str:
    """What the verdict rests on: the violated checks, or those that could not be evaluated."""
    wanted = {
        Verdict.FAIL: CheckOutcome.VIOLATED,
        Verdict.ERROR: CheckOutcome.NOT_EVALUATED,
    }.get(verdict)
    told = (f"{check.check_id}: {check.actual}" for check in checks if check.outcome is wanted)
    return " | ".join(told)


@dataclass
class _Recorded:
    """Answers a script from its kept calls.

    Attributes:
        trial_id: The trial.
        calls: Its calls in order.
        keys: The reviewer's public keys by id.
        position: The next call.
    """

    trial_id: str
    calls: tuple[CallLine, ...]
    keys: Mapping[str, PublicKey]
    position: int = field(default=0)

    def answer(self, ask: Ask) -> Answer:
        """The kept answer to what the script asks."""
        line = self._next(ask)
        while line.retried:
            if line.status != "UNAVAILABLE":
                raise evidence_error(f"{self._where(line)} was repeated after {line.status}")
            line = self._next(ask)
        kind = METHODS[line.method].response
        responses = tuple(
            message_from_fields(response, kind, self._where(line)) for response in line.responses
        )
        return Answer(line.status, line.details, responses, line.overflow)

    def expect_end(self) -> None:
        """Raises EvidenceError when there are calls that the script never made."""
        if self.position != len(self.calls):
            raise evidence_error(f"{self._where(self.calls[self.position])} was never asked for")

    def _next(self, ask: Ask) -> CallLine:
        if self.position >= len(self.calls):
            raise evidence_error(f"trial {self.trial_id!r} ends before step {ask.step!r}")
        line = self.calls[self.position]
        self.position += 1
        kept = dict(line.request)
        if ask.signing is not None:
            self._check_signature(line, kept, ask.signing)
        same = (line.step, line.method) == (ask.step, method_of(ask.request).name)
        if not same or kept != message_to_fields(ask.request):
            raise evidence_error(f"{self._where(line)} is not what step {ask.step!r} asks")
        return line

    def _check_signature(
        self, line: CallLine, kept: dict[str, JsonValue], signing: Signing
    ) -> None:
        """Take the reviewer's part out of a kept request; it has to be a valid signature."""
        key = self.keys.get(str(kept.pop("key_id", "")))
        try:
            signature = base64.b64decode(str(kept.pop("signature", "")), validate=True)
        except binascii.Error as error:
            raise evidence_error(f"{self._where(line)} has no signature") from error
        message = signing_bytes(signing.challenge, signing.decision)
        if key is None or not signature_valid(key, signature, message):
            raise evidence_error(f"{self._where(line)} was not signed by the run's reviewer")

    def _where(self, line: CallLine) -> str:
        return f"call {line.position} of trial {self.trial_id!r}"


def _public_key(entry: KeyEntry) -> PublicKey:
    try:
        raw = base64.b64decode(entry.public_key_base64, validate=True)
    except binascii.Error as error:
        raise evidence_error(f"reviewer key {entry.key_id!r} is no base64") from error
    return PublicKey(entry.key_id, entry.principal, raw)
