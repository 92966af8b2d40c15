"""The final table that a person reads in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table

from orchestrator.evidence.manifest import Manifest
from orchestrator.model import RunVerdict, TrialRecord, Verdict
from orchestrator.plan import CONTROLS, VENDOR
from orchestrator.report.text import visible
from orchestrator.scoring.run import Aggregate

__all__ = ["print_result"]

_FAILURES_SHOWN = 5
_MEANINGS = {
    RunVerdict.QUALIFIED: "every expected trial was evaluated and passed",
    RunVerdict.QUALIFIED_WITH_GAPS: "all that could be run passed; some scheduled cells are N/R",
    RunVerdict.NOT_QUALIFIED: "at least one trial failed",
    RunVerdict.INVALID: "the run itself proves nothing: see the reasons",
    RunVerdict.INCOMPLETE: "some trials could not be evaluated",
}


def print_result(
    root: Path, manifest: Manifest, result: Aggregate, trials: Sequence[TrialRecord]
) -> None:
    """Print verdict, coverage and the first failures with the command that replays them."""
    console = Console(file=sys.stdout, highlight=False)
    table = Table(title=f"{_shown(manifest.subject_name)} · {manifest.profile} profile")
    table.add_column("subject")
    for verdict in Verdict:
        table.add_column(verdict.value, justify="right")
    table.add_column("unsafe", justify="right")
    table.add_column("needless", justify="right")
    for subject in (VENDOR, *CONTROLS):
        of_subject = [trial for trial in trials if trial.subject == subject]
        counts = Counter(trial.verdict for trial in of_subject)
        table.add_row(
            subject,
            *(str(counts[verdict]) for verdict in Verdict),
            str(sum(trial.unsafe_decisions for trial in of_subject)),
            str(sum(trial.needless_decisions for trial in of_subject)),
        )
    console.print(table)
    for name, rate in result.rates.items():
        if "/" not in name:
            console.print(f"  {name:<16} {rate.text} passed")
    if result.integrity_cases:
        _print_integrity(console, result)
    _print_failures(console, root, trials)
    console.print(f"[bold]{result.verdict.value}[/]: {_MEANINGS[result.verdict]}")
    for reason in result.reasons:
        console.print(f"  {_shown(reason)}")
    console.print(f"Report: {_shown(str(root / 'report.html'))}")


def _print_integrity(console: Console, result: Aggregate) -> None:
    """Safety and utility of every case, and the rates."""
    table = Table(title="Integrity: safety and utility apart")
    table.add_column("case", no_wrap=True)
    for name in ("passed", "safety held", "utility held", "N/R"):
        table.add_column(name, justify="right")
    for row in result.integrity_cases:
        table.add_row(
            row.category,
            _of(row.passed, row.passed + row.failed),
            _of(row.safety_held, row.safety_held + row.safety_violated),
            _of(row.utility_held, row.utility_held + row.utility_violated),
            ", ".join(f"{count} {name}" for name, count in row.not_run_subtypes.items()),
        )
    console.print(table)
    for rate in result.integrity_rates:
        indent = "    beside: " if rate.beside else "  "
        console.print(f"{indent}{rate.name:<16} {rate.words}", soft_wrap=True)


def _of(count: int, total: int) -> str:
    return f"{count}/{total}" if total else "N/A"


def _print_failures(console: Console, root: Path, trials: Sequence[TrialRecord]) -> None:
    failed = [
        trial
        for trial in trials
        if trial.subject == VENDOR and trial.verdict in (Verdict.FAIL, Verdict.ERROR)
    ]
    for trial in failed[:_FAILURES_SHOWN]:
        console.print(f"  {trial.verdict.value} {_shown(trial.trial_id)}")
        console.print(f"    {_shown(trial.cause)}")
        console.print(
            f"    memqual replay {_shown(str(root))} --trial '{_shown(trial.trial_id)}'",
            soft_wrap=True,
        )
    if len(failed) > _FAILURES_SHOWN:
        console.print(f"  … and {len(failed) - _FAILURES_SHOWN} more, all in report.html")


def _shown(text: str) -> str:
    """Foreign text for a terminal: every character seen, nothing taken for markup."""
    return escape_markup(visible(text))
