"""What each control must come to in each cell (DESIGN §9).

`naive` answers every Begin with a fresh EXECUTE; the oracle says in which rows that is wrong, and a
cell with such a row must fail. `null` answers with empty messages: no cell that requires a decision
may pass. The reference must pass everywhere.
"""

from __future__ import annotations

from functools import cache

from orchestrator.model import CapabilityVariant, Cell, Suite
from orchestrator.oracle.messages import Answer, DecisionKind, DecisionTold, Malformed
from orchestrator.oracle.worlds import Row
from orchestrator.scoring.exemplars import judged_in_row
from orchestrator.suites.continuity.cells import rows_of
from orchestrator.suites.integrity.planned import ControlExpectation
from orchestrator.suites.integrity.planned import expected_control_verdict as integrity_expectation

__all__ = ["ControlExpectation", "expectation"]

_FRESH = DecisionTold(
    DecisionKind.EXECUTE, "granted", attempt=2, token="second", remaining_ms=120_000
)
_EMPTY = Malformed("a decision without a kind")


def expectation(subject: str, cell: Cell) -> ControlExpectation:
    """What every trial of a control in a cell must come to.

    Args:
        subject: `control:<flaw>`.
        cell: A cell of the memory arm.

    Raises:
        ValueError: No such control, or no such cell.
    """
    if cell.suite is Suite.INTEGRITY:
        return integrity_expectation(subject, cell)
    match subject:
        case "control:reference":
            return ControlExpectation.MUST_PASS
        case "control:null":
            return _caught(cell, _EMPTY)
        case "control:naive":
            return _caught(cell, _FRESH)
        case _:
            raise ValueError(f"{subject!r} is no control")


def _caught(cell: Cell, answer: Answer) -> ControlExpectation:
    """Must fail where the flawed answer is wrong in some row, else must pass."""
    capability = cell.capability or CapabilityVariant.NONE
    wrong = any(_is_wrong(Row(row), capability, answer) for row in rows_of(cell))
    return ControlExpectation.MUST_FAIL if wrong else ControlExpectation.MUST_PASS


@cache
def _is_wrong(row: Row, capability: CapabilityVariant, answer: Answer) -> bool:
    return judged_in_row(row, capability, answer).violates
