"""Plays of `families.paper_interrupted`: the host dies with its sixth call committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from orchestrator.suites.continuity.families.paper_interrupted import GUARDED
from orchestrator.suites.continuity.paper.hands import Hands
from orchestrator.suites.continuity.plays.host_kill import kill_host_at
from orchestrator.suites.continuity.stage import Stage

__all__ = ["PLAYS"]

_CALLS_BEFORE = 5
"""Reads of the conversation before its exchange."""


def _interrupted(stage: Stage, *, guard: bool) -> None:
    hands = Hands(stage, guard=guard)
    stage.do("prepare", hands.prepare)
    killed = kill_host_at(stage, "after_commit", hands.start, calls_before=_CALLS_BEFORE)
    stage.do("states", lambda: hands.tell_states("killed"))
    stage.do("take_over", lambda: stage.take_over(killed))
    stage.do("live", lambda: stage.settle("live"))
    if stage.cell.arm.has_memory:
        stage.do("expire", stage.reach_lease_end)
        stage.do("resume", lambda: stage.wake_until_settled("expired"))
    stage.do("states", lambda: hands.tell_states("final"))


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    name: partial(_interrupted, guard=guard) for name, guard in GUARDED.items()
}
