"""What each control must come to in each cell (DESIGN §9).

`naive` answers every Begin with a fresh EXECUTE; the oracle says in which rows that is wrong, and a
cell with such a row must fail. `null` answers with empty messages: no cell that requires a decision
may pass. The reference must pass everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from orchestrator.model import (
    CapabilityVariant,
    Cell,
    ExpiryMode,
    Fate,
    Suite,
    WindowName,
)
from orchestrator.oracle.messages import Answer, DecisionKind, DecisionTold, Malformed
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.exemplars import judged_in_row
from orchestrator.suites.continuity.cells import rows_of
from orchestrator.suites.integrity.planned import ControlExpectation
from orchestrator.suites.integrity.planned import expected_control_verdict as integrity_expectation
from orchestrator.suites.narrative.planned import expected_control_verdict as narrative_expectation

__all__ = ["ControlExpectation", "expectation"]

_FRESH = DecisionTold(
    DecisionKind.EXECUTE, "granted", attempt=2, token="second", remaining_ms=120_000
)
_EMPTY = Malformed("a decision without a kind")


def expectation(subject: str, cell: Cell, way: ExpiryMode = ExpiryMode.NONE) -> ControlExpectation:
    """What every trial of a control in a cell must come to.

    Args:
        subject: `control:<flaw>`.
        cell: A cell of the memory arm.
        way: How its trial's lease really ended (`TrialRecord.expiry`); NONE: as the cell says.

    Raises:
        ValueError: No such control, or no such cell.
    """
    if cell.suite is Suite.INTEGRITY:
        return integrity_expectation(subject, cell)
    if cell.suite is Suite.NARRATIVE:
        return narrative_expectation(subject, cell)
    match subject:
        case "control:reference":
            return ControlExpectation.MUST_PASS
        case "control:null":
            return _caught(cell, way, _EMPTY)
        case "control:naive":
            return _caught(cell, way, _FRESH)
        case _:
            raise ValueError(f"{subject!r} is no control")


def _caught(cell: Cell, way: ExpiryMode, answer: Answer) -> ControlExpectation:
    """Must fail where the flawed answer is wrong in some row, else must pass.

    A short lease may still be live when the host asks: in row L the flaw may or may not be met.
    """
    way = cell.expiry if way is ExpiryMode.NONE else way
    capability = cell.capability or CapabilityVariant.NONE
    if any(_is_wrong(row, capability, answer) for row in _asked_rows(cell, way)):
        return ControlExpectation.MUST_FAIL
    if way is ExpiryMode.CONFIGURED and _is_wrong(Row.LEASE_LIVE, capability, answer):
        return ControlExpectation.MAY_PASS
    return ControlExpectation.MUST_PASS


def _asked_rows(cell: Cell, way: ExpiryMode) -> Iterator[Row]:
    """Every row that some question meets after the fault: the cell's, and those of the dead."""
    yield from (Row(row) for row in rows_of(cell, way))
    if cell.window is WindowName.BEFORE_INTENT and cell.fate is Fate.LATE_AFTER_DECISION:
        # The new host has completed the operation when the dead one's Begin arrives.
        yield Row.COMPLETE


@cache
def _is_wrong(row: Row, capability: CapabilityVariant, answer: Answer) -> bool:
    return judged_in_row(row, capability, answer).violates
