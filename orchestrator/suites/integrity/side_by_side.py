"""Plays the scripts of a job's trials side by side, and together where the stack is concerned.

What scripts conclude here is dropped: calls and what was done to the stack are kept as lines, and
only lines are scored (DESIGN §8).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import structlog

from chaos.errors import InterposerError
from chaos.receipts import RestartReceipt
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.model import Check, Suite, TrialRecord, Verdict
from orchestrator.plan import Member, TrialPlan, trial_id, workflow_id
from orchestrator.suites.integrity.calls import (
    OK,
    Answer,
    ContractBreach,
    NotExpressible,
    NotPossible,
    NotServed,
    Script,
)
from orchestrator.suites.integrity.concluding import HARMLESS_STATUSES
from orchestrator.suites.integrity.evidence import (
    CallLine,
    HealthLine,
    JobLine,
    JobLines,
    KeyEntry,
    StackLine,
    to_lines,
)
from orchestrator.suites.integrity.meeting import Meeting, Waiting
from orchestrator.suites.integrity.playing import WANTS_MAX, Play
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.trial import LiveMemory

__all__ = [
    "HEALTH_SECONDS",
    "STACK_STEPS_MAX",
    "Player",
    "infrastructure_error",
    "key_entries",
    "member_of",
    "play_side_by_side",
]

HEALTH_SECONDS = 10.0
STACK_STEPS_MAX = 20
"""More steps of the whole stack than any script has."""

_INFRASTRUCTURE = "infrastructure"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Player:
    """One trial that is being played.

    Attributes:
        workflow_id: Its workflow, by which its messages are told apart.
        memory: Makes its calls and keeps them.
        play: Its script.
    """

    workflow_id: str
    memory: LiveMemory
    play: Play

    @classmethod
    def of(
        cls, workflow_id: str, memory: LiveMemory, script: Script, wants_max: int = WANTS_MAX
    ) -> Player:
        """A trial that has not begun; `wants_max` as of `Play`."""
        return cls(workflow_id, memory, Play(script, memory.answer, wants_max))

    def advance(self, given: Mapping[str, Answer]) -> Waiting | None:
        """Play on to the next step of the whole stack; None at the end."""
        try:
            step = self.play.advance(given.get(self.memory.trial_id))
        except (ContractBreach, NotExpressible, NotServed, NotPossible):
            return None
        return None if step is None else Waiting(self.workflow_id, self.memory, step)


def play_side_by_side(
    context: StackContext, job: JobLine, players: Sequence[Player], *, at_once: int
) -> tuple[str, ...]:
    """Play all trials to their end; returns the job's lines.

    Args:
        context: The stack.
        job: What the job is.
        players: Its trials that are played; none where it does not apply to the memory.
        at_once: How many of them call the memory at the same time.

    Raises:
        StackError: The memory is not healthy any more, or the interposer failed.
    """
    meeting = Meeting(context, job.job_id)
    with ThreadPoolExecutor(at_once, thread_name_prefix="trial") as pool:
        given: dict[str, Answer] = {}
        going = list(players)
        for _ in range(STACK_STEPS_MAX):
            wanted = list(pool.map(partial(Player.advance, given=given), going))
            waiting = [want for want in wanted if want is not None]
            if not waiting:
                break
            given = dict(meeting.meet(waiting))
            going = [one for one in going if one.memory.trial_id in given]
        else:
            raise RuntimeError(f"scripts with more than {STACK_STEPS_MAX} stack steps")
    calls = {one.memory.trial_id: one.memory.lines for one in players}
    health = _health(context, calls)
    stack = tuple(_with_operations(line, calls) for line in meeting.lines)
    return to_lines(JobLines(job=job, stack=stack, calls=calls, health=health))


def infrastructure_error(
    subject: str, job_id: str, member: Member, cause: str, checks: tuple[Check, ...]
) -> TrialRecord:
    """A trial as ERROR of the infrastructure's kind, when the work could not be done."""
    return TrialRecord(
        trial_id=member.trial_id,
        cell=member.cell,
        subject=subject,
        batch_id=job_id,
        sub_seed=member.sub_seed,
        workflow_id=member.workflow_id,
        verdict=Verdict.ERROR,
        error_kind=_INFRASTRUCTURE,
        cause=cause,
        checks=checks,
    )


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


def _health(context: StackContext, calls: Mapping[str, tuple[CallLine, ...]]) -> HealthLine | None:
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
        "calls_failed",
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


def key_entries(reviewer: Reviewer | None) -> tuple[KeyEntry, ...]:
    """The public keys of a run; none without a reviewer."""
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


def member_of(subject: str, plan: TrialPlan, suite: Suite) -> Member:
    """A planned trial as a member of its job.

    Raises:
        ValueError: It is of another suite.
    """
    if plan.cell.suite is not suite:
        raise ValueError(f"only {suite.value} trials are played")
    return Member(
        trial_id=trial_id(subject, plan.cell, plan.number),
        cell=plan.cell,
        sub_seed=plan.sub_seed,
        workflow_id=workflow_id(subject, plan.cell, plan.number, plan.sub_seed),
    )
