"""A lane's jobs of the narrative axis: stories told and asked, side by side or in one memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import groupby

from orchestrator.campaign.jobs import StackContext
from orchestrator.model import Suite, TrialRecord
from orchestrator.plan import Member, TrialPlan
from orchestrator.suites.integrity.checks import Findings
from orchestrator.suites.integrity.declared import Declared
from orchestrator.suites.integrity.evidence import JobLine, message_to_fields, raw_file_name
from orchestrator.suites.integrity.side_by_side import (
    Player,
    infrastructure_error,
    member_of,
    play_side_by_side,
)
from orchestrator.suites.integrity.trial import LiveMemory, Patience
from orchestrator.suites.narrative.cases import CASES
from orchestrator.suites.narrative.corpus import Corpus
from orchestrator.suites.narrative.score import score_narrative
from orchestrator.suites.narrative.staging import Staging

__all__ = ["STORIES_PER_JOB", "NarrativeJob", "narrative_jobs"]

STORIES_PER_JOB = 25
"""Stories that are kept together or not at all, where each has the memory for itself."""

STORIES_AT_ONCE = 4


def narrative_jobs(
    subject: str, plans: Iterable[TrialPlan], corpus: Corpus
) -> tuple[NarrativeJob, ...]:
    """Put one subject's planned trials into jobs, in the order of the plan.

    Args:
        subject: `vendor` or `control:<flaw>`.
        plans: Narrative trials only; those of one case stand together.
        corpus: What is told and asked.

    Raises:
        ValueError: A trial is not of the narrative suite.
    """
    jobs: list[NarrativeJob] = []
    for _, of_job in groupby(plans, lambda plan: CASES[plan.cell.case].job):
        members = [member_of(subject, plan, Suite.NARRATIVE) for plan in of_job]
        case = CASES[members[0].cell.case]
        size = len(members) if case.together else 1 if case.alone else STORIES_PER_JOB
        for start in range(0, len(members), size):
            jobs.append(NarrativeJob(subject, members[start : start + size], corpus))
    return tuple(jobs)


class NarrativeJob:
    """Trials of one job on one subject (a `campaign.jobs.Job`).

    Args:
        subject: `vendor` or `control:<flaw>`.
        members: The trials, at least one.
        corpus: What is told and asked.
    """

    def __init__(self, subject: str, members: Sequence[Member], corpus: Corpus) -> None:
        self._subject = subject
        self._members = tuple(members)
        self._corpus = corpus
        names = "\n".join(member.trial_id for member in self._members)
        self.job_id = "n" + hashlib.sha256(names.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """What a person is shown while it runs."""
        job = CASES[self._members[0].cell.case].job
        return f"narrative {job} ({len(self._members)} stories)"

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
        deterministic = context.describe.deterministic
        job = JobLine(
            job_id=self.job_id,
            subject=self._subject,
            category=CASES[self._members[0].cell.case].job,
            describe=message_to_fields(context.describe),
            reviewer_keys=(),
            trials=self._members,
        )
        staging = Staging(job, self._corpus, declared, deterministic)
        patience = Patience(declared.llm_in_loop)
        players = [
            self._player(context, patience, staging, member)
            for member in self._members
            if staging.not_run(member) is None
        ]
        lines = play_side_by_side(context, job, players, at_once=self._at_once())
        context.sink.raw_lines(raw_file_name(self.job_id, Suite.NARRATIVE), lines)
        return score_narrative(lines, self._corpus)

    def infrastructure_error(self, cause: str) -> Sequence[TrialRecord]:
        """The trials as ERROR of the infrastructure's kind, when the work could not be done."""
        return tuple(
            infrastructure_error(
                self._subject,
                self.job_id,
                member,
                cause,
                Findings(CASES[member.cell.case].checks).checks(),
            )
            for member in self._members
        )

    def _player(
        self, context: StackContext, patience: Patience, staging: Staging, member: Member
    ) -> Player:
        session = context.session.with_workflow(member.workflow_id)
        memory = LiveMemory(member.trial_id, session, None, patience)
        scene = staging.scene(member)
        return Player.of(
            member.workflow_id, memory, staging.script(scene), staging.wants_max(scene)
        )

    def _at_once(self) -> int:
        """One after another in one memory: what is told first is then the same in each run."""
        together = CASES[self._members[0].cell.case].together
        return 1 if together else STORIES_AT_ONCE
