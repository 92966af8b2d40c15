"""Faults beside the kill, each on something real."""

import time
from pathlib import Path
from typing import cast

import grpc
import pytest

from chaos.clock import TIMESTAMP_FILE, clock_environment, shared_object, write_offset_ns
from chaos.errors import FaultNotPossible
from chaos.faults import ClockJump, Kill, Suspension
from chaos.holding import HeldByRule
from chaos.plans import KillPlan
from chaos.receipts import ClockReading, ClockReceipt, SuspendReceipt, TelemetryReceipt
from chaos.targets import Target
from chaos.telemetry_faults import ObserverDown, TelemetryAction, TelemetryFault
from memqual.v1 import observer_pb2
from tests.chaos.harness import EMIT, WAIT_SECONDS, Loop, Rig, health_status, rig_of, wait_for
from tests.chaos.processes import ProcessTarget, Spawner, first_line
from tests.chaos.test_clock import LOOK, NEAR_NS, SECOND_NS, ask, needs_library

LIVELY = {"operations_before": 1, "operations_after": 1}


def emit_request(events: int) -> bytes:
    return observer_pb2.EmitRequest(
        events=[observer_pb2.TelemetryEvent(event_id=str(number)) for number in range(events)]
    ).SerializeToString()


@needs_library
def test_clock_jumps_add_up_and_are_proven(spawn: Spawner, tmp_path: Path) -> None:
    write_offset_ns(tmp_path, 0)
    library = shared_object()
    assert library is not None
    environment = clock_environment(str(library), str(tmp_path / TIMESTAMP_FILE))
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], environment), tmp_path)
    target.start()

    def read_now() -> ClockReading:
        wall_ns, monotonic_ns = ask(target.life(), "look")
        return ClockReading(wall_unix_ns=wall_ns, monotonic_ns=monotonic_ns)

    for jump_ns in (121 * SECOND_NS, -21 * SECOND_NS):
        receipt = ClockJump(jump_ns, read_now).inject(target).lift()
        assert isinstance(receipt, ClockReceipt)
        assert abs(receipt.measured_skew_ns - jump_ns) < NEAR_NS
        assert receipt.model_copy(update=LIVELY).missing() == []
    assert abs(read_now().wall_unix_ns - time.time_ns() - 100 * SECOND_NS) < NEAR_NS


def test_clock_without_a_folder_cannot_be_set(spawn: Spawner) -> None:
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], {}))
    fault = ClockJump(SECOND_NS, lambda: ClockReading(wall_unix_ns=0, monotonic_ns=0))
    assert not fault.available(target).available
    with pytest.raises(FaultNotPossible, match="clock of memory"):
        fault.inject(target)


def test_clock_file_that_nobody_reads_proves_nothing(spawn: Spawner, tmp_path: Path) -> None:
    write_offset_ns(tmp_path, 0)
    # Started without the library, as an image is in which it does not load.
    target = ProcessTarget("memory", lambda: spawn.python(["-c", LOOK], {}), tmp_path)
    target.start()

    def read_now() -> ClockReading:
        wall_ns, monotonic_ns = ask(target.life(), "look")
        return ClockReading(wall_unix_ns=wall_ns, monotonic_ns=monotonic_ns)

    receipt = ClockJump(121 * SECOND_NS, read_now).inject(target).lift()
    (lacking,) = receipt.model_copy(update=LIVELY).missing()
    assert "skew: asked for" in lacking


@pytest.mark.parametrize("action", ["drop", "delay", "duplicate", "reorder", "slow", "errors"])
def test_telemetry_fault_counts_the_events_it_met(rig: Rig, action: TelemetryAction) -> None:
    observer = ProcessTarget("observer", lambda: pytest.fail("is not started"))
    delay_ms = 50 if action in ("delay", "reorder") else 0
    before = rig.call(emit_request(5), edge="observer", method=EMIT)
    before.result()
    active = TelemetryFault(rig.client, action, "t1", delay_ms).inject(observer)
    met = rig.call(emit_request(3), edge="observer", method=EMIT, timeout=1.0)
    met.exception()
    receipt = active.lift()
    rig.call(emit_request(7), edge="observer", method=EMIT).result()
    assert isinstance(receipt, TelemetryReceipt)
    assert (receipt.fault, receipt.events_affected) == (action, 3)
    assert receipt.model_copy(update=LIVELY).missing() == []
    # An observer that is slow, or answers errors, has taken the events.
    arrived = {"drop": 2, "duplicate": 4}.get(action, 3)
    wait_for(lambda: len(rig.targets["observer"].received) == arrived, "messages arrive")


