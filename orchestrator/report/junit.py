"""junit.xml: a testcase a cell, so that a CI names what broke and no list has 45,000 rows.

`failure` is the memory's: a trial failed. `error` is the testbed's: a trial could not be evaluated,
a control was not caught, an expected trial is missing. `skipped` is N/R with its subtype, or a
comparator that nothing is judged of, or a
graded cell with its figures. A control that comes to what it must passes, whatever its own
verdict is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from orchestrator.evidence.manifest import Manifest
from orchestrator.model import Suite, TrialRecord, Verdict
from orchestrator.plan import VENDOR
from orchestrator.report.declared import is_assisted
from orchestrator.report.narrative_words import (
    narrative_properties,
    not_scored_or,
    share_words,
)
from orchestrator.report.text import visible
from orchestrator.report.wording import replay_command
from orchestrator.scoring.controls import expectation
from orchestrator.scoring.run import Aggregate, is_missed, latest_records
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = ["JunitBuilder", "render_junit"]

_Mark = TypeVar("_Mark", Failure, Error)

TRIALS_PER_CELL = 5
_TOLD = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.NOT_RUN})
LINES_MAX = 50
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
_CAUSE_CHARACTERS = 300


@dataclass
class _Cell:
    """What is told of one cell of one subject."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    told: dict[Verdict, list[TrialRecord]] = field(default_factory=dict)
    subtypes: set[str] = field(default_factory=set)
    missed: int = 0
    misses: list[TrialRecord] = field(default_factory=list)
    must: str = ""
    graded_case: str = ""

    def add(self, trial: TrialRecord, *, missed: bool) -> None:
        self.counts[trial.verdict] += 1
        told = self.told.setdefault(trial.verdict, [])
        if trial.verdict in _TOLD and len(told) < TRIALS_PER_CELL:
            told.append(trial)
        if trial.subtype is not None:
            self.subtypes.add(trial.subtype.value)
        if missed:
            self.missed += 1
            if len(self.misses) < 2 * TRIALS_PER_CELL:
                self.misses.append(trial)


class JunitBuilder:
    """Collects what the file tells of trials, which are added one at a time.

    Args:
        run_id: For the commands that repeat a trial.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._suites: dict[tuple[str, str], dict[str, _Cell]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add the record of a trial that counts."""
        cells = self._suites.setdefault((trial.subject, trial.cell.suite.value), {})
        cell = cells.get(trial.cell.cell_id)
        if cell is None:
            is_story = trial.cell.suite is Suite.NARRATIVE
            cell = cells[trial.cell.cell_id] = _Cell(
                must=_must(trial), graded_case=trial.cell.case if is_story else ""
            )
        cell.add(trial, missed=is_missed(trial))

    def render(self, manifest: Manifest, result: Aggregate) -> str:
        """Render the file; the same input gives the same text.

        Args:
            manifest: The run's facts.
            result: What the run's trials amount to: it knows what is missing.
        """
        document = JUnitXml(visible(f"memqual {manifest.run_id}"))
        document.add_testsuite(_run_suite(manifest, result))
        graded = {row.case: _graded_words(row) for row in result.narrative}
        order = {(one.subject, one.cell_id): at for at, one in enumerate(result.cells)}

        def place(subject: str, cells: Iterable[str]) -> int:
            return min(order.get((subject, cell_id), 0) for cell_id in cells)

        for (subject, suite_name), cells in sorted(
            self._suites.items(), key=lambda item: place(item[0][0], item[1])
        ):
            suite = TestSuite(visible(f"{subject} {suite_name}"))
            for cell_id in sorted(cells, key=lambda one: place(subject, [one])):
                case = TestCase(visible(cell_id), visible(f"memqual.{subject}.{suite_name}"))
                told = graded.get(cells[cell_id].graded_case, "") if subject == VENDOR else ""
                outcome = _outcome(self._run_id, subject, cells[cell_id], told)
                if outcome is not None:
                    case.result = outcome
                suite.add_testcase(case)
            document.add_testsuite(suite)
        text: bytes | str = document.tostring()
        return _DECLARATION + (text.decode() if isinstance(text, bytes) else text) + "\n"


def render_junit(manifest: Manifest, result: Aggregate, trials: Iterable[TrialRecord]) -> str:
    """Render the file of a run whose records are in memory (`JunitBuilder`)."""
    builder = JunitBuilder(manifest.run_id)
    for trial in latest_records(trials).values():
        builder.add(trial)
    return builder.render(manifest, result)


def _must(trial: TrialRecord) -> str:
    """What a control's cell must come to; empty for the vendor."""
    if trial.subject == VENDOR:
        return ""
    try:
        return expectation(trial.subject, trial.cell, trial.expiry).value.replace("_", " ")
    except ValueError:
        return "unknown to this version"


