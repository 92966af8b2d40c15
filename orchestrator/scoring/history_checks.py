"""The history checker's opinion of a trial, beside the oracle's (DESIGN §6).

The checker knows less than the oracle, so what it rejects the oracle has to blame, too: where it
does not, the rig is at fault, and nobody gets a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.oracle.history import HistoryResult, Verdict, check_history
from orchestrator.oracle.judgement import OperationJudgement
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.evidence import BatchFacts

__all__ = ["check_histories"]

_CHECK = "continuity.history"
_RIG_CHECK = "rig.history"


def check_histories(
    find: Finder,
    facts: BatchFacts,
    member: Member,
    judgements: Sequence[OperationJudgement],
    requirement_id: str,
) -> tuple[HistoryResult, ...]:
    """Check that some order of the calls explains every answer, operation by operation.

    Args:
        find: Where the checks go.
        facts: The batch's raw evidence.
        member: The trial.
        judgements: The oracle's opinion.
        requirement_id: Row of the register that the check names.
    """
    blamed = {one.operation_id for one in judgements if one.violations}
    results = []
    for view in facts.views(member.workflow_id):
        result = check_history(view, facts.clock, facts.declared)
        results.append(result)
        words = "; ".join(result.contradiction)
        if result.verdict is Verdict.UNDECIDED and view.operation_id not in blamed:
            find.open(_CHECK, requirement_id, f"undecided after {result.states} states")
        elif result.verdict is Verdict.REJECTED and view.operation_id not in blamed:
            find.rig(_RIG_CHECK, requirement_id, False, "oracle and checker agree", words)
        elif result.verdict is not Verdict.UNDECIDED:
            accepted = result.verdict is Verdict.ACCEPTED
            find.that(_CHECK, requirement_id, accepted, "some order of the calls", words)
    return tuple(results)
