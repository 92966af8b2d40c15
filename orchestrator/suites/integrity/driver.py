"""A lane's job of the integrity axis: trials of one category, side by side (DESIGN §7)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby

from orchestrator.campaign.jobs import StackContext
from orchestrator.model import Suite, TrialRecord
from orchestrator.plan import Member, TrialPlan
from orchestrator.suites.integrity.categories import CATEGORIES, Category, Scene
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.evidence import JobLine, message_to_fields, raw_file_name
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.score import score_job
from orchestrator.suites.integrity.side_by_side import (
    Player,
    infrastructure_error,
    key_entries,
    member_of,
    play_side_by_side,
)
from orchestrator.suites.integrity.trial import LiveMemory, Patience

__all__ = ["TRIALS_AT_ONCE", "TRIALS_PER_JOB", "IntegrityJob", "integrity_jobs"]

TRIALS_PER_JOB = 20
TRIALS_AT_ONCE = 8


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
        members = [member_of(subject, plan, Suite.INTEGRITY) for plan in of_category]
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
            reviewer_keys=key_entries(self._reviewer),
            trials=self._members,
        )
        players: list[Player] = []
        if self._category.not_run(declared) is None:
            patience = Patience(declared.llm_in_loop)
            players = [self._player(context, declared, one, patience) for one in self._members]
        lines = play_side_by_side(context, job, players, at_once=TRIALS_AT_ONCE)
        context.sink.raw_lines(raw_file_name(self.job_id), lines)
        return score_job(lines)

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        """The trials as ERROR of the infrastructure's kind, when the work could not be done."""
        checks = Findings(self._category.checks).checks()
        return tuple(
            infrastructure_error(self._subject, self.job_id, member, cause, checks)
            for member in self._members
        )

    def _player(
        self, context: StackContext, declared: Declared, member: Member, patience: Patience
    ) -> Player:
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
        return Player.of(member.workflow_id, memory, self._category.script(scene))
