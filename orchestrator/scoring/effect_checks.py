"""Effects at the destination, which the vendor cannot write, against decisions (DESIGN §6).

The memory is blamed for decisions: an extra effect is its fault only if some grant was outside the
oracle. What no correct memory can prevent goes to an account of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from memqual.v1 import agent_pb2
from orchestrator.model import Cell, Fate, FaultKind
from orchestrator.oracle.judgement import OperationJudgement
from orchestrator.plan import Member
from orchestrator.scoring.asked import first_specs
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.families import case_of_cell
from orchestrator.suites.continuity.workload import arguments_of
from services.common.canonical import sha256_hex

__all__ = ["check_effects", "extra_effects"]

_LATE = frozenset(
    {
        Fate.LATE_BEFORE_RESUME,
        Fate.LATE_AFTER_DECISION,
        Fate.LATE_AFTER_COMPLETION,
        Fate.LATE_AFTER_KEY_END,
    }
)


def check_effects(
    find: Finder,
    facts: BatchFacts,
    member: Member,
    judgements: Sequence[OperationJudgement],
) -> str:
    """Check for extra, lost and wrong effects.

    Returns:
        The account that an extra effect goes to; empty when there is none, or it is the memory's.
    """
    effects = facts.effects.get(member.workflow_id, EffectFacts())
    hazard = _check_extra(find, member.cell, effects, judgements)
    _check_lost(find, facts, member, effects)
    _check_wrong(find, facts, member, effects)
    return hazard


def extra_effects(cell: Cell, effects: EffectFacts) -> int:
    """How many effects of a trial are beyond those that its cell has rightly, whoever is charged.

    Args:
        cell: The trial's.
        effects: Its workflow's, from the destination's journal.
    """
    per_operation = _per_operation(cell)
    if per_operation is not None:
        each = (one.applied - per_operation for one in effects.operations.values())
        return sum(max(0, beyond) for beyond in each)
    case = case_of_cell(cell)
    return max(0, effects.applied - (1 if case is None else case.effects_max))


def _check_lost(find: Finder, facts: BatchFacts, member: Member, effects: EffectFacts) -> None:
    """What is complete for the host has its effect; a read, its answer."""
    status = facts.final.get(member.workflow_id)
    lost: list[str] = []
    if status is not None and status.state == agent_pb2.WORKFLOW_STATE_COMPLETED:
        if not effects.applied and not any(one.tool_error_code for one in status.operations):
            lost.append("complete without an effect")
        if _per_operation(member.cell) is not None:
            lost += [
                f"{one.tool} complete without an effect"
                for one in status.operations
                if not one.tool_error_code and not effects.of_operation(one.operation_id).answered
            ]
    find.that(
        "continuity.lost_effect", "MQ-C-05", not lost, "complete means applied", "; ".join(lost)
    )


def _check_wrong(find: Finder, facts: BatchFacts, member: Member, effects: EffectFacts) -> None:
    """Every effect has the arguments of the trial's call, or those of its own operation."""
    case = case_of_cell(member.cell)
    if _per_operation(member.cell) is not None:
        asked = first_specs(facts.trace, member.workflow_id)
        wrong = [
            digest
            for operation, one in effects.operations.items()
            for digest in one.arguments_digests
            if operation not in asked or digest != asked[operation].arguments_digest
        ]
    elif case is not None and case.own_workload:
        return
    else:
        wanted = sha256_hex(arguments_of(member).arguments_json.encode())
        wrong = [digest for digest in effects.arguments_digests if digest != wanted]
    find.that(
        "continuity.wrong_effect",
        "MQ-C-06",
        not wrong,
        "the arguments that were asked for",
        f"{len(wrong)} effects with other arguments",
    )


def _check_extra(
    find: Finder, cell: Cell, effects: EffectFacts, judgements: Sequence[OperationJudgement]
) -> str:
    check = ("continuity.extra_effect", "MQ-C-04")
    blamed = any(one.grant_outside for one in judgements)
    case = case_of_cell(cell)
    right = 1 if case is None else case.effects_max
    seen, of = effects.applied, ""
    per_operation = _per_operation(cell)
    if per_operation is not None:
        right, of = per_operation, " of an operation"
        seen = max((one.applied for one in effects.operations.values()), default=0)
    wanted, told = f"at most {right} effects{of}", f"{seen} effects{of}"
    if seen <= right or blamed:
        find.that(*check, seen <= right, wanted, told)
        return ""
    hazard = _account(cell)
    if hazard:
        find.that(*check, True, f"{wanted}, or the {hazard}'s", told)
    else:
        # No decision explains it and no hazard of the cell does: the rig is at fault.
        find.open(*check, f"{told}, and neither a decision nor a hazard explains them")
    return hazard


def _per_operation(cell: Cell) -> int | None:
    """Effects that one operation may have, where a trial's workflow has several operations."""
    case = case_of_cell(cell)
    return None if case is None else case.effects_per_operation


def _account(cell: Cell) -> str:
    """Whom an extra effect is charged to that no grant outside the oracle explains."""
    case = case_of_cell(cell)
    if case is not None:
        return case.account.value
    if cell.fate in _LATE:
        return "network"
    return "clock" if cell.fault is FaultKind.CLOCK_JUMP else ""
