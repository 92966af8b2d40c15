"""What verdicts, columns and arms are called where people read them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from orchestrator.model import (
    Cell,
    ExpiryMode,
    Fate,
    FaultKind,
    RunVerdict,
    Suite,
    TargetSet,
    Verdict,
)
from orchestrator.report.text import visible
from orchestrator.scoring.run import Rate

__all__ = ["MARKS", "MEANINGS", "Mark", "coverage", "injection", "replay_command", "share"]

MEANINGS = {
    RunVerdict.QUALIFIED: "Every expected trial was evaluated and passed.",
    RunVerdict.QUALIFIED_WITH_GAPS: (
        "All that could be run passed. Some scheduled cells are N/R: this memory does not declare "
        "what they need, or this machine cannot do it. They are not part of any rate."
    ),
    RunVerdict.NOT_QUALIFIED: (
        "At least one trial of the memory failed. Failures come first below, each with the command "
        "that repeats it."
    ),
    RunVerdict.INVALID: (
        "The run proves nothing about the memory: a control did not come to what it must, or an "
        "expected trial is missing. Mend the testbed, then run again."
    ),
    RunVerdict.INCOMPLETE: (
        "Nothing failed, and some trials could not be evaluated. That is the testbed's trouble and "
        "not the memory's: run again, or resume the run."
    ),
}
"""What a run's verdict means, in a sentence or two."""


@dataclass(frozen=True)
class Mark:
    """How a verdict looks: a tone for the colour, and a symbol and a word beside it."""

    tone: str
    symbol: str
    word: str


MARKS = {
    Verdict.PASS: Mark("pass", "✓", "passed"),
    Verdict.FAIL: Mark("fail", "✗", "failed"),
    Verdict.ERROR: Mark("error", "!", "not evaluated"),
    Verdict.NOT_RUN: Mark("gap", "∅", "N/R"),
    Verdict.UNSCORED: Mark("unscored", "○", "unscored"),
}
"""Look of each trial verdict."""


def share(rate: Rate) -> str:
    """`n/d`, or N/A for a denominator of zero."""
    return f"{rate.numerator}/{rate.denominator}" if rate.denominator else "N/A"


def coverage(rate: Rate) -> str:
    """Scored trials of all that were scheduled for scoring."""
    return f"{rate.denominator}/{rate.denominator + rate.not_run + rate.errors}"


def injection(cell: Cell) -> str:
    """What is done to the services in a cell, in words: who dies, what becomes of the message."""
    parts = [f"{cell.arm.value} arm"]
    if cell.suite is not Suite.INTEGRITY and cell.case:
        parts.append(cell.case)
    if cell.target is not TargetSet.NONE:
        parts.append(f"kill {cell.target.value}")
    if cell.fate is not Fate.NONE:
        parts.append(f"held message: {cell.fate.value.replace('_', ' ')}")
    if cell.fault not in (FaultKind.NONE, FaultKind.KILL):
        parts.append(f"fault: {cell.fault.value.replace('_', ' ')}")
    if cell.expiry is not ExpiryMode.NONE:
        parts.append(f"lease end: {cell.expiry.value}")
    return " · ".join(parts)


def replay_command(run_id: str, trial_id: str) -> str:
    """The command line that repeats a trial's batch, for a shell in the checkout."""
    folder = shlex.quote(f"runs/{visible(run_id)}")
    return f"memqual replay {folder} --trial {shlex.quote(visible(trial_id))}"
