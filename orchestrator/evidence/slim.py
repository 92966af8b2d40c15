"""Trial records that take little memory, so that a whole run fits in it."""

from __future__ import annotations

from functools import lru_cache

from orchestrator.model import Cell, Check, CheckOutcome, Suite, TrialRecord

__all__ = ["slim"]

_CELLS_MAX = 4_096
_CHECKS_MAX = 4_096
_WORDLESS = {"expected": "", "actual": ""}


def slim(record: TrialRecord) -> TrialRecord:
    """A smaller record that `scoring.run.aggregate` cannot tell from the whole one.

    Checks that held are left out, which is nearly all of a record of a trial that passed, and equal
    cells are one object. Rates of the integrity axis count what held: there the words are left out.
    """
    counted = record.cell.suite is Suite.INTEGRITY
    checks = (
        _one_check(check.model_copy(update=_WORDLESS))
        if check.outcome is CheckOutcome.HELD
        else check
        for check in record.checks
        if counted or check.outcome is not CheckOutcome.HELD
    )
    return record.model_copy(update={"cell": _one_cell(record.cell), "checks": tuple(checks)})


@lru_cache(maxsize=_CELLS_MAX)
def _one_cell(cell: Cell) -> Cell:
    return cell


@lru_cache(maxsize=_CHECKS_MAX)
def _one_check(check: Check) -> Check:
    return check
