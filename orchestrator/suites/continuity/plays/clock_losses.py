"""What plays on clocks share: dispatches are lost, and in the end every lease is over."""

from __future__ import annotations

from chaos.client import Fate
from chaos.holding import Hold
from chaos.windows import window
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.skewing import MemoryTime
from orchestrator.suites.continuity.stage import Stage

__all__ = ["RELEASE_SECONDS", "hold_at", "lose", "lose_dispatches", "resolve"]

RELEASE_SECONDS = 10.0


def lose_dispatches(stage: Stage, at: str = "in_request") -> MemoryTime:
    """Every operation's dispatch (or its answer) is lost as on a broken connection.

    Returns:
        The memory's time, whose zero precedes the first grant.
    """
    at_memory = MemoryTime(stage)
    hold = hold_at(stage, at)
    stage.do("start", stage.rig.start)
    lose(stage, hold)
    return at_memory


def hold_at(stage: Stage, at: str) -> Hold:
    """Hold every operation at a window."""
    stage.rig.window = window(at)
    return stage.do("hold", stage.rig.arm)


def lose(stage: Stage, hold: Hold) -> None:
    """Lose what is held there, as on a broken connection."""
    stage.do("held", lambda: stage.rig.await_window(hold))
    stage.do("lose", lambda: hold.release(Fate.DISCONNECT, RELEASE_SECONDS))
    stage.settle("lost")


def resolve(stage: Stage, at_memory: MemoryTime) -> None:
    """Time goes on until every lease is over, and the hosts are woken until they are done."""
    stage.step = "resolve"
    at_memory.go_to(max(at_memory.now_ns(), 0) + at_memory.lease_ns + NS)
    stage.wake_until_settled("resolved", stage.wakes_for_declared_bound())
