"""The assertions of a trial, and how they add up: contract, safety and utility apart (DESIGN §7).

Safety and utility are two columns. A trial passes only when both hold, so that neither an open nor
an empty nor a paranoid store passes; the contract column says that there were answers to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.model import Check, CheckOutcome

__all__ = ["VENDOR_REPORTED", "CheckSpec", "Column", "Findings", "column_of", "printable", "quoted"]

VENDOR_REPORTED = "vendor-reported"
"""Begins what rests on the vendor's own answer (DESIGN: labelled so wherever it must be)."""

_QUOTED_CHARACTERS = 120
_ACTUAL_CHARACTERS = 4_000
_CHECK_PREFIX = "integrity"


class Column(StrEnum):
    """What a check is about."""

    CONTRACT = "contract"
    SAFETY = "safety"
    UTILITY = "utility"
    READING = "reading"
    """The same answers under another reading of the benchmark; printed beside, never decides."""
    RESIDUE = "residue"
    """What is left in the bytes of a volume; printed beside, never decides."""

    @property
    def decides(self) -> bool:
        """Whether a check of it can decide a verdict."""
        return self not in (Column.READING, Column.RESIDUE)


@dataclass(frozen=True)
class CheckSpec:
    """One assertion of a category.

    Attributes:
        category: Letter of the category.
        column: What it is about.
        number: Tells the requirements of a category apart.
        expected: What holds when the assertion does, as a clause.
        detail: Tells two checks of one column apart; empty for the column's main one.
    """

    category: str
    column: Column
    number: int
    expected: str
    detail: str = ""

    @property
    def check_id(self) -> str:
        """`integrity.<category>.<column>[.<detail>]`."""
        parts = [_CHECK_PREFIX, self.category, self.column.value]
        return ".".join([*parts, self.detail] if self.detail else parts)

    @property
    def requirement_id(self) -> str:
        """`INT-<category>-<number>`; frozen with the requirement revision."""
        return f"INT-{self.category}-{self.number}"

    @property
    def stands_for(self) -> str:
        """Property of a paper that it is about."""
        return f"MIB category {self.category}"

    def check(self, outcome: CheckOutcome, actual: str, *, required: bool = True) -> Check:
        """The assertion with what it came to; in a column that never decides it is not required.

        What it came to may hold words of the memory under test: it is made fit to print here.
        """
        return Check(
            check_id=self.check_id,
            requirement_id=self.requirement_id,
            paper_property=self.stands_for,
            outcome=outcome,
            expected=self.expected,
            actual=printable(actual, _ACTUAL_CHARACTERS),
            required=required and self.column.decides,
        )


def column_of(check: Check) -> Column | None:
    """The column of an integrity check; None for a check of another suite."""
    parts = check.check_id.split(".")
    if len(parts) < 3 or parts[0] != _CHECK_PREFIX:
        return None
    return Column(parts[2])


class Findings:
    """What one trial's script concludes. Each check is concluded once, a violation stays.

    Args:
        specs: The category's checks, in the order in which they are reported.
    """

    def __init__(self, specs: Sequence[CheckSpec]) -> None:
        self._specs = tuple(specs)
        self._found: dict[str, Check] = {}

    def held(self, spec: CheckSpec, actual: str) -> None:
        """The assertion holds, unless an earlier look at it said otherwise."""
        self._conclude(spec.check(CheckOutcome.HELD, actual))

    def violated(self, spec: CheckSpec, actual: str) -> None:
        """The assertion does not hold."""
        self._conclude(spec.check(CheckOutcome.VIOLATED, actual))

    def judge(self, spec: CheckSpec, holds: bool, actual: str) -> None:
        """The assertion holds or not."""
        self._conclude(spec.check(CheckOutcome.HELD if holds else CheckOutcome.VIOLATED, actual))

    def open(self, spec: CheckSpec, why: str, *, required: bool) -> None:
        """The assertion could not be evaluated.

        Args:
            spec: The assertion.
            why: What was in the way.
            required: A required one makes the trial ERROR.
        """
        self._conclude(spec.check(CheckOutcome.NOT_EVALUATED, why, required=required))

    def checks(self) -> tuple[Check, ...]:
        """Every check; what the script did not reach is not evaluated."""
        return tuple(
            self._found.get(spec.check_id)
            or spec.check(CheckOutcome.NOT_EVALUATED, "the trial ended before it")
            for spec in self._specs
        )

    def _conclude(self, check: Check) -> None:
        known = self._found.get(check.check_id)
        if known is None or known.outcome is not CheckOutcome.VIOLATED:
            self._found[check.check_id] = check


def quoted(text: str) -> str:
    """A vendor's own text for a report: one line, printable, at most 120 characters."""
    return f"'{printable(text, _QUOTED_CHARACTERS)}'"


def printable(text: str, characters_max: int) -> str:
    """A text that may hold a vendor's own words, such as taints: one line, nothing but print.

    Args:
        text: The text.
        characters_max: What is longer is cut.
    """
    shown = "".join(char if char.isprintable() else "?" for char in text[: characters_max + 1])
    return shown if len(shown) <= characters_max else shown[: characters_max - 1] + "…"
