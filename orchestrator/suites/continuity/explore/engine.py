"""A whole exploration: schedules until the bounds are reached, each find as a short case."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import grpc
import structlog

from chaos.errors import ChaosError
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import MemqualError
from orchestrator.model import Arm, CapabilityVariant, Cell, Suite, Verdict
from orchestrator.plan import Batch, Member, workflow_id
from orchestrator.suites.continuity.explore.cases import ExploredCase
from orchestrator.suites.continuity.explore.drawing import Coverage, draw
from orchestrator.suites.continuity.explore.finding import Broken, LaneResult, judge_batch
from orchestrator.suites.continuity.explore.player import play_schedule
from orchestrator.suites.continuity.explore.shrinking import fewest
from orchestrator.suites.continuity.explore.steps import Schedule
from orchestrator.suites.continuity.families.explore import SEEDED
from orchestrator.suites.continuity.mishaps import error_of
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.suites.integrity.variation import trial_seed

__all__ = ["Bounds", "Exploration", "ExplorationResult", "Ground"]

_TRIES_MAX = 120
_TRY_SECONDS = 240.0
_CONFIRMATIONS = 2
_COPIES = 6
_NARROWINGS = 2
_FAILURES_MAX = 3
_SUBJECT = "vendor"
_RULE_CHARACTERS = 60

_log = structlog.get_logger(__name__)


class Ground(Protocol):
    """Where schedules are played."""

    reviewer: Reviewer | None

    def context(self) -> StackContext:
        """A stack that can be used: the present one, or a new one when that is spoiled.

        Raises:
            MemqualError: None can be had.
        """


@dataclass(frozen=True)
class Bounds:
    """When an exploration ends.

    Attributes:
        seconds: After so long; a find under way is still made short, within bounds of its own.
        schedules: After so many schedules; None for no bound.
        cases: After so many finds, each of another rule.
        lanes: Workflows of one schedule.
    """

    seconds: float = 600.0
    schedules: int | None = None
    cases: int = 8
    lanes: int = 12


@dataclass(frozen=True)
class ExplorationResult:
    """What an exploration came to.

    Attributes:
        schedules: Played while exploring; those that made a find shorter are not counted.
        trials: Their lanes, by verdict.
        seconds: How long it took.
        pairs: Different successions of steps.
        rows: How many trials met each row of the oracle, by capability.
        errors: Why trials could not be judged, how often.
        cases: What was found, in the order of finding.
    """

    schedules: int
    trials: Mapping[str, int]
    seconds: float
    pairs: int
    rows: Mapping[str, int]
    errors: Mapping[str, int]
    cases: tuple[ExploredCase, ...]


@dataclass
class Exploration:
    """Explores one memory.

    Attributes:
        ground: Where schedules are played.
        seed: Root of everything that is drawn.
        token: Makes workflow ids this exploration's own, such as a run id.
        memory: Name and version of the memory, for the cases.
        revision: Of the testbed, for the cases.
        stopping: Ends the exploration early when set.
        on_schedule: Told after each schedule how many there were, and how many finds.
        on_case: Told of each find.
    """

    ground: Ground
    seed: int
    token: str
    memory: str = ""
    revision: str = ""
    stopping: threading.Event = field(default_factory=threading.Event)
    on_schedule: Callable[[int, int], None] | None = None
    on_case: Callable[[ExploredCase], None] | None = None
    _playings: int = field(default=0, init=False)
    _coverage: Coverage = field(default_factory=Coverage, init=False)
    _trials: Counter[str] = field(default_factory=Counter, init=False)
    _rows: Counter[str] = field(default_factory=Counter, init=False)
    _errors: Counter[str] = field(default_factory=Counter, init=False)
    _cases: list[ExploredCase] = field(default_factory=list, init=False)

    def run(self, bounds: Bounds) -> ExplorationResult:
        """Explore until a bound is reached.

        Raises:
            MemqualError: No stack can be had any more.
        """
        began = time.monotonic()
        number = 0
        while self._goes_on(bounds, began, number):
            self._explore(number, bounds)
            number += 1
            if self.on_schedule is not None:
                self.on_schedule(number, len(self._cases))
        return ExplorationResult(
            schedules=number,
            trials=dict(self._trials),
            seconds=time.monotonic() - began,
            pairs=self._coverage.pairs,
            rows=dict(sorted(self._rows.items())),
            errors=dict(self._errors.most_common(20)),
            cases=tuple(self._cases),
        )

    def play(self, schedule: Schedule) -> tuple[LaneResult, ...]:
        """Play one schedule on workflows of its own and judge it.

        Raises:
            MemqualError: No stack can be had.
        """
        for failures in range(_FAILURES_MAX):
            context = self.ground.context()
            try:
                return self._played(context, schedule)
            except (MemqualError, ChaosError, grpc.RpcError) as error:
                # The evidence itself is lost: nothing can be said of this playing.
                context.progress.spoiled = error_of("evidence", error).cause
                _log.warning("playing_lost", cause=context.progress.spoiled)
                if failures + 1 == _FAILURES_MAX:
                    raise
        raise AssertionError("unreachable")

    def play_again(self, schedule: Schedule) -> tuple[LaneResult, ...]:
        """Play a find: one lane in several copies, since what it shows can depend on moments.

        Raises:
            MemqualError: No stack can be had.
        """
        alone = len(schedule.capabilities) == 1
        return self.play(schedule.side_by_side(_COPIES) if alone else schedule)

    def _goes_on(self, bounds: Bounds, began: float, number: int) -> bool:
        return (
            not self.stopping.is_set()
            and time.monotonic() - began < bounds.seconds
            and len(self._cases) < bounds.cases
            and (bounds.schedules is None or number < bounds.schedules)
        )

    def _explore(self, number: int, bounds: Bounds) -> None:
        context = self.ground.context()
        schedule = draw(
            self.seed,
            number,
            bounds.lanes,
            self._coverage,
            clocks=context.skew,
            operators=self.ground.reviewer is not None,
        )
        results = self.play(schedule)
        self._coverage.note(schedule)
        self._count(schedule, results)
        for lane, result in enumerate(results):
            known = {case.rule for case in self._cases}
            if result.broken is not None and result.broken.rule not in known:
                self._keep(self._narrowed(schedule, lane, result.broken), result.broken, bounds)

    def _count(self, schedule: Schedule, results: tuple[LaneResult, ...]) -> None:
        for capability, result in zip(schedule.capabilities, results, strict=True):
            self._trials[result.record.verdict.value] += 1
            if result.record.verdict is Verdict.ERROR:
                self._errors[result.record.cause[:160]] += 1
            for row in result.rows:
                self._rows[f"{capability.value}:{row}"] += 1

    def _narrowed(self, schedule: Schedule, lane: int, broken: Broken) -> Schedule:
        """The lane alone, where that shows it: an operation can be wronged through another one."""
        alone = schedule.of_lane(lane)
        shown = any(self._again(alone, broken.rule) is not None for _ in range(_NARROWINGS))
        return alone if shown else schedule

    def _keep(self, schedule: Schedule, broken: Broken, bounds: Bounds) -> None:
        """Make a find short, see it again, and keep it."""
        if len(self._cases) >= bounds.cases:
            return
        _log.info("broken", rule=broken.rule, steps=len(schedule.steps))
        steps = fewest(
            schedule.steps,
            lambda steps: self._again(schedule.with_steps(steps), broken.rule) is not None,
            tries_max=_TRIES_MAX,
            seconds=_TRY_SECONDS,
        )
        short = schedule.with_steps(steps)
        seen = [self._again(short, broken.rule) for _ in range(_CONFIRMATIONS)]
        told = next((one for one in seen if one is not None), broken)
        capability = short.capabilities[0]
        name = "".join(
            letter if letter.isalnum() else "_" for letter in f"{capability.value}_{broken.rule}"
        ).lower()
        case = ExploredCase(
            name=name[:_RULE_CHARACTERS].strip("_"),
            title=f"{told.words}."[:300],
            rule=broken.rule,
            words=told.words,
            schedule=short,
            seed=self.seed,
            memory=self.memory,
            revision=self.revision,
            confirmed=sum(one is not None for one in seen),
        )
        self._cases.append(case)
        if self.on_case is not None:
            self.on_case(case)

    def _again(self, schedule: Schedule, rule: str) -> Broken | None:
        """What the schedule breaks now, if it is that rule, be it first or after another."""
        if self.stopping.is_set():
            return None
        found = (one for result in self.play_again(schedule) for one in result.all_broken)
        return next((one for one in found if one.rule == rule), None)

    def _played(self, context: StackContext, schedule: Schedule) -> tuple[LaneResult, ...]:
        batch = self._batch(schedule.capabilities)
        stage = Stage(context, batch, reviewer=self.ground.reviewer)
        try:
            stage.begin()
            stage.step = "play"
            play_schedule(stage, schedule)
            stage.finish()
        except (MemqualError, ChaosError, grpc.RpcError) as error:
            stage.seen.error = error_of(stage.step, error)
            context.progress.spoiled = stage.seen.error.cause
        stage.look_at_memory(being_killed=stage.killing)
        stage.tell_error()
        return judge_batch(stage.result())

    def _batch(self, capabilities: tuple[CapabilityVariant, ...]) -> Batch:
        self._playings += 1
        members = []
        for number, capability in enumerate(capabilities):
            cell = Cell(suite=Suite.CONTINUITY, arm=Arm.MEMORY, capability=capability, case=SEEDED)
            seed = trial_seed(self.seed, f"explore:{self.token}:{self._playings}", number)
            members.append(
                Member(
                    trial_id=f"explore:{self._playings}#{number}",
                    cell=cell,
                    sub_seed=seed,
                    workflow_id=workflow_id(_SUBJECT, cell, number, seed),
                )
            )
        return Batch(
            batch_id=f"x{self._playings}",
            subject=_SUBJECT,
            kill_number=0,
            members=tuple(members),
        )
