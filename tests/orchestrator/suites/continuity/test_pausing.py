"""How the time that a memory asks for passes: by its clock, in real time, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.suites.continuity.pausing import (
    PAUSE_SECONDS,
    REAL_SECONDS_MAX,
    SHORT_PAUSE_SECONDS,
    Pauses,
)

SECOND = 1_000_000_000
MONOTONIC = vendor_pb2.LEASE_CLOCK_MONOTONIC
YEAR_SECONDS = 365 * 86_400


@dataclass
class Service:
    clock_folder: Path | None


@dataclass
class Stack:
    folder: Path | None

    def service(self, name: str) -> Service:
        assert name == "memory"
        return Service(self.folder)


@dataclass
class Context:
    """As much of a stack as pauses look at."""

    skew: bool = True
    stack: Stack = field(default_factory=lambda: Stack(Path("clock")))
    describe: vendor_pb2.DescribeResponse = field(
        default_factory=lambda: vendor_pb2.DescribeResponse(
            lease_clock=vendor_pb2.LEASE_CLOCK_WALL,
            limits=vendor_pb2.Limits(lease_seconds=120, max_uncertain_queries=3),
        )
    )


@dataclass
class Told:
    """What was done: jumps of the memory's clock, and sleeps, in seconds."""

    jumps: list[float] = field(default_factory=list)
    sleeps: list[float] = field(default_factory=list)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    made = Told()
    monkeypatch.setattr("orchestrator.suites.continuity.pausing.time.sleep", made.sleeps.append)
    return made


def pauses_on(context: Context, told: Told) -> Pauses:
    def move(service: str, jump_ns: int) -> None:
        assert service == "memory"
        told.jumps.append(jump_ns / SECOND)

    return Pauses(cast(StackContext, context), move)


def test_the_memory_s_clock_is_moved_by_what_was_asked_and_a_second(told: Told) -> None:
    assert pauses_on(Context(), told).let_pass(30.0)
    assert told.jumps == [31.0]


@pytest.mark.parametrize(("question_seconds", "most"), [(0, 121.0), (300, 301.0)])
def test_it_is_moved_by_no_more_than_a_memory_may_ask_for(
    told: Told, question_seconds: int, most: float
) -> None:
    context = Context()
    context.describe.limits.question_lease_seconds = question_seconds
    assert pauses_on(context, told).let_pass(YEAR_SECONDS)
    assert told.jumps == [most]


def test_a_moment_costs_no_jump(told: Told) -> None:
    assert pauses_on(Context(), told).let_pass(0.0)
    assert told == Told([], [PAUSE_SECONDS])


@pytest.mark.parametrize("reason", ["skew", "folder", "monotonic", "drift"])
def test_where_no_clock_can_be_moved_it_is_waited_for_within_a_budget(
    told: Told, reason: str
) -> None:
    context = Context(skew=reason != "skew")
    if reason == "folder":
        context.stack.folder = None
    if reason == "monotonic":
        context.describe.lease_clock = MONOTONIC
    pauses = pauses_on(context, told)
    pauses.clock_is_free = reason != "drift"
    half = REAL_SECONDS_MAX / 2
    assert [pauses.let_pass(half) for _ in range(2)] == [True, False]
    assert told == Told([], [half + 1, SHORT_PAUSE_SECONDS])


@pytest.mark.parametrize(
    ("declared", "wakes", "stops"), [(0, 26, 6), (3, 12, 6), (70, 128, 8), (1_000, 128, 16)]
)
def test_hosts_are_woken_as_often_as_the_declared_questions_may_take(
    told: Told, declared: int, wakes: int, stops: int
) -> None:
    context = Context()
    context.describe.limits.max_uncertain_queries = declared
    pauses = pauses_on(context, told)
    assert (pauses.wakes_max, pauses.stops_max) == (wakes, stops)
