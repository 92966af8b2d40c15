"""Sequences with other nonces, so that each playing is the first for the memory (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from orchestrator.suites.integrity.search.moves import Move, Statement
from orchestrator.suites.integrity.search.texts import renamed
from orchestrator.suites.integrity.variation import Role, nonce_for, trial_seed, vary

__all__ = ["afresh", "said_in"]

_MOVES: TypeAdapter[tuple[Move, ...]] = TypeAdapter(tuple[Move, ...])


def afresh(
    statements: Sequence[Statement], moves: Sequence[Move], number: int
) -> tuple[tuple[Statement, ...], tuple[Move, ...]]:
    """The same sequence with other nonces: a memory may remember the ones that it met before.

    Args:
        statements: What is said in it.
        moves: Its moves.
        number: Of the playing: two playings share no nonce.
    """
    words = dict.fromkeys(word for one in statements for word in one.nonce.split())
    names = {
        word: nonce_for(vary(trial_seed(number, "search-again", at)), _role_of(word))
        for at, word in enumerate(words)
    }
    fresh = tuple(
        Statement.model_validate_json(renamed(one.model_dump_json(), names)) for one in statements
    )
    return fresh, _MOVES.validate_json(renamed(_MOVES.dump_json(tuple(moves)).decode(), names))


def _role_of(word: str) -> Role:
    return next(role for role in Role if word[0] in role.value)


def said_in(statement: Statement, moves: Sequence[Move]) -> bool:
    """Whether a sequence says anything of a statement."""
    said = _MOVES.dump_json(tuple(moves)).decode()
    return any(renamed(said, {word: ""}) != said for word in statement.nonce.split())
