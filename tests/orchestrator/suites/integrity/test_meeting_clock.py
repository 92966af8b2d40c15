"""A memory is asked for its clock as for anything else: again while it says "try again"."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from memqual.v1 import common_pb2, vendor_pb2
from orchestrator.campaign.jobs import StackContext
from orchestrator.errors import StackError
from orchestrator.session import Session
from orchestrator.suites.integrity import meeting
from orchestrator.suites.integrity.meeting import Meeting
from orchestrator.suites.integrity.trial import TRIES_MAX
from tests.orchestrator.suites.integrity.contexts import rig_for
from tests.orchestrator.suites.integrity.memories import SmallMemory


class Refused(grpc.RpcError):
    def __init__(self, status: grpc.StatusCode) -> None:
        self.status = status

    def code(self) -> grpc.StatusCode:
        return self.status


class Clock:
    """Answers Now after some refusals."""

    def __init__(self, status: grpc.StatusCode, refusals: int) -> None:
        self.status, self.refusals, self.asked = status, refusals, 0

    def Now(self, request: vendor_pb2.NowRequest) -> vendor_pb2.NowResponse:
        self.asked += 1
        if self.asked <= self.refusals:
            raise Refused(self.status)
        clock = common_pb2.ClockReading(wall_unix_ns=7, monotonic_ns=5)
        return vendor_pb2.NowResponse(clock=clock)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "_TRY_AGAIN_SECONDS", 0)


def read(clock: Clock) -> tuple[int, int]:
    session: Any = SimpleNamespace(memory=SimpleNamespace(vendor=clock))
    with rig_for(SmallMemory()) as rig:
        context: StackContext = replace(rig.context, session=cast(Session, session))
        reading = Meeting(context, "job")._now()
    return reading.wall_unix_ns, reading.monotonic_ns


def test_a_busy_memory_is_asked_again() -> None:
    clock = Clock(grpc.StatusCode.UNAVAILABLE, TRIES_MAX - 1)

    assert read(clock) == (7, 5)
    assert clock.asked == TRIES_MAX


@pytest.mark.parametrize(
    ("status", "asked"),
    [(grpc.StatusCode.UNAVAILABLE, TRIES_MAX), (grpc.StatusCode.INTERNAL, 1)],
)
def test_a_memory_without_a_clock_ends_the_job(status: grpc.StatusCode, asked: int) -> None:
    clock = Clock(status, 100)

    with pytest.raises(StackError, match=f"does not tell its clock: {status.name}"):
        read(clock)
    assert clock.asked == asked
