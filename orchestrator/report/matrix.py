"""The matrix of windows and capabilities, one table an injection, coverage beside every rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.model import Arm, CapabilityVariant, Cell, Suite, TrialRecord, Verdict, WindowName
from orchestrator.report.wording import MARKS, Mark, coverage, injection, share
from orchestrator.scoring.run import CellSummary

__all__ = ["CellLook", "Group", "Matrix", "Row", "matrix_of"]

_PRECEDENCE = (
    Verdict.FAIL,
    Verdict.ERROR,
    Verdict.PASS,
    Verdict.NOT_RUN,
    Verdict.UNSCORED,
)


@dataclass(frozen=True)
class CellLook:
    """One cell of the matrix.

    Attributes:
        mark: Its worst verdict, so that a single failure among passes is seen.
        rate: Passed of scored; the number of trials where nothing is scored.
        words: What the mark means here.
        coverage: Scored of scheduled; empty where nothing is scored.
        kills: Kills, and those with a violation.
    """

    mark: Mark
    rate: str
    words: str
    coverage: str
    kills: str


@dataclass(frozen=True)
class Row:
    """One window; a cell that is not scheduled is None."""

    window: str
    cells: tuple[CellLook | None, ...]


@dataclass(frozen=True)
class Totals:
    """Numbers of one injection. Operations of one kill share a crash and are not independent."""

    kills: int
    kills_with_violation: int
    operations: int
    dispatches: int
    effects: int
    extra_effects: int
    lost_effects: int
    wrong_effects: int
    tool_errors: int
    unsafe: int
    needless: int
    median_resolution: str


@dataclass(frozen=True)
class Group:
    """All cells of one arm, target, fate, fault and expiry mode."""

    title: str
    scored: bool
    capabilities: tuple[str, ...]
    rows: tuple[Row, ...]
    totals: Totals


@dataclass(frozen=True)
class Matrix:
    """Every group, memory arms first, and the sums of the memory arms."""

    groups: tuple[Group, ...]
    sums: Totals


@dataclass(frozen=True)
class _Known:
    """A cell's coordinates and numbers."""

    cell: Cell
    summary: CellSummary
    resolutions_ms: Sequence[float]
    subtypes: frozenset[str]


def matrix_of(trials: Iterable[TrialRecord], summaries: Mapping[str, CellSummary]) -> Matrix:
    """Arrange one subject's continuity cells.

    Args:
        trials: The subject's trials.
        summaries: Its cells by cell id, as they were added up.
    """
    cells: dict[str, Cell] = {}
    resolutions: dict[str, list[float]] = {}
    subtypes: dict[str, set[str]] = {}
    for trial in trials:
        if trial.cell.suite is not Suite.CONTINUITY:
            continue
        cell_id = trial.cell.cell_id
        cells.setdefault(cell_id, trial.cell)
        if trial.resolution_ms is not None:
            resolutions.setdefault(cell_id, []).append(trial.resolution_ms)
        if trial.subtype is not None:
            subtypes.setdefault(cell_id, set()).add(trial.subtype.value)
    known = [
        _Known(
            cell,
            summaries[cell_id],
            resolutions.get(cell_id, ()),
            frozenset(subtypes.get(cell_id, ())),
        )
        for cell_id, cell in cells.items()
        if cell_id in summaries
    ]
    groups: dict[str, list[_Known]] = {}
    for one in known:
        groups.setdefault(injection(one.cell), []).append(one)
    ordered = sorted(groups.items(), key=lambda item: list(Arm).index(item[1][0].cell.arm))
    ordered.sort(key=lambda item: not item[1][0].cell.arm.has_memory)
    return Matrix(
        groups=tuple(_group(title, members) for title, members in ordered),
        sums=_totals([one for one in known if one.cell.arm.has_memory]),
    )


def _group(title: str, members: Sequence[_Known]) -> Group:
    at = {(one.cell.window, one.cell.capability): one for one in members}
    columns = [variant for variant in CapabilityVariant if any(variant is place[1] for place in at)]
    rows = [
        Row(
            window.value,
            tuple(
                _look(at[window, column]) if (window, column) in at else None for column in columns
            ),
        )
        for window in WindowName
        if any(window is place[0] for place in at)
    ]
    return Group(
        title=title,
        scored=members[0].cell.arm.has_memory,
        capabilities=tuple(column.value for column in columns),
        rows=tuple(rows),
        totals=_totals(members),
    )


def _look(one: _Known) -> CellLook:
    summary = one.summary
    worst = next((each for each in _PRECEDENCE if summary.verdicts.get(each.value)), Verdict.ERROR)
    mark = MARKS[worst]
    trials = sum(summary.verdicts.values())
    counted = summary.verdicts.get(worst.value, 0)
    words = {
        Verdict.PASS: mark.word,
        Verdict.NOT_RUN: f"N/R {', '.join(sorted(one.subtypes))}",
        Verdict.UNSCORED: f"unscored: {summary.effects} effects",
    }.get(worst, f"{counted} {mark.word}")
    scored = worst is not Verdict.UNSCORED
    violated = summary.kills_with_violation
    return CellLook(
        mark=mark,
        rate=share(summary.passed) if scored else str(trials),
        words=words,
        coverage=coverage(summary.passed) if scored else "",
        kills=f"{violated} of {summary.kills} kills" if violated else "",
    )


def _totals(members: Sequence[_Known]) -> Totals:
    summaries = [one.summary for one in members]
    times = [each for one in members for each in one.resolutions_ms]
    return Totals(
        kills=sum(one.kills for one in summaries if _was_run(one)),
        kills_with_violation=sum(one.kills_with_violation for one in summaries),
        operations=sum(sum(one.verdicts.values()) for one in summaries),
        dispatches=sum(one.dispatches for one in summaries),
        effects=sum(one.effects for one in summaries),
        extra_effects=sum(one.extra_effects for one in summaries),
        lost_effects=sum(one.lost_effects for one in summaries),
        wrong_effects=sum(one.wrong_effects for one in summaries),
        tool_errors=sum(one.tool_errors for one in summaries),
        unsafe=sum(one.unsafe for one in summaries),
        needless=sum(one.needless for one in summaries),
        median_resolution=f"{median(times) / 1000:.2f} s" if times else "N/A",
    )


def _was_run(summary: CellSummary) -> bool:
    """Whether anything was done in a cell: nobody is killed for trials that are N/R."""
    return any(verdict != Verdict.NOT_RUN.value for verdict in summary.verdicts)
