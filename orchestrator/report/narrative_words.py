"""The narrative axis in words: levels with their tiers, shares, what a cell's trials came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.model import Verdict
from orchestrator.report.wording import MARKS, Mark
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.tiers import LevelRow, Tier, lacking, levels_of, reached
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = [
    "LevelCellLook",
    "LevelLook",
    "NarrativeClaim",
    "level_looks",
    "level_words",
    "narrative_claims",
    "narrative_lines",
    "narrative_properties",
    "not_scored_or",
    "published_note",
    "share_words",
    "verdict_words",
]

_ASSISTED = " (Assisted)"
_READINGS = ((True, "strict"), (False, "published"))


@dataclass(frozen=True)
class LevelCellLook:
    """One cell of a level.

    Attributes:
        name: How it was asked, `scoped` or `open`; empty where a level has one cell.
        stories: How many were asked of, and what the level is defined on.
        questions: Exact count.
        strict, published: Questions that are right; N/R of stories that cannot be read strictly.
        stories_strict, stories_published: Stories without a wrong answer.
        note: How many questions cannot be wrong as published; empty for none.
    """

    name: str
    stories: str
    questions: str
    strict: str
    published: str
    stories_strict: str
    stories_published: str
    note: str


@dataclass(frozen=True)
class LevelLook:
    """One level.

    Attributes:
        cells: Its cells, in order, the counts of each.
        tier_published, tier_strict: Of the level's worse cell; a level whose one before was not
            reached has none, and says which.
        mark: Unscored for a tier, a gap where stories lack.
        note: Why no claim can rest on it; empty where one can.
    """

    name: str
    cells: tuple[LevelCellLook, ...]
    tier_published: str
    tier_strict: str
    mark: Mark
    note: str


@dataclass(frozen=True)
class NarrativeClaim:
    """One sentence about a level, and whether what was run carries it."""

    sentence: str
    carried: bool


def narrative_lines(rows: Sequence[NarrativeRow], *, assisted: bool) -> tuple[str, ...]:
    """The levels in lines for a terminal, each cell by itself; none without a level."""
    levels = levels_of(rows)
    lines: list[str] = []
    for look in level_looks(levels, assisted=assisted):
        lines += [f"{_named(look.name, cell.name)}: {_cell_words(cell)}" for cell in look.cells]
        note = f"; {look.note}" if look.note else ""
        lines.append(
            f"{look.name}: tier strict {look.tier_strict}, published {look.tier_published}{note}"
        )
    for strict, reading in _READINGS if levels else ():
        best = level_words(levels, strict=strict, assisted=assisted)
        lines.append(f"highest level with a tier, {reading}: {best}")
    return tuple(lines)


def narrative_claims(rows: Sequence[NarrativeRow], *, assisted: bool) -> Iterator[NarrativeClaim]:
    """What can be said of levels: counts of whole levels, tiers up to the one that was reached."""
    levels = levels_of(rows)
    for row, look in zip(levels, level_looks(levels, assisted=assisted), strict=True):
        for cell in look.cells:
            name = _named(look.name, cell.name)
            note = f"; {look.note}" if look.note else ""
            yield NarrativeClaim(f"{name}: {_cell_words(cell)}{note}", row.whole)
        for strict, reading in _READINGS:
            tier = look.tier_strict if strict else look.tier_published
            has = row.whole and row.tier(strict=strict).counts
            carried = has and lacking(levels, row.level, strict=strict) is None
            yield NarrativeClaim(f"{look.name}, tier by the {reading} reading: {tier}", carried)
    for strict, reading in _READINGS if levels else ():
        best = level_words(levels, strict=strict, assisted=assisted)
        # That there is none is known only where the first level was evaluated.
        known = levels[0].whole
        yield NarrativeClaim(f"highest with a tier by the {reading} reading: {best}", known)


def narrative_properties(
    rows: Sequence[NarrativeRow], *, assisted: bool
) -> Iterator[tuple[str, str]]:
    """Name and value of each cell and each level, for a machine that reads."""
    levels = levels_of(rows)
    for row, look in zip(levels, level_looks(levels, assisted=assisted), strict=True):
        level = f"narrative {row.level.value}"
        for cell in look.cells:
            name = _named(level, cell.name)
            yield f"{name} strict", cell.strict
            yield f"{name} published", cell.published
            yield f"{name} stories strict", cell.stories_strict
            yield f"{name} stories published", cell.stories_published
        yield f"{level} tier strict", look.tier_strict
        yield f"{level} tier published", look.tier_published
    if levels:
        yield "narrative level", level_words(levels, strict=True, assisted=assisted)
        yield "narrative level published", level_words(levels, strict=False, assisted=assisted)


def level_words(levels: Sequence[LevelRow], *, strict: bool, assisted: bool) -> str:
    """The highest level that was reached with its tier, `Stress, Silver`; `none` without one."""
    best = reached(levels, strict=strict)
    if best is None:
        unread = all(row.tier(strict=strict) is Tier.NOT_SCORED for row in levels)
        return (Tier.NOT_SCORED if unread else Tier.NONE).value
    return f"{_level_name(best.level)}, {_tier(best.tier(strict=strict), assisted=assisted)}"


def share_words(count: int, total: int) -> str:
    """`45/50 (90.0 %)`; N/A for a total of zero."""
    return f"{count}/{total} ({100 * count / total:.1f} %)" if total else "N/A"


def not_scored_or(count: int, total: int) -> str:
    """A share; N/R for a total of zero: nothing there can be read so."""
    return share_words(count, total) if total else Tier.NOT_SCORED.value


def published_note(row: NarrativeRow) -> str:
    """How many questions of a cell cannot be wrong as published; empty for none."""
    count = row.general_knowledge
    return f"{count} of general knowledge, never wrong as published" if count else ""


def verdict_words(row: NarrativeRow) -> str:
    """What the trials of a cell came to: `10 passed`, `50 graded, 1 failed`, and what was not."""
    graded = row.stories - row.passed - row.failed
    told = (
        (row.passed, "passed"),
        (graded, "graded"),
        (row.failed, "failed"),
        (row.not_run, "N/R"),
        (row.errors, "not evaluated"),
    )
    return ", ".join(f"{count} {word}" for count, word in told if count)


def level_looks(levels: Sequence[LevelRow], *, assisted: bool) -> tuple[LevelLook, ...]:
    """The levels as they are shown; a model in the loop stands beside their tiers."""
    return tuple(_level_look(row, levels, assisted=assisted) for row in levels)


def _level_look(row: LevelRow, levels: Sequence[LevelRow], *, assisted: bool) -> LevelLook:
    few = row.stories < row.wanted
    note = f"the level is defined on {row.wanted} stories: no claim" if few else ""
    if not few and not row.whole:
        note = "not every trial was evaluated: no claim"
    return LevelLook(
        name=_level_name(row.level),
        cells=tuple(_cell_look(cell, row) for cell in row.cells),
        tier_published=_gated(row, levels, strict=False, assisted=assisted),
        tier_strict=_gated(row, levels, strict=True, assisted=assisted),
        mark=MARKS[Verdict.UNSCORED if row.whole else Verdict.NOT_RUN],
        note=note,
    )


def _cell_look(cell: NarrativeRow, row: LevelRow) -> LevelCellLook:
    return LevelCellLook(
        name=cell.case.removeprefix(f"level.{row.level.value}").removeprefix("_"),
        stories=f"{cell.stories_asked} of {row.wanted}",
        questions=str(cell.questions),
        strict=not_scored_or(cell.strict, cell.questions_strict),
        published=share_words(cell.published, cell.questions),
        stories_strict=not_scored_or(cell.stories_strict, cell.stories_asked_strict),
        stories_published=share_words(cell.stories_published, cell.stories_asked),
        note=published_note(cell),
    )


def _gated(row: LevelRow, levels: Sequence[LevelRow], *, strict: bool, assisted: bool) -> str:
    """A level's tier; none where a level before it was not reached, since each requires that."""
    tier = row.tier(strict=strict)
    before = lacking(levels, row.level, strict=strict) if tier.counts else None
    if before is None:
        return _tier(tier, assisted=assisted)
    return f"{Tier.NONE.value}: requires {_level_name(before)}"


def _cell_words(cell: LevelCellLook) -> str:
    note = f" ({cell.note})" if cell.note else ""
    return (
        f"strict {cell.strict} of questions, {cell.stories_strict} of stories; published "
        f"{cell.published} of questions, {cell.stories_published} of stories{note}; stories "
        f"{cell.stories}"
    )


def _named(level: str, cell: str) -> str:
    return f"{level} {cell}" if cell else level


def _level_name(level: LevelName) -> str:
    return level.value.replace("_", " ").capitalize()


def _tier(tier: Tier, *, assisted: bool) -> str:
    return tier.value + (_ASSISTED if assisted and tier.counts else "")
