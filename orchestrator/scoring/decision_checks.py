"""Every answer of the memory against what the oracle allows (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.oracle.declared import DeclaredMemory
from orchestrator.oracle.judgement import CallJudgement, Classification, OperationJudgement
from orchestrator.scoring.checks import Finder

__all__ = ["check_decisions"]

_SILENT = "NO ANSWER(4)"
"""DEADLINE_EXCEEDED: the memory was reached and said nothing, which no lost connection explains."""


def check_decisions(
    find: Finder,
    declared: DeclaredMemory,
    judgements: Sequence[OperationJudgement],
    *,
    proven: bool,
) -> None:
    """Check safety, liveness and form of every answer.

    Args:
        find: Where the checks go.
        declared: What the memory declares.
        judgements: Every answer about the trial's operations, judged.
        proven: The faults are proven, so that what is missing is the memory's own doing.
    """
    find.that(
        "continuity.declaration",
        "MQ-C-12",
        declared.lease_ns > 0,
        "the length of a lease is declared",
        "continuity is declared without lease_seconds",
    )
    calls = [call for one in judgements for call in one.calls]
    unexplained = [
        call for call in calls if _is_missing(call) and not proven and call.observed != _SILENT
    ]
    for check_id, requirement, classification in (
        ("continuity.safety", "MQ-C-01", Classification.UNSAFE),
        ("continuity.liveness", "MQ-C-02", Classification.NEEDLESS),
        ("continuity.form", "MQ-C-03", Classification.MALFORMED),
    ):
        bad = [
            call
            for call in calls
            if call.classification is classification and call not in unexplained
        ]
        if not calls:
            find.open(check_id, requirement, "the memory was never asked")
        else:
            told = "; ".join(_words(call) for call in bad)
            find.that(check_id, requirement, not bad, "every answer is allowed", told)
    if unexplained:
        told = "; ".join(_words(call) for call in unexplained)
        find.open("continuity.answered", "MQ-C-03", f"{told}; whether it was up is not proven")


def _is_missing(call: CallJudgement) -> bool:
    return call.answered_ns is None


def _words(call: CallJudgement) -> str:
    rows = "".join(row.value for row in call.rows)
    told = f"{call.method} at trace record {call.sequence}: {call.observed}"
    if _is_missing(call):
        return told
    allowed = ", ".join(call.allowed)
    problems = f"; {', '.join(call.problems)}" if call.problems else ""
    return f"{told} (row {rows or '-'}; allowed: {allowed}{problems})"
