"""Plays a schedule on a stage: lanes side by side, and what befalls all of them between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby

from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.explore.faults import LaneFaults
from orchestrator.suites.continuity.explore.lane import Lane
from orchestrator.suites.continuity.explore.operators import Operator
from orchestrator.suites.continuity.explore.steps import Act, Schedule, Step
from orchestrator.suites.continuity.killing import kill_and_restart
from orchestrator.suites.continuity.stage import Stage

__all__ = ["play_schedule"]

_MINUTES_NS = 300 * NS
_DAY_NS = 86_400 * NS
_ALMOST_NS = 2 * NS
_EXIT_SECONDS = 10.0


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
    clock = _Clock(stage)
    try:
        with ThreadPoolExecutor(max(1, len(lanes))) as pool:
            _Playing(stage, lanes, clock, pool).play(schedule.steps)
    finally:
        for lane in lanes:
            lane.faults.clear()
    clock.put_right()


class _Clock:
    """The memory's clock, as far as it was set."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._set_ns = 0
        self._most_ns = 0

    def jump(self, variant: str) -> None:
        """Set it once."""
        lease_ns = self._stage.context.describe.limits.lease_seconds * NS
        by_ns = {
            "lease_end": lease_ns + NS,
            "lease_almost": max(NS, lease_ns - _ALMOST_NS),
            "minutes": _MINUTES_NS,
            "day": _DAY_NS,
            "back_second": -NS,
            "back_minutes": -_MINUTES_NS,
            "back_day": -_DAY_NS,
        }[variant or "lease_end"]
        self._stage.move_clock("memory", by_ns)
        self._set_ns += by_ns
        self._most_ns = max(self._most_ns, self._set_ns)

    def put_right(self) -> None:
        """Let it show no less than it ever showed, so that the next batch meets no old mark."""
        if self._set_ns < self._most_ns:
            self._stage.move_clock("memory", self._most_ns - self._set_ns + NS)


class _Playing:
    def __init__(
        self, stage: Stage, lanes: Sequence[Lane], clock: _Clock, pool: ThreadPoolExecutor
    ) -> None:
        self._stage = stage
        self._lanes = lanes
        self._clock = clock
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
                self._clock.jump(step.variant)
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
        self._stage.await_standby()
        service = self._stage.context.session.active.service
        target = self._stage.context.stack.service(service)
        self._stage.interposer.mark({"kind": "host_killed", "service": service})
        target.kill()
        target.wait_exit(_EXIT_SECONDS)
        self._stage.take_over(service)

    def _kill(self, service: str) -> None:
        kill_and_restart(self._stage, service)
        if service == "memory":
            self._stage.mark_clock()


def _await_all(running: Sequence[Future[None]]) -> None:
    for one in running:
        one.result()
