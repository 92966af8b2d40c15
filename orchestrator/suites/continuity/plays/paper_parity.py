"""Plays of `families.paper_parity`: nothing goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.suites.continuity.paper.hands import Hands
from orchestrator.suites.continuity.stage import Stage

__all__ = ["PLAYS"]


def _recorded(stage: Stage) -> None:
    hands = Hands(stage, guard=True)
    _undisturbed(stage, hands, hands.start)


def _published_hash(stage: Stage) -> None:
    hands = Hands(stage, guard=True)
    _undisturbed(stage, hands, hands.start_calls)


def _undisturbed(stage: Stage, hands: Hands, start: Callable[[], None]) -> None:
    stage.do("prepare", hands.prepare)
    stage.do("start", start)
    stage.do("live", lambda: stage.settle("live"))
    stage.do("states", lambda: hands.tell_states("final"))


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "paper_parity.recorded": _recorded,
    "paper_parity.published_hash": _published_hash,
}
