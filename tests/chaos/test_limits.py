"""Bounds and malformed control requests: refused with a status and a sentence."""

from collections.abc import Callable

import grpc
import pytest

from chaos.client import Fate
from chaos.errors import InterposerError
from chaos.interposer import calls, holds, proxy
from memqual.v1 import interposer_pb2 as pb
from tests.chaos.harness import WAIT_SECONDS, Loop, Rig, rule, wait_for

Ask = Callable[[Rig], object]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda rig: rig.client.await_held("r", 1, 60.001), "at most 60000"),
        (lambda rig: rig.client.refresh("memory", 60.001), "at most 60000"),
        (
            lambda rig: rig.client.release("r", Fate.DROP, await_done_seconds=60.001),
            "at most 60000",
        ),
        (lambda rig: rig.client.refresh("nowhere", 1.0), "no target 'nowhere'"),
        (
            lambda rig: rig.client.release(
                "r", Fate.DROP, workflow_ids=[str(number) for number in range(1_001)]
            ),
            "at most 1000 workflow_ids",
        ),
        (lambda rig: rig.client.freeze(*(f"s{number}" for number in range(65))), r"1\.\.64"),
    ],
)
def test_malformed_control_requests(rig: Rig, ask: Ask, words: str) -> None:
    with pytest.raises(InterposerError, match=f"INVALID_ARGUMENT.*{words}"):
        ask(rig)


def test_release_without_a_fate(rig: Rig) -> None:
    request = pb.ReleaseRequest(rule_id="r")
    with pytest.raises(InterposerError, match="fate must be"):
        rig.client._call("Release", rig.client._stub.Release, request)


def test_call_beyond_the_bound_is_refused(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "CALLS_MAX", 2)
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    held = [rig.call(b"x") for _ in range(2)]
    rig.client.await_held("r1", 2, WAIT_SECONDS)
    refused = rig.call(b"x")
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "2 calls with 2 bytes are open" in refused.details()
    rig.client.release("r1", Fate.DELIVER)
    assert [call.result() for call in held] == [b"answer to x"] * 2
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "all calls have ended")
    assert rig.call(b"x").result() == b"answer to x"


def test_bytes_beyond_the_bound_are_refused(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "IN_FLIGHT_BYTES_MAX", 100)
    assert rig.call(b"x" * 100).result() == b"answer to " + b"x" * 100
    assert rig.call(b"x" * 101).code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_answers_that_are_kept_are_bounded(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "IN_FLIGHT_BYTES_MAX", 100)
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, pb.MESSAGE_PHASE_RESPONSE, workflows=("w1",)))
    held = rig.call(b"x" * 40, workflow="w1")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    refused = rig.call(b"y", workflow="w2")
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "at most" in refused.details()
    rig.client.release("r1", Fate.DELIVER)
    assert held.result() == b"answer to " + b"x" * 40
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "all calls have ended")
    assert rig.call(b"y", workflow="w2").result() == b"answer to y"


def test_hold_that_nobody_ends_is_dropped(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds, "HOLD_SECONDS_MAX", 0.1)
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"x", timeout=1.0)
    assert call.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
    assert rig.memory.received == []
    assert "DROPPED" in rig.kinds()


def test_interposer_that_is_gone_is_told(rig: Rig, loop: Loop) -> None:
    loop.run(rig.running.stop())
    with pytest.raises(InterposerError, match="ReadStatistics: UNAVAILABLE"):
        rig.client.statistics()
