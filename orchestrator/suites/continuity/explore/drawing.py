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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orchestrator.model import CapabilityVariant
from orchestrator.suites.continuity.explore.acts import (
    ASKED_LESS,
    ASKED_MORE,
    BACK,
    COMPLETING,
    FORWARD,
    HALF,
    LEFT_BEHIND,
    LEFT_OPEN,
    SHORT_LIMITS,
    TIMELESS_KILLS,
    VARIANTS,
    WAKING,
    WEIGHTS,
)
from orchestrator.suites.continuity.explore.endings import (
    QUESTIONS_MAX,
    patient_ending,
    plain_ending,
)
from orchestrator.suites.continuity.explore.steps import EVERY_LANE, Act, Schedule, Step
from orchestrator.suites.continuity.explore.wearing import LONG_LIMITS
from orchestrator.suites.integrity.search.dice import DICE_MAX, Dice

__all__ = ["Coverage", "draw"]

_AGENTS = 3
_TOGETHER_MAX = 4
_IN_SWARM = 0.65
_STEPS_LEAST, _STEPS_MORE = 3, 7
_PARTS_LEAST, _PARTS_MORE = 2, 4
_RESTS = 0.3
"""How often a lane does nothing until the next thing befalls all: that meets what it holds."""
_WAKES = 0.5
"""How often a lane's first step after something befell all is to ask."""
_RETURNS = 0.5
"""How often the memory's clock, set forward by a lease or more, is set back next."""
_GOES_ON = 0.6
"""How often half a lease is followed by the other half."""
_FOLLOWS = 0.4
"""How often a step is followed by one that meets what it left."""
_NOVELTY = 0.5
"""How often what was seen often is drawn less: without it what is rare never meets, and always the
plain things that most rules are about would be seen less and less."""
_LONG_LIMIT = 0.3
"""In how many schedules a limit may be met that hundreds of calls are needed for."""
_DOWN = 0.3
"""How often a clock is set back while the memory is down."""
_PATIENT = 0.25
"""How often everybody waits as long as is asked for in the end, time after time."""
_OPEN = 0.3
"""How often nothing is done in a lane that brings its operation to an end: it is retried on."""
_LATEST = 0.55
"""How often a step is about what was told last; else about what was told before, and so on."""
_BACK_MAX = 2
_PLAIN = 0.5
"""How often nothing about a step is wrong, without a look at the ways in which it can be."""
_CAPABILITIES = tuple(CapabilityVariant)
_ASKED = frozenset({CapabilityVariant.QUERY_FENCED, CapabilityVariant.QUERY_UNFENCED})


@dataclass
class Coverage:
    """How often each step has followed another one in a lane, over all schedules so far."""

    followed: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def note(self, schedule: Schedule) -> None:
        """Count a schedule that was played."""
        for lane, capability in enumerate(schedule.capabilities):
            before = ""
            for step in schedule.of_lane(lane).steps:
                name = _name(step)
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
    chosen = tuple(capabilities) or tuple(
        _CAPABILITIES[(number + lane) % len(_CAPABILITIES)] for lane in range(lanes)
    )
    return _Draw(
        Dice(seed % (DICE_MAX + 1), number), chosen, coverage, clocks, operators
    ).schedule()


