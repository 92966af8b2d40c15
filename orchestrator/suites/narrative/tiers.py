"""Levels and tiers, out of the cells that decide them (ATANT, section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from orchestrator.model import Frozen
from orchestrator.suites.narrative.cases import cases_of_level
from orchestrator.suites.narrative.levels import LevelName, plan_level
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = ["LevelRow", "Tier", "lacking", "levels_of", "reached"]

_SILVER, _BRONZE = 0.95, 0.90


class Tier(StrEnum):
    """How much of a level was answered rightly."""

    GOLD = "Gold"
    SILVER = "Silver"
    BRONZE = "Bronze"
    NONE = "none"
    NOT_SCORED = "N/R"

    @classmethod
    def of(cls, right: int, asked: int) -> Tier:
        """Gold for all, Silver from 95 %, Bronze from 90 %; N/R where nothing was asked."""
        if not asked:
            return cls.NOT_SCORED
        if right == asked:
            return cls.GOLD
        rate = right / asked
        if rate >= _SILVER:
            return cls.SILVER
        return cls.BRONZE if rate >= _BRONZE else cls.NONE

    @property
    def counts(self) -> bool:
        """Whether it is a tier at all."""
        return self not in (Tier.NONE, Tier.NOT_SCORED)


class LevelRow(Frozen):
    """One level, out of the cells that decide it; of several cells the worse one.

    A cell that nobody could be asked in is N/R and decides nothing: published stories have no
    question without a speaker.

    Attributes:
        level: Which one.
        cells: The cells in which questions were asked.
        stories: Stories that were asked of, in each cell.
        wanted: Stories that the level is defined on.
        tier_published, tier_strict: Of the worse cell; the strict one is N/R unless every question
            can be read strictly.
        whole: As many stories as the level wants, and every one of them evaluated.
    """

    level: LevelName
    cells: tuple[NarrativeRow, ...]
    stories: int
    wanted: int
    tier_published: Tier
    tier_strict: Tier
    whole: bool

    def tier(self, *, strict: bool) -> Tier:
        """The tier of one reading."""
        return self.tier_strict if strict else self.tier_published


def levels_of(rows: Iterable[NarrativeRow]) -> tuple[LevelRow, ...]:
    """The levels that were played, in order."""
    by_case: Mapping[str, NarrativeRow] = {row.case: row for row in rows}
    found: list[LevelRow] = []
    for level in LevelName:
        cells = [by_case[case] for case in cases_of_level(level) if case in by_case]
        if any(cell.questions for cell in cells):
            found.append(_level(level, cells))
    return tuple(found)


def lacking(levels: Sequence[LevelRow], level: LevelName, *, strict: bool) -> LevelName | None:
    """The first level before a level that was not reached, so that it does not count; None: all.

    A level that was not played, or whose stories are fewer than it wants, is not reached.
    """
    by_level = {row.level: row for row in levels}
    for before in LevelName:
        if before is level:
            break
        row = by_level.get(before)
        if row is None or not _has_tier(row, strict=strict):
            return before
    return None


def reached(levels: Sequence[LevelRow], *, strict: bool) -> LevelRow | None:
    """The highest level that has a tier, as all before it have; None when the first has none."""
    counting = [
        row
        for row in levels
        if _has_tier(row, strict=strict) and lacking(levels, row.level, strict=strict) is None
    ]
    return counting[-1] if counting else None


def _has_tier(row: LevelRow, *, strict: bool) -> bool:
    return row.whole and row.tier(strict=strict).counts


def _level(level: LevelName, cells: Sequence[NarrativeRow]) -> LevelRow:
    asked = tuple(cell for cell in cells if cell.questions)
    stories = min(cell.stories_asked for cell in asked)
    # What is derived is told and never asked: the largest level asks as many as the one before.
    wanted = plan_level(LevelName.SCALE if level is LevelName.SCALE_1000 else level, ()).wanted
    every_cell = len(cells) == len(cases_of_level(level))
    # A cell without a question is accounted for where no trial of it could be played at all.
    evaluated = not any(cell.errors for cell in cells) and all(
        cell.questions or cell.not_run == cell.trials for cell in cells
    )
    return LevelRow(
        level=level,
        cells=asked,
        stories=stories,
        wanted=wanted,
        tier_published=_worst(Tier.of(cell.published, cell.questions) for cell in asked),
        tier_strict=_worst(map(_strict_tier, asked)),
        whole=every_cell and evaluated and stories >= wanted,
    )


def _strict_tier(cell: NarrativeRow) -> Tier:
    readable = cell.questions_strict == cell.questions
    return Tier.of(cell.strict, cell.questions) if readable else Tier.NOT_SCORED


def _worst(tiers: Iterable[Tier]) -> Tier:
    order = list(Tier)
    return max(tiers, key=order.index)