def test_telemetry_fault_that_met_nothing_has_no_proof(rig: Rig) -> None:
    observer = ProcessTarget("observer", lambda: pytest.fail("is not started"))
    receipt = TelemetryFault(rig.client, "drop", "t1").inject(observer).lift()
    assert receipt.model_copy(update=LIVELY).missing() == ["telemetry: drop happened to no event"]
    with pytest.raises(FaultNotPossible, match="not to memory"):
        TelemetryFault(rig.client, "drop", "t2").inject(
            ProcessTarget("memory", lambda: pytest.fail("is not started"))
        )


def test_observer_down_and_back(loop: Loop, spawn: Spawner, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    observer = ProcessTarget(
        "observer", lambda: spawn.module("tests.chaos.peers", "server", "0", log, "answer")
    )
    observer.start()
    port = first_line(observer.life())
    observer.begin = lambda: spawn.module("tests.chaos.peers", "server", port, log, "answer")
    with rig_of(loop) as rig:
        rig.targets["observer"].stop()
        for name in ("observer", "observer-audit"):
            rig.running._state.upstreams[name]._address = f"127.0.0.1:{port}"
        active = ObserverDown(rig.client).inject(observer)
        assert rig.call(emit_request(4), edge="observer", method=EMIT).exception() is not None
        receipt = active.lift()
        assert isinstance(receipt, TelemetryReceipt)
        assert (receipt.fault, receipt.events_affected) == ("observer_down", 4)
        answer = rig.call(b"", edge="observer", method=EMIT).result()
        assert answer == f" by {observer.life().pid}".encode()


def test_suspended_target_is_silent_and_answers_again(spawn: Spawner, tmp_path: Path) -> None:
    target = ProcessTarget(
        "memory",
        lambda: spawn.module("tests.chaos.peers", "server", "0", str(tmp_path / "log"), "answer"),
    )
    target.start()
    port = first_line(target.life())

    def answers() -> bool:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            try:
                return health_status(channel, timeout_seconds=0.5) == 1
            except grpc.RpcError:
                return False

    assert answers()
    active = Suspension(answers).inject(target)
    receipt = active.lift()
    assert isinstance(receipt, SuspendReceipt)
    assert (receipt.silent, receipt.answers_again) == (True, True)
    assert receipt.model_copy(update=LIVELY).missing() == []


def test_what_does_not_run_can_be_neither_killed_nor_suspended(rig: Rig, spawn: Spawner) -> None:
    target = ProcessTarget("agent", lambda: spawn.python(["-c", ""], {}))
    target.start()
    target.life().wait(WAIT_SECONDS)
    plan = KillPlan("i1", "in_request", (target,), HeldByRule(rig.client, "r"), 1, None)
    kill = Kill(plan, rig.client, lambda: pytest.fail("nothing is held"))
    with pytest.raises(FaultNotPossible, match="does not run"):
        kill.inject(target)
    with pytest.raises(FaultNotPossible, match="none of the plan's"):
        kill.inject(ProcessTarget("memory", lambda: pytest.fail("is not started")))
    with pytest.raises(FaultNotPossible, match="does not run"):
        Suspension(lambda: True).inject(target)


class Slow:
    """A target that a signal reaches late."""

    name = "agent"

    def running(self) -> bool:
        return True

    def pid(self) -> int:
        return 1

    def stop(self) -> None:
        """Nothing is seen of it here."""


@pytest.mark.parametrize(("answered", "silent"), [(0, True), (3, True), (100, False)])
def test_a_target_that_stops_a_moment_late_is_silent_and_one_that_goes_on_is_not(
    answered: int, silent: bool
) -> None:
    left = iter([True] * answered)
    active = Suspension(lambda: next(left, False)).inject(cast(Target, Slow()))
    assert active.receipt.silent is silent  # type: ignore[attr-defined]  # the private class has it