class _Draw:
    """One schedule on its way."""

    def __init__(
        self,
        dice: Dice,
        capabilities: tuple[CapabilityVariant, ...],
        coverage: Coverage,
        clocks: bool,
        operators: bool,
    ) -> None:
        self._dice = dice
        self._capabilities = capabilities
        self._coverage = coverage
        self._clocks = clocks
        # Where nobody can sign, nobody speaks, and a limit that needs a word is not met.
        left_out = frozenset() if operators else frozenset({Act.RESOLVE})
        self._left_out = [
            left_out | COMPLETING if dice.chance(_OPEN) else left_out for _ in capabilities
        ]
        self._swarms = [self._swarm(kept_out) for kept_out in self._left_out]
        # Most of what a lane is owed changes with time: clocks are left out nowhere.
        timed = [Act.JUMP] if clocks else []
        left_out |= {Act.JUMP} if clocks else {Act.JUMP, Act.DRIFT}
        others = tuple(act for act in WEIGHTS if act.of_all and act not in left_out)
        self._befalling = [*timed, *self._swarm_of(others)]
        self._before = ["" for _ in capabilities]
        self._befell: Step | None = None
        # Hundreds of calls: in few schedules, and once.
        many = dice.one(tuple(sorted(LONG_LIMITS)))
        self._long_limit = many if dice.chance(_LONG_LIMIT) else ""

    def schedule(self) -> Schedule:
        """Parts of lanes, and between them what befalls all."""
        steps: list[Step] = []
        for _ in range(_PARTS_LEAST + self._dice.below(_PARTS_MORE)):
            for lane in range(len(self._capabilities)):
                steps += self._part(lane)
            self._befell = self._befall()
            steps.append(self._befell)
            self._before = [_name(self._befell) for _ in self._capabilities]
        steps += plain_ending(len(self._capabilities), clocks=self._clocks)
        if self._clocks and self._dice.chance(_PATIENT):
            steps += patient_ending(len(self._capabilities))
        return Schedule(capabilities=self._capabilities, steps=tuple(steps))

    def _part(self, lane: int) -> Iterator[Step]:
        """What a lane does until the next thing befalls all: nothing, often."""
        if self._befell is not None and self._dice.chance(_RESTS):
            return
        acts, last = self._swarms[lane], None
        if self._befell is not None and self._dice.chance(_WAKES):
            last = self._noted(self._step(lane, self._dice.one(self._kept(lane, WAKING))))
            yield last
        for _ in range(_STEPS_LEAST + self._dice.below(_STEPS_MORE)):
            left = () if last is None else self._left(lane, last.act)
            if left and self._dice.chance(_FOLLOWS):
                last = self._noted(self._step(lane, self._dice.one(left)))
            else:
                last = self._noted(self._drawn(lane, acts))
            yield last

    def _left(self, lane: int, act: Act) -> tuple[Act, ...]:
        """What meets what an act has left in a lane."""
        left = LEFT_OPEN if self._capabilities[lane] in _ASKED else LEFT_BEHIND
        return self._kept(lane, left.get(act, ()))

    def _kept(self, lane: int, acts: tuple[Act, ...]) -> tuple[Act, ...]:
        return tuple(act for act in acts if act not in self._left_out[lane])

    def _befall(self) -> Step:
        """A clock that went half a lease often goes on; one that went further often goes back."""
        befell = self._befell
        if self._clocks and befell is not None and befell.act is Act.JUMP:
            if befell.variant == HALF and self._dice.chance(_GOES_ON):
                return Step(act=Act.JUMP, variant=HALF)
            if befell.variant in FORWARD and self._dice.chance(_RETURNS):
                return self._back()
        return self._drawn(EVERY_LANE, self._befalling)

    def _back(self) -> Step:
        """At once, or while the memory is down."""
        variant = self._dice.one(BACK)
        if self._dice.chance(_DOWN):
            return Step(act=Act.KILL, variant=f"memory:{variant}")
        return Step(act=Act.JUMP, variant=variant)

    def _noted(self, step: Step) -> Step:
        self._before[step.lane] = _name(step)
        return step

    def _swarm(self, left_out: frozenset[Act]) -> list[Act]:
        acts = tuple(act for act in WEIGHTS if not act.of_all and act not in left_out)
        kept = self._swarm_of(acts)
        return kept if Act.BEGIN in kept else [Act.BEGIN, *kept]

    def _swarm_of(self, acts: Sequence[Act]) -> list[Act]:
        return [act for act in acts if self._dice.chance(_IN_SWARM)] or list(acts[:1])

    def _drawn(self, lane: int, acts: Sequence[Act]) -> Step:
        """One of the acts, by its weight and how often it has followed what the lane met last."""
        at = max(lane, 0)
        met = (self._capabilities[at], self._before[at])
        candidates = [self._step(lane, act) for act in acts]
        weights = [_weight(step.act, met[0]) for step in candidates]
        if self._dice.chance(_NOVELTY):
            weights = [
                weight * self._coverage.weight(*met, step)
                for weight, step in zip(weights, candidates, strict=True)
            ]
        left = self._dice.below(1_000_000) / 1_000_000 * sum(weights)
        drawn = candidates[-1]
        for step, weight in zip(candidates, weights, strict=True):
            left -= weight
            if left <= 0:
                drawn = step
                break
        if drawn.variant in LONG_LIMITS:
            self._long_limit = ""
        return drawn

    def _step(self, lane: int, act: Act) -> Step:
        variant = self._variant(act)
        if act.of_all:
            return Step(act=act, variant=variant)
        amount = 0
        while amount < _BACK_MAX and not self._dice.chance(_LATEST):
            amount += 1
        if act is Act.TOGETHER:
            amount = 2 + self._dice.below(_TOGETHER_MAX - 1)
        if act is Act.FOLLOW:
            amount = self._dice.below(QUESTIONS_MAX)
        agent = self._dice.below(_AGENTS)
        return Step(act=act, lane=lane, agent=agent, amount=amount, variant=variant)

    def _variant(self, act: Act) -> str:
        variants = VARIANTS.get(act, ("",))
        if act is Act.KILL and not self._clocks:
            variants = TIMELESS_KILLS
        if act is Act.WEAR_OUT and self._long_limit:
            variants = (*SHORT_LIMITS, self._long_limit)
        if variants[0] == "" and self._dice.chance(_PLAIN):
            return ""
        return self._dice.one(variants)


def _weight(act: Act, capability: CapabilityVariant) -> float:
    if act is not Act.ASK:
        return float(WEIGHTS[act])
    return WEIGHTS[act] * (ASKED_MORE if capability in _ASKED else ASKED_LESS)


def _name(step: Step) -> str:
    return f"{step.act}:{step.variant}"
