"""One continuity trial's checks and verdict, from one batch's raw evidence (DESIGN §6, §7).

The oracle judges decisions, the destination's journal judges effects, and the fault receipt says
whether there is anything to judge. A violation that the trace proves is FAIL whatever else is
missing; anything else without its proof is ERROR.
"""

from __future__ import annotations

from dataclasses import dataclass

from chaos.receipts import ClockReceipt, FaultReceipt, TelemetryReceipt
from memqual.v1 import agent_pb2
from orchestrator.errors import EvidenceError
from orchestrator.model import (
    Cell,
    Check,
    Fate,
    FaultKind,
    TargetSet,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.oracle.judgement import Classification, OperationJudgement
from orchestrator.plan import Member
from orchestrator.scoring.checks import Finder
from orchestrator.scoring.declared import not_run
from orchestrator.scoring.effects import EffectFacts
from orchestrator.scoring.evidence import BatchFacts
from orchestrator.suites.continuity.cells import rows_of
from orchestrator.suites.continuity.workload import arguments_of
from services.common.canonical import sha256_hex

__all__ = ["score_trial"]

_RECEIPTS: dict[FaultKind, type[FaultReceipt]] = {
    FaultKind.TELEMETRY_DROP: TelemetryReceipt,
    FaultKind.OBSERVER_DOWN: TelemetryReceipt,
    FaultKind.CLOCK_JUMP: ClockReceipt,
}
_COMPLETED = agent_pb2.WORKFLOW_STATE_COMPLETED
_CONFIRM = agent_pb2.WORKFLOW_STATE_NEEDS_CONFIRMATION


def score_trial(facts: BatchFacts, member: Member) -> TrialRecord:
    """Score one trial of a batch.

    Args:
        facts: The batch's raw evidence.
        member: The trial.

    Returns:
        Its record; the same evidence gives the same record, byte for byte.
    """
    cell, evidence = member.cell, facts.evidence
    base = TrialRecord(
        trial_id=member.trial_id,
        cell=cell,
        subject=evidence.batch.subject,
        batch_id=evidence.batch.batch_id,
        sub_seed=member.sub_seed,
        workflow_id=member.workflow_id,
        verdict=Verdict.ERROR,
    )
    if evidence.error is not None and evidence.error.kind == "infrastructure":
        return base.model_copy(
            update={
                "error_kind": "infrastructure",
                "cause": f"{evidence.error.step}: {evidence.error.cause}",
            }
        )
    ruled_out = not_run(cell, facts.describe, skew=evidence.skew)
    if ruled_out is not None:
        return base.model_copy(
            update={
                "verdict": Verdict.NOT_RUN,
                "subtype": ruled_out.subtype,
                "cause": ruled_out.cause,
            }
        )
    if not cell.arm.has_memory:
        return _Trial(facts, member).unscored(base)
    try:
        judgements = facts.judgements(member.workflow_id)
    except EvidenceError as error:
        return base.model_copy(update={"error_kind": "trial", "cause": error.diagnosis})
    return _Trial(facts, member).scored(base, judgements)


@dataclass(frozen=True)
class _Trial:
    facts: BatchFacts
    member: Member

    @property
    def _cell(self) -> Cell:
        return self.member.cell

    @property
    def _effects(self) -> EffectFacts:
        return self.facts.effects.get(self.member.workflow_id, EffectFacts())

    @property
    def _status(self) -> agent_pb2.WorkflowStatus | None:
        return self.facts.final.get(self.member.workflow_id)

    def unscored(self, base: TrialRecord) -> TrialRecord:
        """A comparator's trial: what happened is told, nothing is judged."""
        find = Finder()
        self._fault_checks(find)
        errors = find.violated_or_open()
        return base.model_copy(
            update={
                **self._numbers(),
                "verdict": Verdict.ERROR if errors else Verdict.UNSCORED,
                "error_kind": "trial" if errors else "",
                "cause": self._cause(errors),
                "checks": find.checks(),
            }
        )

    def scored(self, base: TrialRecord, judgements: tuple[OperationJudgement, ...]) -> TrialRecord:
        """A memory arm's trial."""
        find = Finder()
        self._decision_checks(find, judgements)
        proven = self._fault_checks(find)
        hazard = self._effect_checks(find, judgements) if proven else ""
        if proven:
            self._end_checks(find, judgements)
        verdict, errors = find.verdict()
        return base.model_copy(
            update={
                **self._numbers(),
                "operation_id": judgements[-1].operation_id if judgements else "",
                "verdict": verdict,
                "error_kind": "trial" if verdict is Verdict.ERROR else "",
                "cause": self._cause(errors),
                "checks": find.checks(),
                "decisions": tuple(entry for one in judgements for entry in one.history()),
                "unsafe_decisions": _count(judgements, Classification.UNSAFE),
                "needless_decisions": _count(judgements, Classification.NEEDLESS),
                "boundary": any(one.boundary for one in judgements),
                "hazard": hazard,
            }
        )

    def _numbers(self) -> dict[str, object]:
        kill = self.facts.kill
        return {
            "dispatches": self.facts.dispatches[self.member.workflow_id],
            "effects": self._effects.applied,
            "tool_errors": self._effects.tool_errors,
            "fault_receipt_id": "" if kill is None else kill.injection_id,
            "resolution_ms": self._resolution_ms(),
        }

    def _resolution_ms(self) -> float | None:
        """From the kill to the final snapshot's trace head, on the interposer's clock."""
        kill, snapshots = self.facts.kill, self.facts.evidence.snapshots
        if kill is None or kill.frozen_monotonic_ns is None or not snapshots:
            return None
        last = next(
            (
                record.monotonic_ns
                for record in reversed(self.facts.trace)
                if record.metadata.get("memqual-workflow") == self.member.workflow_id
            ),
            None,
        )
        return None if last is None else round((last - kill.frozen_monotonic_ns) / 1e6, 3)

    def _cause(self, errors: tuple[Check, ...]) -> str:
        batch_error = self.facts.evidence.error
        told = [f"{check.check_id}: {check.actual}" for check in errors]
        if batch_error is not None:
            told.insert(0, f"{batch_error.step}: {batch_error.cause}")
        return "; ".join(told)

    def _decision_checks(self, find: Finder, judgements: tuple[OperationJudgement, ...]) -> None:
        calls = [call for one in judgements for call in one.calls]
        for check_id, requirement, classification in (
            ("continuity.safety", "MQ-C-01", Classification.UNSAFE),
            ("continuity.liveness", "MQ-C-02", Classification.NEEDLESS),
            ("continuity.form", "MQ-C-03", Classification.MALFORMED),
        ):
            bad = [call for call in calls if call.classification is classification]
            told = [
                f"{call.method} at trace record {call.sequence}: {call.observed}"
                f" ({', '.join(row.value for row in call.rows)};"
                f" allowed: {', '.join(call.allowed) or 'nothing'}"
                + (f"; {', '.join(call.problems)}" if call.problems else "")
                + ")"
                for call in bad
            ]
            if not calls:
                find.open(check_id, requirement, "the memory was never asked")
            else:
                find.that(
                    check_id, requirement, not bad, "every answer is allowed", "; ".join(told)
                )

    def _fault_checks(self, find: Finder) -> bool:
        """Receipts and window; False when a declared fault is not proven."""
        lacking = [text for one in self.facts.receipts for text in one.missing()]
        kill = self.facts.kill
        if self._cell.target is not TargetSet.NONE and kill is None:
            lacking.append("kill: no receipt")
        wanted = _RECEIPTS.get(self._cell.fault)
        if wanted and not any(isinstance(one, wanted) for one in self.facts.receipts):
            lacking.append(f"{self._cell.fault.value}: no receipt")
        if self.facts.evidence.error is not None:
            lacking.append(f"the batch ended early at {self.facts.evidence.error.step}")
        find.rig("rig.receipt", "MQ-C-09", not lacking, "every fault is proven", "; ".join(lacking))
        stood = kill is not None and kill.held_workflows.count(self.member.workflow_id) == 1
        held = self.facts.held[self.member.workflow_id]
        once = stood and held in (0, 1)
        find.rig("rig.window", "MQ-C-08", once, "held once", f"stood: {stood}, holds: {held}")
        return not lacking and once

    def _effect_checks(self, find: Finder, judgements: tuple[OperationJudgement, ...]) -> str:
        """Effects against decisions; returns the account that an extra effect goes to."""
        effects = self._effects
        hazard = ""
        extra = effects.applied > 1
        if extra and not any(one.grant_outside for one in judgements):
            hazard = _hazard_account(self._cell)
        if extra and not hazard and not any(one.grant_outside for one in judgements):
            # No decision explains it and no hazard of the cell does: the rig is at fault.
            find.open(
                "continuity.extra_effect", "MQ-C-04", f"{effects.applied} unexplained effects"
            )
        else:
            find.that(
                "continuity.extra_effect",
                "MQ-C-04",
                not extra or bool(hazard),
                "at most one effect",
                f"{effects.applied} effects" + (f", account: {hazard}" if hazard else ""),
            )
        status = self._status
        completed = status is not None and status.state == _COMPLETED
        lost = completed and effects.applied == 0
        find.that(
            "continuity.lost_effect",
            "MQ-C-05",
            not lost,
            "complete means applied",
            f"complete: {completed}, effects: {effects.applied}",
        )
        asked = sha256_hex(arguments_of(self.member).arguments_json.encode())
        wrong = [digest for digest in effects.arguments_digests if digest != asked]
        find.that(
            "continuity.wrong_effect",
            "MQ-C-06",
            not wrong,
            "the arguments that were asked for",
            f"{len(wrong)} effects with other arguments",
        )
        return hazard

    def _end_checks(self, find: Finder, judgements: tuple[OperationJudgement, ...]) -> None:
        status = self._status
        if status is None:
            find.open("continuity.end", "MQ-C-07", "the host's last status is missing")
            return
        name = agent_pb2.WorkflowState.Name(status.state).removeprefix("WORKFLOW_STATE_").lower()
        ended = status.state in (_COMPLETED, _CONFIRM)
        host_failed = status.state == agent_pb2.WORKFLOW_STATE_FAILED
        if host_failed and not any(one.violations for one in judgements):
            find.open("continuity.end", "MQ-C-07", f"the host failed: {status.error}")
        else:
            find.that("continuity.end", "MQ-C-07", ended, "completed or needs_confirmation", name)
        wanted = set(rows_of(self._cell))
        reached = {row.value for one in judgements for call in one.calls for row in call.rows}
        missing = sorted(wanted - reached)
        if not any(one.violations for one in judgements):
            find.rig(
                "rig.rows",
                "MQ-C-10",
                not missing or _conservative(self.facts, self._cell),
                f"rows {', '.join(sorted(wanted))}",
                f"never reached: {', '.join(missing)}",
            )


def _count(judgements: tuple[OperationJudgement, ...], classification: Classification) -> int:
    return sum(one.count(classification) for one in judgements)


def _hazard_account(cell: Cell) -> str:
    """Whom an extra effect is charged to that no grant outside the oracle explains (DESIGN §6)."""
    if cell.fate in (
        Fate.LATE_BEFORE_RESUME,
        Fate.LATE_AFTER_DECISION,
        Fate.LATE_AFTER_COMPLETION,
        Fate.LATE_AFTER_KEY_END,
    ):
        return "network"
    return "clock" if cell.fault is FaultKind.CLOCK_JUMP else ""


def _conservative(facts: BatchFacts, cell: Cell) -> bool:
    """A memory without begin_replay meets L and X where others replay, and is not blamed."""
    return cell.target is TargetSet.MEMORY and cell.window in (
        WindowName.BEFORE_INTENT,
        WindowName.AFTER_LEASE,
    )
