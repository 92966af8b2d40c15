"""Collects the checks of one trial and adds them up (DESIGN §7)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from orchestrator.model import Check, CheckOutcome, Frozen, Verdict

__all__ = ["Finder", "Requirement", "requirements"]

_RIG = "rig."


class Requirement(Frozen):
    """One row of the requirement register.

    Attributes:
        id: Stable id; a changed meaning is a new id.
        property: Property of the paper, or `ours`.
        design: Section of DESIGN.md.
        text: What must hold.
    """

    id: str
    property: str
    design: str
    text: str


@cache
def requirements() -> dict[str, Requirement]:
    """The register by id.

    Raises:
        ValueError: Two rows of the checked-in register have one id.
    """
    text = (Path(__file__).parent / "requirements.yaml").read_text(encoding="utf-8")
    rows = [Requirement.model_validate(row) for row in yaml.safe_load(text)]
    by_id = {row.id: row for row in rows}
    if len(by_id) != len(rows):
        raise ValueError("requirements.yaml gives one id to two rows")
    return by_id


class Finder:
    """What was found in one trial, in order.

    A check of the rig that does not hold means that there is nothing to judge: ERROR. A check of
    the memory that does not hold is FAIL, whatever else is missing.
    """

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def that(
        self, check_id: str, requirement_id: str, held: bool, expected: str, actual: str
    ) -> None:
        """Note an assertion about the memory."""
        self._add(check_id, requirement_id, held, expected, actual)

    def rig(
        self, check_id: str, requirement_id: str, held: bool, expected: str, actual: str
    ) -> None:
        """Note an assertion about the testbed; its id begins with `rig.`."""
        if not check_id.startswith(_RIG):
            raise ValueError(f"{check_id} is no check of the rig")
        self._add(check_id, requirement_id, held, expected, actual)

    def open(self, check_id: str, requirement_id: str, why: str) -> None:
        """Note an assertion that could not be evaluated."""
        self._checks.append(
            Check(
                check_id=check_id,
                requirement_id=requirement_id,
                paper_property=requirements()[requirement_id].property,
                outcome=CheckOutcome.NOT_EVALUATED,
                actual=why,
            )
        )

    def checks(self) -> tuple[Check, ...]:
        """Everything that was noted."""
        return tuple(self._checks)

    def violated_or_open(self) -> tuple[Check, ...]:
        """What stands in the way of PASS."""
        return tuple(one for one in self._checks if one.outcome is not CheckOutcome.HELD)

    def verdict(self) -> tuple[Verdict, tuple[Check, ...]]:
        """The trial's verdict and the checks that explain it."""
        bad = self.violated_or_open()
        failed = tuple(
            one
            for one in bad
            if one.outcome is CheckOutcome.VIOLATED and not one.check_id.startswith(_RIG)
        )
        if failed:
            return Verdict.FAIL, failed
        return (Verdict.ERROR, bad) if bad else (Verdict.PASS, ())

    def _add(
        self, check_id: str, requirement_id: str, held: bool, expected: str, actual: str
    ) -> None:
        self._checks.append(
            Check(
                check_id=check_id,
                requirement_id=requirement_id,
                paper_property=requirements()[requirement_id].property,
                outcome=CheckOutcome.HELD if held else CheckOutcome.VIOLATED,
                expected=expected,
                actual="" if held else actual,
            )
        )
