"""report.html: one file that a person reads from top to bottom, without script or network.

What a memory said is foreign: the template escapes every value (autoescape) and shows every
character that would not be seen (`text.visible`, as the environment's finalizer), so that neither
depends on whoever edits the template. Passes are added up; only what did not pass is listed, with
bounds that keep the page small whatever the run's size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.evidence.claims import Claims, claims_of
from orchestrator.evidence.manifest import Manifest
from orchestrator.model import RunVerdict, TrialRecord, Verdict
from orchestrator.plan import VENDOR
from orchestrator.report.axis import AxisBuilder, AxisView
from orchestrator.report.controlled import ControlList, ControlView
from orchestrator.report.declared import DeclaredView, declared_of, is_assisted
from orchestrator.report.facts import Gap, GapList, HazardRow, hazards_of, run_facts
from orchestrator.report.failures import CellFailures, FailureList
from orchestrator.report.matrix import Matrix, MatrixBuilder
from orchestrator.report.narrative import AskedFailures, NarrativeView, narrative_of
from orchestrator.report.paper import PaperBuilder, PaperTable
from orchestrator.report.text import visible
from orchestrator.report.wording import MARKS, MEANINGS, Mark, coverage, share
from orchestrator.scoring.run import Aggregate, latest_records

__all__ = ["PageBuilder", "render_html"]

ROWS_MAX = 50
_TEMPLATES = Path(__file__).parent / "templates"
_VALUE_CHARACTERS = 1_300
_LONG = 300


@dataclass(frozen=True)
class Tile:
    """One number at the top of the page."""

    name: str
    value: str
    beside: str
    mark: Mark


@dataclass(frozen=True)
class Page:
    """Everything that the template reads; lists of foreign length are cut with a count beside."""

    manifest: Manifest
    result: Aggregate
    meaning: str
    mark: Mark
    marks: tuple[Mark, ...]
    tiles: tuple[Tile, ...]
    failed: tuple[CellFailures, ...]
    errors: tuple[CellFailures, ...]
    gaps: tuple[Gap, ...]
    matrix: Matrix
    axis: AxisView
    narrative: NarrativeView
    paper: tuple[PaperTable, ...]
    controls: tuple[ControlView, ...]
    declared: DeclaredView
    hazards: tuple[HazardRow, ...]
    boundary: int
    findings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    claims: Claims
    rows_max: int = ROWS_MAX

    @property
    def failed_trials(self) -> int:
        """Trials of the vendor with verdict FAIL."""
        return sum(cell.count for cell in self.failed)

    @property
    def error_trials(self) -> int:
        """Trials with verdict ERROR, those of controls included."""
        return sum(cell.count for cell in self.errors)


class PageBuilder:
    """Collects what the page tells of trials, which are added one at a time.

    Args:
        run_id: For the commands that repeat a trial.
    """

    def __init__(self, run_id: str) -> None:
        self._failed = FailureList(run_id, Verdict.FAIL)
        self._errors = FailureList(run_id, Verdict.ERROR)
        self._gaps = GapList()
        self._matrix = MatrixBuilder()
        self._axis = AxisBuilder()
        self._asked = AskedFailures()
        self._paper = PaperBuilder()
        self._controls = ControlList()

    def add(self, trial: TrialRecord) -> None:
        """Add the record of a trial that counts."""
        self._errors.add(trial)
        if trial.subject != VENDOR:
            self._controls.add(trial)
            return
        self._failed.add(trial)
        self._gaps.add(trial)
        self._matrix.add(trial)
        self._axis.add(trial)
        self._asked.add(trial)
        self._paper.add(trial)

    def render(self, manifest: Manifest, result: Aggregate) -> str:
        """Render the page; the same input gives the same page.

        Args:
            manifest: The run's facts.
            result: What the run's trials amount to.
        """
        summaries = {cell.cell_id: cell for cell in result.cells if cell.subject == VENDOR}
        matrix = self._matrix.result(summaries)
        hazards = hazards_of(summaries.values())
        page = Page(
            manifest=manifest,
            result=result,
            meaning=MEANINGS[result.verdict],
            mark=_mark_of(result.verdict),
            marks=tuple(MARKS.values()),
            tiles=_tiles(result, matrix, charged=sum(row.trials for row in hazards)),
            failed=self._failed.result(),
            errors=self._errors.result(),
            gaps=self._gaps.result(),
            matrix=matrix,
            axis=self._axis.result(),
            narrative=narrative_of(
                result.narrative, self._asked, assisted=is_assisted(manifest.describe_json)
            ),
            paper=self._paper.result(),
            controls=self._controls.result(result),
            declared=declared_of(manifest.describe_json),
            hazards=hazards,
            boundary=sum(cell.boundary for cell in summaries.values()),
            findings=(
                *manifest.findings,
                *(f"{finding} (in {count} trials)" for finding, count in result.findings.items()),
            ),
            facts=run_facts(manifest),
            claims=claims_of(manifest, result),
        )
        return _environment().get_template("report.html.j2").render(page=page)


def render_html(manifest: Manifest, result: Aggregate, trials: Iterable[TrialRecord]) -> str:
    """Render the report of a run whose records are in memory (`PageBuilder`)."""
    builder = PageBuilder(manifest.run_id)
    for trial in latest_records(trials).values():
        builder.add(trial)
    return builder.render(manifest, result)


def _mark_of(verdict: RunVerdict) -> Mark:
    trial = {
        RunVerdict.QUALIFIED: Verdict.PASS,
        RunVerdict.QUALIFIED_WITH_GAPS: Verdict.PASS,
        RunVerdict.NOT_QUALIFIED: Verdict.FAIL,
        RunVerdict.INVALID: Verdict.ERROR,
        RunVerdict.INCOMPLETE: Verdict.ERROR,
    }[verdict]
    return MARKS[trial]


def _tiles(result: Aggregate, matrix: Matrix, *, charged: int) -> tuple[Tile, ...]:
    """The numbers at the top; extra effects that went to another account are no failure."""
    rates = [
        Tile(
            f"{name} trials passed",
            share(rate),
            f"coverage {coverage(rate)}",
            MARKS[_rate_verdict(rate.numerator, rate.denominator)],
        )
        for name, rate in result.rates.items()
        if "/" not in name
    ]
    if not matrix.groups and not matrix.families:
        return tuple(rates)
    sums = matrix.sums
    numbers = (
        ("unsafe decisions", sums.unsafe, "a second dispatch while the first may have happened"),
        ("needless decisions", sums.needless, "no answer where a definite one is owed"),
        (
            "extra, lost, wrong effects",
            max(0, sums.extra_effects - charged) + sums.lost_effects + sums.wrong_effects,
            f"{charged} more went to another account, see hazards",
        ),
        (
            "kills with a violation",
            sums.kills_with_violation,
            f"of {sums.kills} kills over {sums.operations} operations",
        ),
    )
    counts = [
        Tile(name, str(value), beside, MARKS[Verdict.FAIL if value else Verdict.PASS])
        for name, value, beside in numbers
    ]
    return (*rates, *counts)


def _rate_verdict(numerator: int, denominator: int) -> Verdict:
    if not denominator:
        return Verdict.NOT_RUN
    return Verdict.PASS if numerator == denominator else Verdict.FAIL


def _finalize(value: object) -> object:
    """Runs on every value that the template prints, before it is escaped."""
    return value if isinstance(value, Markup) else visible(value, _VALUE_CHARACTERS)


@cache
def _environment() -> Environment:
    """The template's environment, from files beside this one."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["short"] = lambda value: visible(value, _LONG)
    return environment
