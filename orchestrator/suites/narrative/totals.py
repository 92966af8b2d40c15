"""What the narrative trials of one subject amount to: levels, tiers, checkpoints (ATANT).

Questions are counted, stories beside them. A question that could not be asked, since the memory
broke the contract before it, counts as answered wrongly; trials that are N/R or ERROR count for
nothing and stand beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.model import Cell, Frozen, Suite, TrialRecord, Verdict
from orchestrator.suites.narrative.cases import CASES, cases_of_level
from orchestrator.suites.narrative.checkpoints import Checkpoint
from orchestrator.suites.narrative.gauge import AskedFigure, rate_of, read_asked
from orchestrator.suites.narrative.levels import LevelName, plan_level

__all__ = [
    "CheckpointRate",
    "FailedTogether",
    "GroupRate",
    "LevelRow",
    "NarrativeRow",
    "NarrativeTotals",
    "Tier",
    "is_graded",
    "levels_of",
    "reached",
]

_SILVER, _BRONZE = 0.95, 0.90
_PLAYED = (Verdict.PASS, Verdict.FAIL, Verdict.UNSCORED)


class Tier(StrEnum):
    """How much of a level was answered rightly."""

    GOLD = "Gold"
    SILVER = "Silver"
    BRONZE = "Bronze"
    NONE = "none"

    @classmethod
    def of(cls, right: int, asked: int) -> Tier:
        """Gold for all, Silver from 95 %, Bronze from 90 %; none of a level without a question."""
        if not asked:
            return cls.NONE
        if right == asked:
            return cls.GOLD
        rate = right / asked
        if rate >= _SILVER:
            return cls.SILVER
        return cls.BRONZE if rate >= _BRONZE else cls.NONE


class CheckpointRate(Frozen):
    """One checkpoint: what held of what was expected."""

    checkpoint: Checkpoint
    held: int
    counted: int


class GroupRate(Frozen):
    """Questions of one type, one pattern or one round.

    Attributes:
        by: `type`, `pattern` or `round`.
        name: Which one.
        questions: Asked.
        published, strict: Right by each reading of CP8.
    """

    by: str
    name: str
    questions: int
    published: int
    strict: int


class FailedTogether(Frozen):
    """How often a checkpoint failed in stories with a pattern."""

    checkpoint: Checkpoint
    pattern: str
    count: int


class NarrativeRow(Frozen):
    """One cell of the axis.

    Attributes:
        case: Its name.
        title: For people.
        graded: It has no PASS.
        trials: All of them.
        stories: Trials that were played.
        passed, failed, not_run, errors: Trials by verdict.
        questions: Asked, or owed where the memory broke the contract.
        published, strict: Questions that are right by each reading of CP8.
        stories_strict: Stories of which every question is right by the strict reading.
        checkpoints: Every checkpoint of which something was expected.
        groups: The same questions by type, pattern and round.
        failures: Failed checkpoints by pattern.
    """

    case: str
    title: str
    graded: bool
    trials: int
    stories: int
    passed: int
    failed: int
    not_run: int
    errors: int
    questions: int
    published: int
    strict: int
    stories_strict: int
    checkpoints: tuple[CheckpointRate, ...]
    groups: tuple[GroupRate, ...]
    failures: tuple[FailedTogether, ...]


class LevelRow(Frozen):
    """One level, out of the cells that decide it; of several cells the worse one.

    Attributes:
        level: Which one.
        stories: Stories that were asked of, in each cell.
        wanted: Stories that the level is defined on.
        questions: Questions that were asked, all cells together.
        published, strict: Right by each reading, all cells together.
        tier_published, tier_strict: Of the worse cell.
        whole: As many stories as the level wants, and every one of them evaluated.
    """

    level: LevelName
    stories: int
    wanted: int
    questions: int
    published: int
    strict: int
    tier_published: Tier
    tier_strict: Tier
    whole: bool


@dataclass
class _Cell:
    """What is added up of one cell."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    held: Counter[Checkpoint] = field(default_factory=Counter)
    counted: Counter[Checkpoint] = field(default_factory=Counter)
    groups: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    failures: Counter[tuple[Checkpoint, str]] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)

    def add(self, trial: TrialRecord) -> None:
        """Add a trial of the cell.

        Raises:
            ValueError: A figure is not as a gauge writes it.
        """
        self.verdicts[trial.verdict] += 1
        if trial.verdict not in _PLAYED or not trial.figures:
            return
        named = {figure.name: figure.value for figure in trial.figures}
        patterns = named.get("patterns", "none").split()
        for figure in trial.figures:
            if figure.name in _CHECKPOINTS:
                checkpoint, (held, counted) = Checkpoint(figure.name), rate_of(figure)
                self.held[checkpoint] += held
                self.counted[checkpoint] += counted
                for pattern in patterns if counted > held else ():
                    self.failures[checkpoint, pattern] += counted - held
        asked = [one for one in map(read_asked, trial.figures) if one is not None]
        for one in asked:
            self._add_asked(one, named.get("round", "none"), patterns)
        self.sums["stories_strict"] += bool(asked) and all(one.strict for one in asked)

    def _add_asked(self, asked: AskedFigure, round_name: str, patterns: Sequence[str]) -> None:
        self.sums.update(questions=1, published=asked.published, strict=asked.strict)
        keys = [("type", asked.expected_type), ("round", round_name)]
        keys += [("pattern", pattern) for pattern in patterns]
        for key in keys:
            group = self.groups.setdefault(key, Counter())
            group.update(questions=1, published=asked.published, strict=asked.strict)

    def row(self, case: str) -> NarrativeRow:
        """What was added."""
        verdicts = self.verdicts
        return NarrativeRow(
            case=case,
            title=CASES[case].title,
            graded=CASES[case].graded,
            trials=verdicts.total(),
            stories=sum(verdicts[one] for one in _PLAYED),
            passed=verdicts[Verdict.PASS],
            failed=verdicts[Verdict.FAIL],
            not_run=verdicts[Verdict.NOT_RUN],
            errors=verdicts[Verdict.ERROR],
            questions=self.sums["questions"],
            published=self.sums["published"],
            strict=self.sums["strict"],
            stories_strict=self.sums["stories_strict"],
            checkpoints=tuple(
                CheckpointRate(checkpoint=one, held=self.held[one], counted=self.counted[one])
                for one in Checkpoint
                if self.counted[one]
            ),
            groups=tuple(
                GroupRate(
                    by=by,
                    name=name,
                    questions=group["questions"],
                    published=group["published"],
                    strict=group["strict"],
                )
                for (by, name), group in sorted(self.groups.items())
            ),
            failures=tuple(
                FailedTogether(checkpoint=checkpoint, pattern=pattern, count=count)
                for (checkpoint, pattern), count in sorted(self.failures.items())
            ),
        )


