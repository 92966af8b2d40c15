"""The final table that a person reads in the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table

from orchestrator.evidence.manifest import Manifest
from orchestrator.model import RunVerdict, TrialRecord, Verdict
from orchestrator.plan import CONTROLS, VENDOR
from orchestrator.report.declared import is_assisted
from orchestrator.report.narrative_words import (
    narrative_lines,
    not_scored_or,
    share_words,
    verdict_words,
)
from orchestrator.report.paper import PaperBuilder, PaperTable
from orchestrator.report.text import visible
from orchestrator.scoring.run import Aggregate

__all__ = ["ConsoleTable"]

_FAILURES_SHOWN = 5
_FILE_WIDTH = 150
_MEANINGS = {
    RunVerdict.QUALIFIED: "every expected trial was evaluated and passed",
    RunVerdict.QUALIFIED_WITH_GAPS: "all that could be run passed; some scheduled cells are N/R",
    RunVerdict.NOT_QUALIFIED: "at least one trial failed",
    RunVerdict.INVALID: "the run itself proves nothing: see the reasons",
    RunVerdict.INCOMPLETE: "some trials could not be evaluated",
}


class ConsoleTable:
    """Collects what the terminal tells of trials, which are added one at a time."""

    def __init__(self) -> None:
        self._verdicts: dict[str, Counter[Verdict]] = {}
        self._decisions: dict[str, Counter[str]] = {}
        self._failed: list[TrialRecord] = []
        self._failures = 0
        self._paper = PaperBuilder()

    def add(self, trial: TrialRecord) -> None:
        """Add the record of a trial that counts."""
        self._verdicts.setdefault(trial.subject, Counter())[trial.verdict] += 1
        self._decisions.setdefault(trial.subject, Counter()).update(
            unsafe=trial.unsafe_decisions, needless=trial.needless_decisions
        )
        if trial.subject == VENDOR:
            self._paper.add(trial)
        if trial.subject == VENDOR and trial.verdict in (Verdict.FAIL, Verdict.ERROR):
            self._failures += 1
            if len(self._failed) < _FAILURES_SHOWN:
                self._failed.append(trial)

    def print(self, root: Path, manifest: Manifest, result: Aggregate) -> None:
        """Print verdict, coverage and the first failures with the command that replays them."""
        console = Console(file=sys.stdout, highlight=False)
        table = Table(title=f"{_shown(manifest.subject_name)} · {manifest.profile} profile")
        table.add_column("subject")
        for verdict in Verdict:
            table.add_column(verdict.value, justify="right")
        table.add_column("unsafe", justify="right")
        table.add_column("needless", justify="right")
        for subject in (VENDOR, *CONTROLS):
            counts = self._verdicts.get(subject, Counter())
            decisions = self._decisions.get(subject, Counter())
            table.add_row(
                subject,
                *(str(counts[verdict]) for verdict in Verdict),
                str(decisions["unsafe"]),
                str(decisions["needless"]),
            )
        console.print(table)
        for name, rate in result.rates.items():
            if "/" not in name:
                console.print(f"  {name:<16} {rate.text} passed")
        if result.integrity_cases:
            _print_integrity(console, result)
        if result.narrative:
            _print_narrative(console, manifest, result)
        for paper in self._paper.result():
            _print_paper(paper)
        self._print_failures(console, root)
        console.print(f"[bold]{result.verdict.value}[/]: {_MEANINGS[result.verdict]}")
        for reason in result.reasons:
            console.print(f"  {_shown(reason)}")
        console.print(f"Report: {_shown(str(root / 'report.html'))}")

    def _print_failures(self, console: Console, root: Path) -> None:
        for trial in self._failed:
            console.print(f"  {trial.verdict.value} {_shown(trial.trial_id)}")
            console.print(f"    {_shown(trial.cause)}")
            console.print(
                f"    memqual replay {_shown(str(root))} --trial '{_shown(trial.trial_id)}'",
                soft_wrap=True,
            )
        if self._failures > len(self._failed):
            more = self._failures - len(self._failed)
            console.print(f"  … and {more} more, all in report.html")


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


def _print_narrative(console: Console, manifest: Manifest, result: Aggregate) -> None:
    """Every narrative cell, both readings of CP8 side by side, and the levels."""
    table = Table(title="Narrative: both readings of CP8")
    table.add_column("cell", no_wrap=True)
    for name in ("trials", "questions", "strict", "published"):
        table.add_column(name, justify="right")
    for row in result.narrative:
        table.add_row(
            row.case,
            verdict_words(row),
            str(row.questions) if row.questions else "",
            not_scored_or(row.strict, row.questions_strict) if row.questions else "",
            share_words(row.published, row.questions) if row.questions else "",
        )
    _wide_console().print(table)
    for line in narrative_lines(result.narrative, assisted=is_assisted(manifest.describe_json)):
        console.print(f"  {line}", soft_wrap=True)


def _print_paper(paper: PaperTable) -> None:
    """One of the study's tables: published / ours."""
    console = _wide_console()
    table = Table(title=f"{paper.title}: published / ours")
    table.add_column("of")
    for name in (*paper.columns, "trials"):
        table.add_column(name)
    for row in paper.rows:
        values = (f"{value.published} / {_shown(value.ours)}" for value in row.values)
        table.add_row(row.name, *values, row.trials)
    console.print(table)
    for note in paper.notes:
        console.print(f"  {_shown(note)}", soft_wrap=True)


def _wide_console() -> Console:
    """A file has no width: there its lines are as long as a table needs."""
    width = None if sys.stdout.isatty() else _FILE_WIDTH
    return Console(file=sys.stdout, highlight=False, width=width)


def _of(count: int, total: int) -> str:
    return f"{count}/{total}" if total else "N/A"


def _shown(text: str) -> str:
    """Foreign text for a terminal: every character seen, nothing taken for markup."""
    return escape_markup(visible(text))
