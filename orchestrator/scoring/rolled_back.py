"""What a memory answers on an older copy of its volume: a class of its own (DESIGN §6, §7).

No correct memory can know what its volume does not hold. So what is wrong after a rollback is a
finding; a memory that declares that it notices must license nothing wrong.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from memqual.v1 import interposer_pb2, vendor_pb2
from orchestrator.model import Cell
from orchestrator.oracle.judgement import CallJudgement, Classification, OperationJudgement
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import Account, case_of_cell

__all__ = ["ROLLED_BACK_MARK", "apart_from_rollback"]

ROLLED_BACK_MARK = "rolled_back"
"""Kind of the mark after which the memory has an older copy of its volume."""


def apart_from_rollback(
    facts: BatchFacts, cell: Cell, judgements: Sequence[OperationJudgement]
) -> tuple[Sequence[OperationJudgement], tuple[str, ...]]:
    """The judgements to hold against the memory, and what else was seen, as findings.

    Args:
        facts: The batch's raw evidence.
        cell: The trial's cell.
        judgements: Every answer about the trial's operations, judged.
    """
    case = case_of_cell(cell)
    since = _mark_sequence(facts)
    if case is None or case.account is not Account.VOLUME or since is None:
        return judgements, ()
    declared = _declares_detection(facts)
    findings: list[str] = []

    def counts(call: CallJudgement) -> bool:
        if call.sequence < since or not call.violates:
            return True
        if declared and call.classification is Classification.UNSAFE:
            return True
        told = f"volume_rollback: {call.method} answered {call.observed}, {call.classification}"
        if told not in findings:
            findings.append(told)
        return False

    kept = [
        replace(one, calls=tuple(call for call in one.calls if counts(call))) for one in judgements
    ]
    return kept, tuple(findings)


def _mark_sequence(facts: BatchFacts) -> int | None:
    for record in facts.trace:
        is_mark = record.kind == interposer_pb2.TRACE_KIND_MARK
        if is_mark and json.loads(record.mark_json).get("kind") == ROLLED_BACK_MARK:
            return record.sequence
    return None


def _declares_detection(facts: BatchFacts) -> bool:
    return any(
        one.capability == vendor_pb2.CAPABILITY_ROLLBACK_DETECTION
        and one.status == vendor_pb2.CAPABILITY_STATUS_SUPPORTED
        for one in facts.describe.capabilities
    )
