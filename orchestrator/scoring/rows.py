"""Whether the rows that a cell is about were reached by whoever asked after the fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.oracle.judgement import CallJudgement
from orchestrator.oracle.worlds import Row

__all__ = ["asked_after", "unreached"]


def asked_after(
    decisions: Iterable[CallJudgement], fault_ns: int, held_calls: frozenset[int]
) -> tuple[CallJudgement, ...]:
    """The decisions that a cell's rows are about.

    Args:
        decisions: Every answer to Begin.
        fault_ns: When the fault began; questions before it are no part (interposer time).
        held_calls: Questions of the dead: what became of them is judged, and reaches no row.
    """
    return tuple(
        call
        for call in decisions
        if call.forwarded_ns >= fault_ns and call.call_id not in held_calls
    )


def unreached(
    rows: Sequence[str], decisions: Iterable[CallJudgement], *, begin_replay: bool
) -> tuple[str, ...]:
    """The rows that were not reached, in order; each must come after the one before it.

    Args:
        rows: Rows of the cell table.
        decisions: As `asked_after` gives them.
        begin_replay: Declared; without it a repeated begin id meets L where others meet S.
    """
    left = list(rows)
    for call in decisions:
        if left and _reaches(left[0], call.rows, begin_replay=begin_replay):
            left.pop(0)
    return tuple(left)


def _reaches(wanted: str, rows: Sequence[Row], *, begin_replay: bool) -> bool:
    met = {row.value for row in rows}
    if wanted == Row.SAME_BEGIN.value and not begin_replay:
        return bool(met & {Row.SAME_BEGIN.value, Row.LEASE_LIVE.value})
    return wanted in met
