"""What each action does to a request and to a response."""

import time

import grpc
import pytest

from chaos.client import Fate
from chaos.errors import InterposerError, NotInTime, RuleRefused
from memqual.v1 import interposer_pb2 as pb
from tests.chaos.harness import WAIT_SECONDS, Rig, rule, wait_for

REQUEST = pb.MESSAGE_PHASE_REQUEST
RESPONSE = pb.MESSAGE_PHASE_RESPONSE
BOTH = pytest.mark.parametrize("phase", [REQUEST, RESPONSE])


@BOTH
def test_hold_then_deliver(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, phase, workflows=("w1",)))
    held = rig.call(b"held", workflow="w1")
    assert rig.call(b"free", workflow="w2").result() == b"answer to free"
    (message,) = rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert (message.workflow_id, message.operation_id, message.attempt) == ("w1", "op-w1", 1)
    assert not message.client_gone
    assert not held.done()
    assert sorted(rig.memory.requests()) == ([b"free"] if phase == REQUEST else [b"free", b"held"])
    assert rig.client.release("r1", Fate.DELIVER, await_done_seconds=WAIT_SECONDS) == 1
    assert held.result() == b"answer to held"
    kinds = rig.kinds(message.call_id)
    held_at = 1 if phase == REQUEST else 3
    assert kinds[held_at : held_at + 2] == ["HELD", "RELEASED"]
    assert len(kinds) == 6
    # Released: the rule is gone.
    assert rig.call(b"again", workflow="w1").result() == b"answer to again"


@BOTH
def test_hold_then_drop_is_silent_until_the_clients_deadline(
    rig: Rig, phase: pb.MessagePhase.ValueType
) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, phase))
    call = rig.call(b"x", timeout=1.0)
    (message,) = rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert rig.client.release("r1", Fate.DROP) == 1
    assert call.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
    assert rig.memory.requests() == ([] if phase == REQUEST else [b"x"])
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "the call is given up")
    kinds = rig.kinds(message.call_id)
    assert "DROPPED" in kinds
    assert "RESPONSE_DELIVERED" not in kinds


@BOTH
def test_hold_then_disconnect_is_told_at_once(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, phase))
    call = rig.call(b"x", timeout=None)
    (message,) = rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert rig.client.release("r1", Fate.DISCONNECT) == 1
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert rig.memory.requests() == ([] if phase == REQUEST else [b"x"])
    assert rig.kinds(message.call_id)[-1] == "DROPPED"


def test_late_delivery_after_the_client_gave_up(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"late", timeout=0.3)
    (message,) = rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    wait_for(
        lambda: rig.client.await_held("r1", 1, WAIT_SECONDS)[0].client_gone, "the client is gone"
    )
    assert rig.client.release("r1", Fate.DELIVER, await_done_seconds=WAIT_SECONDS) == 1
    (received,) = rig.memory.received
    assert received.request == b"late"
    assert received.remaining_seconds is not None
    assert received.remaining_seconds > 30
    assert rig.kinds(message.call_id) == [
        "REQUEST_RECEIVED",
        "HELD",
        "CLIENT_GONE",
        "RELEASED",
        "REQUEST_FORWARDED",
        "RESPONSE_RECEIVED",
    ]


def test_release_by_workflow_keeps_the_rest(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    first, second = (rig.call(b"x", workflow=name) for name in ("w1", "w2"))
    rig.client.await_held("r1", 2, WAIT_SECONDS)
    assert rig.client.release("r1", Fate.DELIVER, workflow_ids=["w1"]) == 1
    assert first.result() == b"answer to x"
    assert [held.workflow_id for held in rig.client.await_held("r1", 1, 1)] == ["w2"]
    # Disarmed, and its id still taken while something is held under it.
    assert rig.call(b"y", workflow="w3").result() == b"answer to y"
    with pytest.raises(RuleRefused, match="still holds"):
        rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    assert rig.client.release("r1", Fate.DELIVER) == 1
    assert second.result() == b"answer to x"
    with pytest.raises(InterposerError, match="NOT_FOUND"):
        rig.client.release("r1", Fate.DELIVER)
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))


def test_keep_armed_and_hits_a_workflow(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, hits=1))
    first = rig.call(b"1", workflow="w1")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert rig.call(b"2", workflow="w1").result() == b"answer to 2"
    assert rig.client.release("r1", Fate.DELIVER, keep_armed=True) == 1
    assert first.result() == b"answer to 1"
    other = rig.call(b"3", workflow="w2")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert rig.client.clear("r1") == 1
    other.cancel()


