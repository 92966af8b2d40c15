"""A lane's job of the integrity axis: trials of one category, side by side (DESIGN §7)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import groupby

import structlog

from chaos.errors import InterposerError
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Suite, TrialRecord, Verdict
from orchestrator.plan import Member, TrialPlan, trial_id, workflow_id
from orchestrator.suites.integrity.calls import ContractBreach, NotServed
from orchestrator.suites.integrity.categories import CATEGORIES, Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.evidence import (
    CallLine,
    HealthLine,
    JobLine,
    JobLines,
    KeyEntry,
    message_to_fields,
    raw_file_name,
    to_lines,
)
from orchestrator.suites.integrity.playing import play
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import HARMLESS_STATUSES, score_job
from orchestrator.suites.integrity.trial import LiveMemory, call_seconds

__all__ = ["HEALTH_SECONDS", "TRIALS_AT_ONCE", "TRIALS_PER_JOB", "IntegrityJob", "integrity_jobs"]

TRIALS_PER_JOB = 20
TRIALS_AT_ONCE = 8
HEALTH_SECONDS = 10.0

_INFRASTRUCTURE = "infrastructure"

_log = structlog.get_logger(__name__)


def integrity_jobs(
    subject: str,
    plans: Iterable[TrialPlan],
    reviewer: Reviewer | None,
    *,
    trials_per_job: int = TRIALS_PER_JOB,
) -> tuple[IntegrityJob, ...]:
    """Put one subject's planned trials into jobs, in the order of the plan.

    Args:
        subject: `vendor` or `control:<flaw>`.
        plans: Integrity trials only; those of one category stand together.
        reviewer: The run's reviewer, whose public key the memory was given; None without one.
        trials_per_job: Trials that are kept together or not at all.

    Raises:
        ValueError: A trial is not of the integrity suite.
    """
    jobs = []
    for letter, of_category in groupby(plans, lambda plan: plan.cell.case):
        members = [_member(subject, plan) for plan in of_category]
        for start in range(0, len(members), trials_per_job):
            batch = tuple(members[start : start + trials_per_job])
            jobs.append(IntegrityJob(subject, CATEGORIES[letter], batch, reviewer))
    return tuple(jobs)


class IntegrityJob:
    """Trials of one category on one subject (a `campaign.jobs.Job`).

    Args:
        subject: `vendor` or `control:<flaw>`.
        category: The category of all of them.
        members: The trials, at least one; each has its own namespace, its workflow id.
        reviewer: The run's reviewer; None without one.
    """

    def __init__(
        self,
        subject: str,
        category: Category,
        members: Sequence[Member],
        reviewer: Reviewer | None,
    ) -> None:
        self._subject = subject
        self._category = category
        self._members = tuple(members)
        self._reviewer = reviewer
        names = "\n".join(member.trial_id for member in self._members)
        self.job_id = "i" + hashlib.sha256(names.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """What a person is shown while it runs."""
        category = self._category
        return f"integrity {category.letter} {category.title} ({len(self._members)} trials)"

    @property
    def trial_ids(self) -> Sequence[str]:
        """The trials that it ends with."""
        return tuple(member.trial_id for member in self._members)

    def run(self, context: StackContext) -> Sequence[TrialRecord]:
        """Carry the trials out, keep their calls, and score them from what was kept.

        Raises:
            StackError: The memory is not healthy any more, or the interposer failed; nothing is
                kept of the job.
        """
        declared = Declared.of(context.describe)
        job = JobLine(
            job_id=self.job_id,
            subject=self._subject,
            category=self._category.letter,
            describe=message_to_fields(context.describe),
            reviewer_keys=_key_entries(self._reviewer),
            trials=self._members,
        )
        calls: dict[str, tuple[CallLine, ...]] = {}
        if self._category.not_run(declared) is None:
            with ThreadPoolExecutor(TRIALS_AT_ONCE, thread_name_prefix="integrity") as pool:
                played = pool.map(lambda of: self._play(context, declared, of), self._members)
                calls = dict(zip(self.trial_ids, played, strict=True))
        health = _health(context, calls)
        lines = to_lines(JobLines(job=job, calls=calls, health=health))
        context.sink.raw_lines(raw_file_name(self.job_id), lines)
        return score_job(lines)

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        """The trials as ERROR of the infrastructure's kind, when the work could not be done."""
        return tuple(
            TrialRecord(
                trial_id=member.trial_id,
                cell=member.cell,
                subject=self._subject,
                batch_id=self.job_id,
                sub_seed=member.sub_seed,
                workflow_id=member.workflow_id,
                verdict=Verdict.ERROR,
                error_kind=_INFRASTRUCTURE,
                cause=cause,
                checks=Findings(self._category.checks).checks(),
            )
            for member in self._members
        )

    def _play(
        self, context: StackContext, declared: Declared, member: Member
    ) -> tuple[CallLine, ...]:
        """One trial's calls. What its script concludes here is dropped: only lines are scored."""
        scene = Scene(
            case=self._category.build(member.sub_seed),
            namespace=member.workflow_id,
            declared=declared,
            reviewed=self._reviewer is not None,
            findings=Findings(self._category.checks),
        )
        memory = LiveMemory(
            member.trial_id,
            context.session.with_workflow(member.workflow_id),
            self._reviewer,
            call_seconds(declared.llm_in_loop),
        )
        with suppress(ContractBreach, NotServed):
            play(self._category.script(scene), memory.answer)
        return memory.lines


def _health(context: StackContext, calls: dict[str, tuple[CallLine, ...]]) -> HealthLine | None:
    """Proof that the memory is healthy, wanted when a call ended in a way that nobody chooses.

    Raises:
        StackError: It is not, so the failed call is nobody's verdict.
    """
    failed = [
        call for lines in calls.values() for call in lines if call.status not in HARMLESS_STATUSES
    ]
    if not failed:
        return None
    first = failed[0]
    _log.warning(
        "integrity_calls_failed",
        calls=len(failed),
        trial=first.trial_id,
        step=first.step,
        status=first.status,
        details=first.details,
    )
    try:
        return HealthLine(healthy_after_ms=context.interposer.refresh("memory", HEALTH_SECONDS))
    except InterposerError as error:
        raise StackError(
            f"The memory is not healthy after {first.method} ended with {first.status}: {error}",
            next_step="See the memory's log in the run folder; it ended, hangs or was killed.",
        ) from error


def _key_entries(reviewer: Reviewer | None) -> tuple[KeyEntry, ...]:
    if reviewer is None:
        return ()
    return (
        KeyEntry(
            key_id=reviewer.public_key.key_id,
            principal=reviewer.public_key.principal,
            public_key_base64=reviewer.public_key_base64,
        ),
    )


def _member(subject: str, plan: TrialPlan) -> Member:
    if plan.cell.suite is not Suite.INTEGRITY:
        raise ValueError("only integrity trials are played")
    return Member(
        trial_id=trial_id(subject, plan.cell, plan.number),
        cell=plan.cell,
        sub_seed=plan.sub_seed,
        workflow_id=workflow_id(subject, plan.cell, plan.number, plan.sub_seed),
    )
