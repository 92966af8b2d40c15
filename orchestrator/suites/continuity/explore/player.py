"""Plays a schedule on a stage: lanes side by side, and what befalls all of them between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby

from orchestrator.suites.continuity.explore.befalling import Clocks, StackTelemetry
from orchestrator.suites.continuity.explore.faults import LaneFaults
from orchestrator.suites.continuity.explore.lane import Lane
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Schedule, Step
from orchestrator.suites.continuity.killing import kill_and_restart, kill_host
from orchestrator.suites.continuity.stage import Stage

__all__ = ["play_schedule"]


def play_schedule(stage: Stage, schedule: Schedule) -> None:
    """Take every step; the memory's clock ends no earlier than it ever was.

    Raises:
        ValueError: The batch has another number of members than the schedule has lanes.
        ChaosError, MemqualError: A step could not be carried out.
    """
    members = stage.batch.members
    if len(members) != len(schedule.capabilities):
        raise ValueError(f"{len(schedule.capabilities)} lanes, {len(members)} members")
    session = stage.context.session
    lanes = [
        Lane(
            stage,
            member,
            LaneFaults(stage.interposer, member.workflow_id),
            Operator(session, member, stage.reviewer),
        )
        for member in members
    ]
    clocks, telemetry = Clocks(stage), StackTelemetry(stage)
    try:
        with ThreadPoolExecutor(max(1, len(lanes))) as pool:
            _Playing(stage, lanes, clocks, telemetry, pool).play(schedule.steps)
    finally:
        for lane in lanes:
            lane.faults.clear()
        telemetry.lift()
    clocks.put_right()


class _Playing:
    def __init__(
        self,
        stage: Stage,
        lanes: Sequence[Lane],
        clocks: Clocks,
        telemetry: StackTelemetry,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._stage = stage
        self._lanes = lanes
        self._clocks = clocks
        self._telemetry = telemetry
        self._pool = pool

    def play(self, steps: Sequence[Step]) -> None:
        """Take the steps part by part."""
        dies_at_work = False
        for befalls, part in groupby(steps, key=lambda step: step.act.of_all):
            if befalls:
                # Set beside the lanes' next steps; with none to come it is a kill like any other.
                *others, last = part
                for step in others:
                    self._befall(step)
                dies_at_work = last.act is Act.KILL_AT_WORK
                if not dies_at_work:
                    self._befall(last)
                continue
            with self._under_way(list(part)):
                if dies_at_work:
                    self._kill("memory")
            dies_at_work = False
        if dies_at_work:
            self._kill("memory")

    @contextmanager
    def _under_way(self, steps: Sequence[Step]) -> Iterator[None]:
        running = [
            self._pool.submit(self._take, lane, [step for step in steps if step.lane == number])
            for number, lane in enumerate(self._lanes)
        ]
        try:
            yield
        finally:
            _await_all(running)

    def _take(self, lane: Lane, steps: Sequence[Step]) -> None:
        for step in steps:
            lane.take(step)

    def _befall(self, step: Step) -> None:
        match step.act:
            case Act.JUMP:
                self._clocks.jump(step.variant)
            case Act.TELEMETRY:
                self._telemetry.befall(step.variant)
            case Act.HOSTS:
                self._work()
            case Act.KILL if step.variant == "agent":
                self._kill_host()
            case Act.KILL:
                self._kill(step.variant or "memory")
            case _:
                self._kill("memory")

    def _work(self) -> None:
        rig = self._stage.rig
        if rig.started:
            rig.wake(new_life=False)
        else:
            rig.start()

    def _kill_host(self) -> None:
        """The active host dies at whatever it is; the standby goes on with its workflows."""
        if not self._stage.rig.started:
            return
        kill_host(self._stage)

    def _kill(self, service: str) -> None:
        kill_and_restart(self._stage, service)
        if service == "memory":
            self._stage.mark_clock()


def _await_all(running: Sequence[Future[None]]) -> None:
    for one in running:
        one.result()
