"""Trial records without what adding them up does not need, so that a whole run fits in memory."""

from __future__ import annotations

from functools import lru_cache

from orchestrator.model import Cell, CheckOutcome, TrialRecord

__all__ = ["slim"]

_CELLS_MAX = 4_096


def slim(record: TrialRecord) -> TrialRecord:
    """A record that `scoring.run.aggregate` and the reports' counts cannot tell from the whole one.

    Checks that held are left out, which is nearly all of a record of a trial that passed, and equal
    cells are one object.
    """
    return record.model_copy(
        update={
            "cell": _shared(record.cell),
            "checks": tuple(
                check for check in record.checks if check.outcome is not CheckOutcome.HELD
            ),
        }
    )


@lru_cache(maxsize=_CELLS_MAX)
def _shared(cell: Cell) -> Cell:
    return cell
