"""Plays a kept case again: the same violation, or where it went another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.suites.integrity.search.engine import Search
from orchestrator.suites.integrity.search.moves import Case, Violation

__all__ = ["Replayed", "replay"]


@dataclass(frozen=True)
class Replayed:
    """What came of a case that was played again.

    Attributes:
        violation: The first rule that was broken this time; None when none was.
        same: Whether it is the case's own rule.
        divergence: The first move that came to something else than before, in words; empty when
            none did.
        answers: What each move came to this time.
    """

    violation: Violation | None
    same: bool
    divergence: str
    answers: tuple[str, ...]


def replay(search: Search, case: Case) -> Replayed:
    """Play a case once.

    Args:
        search: A search of the memory, whose names and nonces are taken.
        case: What was found before.

    Raises:
        StackError: The memory does not answer any more.
    """
    player, violation = search.play(case.statements, case.moves)
    return Replayed(
        violation=violation,
        same=violation is not None and violation.kind is case.violation.kind,
        divergence=_divergence(case, player.answers, violation),
        answers=tuple(player.answers),
    )


def _divergence(case: Case, answers: Sequence[str], violation: Violation | None) -> str:
    for at, (before, now) in enumerate(zip(case.answers, answers, strict=False)):
        if before != now:
            return f"move {at + 1} ({case.moves[at].op}): {before} before, {now} now"
    if violation is None:
        return f"after move {case.violation.move + 1}: {case.violation.words} before, nothing now"
    if violation.kind is not case.violation.kind:
        return (
            f"after move {violation.move + 1}: {case.violation.kind.value} before, "
            f"{violation.kind.value} now ({violation.words})"
        )
    return ""
