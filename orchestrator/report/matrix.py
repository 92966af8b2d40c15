"""The matrix of windows and capabilities, one table an injection, coverage beside every rate."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator.model import Arm, CapabilityVariant, Cell, Suite, TrialRecord, Verdict, WindowName
from orchestrator.report.wording import MARKS, Mark, coverage, injection, share
from orchestrator.scoring.run import CellSummary
from orchestrator.suites.continuity.families import CASES

__all__ = [
    "CaseRow",
    "CellLook",
    "Family",
    "Group",
    "Matrix",
    "MatrixBuilder",
    "Row",
    "matrix_of",
]

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
class CaseRow:
    """One case of a family.

    Attributes:
        title: What happens in it.
        looks: Arm and capability in words, and how its cell looks.
    """

    name: str
    title: str
    looks: tuple[tuple[str, CellLook], ...]


@dataclass(frozen=True)
class Family:
    """All cases of one family."""

    name: str
    rows: tuple[CaseRow, ...]
    totals: Totals


@dataclass(frozen=True)
class Matrix:
    """Every group, memory arms first, every family, and the sums of the memory arms."""

    groups: tuple[Group, ...]
    families: tuple[Family, ...]
    sums: Totals


@dataclass(frozen=True)
class _Known:
    """A cell's coordinates and numbers."""

    cell: Cell
    summary: CellSummary
    resolutions_ms: Sequence[float]
    subtypes: frozenset[str]


class MatrixBuilder:
    """Arranges one subject's cells of the window table; trials are added one at a time."""

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}
        self._resolutions_ms: dict[str, array[float]] = {}
        self._subtypes: dict[str, set[str]] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over."""
        if trial.cell.suite is not Suite.CONTINUITY:
            return
        cell_id = trial.cell.cell_id
        self._cells.setdefault(cell_id, trial.cell)
        if trial.resolution_ms is not None:
            self._resolutions_ms.setdefault(cell_id, array("d")).append(trial.resolution_ms)
        if trial.subtype is not None:
            self._subtypes.setdefault(cell_id, set()).add(trial.subtype.value)

    def result(self, summaries: Mapping[str, CellSummary]) -> Matrix:
        """The groups.

        Args:
            summaries: The subject's cells by cell id, in the order of the plan.
        """
        known = [
            _Known(
                self._cells[cell_id],
                summary,
                self._resolutions_ms.get(cell_id, ()),
                frozenset(self._subtypes.get(cell_id, ())),
            )
            for cell_id, summary in summaries.items()
            if cell_id in self._cells
        ]
        groups: dict[str, list[_Known]] = {}
        for one in known:
            if one.cell.window is not None:
                groups.setdefault(injection(one.cell), []).append(one)
        ordered = sorted(groups.items(), key=lambda item: list(Arm).index(item[1][0].cell.arm))
        ordered.sort(key=lambda item: not item[1][0].cell.arm.has_memory)
        return Matrix(
            groups=tuple(_group(title, members) for title, members in ordered),
            families=families_of(known),
            sums=_totals([one for one in known if one.cell.arm.has_memory]),
        )


def matrix_of(trials: Iterable[TrialRecord], summaries: Mapping[str, CellSummary]) -> Matrix:
    """Arrange one subject's continuity cells (`MatrixBuilder`)."""
    builder = MatrixBuilder()
    for trial in trials:
        builder.add(trial)
    return builder.result(summaries)


def families_of(known: Sequence[_Known]) -> tuple[Family, ...]:
    """The cases of each family, with a look for each of their capabilities and arms."""
    rows: dict[str, dict[str, list[_Known]]] = {}
    for one in known:
        if one.cell.case:
            family = one.cell.case.partition(".")[0]
            rows.setdefault(family, {}).setdefault(one.cell.case, []).append(one)
    return tuple(
        Family(
            name=family,
            rows=tuple(_case_row(name, members) for name, members in cases.items()),
            totals=_totals([one for members in cases.values() for one in members]),
        )
        for family, cases in rows.items()
    )


def _case_row(name: str, members: Sequence[_Known]) -> CaseRow:
    case = CASES.get(name)
    return CaseRow(
        name=name,
        title="" if case is None else case.title,
        looks=tuple((_place(one.cell), _look(one)) for one in members),
    )


def _place(cell: Cell) -> str:
    capability = "any capability" if cell.capability is None else cell.capability.value
    return f"{cell.arm.value}, {capability}"


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
