"""One continuity trial's verdict, from one batch's raw evidence (DESIGN §6, §7).

The oracle judges decisions, the destination's journal judges effects, and the fault receipts say
whether there is anything to judge. An answer that the trace proves to be wrong is FAIL whatever
else is missing; everything else without its proof is ERROR.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.errors import EvidenceError
from orchestrator.model import Check, Figure, TrialRecord, Verdict
from orchestrator.oracle.judgement import CallJudgement, Classification, OperationJudgement
from orchestrator.oracle.messages import DecisionKind
from orchestrator.oracle.worlds import Row
from orchestrator.plan import Member
from orchestrator.scoring.case_faults import check_case_faults
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.decision_checks import check_decisions
from orchestrator.scoring.declared import NotRun, not_run
from orchestrator.scoring.effect_checks import check_effects, extra_effects
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.end_checks import check_end
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.scoring.families import JUDGES, CaseFacts
from orchestrator.scoring.fault_checks import check_fault
from orchestrator.scoring.memory_ends import check_memory_lives
from orchestrator.scoring.rolled_back import apart_from_rollback
from orchestrator.scoring.unmet import unmet
from orchestrator.scoring.unserved import unserved_word
from orchestrator.suites.continuity.families import EvidenceClass, case_of_cell

__all__ = ["score_trial"]

_NANOSECONDS_A_MILLISECOND = 1_000_000


def score_trial(facts: BatchFacts, member: Member) -> TrialRecord:
    """Score one trial of a batch.

    Args:
        facts: The batch's raw evidence.
        member: The trial.

    Returns:
        Its record; the same evidence gives the same record, byte for byte.
    """
    evidence = facts.evidence
    base = TrialRecord(
        trial_id=member.trial_id,
        cell=member.cell,
        subject=evidence.batch.subject,
        batch_id=evidence.batch.batch_id,
        sub_seed=member.sub_seed,
        workflow_id=member.workflow_id,
        expiry=evidence.expiry,
        verdict=Verdict.ERROR,
    )
    if evidence.error is not None and evidence.error.kind == "infrastructure":
        cause = f"{evidence.error.step}: {evidence.error.cause}"
        return base.model_copy(update={"error_kind": "infrastructure", "cause": cause})
    ruled_out = not_run(
        member.cell, facts.describe, skew=evidence.skew, unavailable=evidence.unavailable
    )
    if ruled_out is not None:
        return _not_run(base, ruled_out)
    if not member.cell.arm.has_memory or _model_asked_for_nothing(facts, member):
        return _unscored(facts, member, base)
    try:
        judgements = facts.judgements(member.workflow_id)
    except EvidenceError as error:
        return base.model_copy(update={"error_kind": "trial", "cause": error.diagnosis})
    return _scored(facts, member, base, judgements)


def _not_run(base: TrialRecord, why: NotRun) -> TrialRecord:
    return base.model_copy(
        update={"verdict": Verdict.NOT_RUN, "subtype": why.subtype, "cause": why.cause}
    )


def _unscored(facts: BatchFacts, member: Member, base: TrialRecord) -> TrialRecord:
    """A trial without a memory in it: what happened is told, nothing is judged."""
    find = Finder()
    proven = _check_faults(find, facts, member)
    figures, found = _judge_case(find, facts, member, (), proven=proven)
    errors = find.violated_or_open()
    return base.model_copy(
        update={
            **_numbers(facts, member, ()),
            "verdict": Verdict.ERROR if errors else Verdict.UNSCORED,
            "error_kind": "trial" if errors else "",
            "cause": _cause(facts, errors),
            "checks": find.checks(),
            "findings": found,
            "figures": figures,
        }
    )


def _model_asked_for_nothing(facts: BatchFacts, member: Member) -> bool:
    """A fresh model may talk and call no tool: then nobody had anything to ask the memory."""
    case = case_of_cell(member.cell)
    return (
        case is not None
        and case.evidence_class is EvidenceClass.FRESH_MODEL
        and member.workflow_id not in facts.operations
        and not facts.dispatches[member.workflow_id]
    )


def _scored(
    facts: BatchFacts,
    member: Member,
    base: TrialRecord,
    judgements: Sequence[OperationJudgement],
) -> TrialRecord:
    """A memory arm's trial."""
    find = Finder()
    proven = _check_faults(find, facts, member)
    check_memory_lives(find, facts)
    judgements, rolled_back = apart_from_rollback(facts, member.cell, judgements)
    check_decisions(find, facts.declared, judgements, proven=proven)
    hazard = ""
    if proven:
        hazard = check_effects(find, facts, member, judgements)
        check_end(find, facts, member, judgements)
    unserved = unserved_word(member, facts.trace) or unmet(facts, member)
    # A wrong answer on the way stands; the case itself is about what is not there.
    if unserved is not None and find.verdict()[0] is not Verdict.FAIL:
        return _not_run(base, unserved)
    figures: tuple[Figure, ...] = ()
    found: tuple[str, ...] = ()
    if unserved is None:
        figures, found = _judge_case(find, facts, member, judgements, proven=proven)
    verdict, errors = find.verdict()
    return base.model_copy(
        update={
            **_numbers(facts, member, judgements),
            "operation_id": judgements[-1].operation_id if judgements else "",
            "verdict": verdict,
            "error_kind": "trial" if verdict is Verdict.ERROR else "",
            "cause": _cause(facts, errors),
            "checks": find.checks(),
            "decisions": tuple(entry for one in judgements for entry in one.history()),
            "unsafe_decisions": _count(judgements, Classification.UNSAFE),
            "needless_decisions": _count(judgements, Classification.NEEDLESS),
            "boundary": facts.lease_may_end_early or any(one.boundary for one in judgements),
            "hazard": hazard,
            "findings": (*_findings(facts, judgements), *rolled_back, *found),
            "figures": figures,
        }
    )


