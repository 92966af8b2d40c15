"""A lane's job of the integrity axis: trials of one category, side by side (DESIGN §7)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import structlog

from chaos.errors import InterposerError
from chaos.receipts import RestartReceipt
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Suite, TrialRecord, Verdict
from orchestrator.plan import Member, TrialPlan, trial_id, workflow_id
from orchestrator.suites.integrity.calls import (
    OK,
    Answer,
    ContractBreach,
    NotExpressible,
    NotPossible,
    NotServed,
)
from orchestrator.suites.integrity.categories import CATEGORIES, Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.evidence import (
    CallLine,
    HealthLine,
    JobLine,
    JobLines,
    KeyEntry,
    StackLine,
    message_to_fields,
    raw_file_name,
    to_lines,
)
from orchestrator.suites.integrity.meeting import Meeting, Waiting
from orchestrator.suites.integrity.playing import Play
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import HARMLESS_STATUSES, score_job
from orchestrator.suites.integrity.trial import LiveMemory, Patience

__all__ = ["HEALTH_SECONDS", "TRIALS_AT_ONCE", "TRIALS_PER_JOB", "IntegrityJob", "integrity_jobs"]

TRIALS_PER_JOB = 20
TRIALS_AT_ONCE = 8
HEALTH_SECONDS = 10.0
STACK_STEPS_MAX = 20
"""More steps of the whole stack than any script has."""

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
    for case, of_category in groupby(plans, lambda plan: plan.cell.case):
        members = [_member(subject, plan) for plan in of_category]
        for start in range(0, len(members), trials_per_job):
            batch = tuple(members[start : start + trials_per_job])
            jobs.append(IntegrityJob(subject, CATEGORIES[case], batch, reviewer))
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
        return f"integrity {category.case} {category.title} ({len(self._members)} trials)"

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
            category=self._category.case,
            describe=message_to_fields(context.describe),
            reviewer_keys=_key_entries(self._reviewer),
            trials=self._members,
        )
        calls: dict[str, tuple[CallLine, ...]] = {}
        stack: tuple[StackLine, ...] = ()
        if self._category.not_run(declared) is None:
            stack, calls = self._play(context, declared)
        health = _health(context, calls)
        stack = tuple(_with_operations(line, calls) for line in stack)
        lines = to_lines(JobLines(job=job, stack=stack, calls=calls, health=health))
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
        self, context: StackContext, declared: Declared
    ) -> tuple[tuple[StackLine, ...], dict[str, tuple[CallLine, ...]]]:
        """All trials to their end: side by side, and together where the whole stack is concerned.

        What scripts conclude here is dropped: only lines are scored.
        """
        meeting = Meeting(context, self.job_id)
        patience = Patience(declared.llm_in_loop)
        players = [self._player(context, declared, member, patience) for member in self._members]
        with ThreadPoolExecutor(TRIALS_AT_ONCE, thread_name_prefix="integrity") as pool:
            given: dict[str, Answer] = {}
            going = players
            for _ in range(STACK_STEPS_MAX):
                wanted = list(pool.map(partial(_Player.advance, given=given), going))
                waiting = [want for want in wanted if want is not None]
                if not waiting:
                    break
                given = dict(meeting.meet(waiting))
                going = [one for one in going if one.memory.trial_id in given]
            else:
                raise RuntimeError(f"scripts with more than {STACK_STEPS_MAX} stack steps")
        return tuple(meeting.lines), {one.memory.trial_id: one.memory.lines for one in players}

    def _player(
        self, context: StackContext, declared: Declared, member: Member, patience: Patience
    ) -> _Player:
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
            patience,
        )
        return _Player(
            member.workflow_id, memory, Play(self._category.script(scene), memory.answer)
        )


@dataclass(frozen=True)
class _Player:
    """One trial that is being played."""

    workflow_id: str
    memory: LiveMemory
    play: Play

    def advance(self, given: Mapping[str, Answer]) -> Waiting | None:
        """Play on to the next step of the whole stack; None at the end."""
        try:
            step = self.play.advance(given.get(self.memory.trial_id))
        except (ContractBreach, NotExpressible, NotServed, NotPossible):
            return None
        return None if step is None else Waiting(self.workflow_id, self.memory, step)


def _with_operations(line: StackLine, calls: Mapping[str, Sequence[CallLine]]) -> StackLine:
    """The line with how many calls were answered before and after: work went on."""
    if line.receipt is None:
        return line
    answered = [call for of_trial in calls.values() for call in of_trial if call.status == OK]
    struck_ns = line.began_mono_ns
    if isinstance(line.receipt, RestartReceipt):
        # The calls of a burst that were answered before the kill are operations before it.
        struck_ns = line.receipt.target.kill_monotonic_ns
    counts = {
        "operations_before": sum(call.ended_mono_ns <= struck_ns for call in answered),
        "operations_after": sum(call.started_mono_ns >= line.ended_mono_ns for call in answered),
    }
    return line.model_copy(update={"receipt": line.receipt.model_copy(update=counts)})


def _health(context: StackContext, calls: dict[str, tuple[CallLine, ...]]) -> HealthLine | None:
    """Proof that the memory is healthy, wanted when a call ended in a way that nobody chooses.

    Raises:
        StackError: It is not, so the failed call is nobody's verdict.
    """
    failed = [
        call
        for lines in calls.values()
        for call in lines
        if call.status not in HARMLESS_STATUSES and not call.struck
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
    return tuple(
        KeyEntry(
            signer=signer,
            key_id=key.key_id,
            principal=key.principal,
            public_key_base64=base64.b64encode(key.public_key).decode(),
        )
        for signer, key in reviewer.public_keys.items()
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
