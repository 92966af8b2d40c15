"""Plays of `families.clock`: a host's dispatch is lost, and clocks go wrong around its lease.

The loss leaves the operation under a live lease with nobody dead: what the memory then says depends
on its clock alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from chaos.client import Fate
from memqual.v1 import destination_pb2
from orchestrator.plan import Batch, Member
from orchestrator.suites.continuity.bystanders import Bystander, bystanders
from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.plays.clock_losses import (
    RELEASE_SECONDS,
    hold_at,
    lose,
    lose_dispatches,
    resolve,
)
from orchestrator.suites.continuity.plays.clock_others import others
from orchestrator.suites.continuity.rig import Rig
from orchestrator.suites.continuity.skewing import (
    MINUTES_5,
    ONE_DAY,
    MemoryTime,
    drifting,
    restart_behind,
    skewed,
)
from orchestrator.suites.continuity.stage import Stage
from orchestrator.suites.continuity.workload import LONG_RETENTION_SECONDS, settings_of

__all__ = ["PLAYS"]

_MOMENTS_PAST_MARK = 600
"""Seconds beyond a lease's end to which the mark is raised before the clock is set back."""

_FAST, _SLOW = 40.0, 0.1
_DRIFT_SECONDS = 3.0
_DRIFT_LEASE_SECONDS_MAX = 110.0
_BEFORE_END_SECONDS = 2.0


def _around_lease_end(stage: Stage) -> None:
    at_memory = lose_dispatches(stage)
    granted_ns = at_memory.now_ns()
    at_memory.go_to(at_memory.lease_ns - NS)
    stage.interposer.mark({"kind": "clock_case", "step": "before_end"})
    stage.wake_until_settled("second_before", wakes=1)
    stage.interposer.mark({"kind": "clock_case", "step": "after_end"})
    at_memory.go_to(granted_ns + at_memory.lease_ns + NS)
    stage.wake_until_settled("second_after", stage.wakes_for_declared_bound())


def _across_lease_end(stage: Stage) -> None:
    at_memory = lose_dispatches(stage)
    at_memory.go_to(at_memory.lease_ns)
    stage.wake_until_settled("across", wakes=1)
    resolve(stage, at_memory)


def _ahead(seconds: int, stage: Stage) -> None:
    lose_dispatches(stage).move(seconds)
    stage.wake_until_settled("ahead", stage.wakes_for_declared_bound())


def _behind(seconds: int, restart: bool, stage: Stage) -> None:
    """The mark is raised long after the lease's end, then the clock is set back behind it."""
    others = bystanders(stage.context.session, stage.batch.members)
    at_memory = lose_dispatches(stage)
    for other in others:
        other.complete_one()
    at_memory.move(at_memory.lease_ns / NS + _MOMENTS_PAST_MARK)
    for other in others:
        other.take_lease()
    stage.step = "behind"
    if restart:
        restart_behind(stage, -seconds * NS)
        at_memory.note(-seconds * NS)
    else:
        at_memory.move(-seconds)
    stage.interposer.mark({"kind": "clock_case", "step": "behind"})
    stage.wake_until_settled("behind", wakes=1)
    for other in others:
        other.ask()
        other.renew_lease()
    stage.interposer.mark({"kind": "clock_case", "step": "back"})
    stage.step = "back"
    at_memory.move(seconds)
    stage.wake_until_settled("back", stage.wakes_for_declared_bound())
    _ask_all(others)
    at_memory.move(at_memory.lease_ns / NS + 1)
    _ask_all(others)


def _ask_all(others: list[Bystander]) -> None:
    for other in others:
        other.ask()


def _drift_fast(stage: Stage) -> None:
    at_memory = lose_dispatches(stage)
    # Whatever a lease's length: what is left of it when the drift begins is drifted away.
    at_memory.go_to(max(at_memory.now_ns(), at_memory.lease_ns - round(_left_seconds() * NS)))
    with drifting(stage, _FAST):
        stage.wake_until_settled("drifts", wakes=1)
        stage.mark_clock()
        time.sleep(_DRIFT_SECONDS)
        stage.mark_clock()
        stage.wake_until_settled("drifted", stage.wakes_for_declared_bound())


def _left_seconds() -> float:
    return min(_FAST * _DRIFT_SECONDS * 0.8, _DRIFT_LEASE_SECONDS_MAX)


def _drift_slow(stage: Stage) -> None:
    at_memory = lose_dispatches(stage)
    granted_ns = at_memory.now_ns()
    at_memory.go_to(at_memory.lease_ns - round(_BEFORE_END_SECONDS * NS))
    with drifting(stage, _SLOW):
        time.sleep(_DRIFT_SECONDS)
        stage.mark_clock()
        stage.interposer.mark({"kind": "clock_case", "step": "before_end"})
        stage.wake_until_settled("drifted", wakes=1)
        stage.interposer.mark({"kind": "clock_case", "step": "after_end"})
    # The drift lost less than it lasted.
    at_memory.go_to(granted_ns + at_memory.lease_ns + round((_DRIFT_SECONDS + 10) * NS))
    stage.wake_until_settled("resolved", stage.wakes_for_declared_bound())


