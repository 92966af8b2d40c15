"""Where the workflow ended, and whether the trial got to what its cell is about (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memqual.v1 import agent_pb2
from orchestrator.oracle.clockmap import ClockMap
from orchestrator.oracle.judgement import CallJudgement, OperationJudgement
from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.worlds import Row
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.rows import asked_after, unreached
from orchestrator.suites.continuity.cells import rows_of
from orchestrator.suites.continuity.families import End, case_of_cell

__all__ = ["ENDLESS_WAITS", "check_end", "check_state", "waits_for_ever"]

_ENDED = frozenset(
    {agent_pb2.WORKFLOW_STATE_COMPLETED, agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION}
)
ENDLESS_WAITS = 3
"""Times that a memory may say WAIT again after the time that it had told was over."""

_NANOSECONDS_A_MILLISECOND = 1_000_000
_CHECK = ("continuity.end", "MQ-C-07")
_WANTED = "completed, or honestly left for confirmation"


def check_end(
    find: Finder,
    facts: BatchFacts,
    member: Member,
    judgements: Sequence[OperationJudgement],
) -> None:
    """Check the workflow's last state and the rows on the way there.

    A workflow that did not end although every answer was right is the rig's fault, except where
    the memory said WAIT after the lease's end for as long as it was asked, each time later than it
    had told.
    """
    case = case_of_cell(member.cell)
    if case is not None and case.end is not End.RESOLVED:
        return
    violated = any(one.violations for one in judgements)
    decisions = [call for one in judgements for call in one.decisions]
    check_state(find, facts, member, judgements)
    if violated or case is not None:
        return
    dead = facts.held_calls if member.cell.target.kills_agent else frozenset[int]()
    asked = asked_after(decisions, facts.fault_ns or 0, dead)
    rows = rows_of(member.cell, facts.evidence.expiry)
    missing = unreached(rows, asked, begin_replay=facts.declared.begin_replay)
    find.rig(
        "rig.rows",
        "MQ-C-10",
        not missing,
        f"rows {', '.join(rows)}",
        f"never reached: {', '.join(missing)}",
    )


def check_state(
    find: Finder,
    facts: BatchFacts,
    member: Member,
    judgements: Sequence[OperationJudgement],
) -> None:
    """Check the workflow's last state alone."""
    violated = any(one.violations for one in judgements)
    decisions = [call for one in judgements for call in one.decisions]
    status = facts.final.get(member.workflow_id)
    if status is None:
        find.open(*_CHECK, "the host's last status is missing")
        return
    name = agent_pb2.WorkflowState.Name(status.state).removeprefix("WORKFLOW_STATE_").lower()
    told = f"{name}: {status.error}" if status.error else name
    parked = status.state == agent_pb2.WORKFLOW_STATE_PARKED
    endless = parked and waits_for_ever(decisions, facts.clock)
    if status.state in _ENDED or violated or endless:
        find.that(*_CHECK, status.state in _ENDED, _WANTED, told)
    else:
        asked_seconds = status.wait_remaining_ms / 1_000
        pause = f"; its last WAIT asks for {asked_seconds:.1f} s more" if parked else ""
        find.open(*_CHECK, f"{told}, although every answer was allowed{pause}")


def waits_for_ever(decisions: Sequence[CallJudgement], clock: ClockMap) -> bool:
    """Whether WAIT after the lease's end was repeated each time that it should have ended.

    Args:
        decisions: Every answer to Begin, in order.
        clock: The memory's, which the times that it told are over by.
    """
    broken = 0
    for before, after in pairwise(decisions):
        again = all(
            call.kind is DecisionKind.WAIT and call.rows in ((Row.EXPIRED,), (Row.FORKED,))
            for call in (before, after)
        )
        told_ns = before.remaining_ms * _NANOSECONDS_A_MILLISECOND
        broken = broken + 1 if again and _passed(before, after, clock) >= told_ns else 0
    return broken >= ENDLESS_WAITS


def _passed(before: CallJudgement, after: CallJudgement, clock: ClockMap) -> int:
    """The least that passed for the memory between an answer and the next question (ns)."""
    answered_ns = before.forwarded_ns if before.answered_ns is None else before.answered_ns
    return clock.passed_ns(answered_ns, after.forwarded_ns)
