"""How schedules end: agents that know nothing ask where each lane stands."""

from __future__ import annotations

from orchestrator.scoring.end_checks import ENDLESS_WAITS
from orchestrator.suites.continuity.explore.steps import Act, Step

__all__ = ["QUESTIONS_MAX", "patient_ending", "plain_ending"]

QUESTIONS_MAX = 6
"""Questions of a host that follows what it is told, at most."""

_FRESH_AGENT = 9


def _each(lanes: int, act: Act, agent: int, amount: int = 0) -> list[Step]:
    return [Step(act=act, lane=lane, agent=agent, amount=amount) for lane in range(lanes)]


def plain_ending(lanes: int, *, clocks: bool) -> list[Step]:
    """What shows where each lane stands: agents that know nothing ask, and answer as hosts do."""
    steps = _each(lanes, Act.BEGIN, _FRESH_AGENT)
    if clocks:
        steps.append(Step(act=Act.JUMP, variant="lease_end"))
    steps += _each(lanes, Act.FOLLOW, _FRESH_AGENT + 1, QUESTIONS_MAX)
    return [*steps, *_each(lanes, Act.BEGIN, _FRESH_AGENT + 2)]


def patient_ending(lanes: int) -> list[Step]:
    """What shows that a memory puts everybody off for ever: it is asked again when it said so."""
    steps: list[Step] = []
    for time in range(ENDLESS_WAITS):
        steps.append(Step(act=Act.JUMP, variant="lease_end"))
        steps += _each(lanes, Act.BEGIN, _FRESH_AGENT + 3 + time)
    return steps