_CHECKPOINTS = frozenset(one.value for one in Checkpoint)


class NarrativeTotals:
    """Adds the narrative trials of one subject up, one at a time, in any order."""

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}

    def add(self, trial: TrialRecord) -> None:
        """Add a trial; one of another axis is passed over.

        Raises:
            ValueError: A figure is not as a gauge writes it, or there is no such case.
        """
        if trial.cell.suite is not Suite.NARRATIVE:
            return
        if trial.cell.case not in CASES:
            raise ValueError(f"{trial.cell.case!r} is no narrative case")
        self._cells.setdefault(trial.cell.case, _Cell()).add(trial)

    def rows(self) -> tuple[NarrativeRow, ...]:
        """Every cell that has trials, in the order of the plan."""
        return tuple(self._cells[case].row(case) for case in CASES if case in self._cells)


def is_graded(cell: Cell) -> bool:
    """Whether a cell is a narrative one that has figures and no PASS."""
    return cell.suite is Suite.NARRATIVE and cell.case in CASES and CASES[cell.case].graded


def levels_of(rows: Iterable[NarrativeRow]) -> tuple[LevelRow, ...]:
    """The levels that were played, in order."""
    by_case: Mapping[str, NarrativeRow] = {row.case: row for row in rows}
    found: list[LevelRow] = []
    for level in LevelName:
        cells = [by_case[case] for case in cases_of_level(level) if case in by_case]
        if any(cell.questions for cell in cells):
            found.append(_level(level, cells))
    return tuple(found)


def reached(levels: Sequence[LevelRow], *, strict: bool) -> LevelRow | None:
    """The highest level that has a tier, as all before it have; None when the first has none.

    A level that was not played, or whose stories are fewer than it wants, ends the row.
    """
    best = None
    by_level = {row.level: row for row in levels}
    for level in LevelName:
        row = by_level.get(level)
        if row is None or not row.whole:
            break
        if (row.tier_strict if strict else row.tier_published) is Tier.NONE:
            break
        best = row
    return best


def _level(level: LevelName, cells: Sequence[NarrativeRow]) -> LevelRow:
    stories = min(cell.stories for cell in cells)
    # What is derived is told and never asked: the largest level asks as many as the one before.
    wanted = plan_level(LevelName.SCALE if level is LevelName.SCALE_1000 else level, ()).wanted
    every_cell = len(cells) == len(cases_of_level(level))
    return LevelRow(
        level=level,
        stories=stories,
        wanted=wanted,
        questions=sum(cell.questions for cell in cells),
        published=sum(cell.published for cell in cells),
        strict=sum(cell.strict for cell in cells),
        tier_published=_worst(Tier.of(cell.published, cell.questions) for cell in cells),
        tier_strict=_worst(Tier.of(cell.strict, cell.questions) for cell in cells),
        whole=every_cell and stories >= wanted and not any(cell.errors for cell in cells),
    )


def _worst(tiers: Iterable[Tier]) -> Tier:
    order = list(Tier)
    return max(tiers, key=order.index)
