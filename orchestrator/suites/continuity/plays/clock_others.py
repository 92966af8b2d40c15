"""Plays of `families.clock_others`: a host's or the destination's clock is wrong, or two are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from orchestrator.suites.continuity.expiry import NS
from orchestrator.suites.continuity.families.clock_others import (
    AGENT,
    DRIFTS,
    MEMORY,
    OFFSETS,
    Clock,
)
from orchestrator.suites.continuity.plays.clock_losses import lose_dispatches, resolve
from orchestrator.suites.continuity.skewing import drifting, skewed
from orchestrator.suites.continuity.stage import Stage

__all__ = ["others"]

_NEAR_END_SECONDS = 1


def _name(stage: Stage, service: str) -> str:
    """The stack's service that is meant."""
    return stage.context.session.active.service if service == AGENT else service


def _apart(clocks: tuple[Clock, ...], stage: Stage) -> None:
    """Effects are there and their answers are lost while clocks stand apart.

    Hosts are asked to go on while the lease lives, by whoever's clock, and a second before and
    after its end by the memory's own.
    """
    with ExitStack() as back:
        for one in clocks:
            if one.service != MEMORY:
                # A host's checkpoints are named by its clock: it stands apart from the start.
                back.enter_context(skewed(stage, _name(stage, one.service), one.by))
        at_memory = lose_dispatches(stage, "after_commit")
        granted_ns = at_memory.now_ns()
        own = sum(one.by for one in clocks if one.service == MEMORY)
        if own:
            at_memory.move(own)
        _mark(stage, "apart")
        stage.wake_until_settled("apart", wakes=1)
        if not own:
            at_memory.go_to(at_memory.lease_ns - _NEAR_END_SECONDS * NS)
            stage.wake_until_settled("second_before", wakes=1)
            at_memory.go_to(granted_ns + at_memory.lease_ns + _NEAR_END_SECONDS * NS)
            stage.wake_until_settled("second_after", stage.wakes_for_declared_bound())
        _mark(stage, "whole")
        if own:
            # Back is where the mark is not: the memory's time goes on from here.
            resolve(stage, at_memory)


def _mark(stage: Stage, step: str) -> None:
    stage.interposer.mark({"kind": "clock_case", "step": step})


@contextmanager
def _running(stage: Stage, clocks: tuple[Clock, ...]) -> Iterator[None]:
    """Clocks other than the memory's run at their rates."""
    with ExitStack() as over:
        for one in clocks:
            if one.service != MEMORY:
                over.enter_context(drifting(stage, one.by, _name(stage, one.service)))
        yield


def _drift(
    clocks: tuple[Clock, ...], by_memory: Mapping[float, Callable[[Stage], None]], stage: Stage
) -> None:
    """What is played around a lease's end is played while other clocks drift, too."""
    rate = next((one.by for one in clocks if one.service == MEMORY), 1.0)
    with _running(stage, clocks):
        by_memory[rate](stage)


def others(
    by_memory: Mapping[float, Callable[[Stage], None]],
) -> Mapping[str, Callable[[Stage], None]]:
    """The plays by case.

    Args:
        by_memory: What is played around a lease's end, by the rate of the memory's own clock.
    """
    return {
        **{name: partial(_apart, clocks) for name, clocks in OFFSETS.items()},
        **{name: partial(_drift, clocks, by_memory) for name, clocks in DRIFTS.items()},
    }
