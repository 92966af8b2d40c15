"""Draws schedules: the rarer a step has followed another one so far, the likelier it is drawn.

Each lane may use only some of the acts (swarm testing): a sequence in which everything happens
hides what needs one thing often and another never.

Most rules about time are rules about what was there before a clock was set and is asked about
afterwards. So lanes sometimes rest while something happens to the others, are often woken up by a
clock that was set, and a clock that was set forward often goes back before long.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.explore.steps import EVERY_LANE, Act, Schedule, Step
from orchestrator.suites.integrity.search.dice import DICE_MAX, Dice

__all__ = ["Coverage", "draw"]

_AGENTS = 3
_FRESH_AGENT = 9
_BACK_MAX = 3
_TOGETHER_MAX = 4
_QUESTIONS_MAX = 6
_IN_SWARM = 0.65
_STEPS_LEAST, _STEPS_MORE = 2, 5
_PARTS_LEAST, _PARTS_MORE = 2, 4
_RESTS = 0.4
"""How often a lane does nothing until the next thing befalls all: that meets what it holds."""
_WAKES = 0.5
"""How often a lane's first step under a clock that was set just now is to ask."""
_RETURNS = 0.6
"""How often the memory's clock, set forward, is set back next."""
_CAPABILITIES = tuple(CapabilityVariant)

_WEIGHTS: Mapping[Act, int] = {
    Act.BEGIN: 12,
    Act.AGAIN: 4,
    Act.TOGETHER: 2,
    Act.FOLLOW: 3,
    Act.LIFE: 2,
    Act.PEEK: 1,
    Act.DISPATCH: 5,
    Act.RECORD: 7,
    Act.ASK: 6,
    Act.RENEW: 4,
    Act.RESOLVE: 2,
    Act.FAULT: 2,
    Act.RELEASE: 2,
    Act.JUMP: 9,
    Act.TELEMETRY: 1,
    Act.HOSTS: 2,
    Act.KILL: 2,
    Act.KILL_AT_WORK: 1,
}

_LOST = tuple(
    "/".join(parts)
    for parts in product(
        ("Begin", "RecordReceipt", "RecordQuery", "Renew", "Invoke", "QueryEffect"),
        ("request", "response"),
        ("fail", "drop", "hold", "delay", "reorder"),
    )
) + tuple(
    f"{method}/request/duplicate"
    for method in ("Begin", "RecordReceipt", "RecordQuery", "Invoke", "QueryEffect")
)

_VARIANTS: Mapping[Act, tuple[str, ...]] = {
    Act.BEGIN: ("", "arguments", "tool", "destination", "capability", "key", "principal"),
    Act.AGAIN: ("", "other_life"),
    Act.RECORD: (
        "",
        "token",
        "other_life",
        "attempt",
        "operation",
        "arguments",
        "mislabelled",
        "other_result",
    ),
    Act.ASK: (
        "",
        "present",
        "absent_final",
        "absent_uncertain",
        "unknown",
        "ticket",
        "attempt",
    ),
    Act.RENEW: ("", "token", "other_life", "attempt"),
    Act.RESOLVE: (
        "did_not_happen",
        "happened",
        "abandon",
        "did_not_happen:stranger",
        "happened:stranger",
        "did_not_happen:again",
    ),
    Act.FAULT: _LOST,
    Act.RELEASE: ("deliver", "drop"),
    Act.JUMP: (
        "lease_end",
        "lease_end",
        "lease_almost",
        "minutes",
        "minutes",
        "day",
        "back_second",
        "back_minutes",
        "back_day",
        "agent:minutes",
        "agent:back_day",
        "destination:day",
        "destination:back_minutes",
    ),
    Act.TELEMETRY: ("drop", "delay", "duplicate", "reorder", "slow", "errors", ""),
    Act.KILL: ("memory", "memory", "agent", "agent", "destination", "observer"),
}
_BACK = tuple(variant for variant in _VARIANTS[Act.JUMP] if variant.startswith("back_"))
_FORWARD = frozenset(_VARIANTS[Act.JUMP][: _VARIANTS[Act.JUMP].index(_BACK[0])])
_PLAIN = 0.5
"""How often nothing about a step is wrong, without a look at the ways in which it can be."""


@dataclass
class Coverage:
    """How often each step has followed another one in a lane, over all schedules so far."""

    followed: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def note(self, schedule: Schedule) -> None:
        """Count a schedule that was played."""
        for lane, capability in enumerate(schedule.capabilities):
            before = ""
            for step in schedule.of_lane(lane).steps:
                name = f"{step.act}:{step.variant}"
                self.followed[capability.value, before, name] += 1
                before = name

    def weight(self, capability: CapabilityVariant, before: str, step: Step) -> float:
        """1 for what was never seen, less for what was seen often."""
        seen = self.followed[capability.value, before, f"{step.act}:{step.variant}"]
        return 1.0 / math.sqrt(1.0 + seen)

    @property
    def pairs(self) -> int:
        """How many different successions there were."""
        return len(self.followed)


