"""Plays a schedule on a stage: lanes side by side, and what befalls all of them between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby

from orchestrator.suites.continuity.explore.befalling import Clocks, StackTelemetry
from orchestrator.suites.continuity.explore.faults import EdgeCuts, LaneFaults, receipts_of
from orchestrator.suites.continuity.explore.hosts import Hosts
from orchestrator.suites.continuity.explore.lane import Lane
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Schedule, Step
from orchestrator.suites.continuity.killing import (
    kill_and_restart,
    kill_host,
    kill_together,
)
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
    with ThreadPoolExecutor(max(1, len(lanes))) as pool:
        playing = _Playing(stage, lanes, pool)
        try:
            playing.play(schedule.steps)
        finally:
            playing.end()
    playing.conclude()


class _Playing:
    def __init__(self, stage: Stage, lanes: Sequence[Lane], pool: ThreadPoolExecutor) -> None:
        self._stage = stage
        self._lanes = lanes
        self._pool = pool
        self._clocks = Clocks(stage)
        self._telemetry = StackTelemetry(stage)
        self._hosts = Hosts(stage)
        faults = [lane.faults for lane in lanes]
        self._cuts = EdgeCuts(stage.interposer, stage.batch.batch_id, faults)

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
                    self._pass_over()
                    self._kill("memory")
            dies_at_work = False
        if dies_at_work:
            self._kill("memory")

    def end(self) -> None:
        """Whatever was met so far: nothing more is met.

        Raises:
            ChaosError, MemqualError: A fault cannot be taken away.
        """
        for lane in self._lanes:
            lane.faults.clear()
        self._telemetry.lift()
        self._pass_over()

    def conclude(self) -> None:
        """The clocks are right again, nobody is asleep, and what was met has its proof.

        Raises:
            ChaosError, MemqualError: That cannot be had.
        """
        self._hosts.wake()
        self._clocks.put_right()
        armed = [one for lane in self._lanes for one in lane.faults.armed] + self._cuts.armed
        if armed:
            trace = tuple(self._stage.interposer.trace(self._stage.trace_first))
            for receipt in receipts_of(self._stage.interposer, armed, trace):
                self._stage.keep(receipt)

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

    def _pass_over(self) -> None:
        """What lasts until the next thing that befalls all is over."""
        self._cuts.mend()
        self._clocks.steady()

    def _befall(self, step: Step) -> None:
        self._pass_over()
        befall: dict[Act, Callable[[], None]] = {
            Act.JUMP: lambda: self._clocks.jump(step.variant),
            Act.DRIFT: lambda: self._clocks.drift(step.variant),
            Act.CUT: lambda: self._cuts.cut(step.variant),
            Act.TELEMETRY: lambda: self._telemetry.befall(step.variant),
            Act.HOSTS: self._hosts.work,
            Act.SLEEP: self._hosts.sleep_or_wake,
            Act.SET_BACK: self._hosts.set_back,
            Act.KILL: lambda: self._kill(step.variant or "memory"),
            Act.KILL_AT_WORK: lambda: self._kill("memory"),
        }
        befall[step.act]()

    def _kill(self, variant: str) -> None:
        """Kill services at one moment; a host only where it works."""
        names, _, how_far = variant.partition(":")
        if how_far:
            self._clocks.restart(how_far)
            return
        services = (
            ["memory", "destination", "observer", "agent"] if names == "all" else names.split("+")
        )
        host = "agent" in services and self._stage.rig.started
        others = [name for name in services if name != "agent"]
        if host:
            # The standby must be there to follow: nobody sleeps while a host dies.
            self._hosts.wake()
        if host and not others:
            kill_host(self._stage)
        elif len(others) == 1 and not host:
            kill_and_restart(self._stage, others[0])
        elif others:
            kill_together(self._stage, others, host=host)
        if "memory" in others:
            self._stage.mark_clock()


def _await_all(running: Sequence[Future[None]]) -> None:
    for one in running:
        one.result()
