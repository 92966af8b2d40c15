"""What a batch that was explored came to: the first broken rule of each lane (DESIGN §6)."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.model import CheckOutcome, TrialRecord, Verdict
from orchestrator.oracle.errors import OracleError
from orchestrator.oracle.judgement import CallJudgement
from orchestrator.plan import Member
from orchestrator.scoring.continuity import score_trial
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.stage import BatchResult

__all__ = ["Broken", "LaneResult", "judge_batch"]

_RIG = "rig."


@dataclass(frozen=True)
class Broken:
    """A rule that was broken.

    Attributes:
        rule: What was broken, so that equal ones can be told: check, call, answer and class.
        words: The same for a person, with what would have been right.
    """

    rule: str
    words: str


@dataclass(frozen=True)
class LaneResult:
    """One lane's trial.

    Attributes:
        record: As it is scored everywhere.
        all_broken: Every rule that was broken, the first one first.
        rows: Rows of the oracle that its decisions were allowed by.
    """

    record: TrialRecord
    all_broken: tuple[Broken, ...]
    rows: frozenset[str]

    @property
    def broken(self) -> Broken | None:
        """The first rule that was broken; None when none was."""
        return self.all_broken[0] if self.all_broken else None


def judge_batch(result: BatchResult) -> tuple[LaneResult, ...]:
    """Score every lane of a batch from its evidence."""
    facts = BatchFacts(result.evidence, result.trace, result.journal)
    return tuple(_lane(facts, member) for member in result.evidence.batch.members)


def _lane(facts: BatchFacts, member: Member) -> LaneResult:
    record = score_trial(facts, member)
    try:
        judgements = facts.judgements(member.workflow_id)
    except OracleError:
        judgements = ()
    calls = [call for one in judgements for call in one.calls]
    rows = frozenset(row.value for call in calls if not call.violates for row in call.rows)
    broken: tuple[Broken, ...] = ()
    if record.verdict is Verdict.FAIL:
        bad = sorted((call for call in calls if call.violates), key=lambda call: call.sequence)
        broken = tuple(dict.fromkeys(map(_of_call, bad))) or (_of_record(record),)
    return LaneResult(record, broken, rows)


def _of_call(call: CallJudgement) -> Broken:
    problems = "+".join(problem.value for problem in call.problems)
    rule = f"{call.method}:{call.observed}:{call.classification.value}:{problems}".rstrip(":")
    rows = "/".join(row.value for row in call.rows)
    allowed = " or ".join(call.allowed) or "nothing"
    words = f"{call.method} answered {call.observed}, allowed was {allowed} (row {rows or '-'})"
    return Broken(rule, f"{words}; {problems}" if problems else words)


def _of_record(record: TrialRecord) -> Broken:
    check = next(
        one
        for one in record.checks
        if one.outcome is CheckOutcome.VIOLATED and not one.check_id.startswith(_RIG)
    )
    return Broken(check.check_id, f"{check.check_id}: {check.actual}, expected {check.expected}")