def draw(
    seed: int,
    number: int,
    lanes: int,
    coverage: Coverage,
    *,
    clocks: bool = True,
    operators: bool = True,
    capabilities: Sequence[CapabilityVariant] = (),
) -> Schedule:
    """One schedule; equal arguments and coverage give an equal one.

    Args:
        seed: Root of all draws.
        number: Which schedule of the seed.
        lanes: How many workflows.
        coverage: What was played before.
        clocks: The memory's clock can be set.
        operators: Somebody can sign for an operator.
        capabilities: Of each lane; empty: all in turn.
    """
    dice = Dice(seed % (DICE_MAX + 1), number)
    chosen = tuple(capabilities) or tuple(
        _CAPABILITIES[(number + lane) % len(_CAPABILITIES)] for lane in range(lanes)
    )
    left_out = set() if operators else {Act.RESOLVE}
    swarms = [_swarm(dice, left_out) for _ in chosen]
    befalling = _swarm_of(tuple(act for act in _WEIGHTS if act.of_all), dice)
    if not clocks:
        befalling = [act for act in befalling if act is not Act.JUMP] or [Act.KILL]
    steps: list[Step] = []
    before = ["" for _ in chosen]
    befell: Step | None = None
    for _ in range(_PARTS_LEAST + dice.below(_PARTS_MORE)):
        for lane, capability in enumerate(chosen):
            if befell is not None and dice.chance(_RESTS):
                continue
            if befell is not None and befell.act is Act.JUMP and dice.chance(_WAKES):
                steps.append(Step(act=Act.BEGIN, lane=lane, agent=dice.below(_AGENTS)))
                before[lane] = f"{Act.BEGIN}:"
            for _ in range(_STEPS_LEAST + dice.below(_STEPS_MORE)):
                step = _drawn(dice, lane, (capability, before[lane]), swarms[lane], coverage)
                steps.append(step)
                before[lane] = f"{step.act}:{step.variant}"
        if clocks and _is_forward(befell) and dice.chance(_RETURNS):
            befell = Step(act=Act.JUMP, variant=dice.one(_BACK))
        else:
            befell = _drawn(dice, EVERY_LANE, (chosen[0], before[0]), befalling, coverage)
        steps.append(befell)
        before = [f"{befell.act}:{befell.variant}" for _ in chosen]
    steps += _ending(len(chosen), clocks=clocks)
    return Schedule(capabilities=chosen, steps=tuple(steps))


def _is_forward(step: Step | None) -> bool:
    return step is not None and step.act is Act.JUMP and step.variant in _FORWARD


def _swarm(dice: Dice, left_out: set[Act]) -> list[Act]:
    acts = tuple(act for act in _WEIGHTS if not act.of_all and act not in left_out)
    kept = _swarm_of(acts, dice)
    return kept if Act.BEGIN in kept else [Act.BEGIN, *kept]


def _swarm_of(acts: Sequence[Act], dice: Dice) -> list[Act]:
    return [act for act in acts if dice.chance(_IN_SWARM)] or list(acts[:1])


def _drawn(
    dice: Dice, lane: int, met: tuple[CapabilityVariant, str], acts: Sequence[Act], seen: Coverage
) -> Step:
    """One of the acts, by its weight and by how often it has followed what the lane met last."""
    candidates = [_step(dice, lane, act) for act in acts]
    weights = [_WEIGHTS[step.act] * seen.weight(*met, step) for step in candidates]
    at = dice.below(1_000_000) / 1_000_000 * sum(weights)
    for step, weight in zip(candidates, weights, strict=True):
        at -= weight
        if at <= 0:
            return step
    return candidates[-1]


def _step(dice: Dice, lane: int, act: Act) -> Step:
    variants = _VARIANTS.get(act, ("",))
    plain = variants[0] == "" and dice.chance(_PLAIN)
    variant = "" if plain else dice.one(variants)
    if act.of_all:
        return Step(act=act, variant=variant)
    amount = 0 if dice.chance(0.7) else dice.below(_BACK_MAX)
    if act is Act.TOGETHER:
        amount = 2 + dice.below(_TOGETHER_MAX - 1)
    if act is Act.FOLLOW:
        amount = dice.below(_QUESTIONS_MAX)
    return Step(act=act, lane=lane, agent=dice.below(_AGENTS), amount=amount, variant=variant)


def _ending(lanes: int, *, clocks: bool) -> list[Step]:
    """What shows where each lane stands: agents that know nothing ask, and answer as hosts do."""

    def each(act: Act, agent: int, amount: int = 0) -> list[Step]:
        return [Step(act=act, lane=lane, agent=agent, amount=amount) for lane in range(lanes)]

    steps = each(Act.BEGIN, _FRESH_AGENT)
    if clocks:
        steps.append(Step(act=Act.JUMP, variant="lease_end"))
    steps += each(Act.FOLLOW, _FRESH_AGENT + 1, _QUESTIONS_MAX)
    return [*steps, *each(Act.BEGIN, _FRESH_AGENT + 2)]
