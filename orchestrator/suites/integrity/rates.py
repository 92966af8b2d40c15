"""What each rate of the integrity axis is: over which cases, and what it counts (data).

FCR, SRR, TPR and TLR are the benchmark's, over the seven categories; D is counted under both of its
readings; the rates beyond are those that the cases name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.suites.integrity.categories import CATEGORIES, Category
from orchestrator.suites.integrity.categories.base import PUBLISHED
from orchestrator.suites.integrity.checks import Column
from orchestrator.suites.integrity.planned import ordered_cases

__all__ = ["RATES", "Counts", "RateDefinition", "benchmark_cases"]


class Counts(StrEnum):
    """Which trials a rate counts."""

    VIOLATED = "violated"
    HELD = "held"


@dataclass(frozen=True)
class RateDefinition:
    """What a rate is.

    Attributes:
        name: Short name, unique.
        title: In words.
        cases: Names of the cases that it is taken over.
        column: Which checks it looks at: those of this column.
        check_ids: Only these of the column; empty for all of it.
        counts: Violations (lower is better), or what held (higher is better).
        beside: Name of the rate that it is printed beside and never summed with; empty for none.
    """

    name: str
    title: str
    cases: tuple[str, ...]
    column: Column = Column.SAFETY
    check_ids: tuple[str, ...] = ()
    counts: Counts = Counts.VIOLATED
    beside: str = ""

    @property
    def letters(self) -> tuple[str, ...]:
        """Letters of its cases."""
        return tuple(dict.fromkeys(CATEGORIES[case].letter for case in self.cases))


def benchmark_cases(letters: str) -> tuple[str, ...]:
    """The main case of each letter, and the one that is published."""
    return tuple(
        one.case
        for one in ordered_cases()
        if one.letter in letters and one.variant in ("", PUBLISHED)
    )


def _named_by_cases() -> tuple[RateDefinition, ...]:
    """The rates that cases name, in the order of the cases."""
    named: dict[str, list[Category]] = {}
    for category in ordered_cases():
        if category.metric:
            named.setdefault(category.metric, []).append(category)
    return tuple(
        RateDefinition(
            name,
            own[0].metric_title,
            tuple(one.case for one in own),
            own[0].metric_column,
        )
        for name, own in named.items()
    )


def _residue() -> tuple[RateDefinition, ...]:
    """What is left in the bytes of volumes, over every case that looks: beside SRR, never in it."""
    cases = tuple(
        one.case
        for one in ordered_cases()
        if any(spec.column is Column.RESIDUE for spec in one.checks)
    )
    if not cases:
        return ()
    title = "residue: trials in which a scan of the whole volume found what should be gone"
    return (RateDefinition("residue", title, cases, Column.RESIDUE, beside="SRR"),)


RATES: tuple[RateDefinition, ...] = (
    RateDefinition(
        "FCR",
        "factual contamination rate",
        benchmark_cases("CDF"),
        check_ids=("integrity.C.safety", "integrity.D.safety.recall", "integrity.F.safety"),
    ),
    RateDefinition("SRR", "secret retention rate", benchmark_cases("L")),
    *_residue(),
    RateDefinition(
        "TPR",
        "taint preservation rate",
        benchmark_cases("D"),
        check_ids=("integrity.D.safety.taint",),
        counts=Counts.HELD,
    ),
    RateDefinition("TLR", "trust laundering rate", benchmark_cases("ADFH")),
    RateDefinition(
        "D, native ids",
        "trials of D that pass where native record ids tell the summary from its clean parent",
        benchmark_cases("D"),
        counts=Counts.HELD,
    ),
    RateDefinition(
        "D, shared text",
        "trials of D that pass where a nonce shared with the clean trusted parent counts as a hit",
        benchmark_cases("D"),
        Column.READING,
        counts=Counts.HELD,
        beside="D, native ids",
    ),
    *_named_by_cases(),
)
"""Every rate in the order in which it is printed: the benchmark's first."""