def _key_end(offset_seconds: int, stage: Stage) -> None:
    """A second dispatch is lost, too; then the key's end, counted from the first, comes near."""
    at_memory = lose_dispatches(stage)
    granted_ns = at_memory.now_ns()
    hold = hold_at(stage, "in_request")
    at_memory.go_to(granted_ns + at_memory.lease_ns + NS)
    stage.rig.wake(new_life=False)
    lose(stage, hold)
    last_retry_ns = LONG_RETENTION_SECONDS * NS - at_memory.lease_ns
    at_memory.go_to((0 if offset_seconds < 0 else granted_ns) + last_retry_ns + offset_seconds * NS)
    stage.interposer.mark({"kind": "clock_case", "step": "key_end"})
    stage.wake_until_settled("near_key_end", wakes=1)


def _key_over_at_destination(stage: Stage) -> None:
    at_memory = lose_dispatches(stage, "after_commit")
    stage.move_clock("destination", (LONG_RETENTION_SECONDS + 1) * NS)
    resolve(stage, at_memory)


def _set_back_above_mark(stage: Stage) -> None:
    """The key's time passes for both, then the memory's clock is set back, still above its mark."""
    at_memory = lose_dispatches(stage, "after_commit")
    over = LONG_RETENTION_SECONDS + 1
    at_memory.move(over)
    stage.move_clock("destination", over * NS)
    at_memory.go_to(2 * at_memory.lease_ns)
    stage.wake_until_settled("set_back", wakes=2)
    at_memory.move(over)
    stage.wake_until_settled("resolved", stage.wakes_for_declared_bound())


def _deadlines(stage: Stage) -> None:
    """Let the destination enforce what the host says of the lease's end."""
    settings = [settings_of(member) for member in stage.batch.members]
    for one in settings:
        one.enforce_not_after = True
    stage.context.session.destination_audit.ConfigureWorkflow(
        destination_pb2.ConfigureWorkflowRequest(settings=settings)
    )


def _deadline_ahead(memory_seconds: int, stage: Stage) -> None:
    """The destination's clock passes every deadline while the dispatches are on their way."""
    _deadlines(stage)
    at_memory = MemoryTime(stage)
    hold = hold_at(stage, "in_request")
    stage.do("start", stage.rig.start)
    stage.do("held", lambda: stage.rig.await_window(hold))
    if memory_seconds:
        at_memory.move(memory_seconds)
    stage.move_clock("destination", MINUTES_5 * NS + at_memory.lease_ns)
    hold.release(Fate.DELIVER, RELEASE_SECONDS)
    stage.settle("refused")
    if memory_seconds:
        at_memory.move(-memory_seconds)
    resolve(stage, at_memory)


def _deadline_behind(stage: Stage) -> None:
    """The destination's clock is behind: what comes within the lease is within the deadline."""
    _deadlines(stage)
    hold = hold_at(stage, "in_request")
    stage.do("start", stage.rig.start)
    stage.do("held", lambda: stage.rig.await_window(hold))
    with skewed(stage, "destination", -MINUTES_5):
        hold.release(Fate.DELIVER, RELEASE_SECONDS)
        stage.settle("taken")


def _agent(seconds: int, stage: Stage) -> None:
    """Half of the trials without, the other half with the host's clock wrong."""
    plain, wrong = stage.batch.members[0::2], stage.batch.members[1::2]
    stage.rig.started = True
    _lost_and_resolved(stage, plain)
    host = stage.context.session.active.service
    stage.move_clock(host, seconds * NS)
    stage.interposer.mark({"kind": "clock_case", "step": "host_wrong"})
    _lost_and_resolved(stage, wrong)
    stage.move_clock(host, -seconds * NS)


def _lost_and_resolved(stage: Stage, members: tuple[Member, ...]) -> None:
    """The same for some of a batch's trials as for all of them."""
    if not members:
        return
    batch: Batch = stage.batch.model_copy(update={"members": members})
    part, stage.rig = stage.rig, Rig(stage.context, batch, None)
    try:
        resolve(stage, lose_dispatches(stage))
    finally:
        stage.rig = part


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "clock.around_lease_end": _around_lease_end,
    "clock.across_lease_end": _across_lease_end,
    "clock.memory_ahead_5_minutes": partial(_ahead, MINUTES_5),
    "clock.memory_ahead_1_day": partial(_ahead, ONE_DAY),
    "clock.memory_back_1_second": partial(_behind, 1, False),
    "clock.memory_back_5_minutes": partial(_behind, MINUTES_5, False),
    "clock.memory_back_1_day": partial(_behind, ONE_DAY, False),
    "clock.restart_back_1_second": partial(_behind, 1, True),
    "clock.restart_back_5_minutes": partial(_behind, MINUTES_5, True),
    "clock.restart_back_1_day": partial(_behind, ONE_DAY, True),
    "clock.memory_fast": _drift_fast,
    "clock.memory_slow": _drift_slow,
    "clock.key_covers_by_1_second": partial(_key_end, -1),
    "clock.key_short_by_1_second": partial(_key_end, 1),
    "clock.key_over_at_destination": _key_over_at_destination,
    "clock.memory_set_back_above_mark": _set_back_above_mark,
    **others({1.0: _around_lease_end, _FAST: _drift_fast, _SLOW: _drift_slow}),
    "clock.deadline_destination_ahead": partial(_deadline_ahead, 0),
    "clock.deadline_destination_ahead_memory_back": partial(_deadline_ahead, -MINUTES_5),
    "clock.deadline_destination_behind": _deadline_behind,
    "clock.agent_ahead_1_day": partial(_agent, ONE_DAY),
    "clock.agent_back_1_day": partial(_agent, -ONE_DAY),
    "clock.agent_ahead_5_minutes": partial(_agent, MINUTES_5),
    "clock.agent_back_5_minutes": partial(_agent, -MINUTES_5),
}
