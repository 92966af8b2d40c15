"""Levels and tiers, out of the cells that decide them (ATANT, section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from orchestrator.model import Frozen
from orchestrator.suites.narrative.cases import cases_of_level
from orchestrator.suites.narrative.levels import LevelName, plan_level
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = ["LevelRow", "Tier", "levels_of", "reached"]

_SILVER, _BRONZE = 0.95, 0.90


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