def _run_suite(manifest: Manifest, result: Aggregate) -> TestSuite:
    """What is true or not of the run as a whole."""
    suite = TestSuite("run")
    suite.timestamp = datetime.fromtimestamp(manifest.started_unix_ns / 1e9, tz=UTC).strftime(
        "%Y-%m-%dT%H:%M:%S"
    )
    for name, value in (
        ("verdict", result.verdict.value),
        ("memory", f"{manifest.subject_name} {manifest.subject_version}"),
        ("profile", manifest.profile),
        ("seed", str(manifest.seed)),
        ("runtime", manifest.runtime),
        ("requirement_revision", manifest.requirement_revision),
        *((f"integrity {rate.name}", rate.words) for rate in result.integrity_rates),
        *narrative_properties(result.narrative, assisted=is_assisted(manifest.describe_json)),
    ):
        suite.add_property(name, visible(value))
    complete = TestCase("every expected trial is present", "memqual.run")
    if result.missing:
        complete.result = _told(
            Error(f"{len(result.missing)} expected trials are missing", "missing"),
            result.missing,
        )
    suite.add_testcase(complete)
    parity = TestCase("telemetry changes no decision (P5)", "memqual.run")
    if result.parity:
        parity.result = _told(
            Failure(f"{len(result.parity)} decision histories differ", "parity"), result.parity
        )
    suite.add_testcase(parity)
    return suite


def _graded_words(row: NarrativeRow) -> str:
    """Both readings of a graded cell; empty where it has PASS and FAIL alone."""
    strict = not_scored_or(row.strict, row.questions_strict)
    published = share_words(row.published, row.questions)
    return f"strict {strict}, published {published}" if row.questions else ""


def _outcome(
    run_id: str, subject: str, cell: _Cell, graded: str
) -> Failure | Error | Skipped | None:
    """What a testcase is marked with; None when it passed.

    Args:
        run_id: For the commands that repeat a trial.
        subject: `vendor` or `control:<flaw>`.
        cell: What its trials came to.
        graded: What a graded cell shows, in words.
    """
    counts, total = cell.counts, cell.counts.total()
    evaluated = counts[Verdict.PASS] + counts[Verdict.FAIL]
    beside = f"coverage {evaluated}/{total - counts[Verdict.UNSCORED]}"
    if cell.misses:
        return _trials_told(
            Error(f"{cell.missed} of {total} trials did not come to: {cell.must}", "control"),
            run_id,
            cell.misses,
            of=cell.missed,
        )
    if counts[Verdict.FAIL] and subject == VENDOR:
        return _trials_told(
            Failure(f"{counts[Verdict.FAIL]} of {total} trials failed; {beside}", "FAIL"),
            run_id,
            cell.told[Verdict.FAIL] + cell.told.get(Verdict.ERROR, []),
            of=counts[Verdict.FAIL] + counts[Verdict.ERROR],
        )
    if counts[Verdict.ERROR]:
        errors = cell.told[Verdict.ERROR]
        kind = "infrastructure" if errors[0].error_kind == "infrastructure" else "ERROR"
        return _trials_told(
            Error(f"{counts[Verdict.ERROR]} of {total} trials not evaluated; {beside}", kind),
            run_id,
            errors,
            of=counts[Verdict.ERROR],
        )
    if counts[Verdict.NOT_RUN] == total:
        cause = visible(cell.told[Verdict.NOT_RUN][0].cause, _CAUSE_CHARACTERS)
        subtypes = ", ".join(sorted(cell.subtypes))
        return Skipped(f"N/R {subtypes}: {cause}", subtypes)
    if counts[Verdict.UNSCORED] == total:
        why = "a comparator arm, of which nothing is judged"
        if cell.graded_case:
            why = f"graded: {graded or 'see the report'}"
        return Skipped(f"UNSCORED: {why}", "UNSCORED")
    return None


def _trials_told(
    mark: _Mark, run_id: str, trials: Sequence[TrialRecord], *, of: int | None = None
) -> _Mark:
    """List the first trials with cause and replay command; count the others."""
    shown = trials[: 2 * TRIALS_PER_CELL]
    lines = []
    for trial in shown:
        lines.append(f"{trial.verdict.value} {trial.trial_id}")
        lines.append(f"  cause: {visible(trial.cause, _CAUSE_CHARACTERS)}")
        lines.append(f"  decisions: {' → '.join(trial.decisions) or 'none'}")
        lines.append(f"  repeat: {replay_command(run_id, trial.trial_id)}")
    return _told(mark, lines, left_out=(len(trials) if of is None else of) - len(shown))


def _told(mark: _Mark, lines: Sequence[str], *, left_out: int = 0) -> _Mark:
    """Put lines into the body of a mark, each of bounded length, LINES_MAX of them."""
    left_out = left_out or max(0, len(lines) - LINES_MAX)
    told = [visible(line) for line in lines[:LINES_MAX]]
    if left_out:
        told.append(f"… and {left_out} more; all of them are in the bundle.")
    mark.text = "\n".join(told)
    return mark