def test_await_held_says_how_many(rig: Rig) -> None:
    with pytest.raises(InterposerError, match="NOT_FOUND"):
        rig.client.await_held("r1", 1, 1)
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"x")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    with pytest.raises(NotInTime, match="holds 1 of 2"):
        rig.client.await_held("r1", 2, 0.05)
    with pytest.raises(RuleRefused, match="ALREADY_EXISTS"):
        rig.client.arm(rule(pb.RULE_ACTION_DROP))
    assert rig.client.clear() == 1
    call.cancel()


def test_clear_drops_what_is_held(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"x", timeout=1.0)
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    assert rig.client.clear("no such rule") == 0
    assert rig.client.clear() == 1
    assert call.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
    assert rig.memory.received == []
    assert rig.client.statistics().held_messages == 0


@BOTH
def test_drop(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_DROP, phase, workflows=("w1",)))
    call = rig.call(b"x", timeout=0.5)
    assert call.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
    assert rig.memory.requests() == ([] if phase == REQUEST else [b"x"])
    assert rig.call(b"y", workflow="w2").result() == b"answer to y"


@BOTH
def test_fail(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_FAIL, phase, fail_code=14))
    call = rig.call(b"x")
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert "rule r1" in call.details()
    assert rig.memory.requests() == ([] if phase == REQUEST else [b"x"])
    (failed,) = [record for record in rig.client.trace() if record.kind == "FAILED"]
    assert (failed.rule_id, failed.status_code) == ("r1", 14)


@BOTH
def test_delay(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_DELAY, phase, delay_ms=200))
    assert rig.call(b"x").result() == b"answer to x"
    records = {record.kind.value: record for record in rig.client.trace()}
    after = "REQUEST_FORWARDED" if phase == REQUEST else "RESPONSE_DELIVERED"
    waited_ns = records[after].monotonic_ns - records["DELAYED"].monotonic_ns
    assert waited_ns >= 200_000_000


def test_duplicate(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_DUPLICATE))
    assert rig.call(b"x").result() == b"answer to x"
    wait_for(lambda: rig.memory.requests() == [b"x", b"x"], "both copies arrive")
    wait_for(lambda: rig.client.statistics().in_flight_calls == 0, "both copies end")
    kinds = rig.kinds()
    assert kinds.count("REQUEST_FORWARDED") == 2
    assert kinds.count("RESPONSE_RECEIVED") == 2
    assert kinds.count("RESPONSE_DELIVERED") == 1
    assert kinds[:2] == ["REQUEST_RECEIVED", "DUPLICATED"]


@BOTH
def test_reorder_waits_for_the_next_message(rig: Rig, phase: pb.MessagePhase.ValueType) -> None:
    rig.client.arm(
        rule(pb.RULE_ACTION_REORDER, phase, workflows=("w1",), delay_ms=int(WAIT_SECONDS * 1000))
    )
    overtaken = rig.call(b"first", workflow="w1")
    wait_for(lambda: "REORDERED" in rig.kinds(), "the first message waits")
    started = time.monotonic()
    assert rig.call(b"second", workflow="w2").result() == b"answer to second"
    assert overtaken.result() == b"answer to first"
    assert time.monotonic() - started < WAIT_SECONDS
    kind = "REQUEST_FORWARDED" if phase == REQUEST else "RESPONSE_DELIVERED"
    order = [record.workflow_id for record in rig.client.trace() if record.kind == kind]
    assert order == ["w2", "w1"]


def test_reorder_ends_with_its_time(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_REORDER, delay_ms=50))
    assert rig.call(b"alone").result() == b"answer to alone"


def test_thousand_held_operations_are_each_released_once(rig: Rig) -> None:
    count = 1_000
    names = tuple(f"w{number}" for number in range(count))
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, workflows=names, hits=1))
    calls = {name: rig.call(name.encode(), workflow=name, timeout=60.0) for name in names}
    held = rig.client.await_held("r1", count, 60.0)
    assert sorted(message.workflow_id for message in held) == sorted(names)
    assert rig.client.statistics().held_messages == count
    assert rig.memory.received == []
    half = names[: count // 2]
    assert rig.client.release("r1", Fate.DELIVER, workflow_ids=half) == count // 2
    assert rig.client.release("r1", Fate.DELIVER, await_done_seconds=60.0) == count // 2
    for name, call in calls.items():
        assert call.result() == b"answer to " + name.encode()
    assert sorted(rig.memory.requests()) == sorted(name.encode() for name in names)
    kinds = rig.kinds()
    assert {kind: kinds.count(kind) for kind in ("HELD", "RELEASED", "REQUEST_FORWARDED")} == {
        "HELD": count,
        "RELEASED": count,
        "REQUEST_FORWARDED": count,
    }