def _check_faults(find: Finder, facts: BatchFacts, member: Member) -> bool:
    case = case_of_cell(member.cell)
    if case is None:
        return check_fault(find, facts, member)
    return check_case_faults(find, facts, case)


def _judge_case(
    find: Finder,
    facts: BatchFacts,
    member: Member,
    judgements: Sequence[OperationJudgement],
    *,
    proven: bool,
) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    """What the trial's case adds to oracle and journal, if it is of one and adds anything.

    Returns:
        Figures for a study's tables, and findings.
    """
    case = case_of_cell(member.cell)
    judge = None if case is None else JUDGES.get(case.name)
    if case is None or judge is None:
        return (), ()
    trial = CaseFacts(find, facts, member, judgements, case, proven)
    judge(trial)
    return tuple(trial.figures), tuple(trial.findings)


def _numbers(
    facts: BatchFacts, member: Member, judgements: Sequence[OperationJudgement]
) -> dict[str, object]:
    effects = facts.effects.get(member.workflow_id, EffectFacts())
    return {
        "dispatches": facts.dispatches[member.workflow_id],
        "effects": effects.applied,
        "extra_effects": extra_effects(member.cell, effects),
        "tool_errors": effects.tool_errors,
        "fault_receipt_id": "" if facts.kill is None else facts.kill.injection_id,
        "resolution_ms": _resolution_ms(facts, judgements),
    }


def _resolution_ms(facts: BatchFacts, judgements: Sequence[OperationJudgement]) -> float | None:
    """From the kill to the last answer that a host got, on the interposer's clock."""
    fault_ns = facts.fault_ns
    answers = [
        call.answered_ns
        for call in _calls(judgements)
        if call.answered_ns is not None and call.source != "orchestrator"
    ]
    if fault_ns is None or not answers or max(answers) < fault_ns:
        return None
    return round((max(answers) - fault_ns) / _NANOSECONDS_A_MILLISECOND, 3)


def _findings(facts: BatchFacts, judgements: Sequence[OperationJudgement]) -> tuple[str, ...]:
    """Concepts that the memory does not declare and all the same keeps to."""
    fine = [call for call in _calls(judgements) if not call.violates]
    found = []
    if not facts.declared.begin_replay and any(call.rows == (Row.SAME_BEGIN,) for call in fine):
        found.append("stale_declaration: begin_replay")
    retried = any(
        call.rows == (Row.FINAL_ABSENCE,) and call.kind is DecisionKind.EXECUTE for call in fine
    )
    if not facts.declared.final_absence and retried:
        found.append("stale_declaration: final_absence")
    if not facts.declared.intent_matching and any(call.rows == (Row.FORKED,) for call in fine):
        found.append("stale_declaration: intent_matching")
    return tuple(found)


def _calls(judgements: Sequence[OperationJudgement]) -> list[CallJudgement]:
    return [call for one in judgements for call in one.calls]


def _count(judgements: Sequence[OperationJudgement], classification: Classification) -> int:
    return sum(one.count(classification) for one in judgements)


def _cause(facts: BatchFacts, errors: Sequence[Check]) -> str:
    """What stands in the way of PASS, in words; empty when nothing does."""
    told = [f"{check.check_id}: {check.actual}" for check in errors]
    batch_error = facts.evidence.error
    if batch_error is not None and told:
        told.insert(0, f"{batch_error.step}: {batch_error.cause}")
    return "; ".join(told)
