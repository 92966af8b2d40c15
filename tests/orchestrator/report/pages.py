"""Trials and pages for the reports' tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from orchestrator.model import (
    Arm,
    CapabilityVariant,
    Cell,
    Check,
    CheckOutcome,
    Fate,
    FaultKind,
    TargetSet,
    TrialRecord,
    Verdict,
    WindowName,
)
from orchestrator.plan import VENDOR, ExpectedCells, ExpectedTrial, trial_id
from orchestrator.report.html import render_html
from orchestrator.report.junit import render_junit
from orchestrator.scoring.run import aggregate
from orchestrator.suites.continuity.cells import REQUIREMENT_REVISION, cell_table
from tests.orchestrator.evidence.bundles import SEED, manifest

HOSTILE = (
    "<script>alert(1)</script> \"' onerror=x &lt;{{ 7*7 }} \u202egnp\u2066 \x1b[31m\x00\u200b\ufffe"
)


def cell_at(capability: CapabilityVariant) -> Cell:
    """The agent's kill at in_request, its message lost, with a skewed or no lease end."""
    return next(
        one.cell
        for one in cell_table()
        if one.cell.window is WindowName.IN_REQUEST
        and one.cell.capability is capability
        and one.cell.arm is Arm.MEMORY
        and one.cell.target is TargetSet.AGENT
        and one.cell.fate is Fate.DROP
        and one.cell.fault is FaultKind.KILL
    )


def check(
    outcome: CheckOutcome = CheckOutcome.HELD, name: str = "safety", actual: str = ""
) -> Check:
    """One check of the memory."""
    return Check(
        check_id=f"continuity.{name}",
        requirement_id="MQ-C-01",
        paper_property="P1",
        outcome=outcome,
        expected="every answer is allowed",
        actual=actual,
    )


def passing(
    subject: str = VENDOR,
    *,
    cells: Sequence[Cell] | None = None,
    count: int = 1,
    first: int = 0,
) -> list[TrialRecord]:
    """Trials that passed; by default one of two cells each."""
    wanted = cells or [cell_at(CapabilityVariant.NONE), cell_at(CapabilityVariant.IDEMPOTENT)]
    return [
        TrialRecord(
            trial_id=trial_id(subject, cell, number),
            cell=cell,
            subject=subject,
            batch_id="b1",
            sub_seed=number,
            verdict=Verdict.PASS,
            checks=(check(), check(name="form")),
            decisions=("EXECUTE:first_grant:1",),
            dispatches=1,
            effects=1,
        )
        for cell in wanted
        for number in range(first, first + count)
    ]


def failing(
    cell: Cell | None = None, *, subject: str = VENDOR, number: int = 1, **changes: Any
) -> TrialRecord:
    """A trial with an unsafe decision and its second effect."""
    where = cell or cell_at(CapabilityVariant.NONE)
    told = "Begin at trace record 77: EXECUTE (X; allowed: CONFIRM)"
    record = TrialRecord(
        trial_id=trial_id(subject, where, number),
        cell=where,
        subject=subject,
        batch_id="b1",
        sub_seed=number,
        verdict=Verdict.FAIL,
        cause=f"continuity.safety: {told}",
        checks=(check(CheckOutcome.VIOLATED, actual=told), check(name="form")),
        decisions=("EXECUTE:first_grant:1", "EXECUTE:because:2"),
        dispatches=2,
        effects=2,
        extra_effects=1,
        tool_errors=1,
        unsafe_decisions=1,
        resolution_ms=1500.0,
    )
    return record.model_copy(update=changes)


def planned(
    trials: Iterable[TrialRecord], missing: Iterable[tuple[str, Cell]] = ()
) -> ExpectedCells:
    """A plan that expects these trials, and some that are missing."""
    known = [(one.trial_id, one.cell, one.subject) for one in trials]
    known += [(trial_id(subject, cell, 99), cell, subject) for subject, cell in missing]
    return ExpectedCells.of(
        "selftest",
        REQUIREMENT_REVISION,
        SEED,
        tuple(
            ExpectedTrial(trial_id=name, cell_id=cell.cell_id, subject=subject, sub_seed=1)
            for name, cell, subject in {entry[0]: entry for entry in known}.values()
        ),
    )


def rendered(
    trials: Sequence[TrialRecord], missing: Iterable[tuple[str, Cell]] = (), **facts: object
) -> str:
    """The page of a run with these trials."""
    return render_html(manifest(**facts), aggregate(trials, planned(trials, missing)), trials)


def junit(
    trials: Sequence[TrialRecord], missing: Iterable[tuple[str, Cell]] = (), **facts: object
) -> str:
    """The junit.xml of a run with these trials."""
    return render_junit(manifest(**facts), aggregate(trials, planned(trials, missing)), trials)
