"""The narrative axis in words: levels with their tiers, shares, what a cell's trials came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.model import Verdict
from orchestrator.report.wording import MARKS, Mark
from orchestrator.suites.narrative.levels import LevelName
from orchestrator.suites.narrative.tiers import LevelRow, Tier, levels_of, reached
from orchestrator.suites.narrative.totals import NarrativeRow

__all__ = [
    "LevelLook",
    "level_look",
    "level_words",
    "narrative_lines",
    "narrative_properties",
    "share_words",
    "verdict_words",
]

_ASSISTED = " (Assisted)"


@dataclass(frozen=True)
class LevelLook:
    """One level.

    Attributes:
        stories: Exact count, and what the level is defined on.
        questions: Exact count, all cells of the level together.
        published, strict: Questions that are right.
        tier_published, tier_strict: Of the level's worse cell.
        mark: Unscored for a tier, a gap where stories lack.
        note: Why no claim can rest on it; empty where one can.
    """

    name: str
    stories: str
    questions: str
    published: str
    strict: str
    tier_published: str
    tier_strict: str
    mark: Mark
    note: str


def narrative_lines(rows: Sequence[NarrativeRow], *, assisted: bool) -> tuple[str, ...]:
    """The levels in sentences, for a terminal and for claims; none without a level."""
    levels = levels_of(rows)
    lines = [
        f"{look.name}: strict {look.strict}, {look.tier_strict}; published {look.published}, "
        f"{look.tier_published}; stories {look.stories}" + (f"; {look.note}" if look.note else "")
        for look in (level_look(row, assisted=assisted) for row in levels)
    ]
    if levels:
        strict = level_words(levels, strict=True, assisted=assisted)
        lines.append(f"highest level with a tier, strict: {strict}")
    return tuple(lines)


def narrative_properties(
    rows: Sequence[NarrativeRow], *, assisted: bool
) -> Iterator[tuple[str, str]]:
    """Name and value of each level, for a machine that reads."""
    levels = levels_of(rows)
    for row in levels:
        look = level_look(row, assisted=assisted)
        yield f"narrative {row.level.value} strict", f"{look.strict}, {look.tier_strict}"
        yield f"narrative {row.level.value} published", f"{look.published}, {look.tier_published}"
    if levels:
        yield "narrative level", level_words(levels, strict=True, assisted=assisted)


def level_words(levels: Sequence[LevelRow], *, strict: bool, assisted: bool) -> str:
    """The highest level that was reached with its tier, `Stress, Silver`; `none` without one."""
    best = reached(levels, strict=strict)
    if best is None:
        return "none"
    tier = best.tier_strict if strict else best.tier_published
    return f"{_level_name(best.level)}, {_tier(tier, assisted=assisted)}"


def share_words(count: int, total: int) -> str:
    """`45/50 (90.0 %)`; N/A for a total of zero."""
    return f"{count}/{total} ({100 * count / total:.1f} %)" if total else "N/A"


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


def level_look(row: LevelRow, *, assisted: bool) -> LevelLook:
    """One level as it is shown; a model in the loop stands beside its tiers."""
    lacking = row.stories < row.wanted
    note = f"the level is defined on {row.wanted} stories: no claim" if lacking else ""
    if not lacking and not row.whole:
        note = "not every trial was evaluated: no claim"
    return LevelLook(
        name=_level_name(row.level),
        stories=f"{row.stories} of {row.wanted}",
        questions=str(row.questions),
        published=share_words(row.published, row.questions),
        strict=share_words(row.strict, row.questions),
        tier_published=_tier(row.tier_published, assisted=assisted),
        tier_strict=_tier(row.tier_strict, assisted=assisted),
        mark=MARKS[Verdict.UNSCORED if row.whole else Verdict.NOT_RUN],
        note=note,
    )


def _level_name(level: LevelName) -> str:
    return level.value.replace("_", " ").capitalize()


def _tier(tier: Tier, *, assisted: bool) -> str:
    return tier.value + (_ASSISTED if assisted and tier is not Tier.NONE else "")
