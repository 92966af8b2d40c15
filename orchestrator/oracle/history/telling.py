"""Calls in words, for a person who reads a contradiction."""

from __future__ import annotations

from orchestrator.oracle.messages import (
    Accepted,
    Answer,
    BeginAsked,
    DecisionTold,
    PeekAsked,
    QueryAsked,
    ReceiptAsked,
    Refused,
    RenewAsked,
    Renewed,
    Request,
)
from orchestrator.oracle.view import Call

__all__ = ["told"]

_ID_CHARACTERS = 12


def told(call: Call) -> str:
    """One call: what was asked, what was answered, and its record in the trace."""
    return f"record {call.sequence}: {_asked(call.request)} -> {_answered(call.answer)}"


def _asked(asked: Request) -> str:
    match asked:
        case BeginAsked() | PeekAsked():
            word = "Begin" if isinstance(asked, BeginAsked) else "Peek"
            return f"{word} by {asked.incarnation_id}"
        case ReceiptAsked():
            return f"RecordReceipt of attempt {asked.attempt} by {asked.incarnation_id}"
        case QueryAsked():
            presence = "nothing" if asked.presence is None else asked.presence.value
            return f"RecordQuery of attempt {asked.attempt}: {presence}"
        case RenewAsked():
            return f"Renew of attempt {asked.attempt} by {asked.incarnation_id}"
        case _:
            return "Resolve: " + ("nothing" if asked.word is None else asked.word.value)


def _answered(answer: Answer) -> str:
    match answer:
        case DecisionTold():
            attempt = f" of attempt {answer.attempt}" if answer.attempt else ""
            token = f", token {answer.token[:_ID_CHARACTERS]}" if answer.token else ""
            return f"{answer.kind.value}{attempt}{token}"
        case Accepted():
            return f"OK {answer.disposition or ''}".strip()
        case Renewed():
            return f"OK, {answer.remaining_ms} ms left"
        case Refused():
            return f"status {answer.status_code}"
        case _:
            return "no answer"
