"""What each control must come to in each cell (DESIGN §9).

`naive` answers every Begin with a fresh EXECUTE: right in row N, wrong in every other row, so a
cell whose rows go beyond N must fail. `null` answers with empty messages: no cell that requires a
decision may pass. The reference must pass everywhere.
"""

from __future__ import annotations

from orchestrator.model import Cell, Suite
from orchestrator.suites.continuity.cells import rows_of
from orchestrator.suites.integrity.planned import ControlExpectation
from orchestrator.suites.integrity.planned import expected_control_verdict as integrity_expectation

__all__ = ["ControlExpectation", "expectation"]

_NEVER_GRANTED = "N"


def expectation(subject: str, cell: Cell) -> ControlExpectation:
    """What every trial of a control in a cell must come to.

    Args:
        subject: `control:<flaw>`.
        cell: A cell of the memory arm.

    Raises:
        ValueError: No such control.
    """
    if cell.suite is Suite.INTEGRITY:
        return integrity_expectation(subject, cell)
    match subject:
        case "control:reference":
            return ControlExpectation.MUST_PASS
        case "control:null":
            return ControlExpectation.MUST_FAIL
        case "control:naive":
            beyond = set(rows_of(cell)) - {_NEVER_GRANTED}
            return ControlExpectation.MUST_FAIL if beyond else ControlExpectation.MUST_PASS
        case _:
            raise ValueError(f"{subject!r} is no control")
