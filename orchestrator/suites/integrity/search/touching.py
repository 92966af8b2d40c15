"""What a move says, as what, and about which records (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.suites.integrity.search.moves import (
    Ask,
    Derive,
    Kind,
    Move,
    RecordOutcome,
    Retire,
    Supersede,
    Write,
)

__all__ = ["offers_procedure", "records_of", "text_of"]


def text_of(move: Move) -> str:
    """The text that a move offers; empty when it offers none."""
    if isinstance(move, Write | Supersede):
        return move.said.text
    return move.text if isinstance(move, Derive) else ""


def offers_procedure(move: Move) -> bool:
    """Whether a move offers a procedure."""
    if isinstance(move, Write | Supersede):
        return move.said.kind is Kind.PROCEDURE
    return isinstance(move, Derive) and move.kind is Kind.PROCEDURE


def records_of(move: Move) -> Sequence[str]:
    """Names of the records whose standing a move may change."""
    if isinstance(move, RecordOutcome | Supersede | Retire):
        return (move.of,)
    return move.records if isinstance(move, Ask) else ()
