"""A freeze keeps everything back; a thaw drops what dead clients sent."""

import threading

import grpc
import pytest

from chaos.client import Fate
from chaos.errors import InterposerError, NotInTime
from memqual.v1 import interposer_pb2 as pb
from tests.chaos.harness import (
    CONTROL_TOKEN,
    READ_JOURNAL,
    STANDBY_TOKEN,
    WAIT_SECONDS,
    Loop,
    Rig,
    Target,
    rig_of,
    rule,
    wait_for,
)


def kept_back(rig: Rig, calls: int) -> None:
    """The calls are inside the interposer."""
    wait_for(
        lambda: rig.client.statistics().in_flight_calls == calls, f"{calls} calls are in flight"
    )


def test_frozen_source_is_kept_back_and_goes_on_when_it_lives(rig: Rig) -> None:
    rig.client.freeze("agent")
    call = rig.call(b"x")
    assert rig.call(b"other host", token=STANDBY_TOKEN).result() == b"answer to other host"
    wait_for(lambda: "STRAY" in rig.kinds(), "the message is seen as a stray")
    assert not call.done()
    assert rig.memory.requests() == [b"other host"]
    assert rig.client.thaw("agent") == 0
    assert call.result() == b"answer to x"
    kinds = rig.kinds()
    assert kinds[0] == "FROZEN"
    assert "THAWED" in kinds


def test_stray_of_a_dead_client_is_dropped_at_the_thaw(rig: Rig) -> None:
    rig.client.freeze("agent")
    call = rig.call(b"stray")
    kept_back(rig, 1)
    call.cancel()
    wait_for(lambda: "CLIENT_GONE" in rig.kinds(), "the client is gone")
    assert rig.client.thaw("agent") == 1
    kept_back(rig, 0)
    assert rig.memory.received == []
    assert rig.kinds()[-1] == "DROPPED"


def test_rules_do_not_count_strays(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD, hits=1))
    rig.client.freeze("agent")
    call = rig.call(b"x")
    kept_back(rig, 1)
    assert rig.client.statistics().held_messages == 0
    rig.client.thaw("agent")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    rig.client.release("r1", Fate.DELIVER)
    assert call.result() == b"answer to x"


def test_frozen_target_is_kept_back(rig: Rig) -> None:
    rig.client.freeze("memory")
    call = rig.call(b"x")
    kept_back(rig, 1)
    assert "STRAY" not in rig.kinds()
    assert rig.call(b"y", edge="destination").result() == b"answer to y"
    assert rig.memory.received == []
    assert rig.client.thaw("memory") == 0
    assert call.result() == b"answer to x"


def test_answer_of_a_frozen_target_is_seen_and_kept_back(loop: Loop) -> None:
    may_answer = threading.Event()

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        may_answer.wait(WAIT_SECONDS)
        return request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"x")
        wait_for(lambda: len(rig.memory.received) == 1, "the request arrives")
        rig.client.freeze("memory")
        may_answer.set()
        wait_for(lambda: "RESPONSE_RECEIVED" in rig.kinds(), "the answer is seen")
        assert not call.done()
        assert rig.kinds()[-1] == "STRAY"
        rig.client.thaw("memory")
        assert call.result() == b"x"


def test_news_of_a_death_waits_for_the_thaw(loop: Loop) -> None:
    never = threading.Event()

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        never.wait(WAIT_SECONDS)
        return request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        call = rig.call(b"x")
        wait_for(lambda: len(rig.memory.received) == 1, "the request arrives")
        rig.client.freeze("memory")
        rig.memory.stop()
        assert rig.client.await_eof("memory", timeout_seconds=WAIT_SECONDS) == 0
        assert not call.done()
        rig.client.thaw("memory")
        assert call.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        never.set()


def test_release_passes_the_freeze_of_its_source_and_waits_for_its_target(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"late")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    rig.client.freeze("agent", "memory")
    call.cancel()
    rig.client.await_eof("agent", timeout_seconds=WAIT_SECONDS)
    assert rig.client.release("r1", Fate.DELIVER) == 1
    assert rig.memory.received == []
    # The source stays frozen: the message has left it long ago. A thaw drops no late delivery.
    assert rig.client.thaw("memory") == 0
    wait_for(lambda: rig.memory.requests() == [b"late"], "the late request arrives")


def test_streams_are_kept_back(rig: Rig) -> None:
    rig.client.freeze("destination")
    metadata = (("memqual-token", CONTROL_TOKEN), ("memqual-target", "destination-audit"))
    call = rig.control.unary_stream(READ_JOURNAL)(b"3", timeout=WAIT_SECONDS, metadata=metadata)
    kept_back(rig, 1)
    assert rig.destination.received == []
    rig.client.thaw("destination")
    assert len(list(call)) == 3


def test_stream_of_a_dead_client_is_dropped_at_the_thaw(rig: Rig) -> None:
    rig.client.freeze("destination")
    metadata = (("memqual-token", CONTROL_TOKEN), ("memqual-target", "destination-audit"))
    call = rig.control.unary_stream(READ_JOURNAL)(b"3", timeout=WAIT_SECONDS, metadata=metadata)
    kept_back(rig, 1)
    call.cancel()
    kept_back(rig, 0)
    rig.client.thaw("destination")
    assert rig.destination.received == []


def test_await_eof_says_what_is_still_open(rig: Rig) -> None:
    rig.client.arm(rule(pb.RULE_ACTION_HOLD))
    call = rig.call(b"x")
    rig.client.await_held("r1", 1, WAIT_SECONDS)
    with pytest.raises(NotInTime, match="1 calls still have their client"):
        rig.client.await_eof("agent", timeout_seconds=0.05)
    rig.client.freeze("agent")
    call.cancel()
    assert rig.client.await_eof("agent", timeout_seconds=WAIT_SECONDS) == 1
    assert rig.client.clear() == 1


@pytest.mark.parametrize("names", [(), ("nobody",), ("destination-audit",)])
def test_unknown_services_are_refused(rig: Rig, names: tuple[str, ...]) -> None:
    for ask in (rig.client.freeze, rig.client.thaw):
        with pytest.raises(InterposerError, match="INVALID_ARGUMENT"):
            ask(*names)


def test_freeze_twice_is_one_freeze(rig: Rig) -> None:
    rig.client.freeze("agent")
    rig.client.freeze("agent", "memory")
    assert rig.kinds() == ["FROZEN", "FROZEN"]
    call = rig.call(b"x")
    assert rig.client.thaw("agent") == 0
    kept_back(rig, 1)
    assert not call.done()
    rig.client.thaw("memory")
    assert call.result() == b"answer to x"
