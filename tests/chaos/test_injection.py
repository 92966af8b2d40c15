"""Kill injections against real processes, and each step that can fail."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from chaos.client import Fate
from chaos.errors import (
    KillNotSeen,
    NotHealthyAgain,
    PreconditionFailed,
    ReleaseFailed,
    StillConnected,
    WindowMissed,
)
from chaos.holding import HeldByRule
from chaos.injection import Injection
from chaos.late_release import release_late
from chaos.plans import KillPlan, Step, Times
from chaos.receipts import JournalPrecondition, parse_receipt
from chaos.targets import Target as ChaosTarget
from chaos.windows import INVOKE, window
from orchestrator.runtimes.base import ServiceHandle
from tests.chaos.harness import BEGIN, WAIT_SECONDS, Loop, Rig, Target, rig_of, wait_for
from tests.chaos.processes import ProcessExit, ProcessTarget, Spawner, first_line

NAMES = ("w1", "w2", "w3")
SHORT = Times(held=0.2, exited=0.2, disconnected=0.2, released=0.2, healthy=0.2)


def fits(handle: ServiceHandle) -> ChaosTarget:
    """A service of either runtime is a target; the type checker says so."""
    return handle


def agent_of(rig: Rig, spawn: Spawner, *, edge: int = 0, method: str = BEGIN) -> ProcessTarget:
    """An agent host that is about to call, once for each workflow."""
    port = str(rig.running.listener_ports[edge])
    target = ProcessTarget(
        "agent", lambda: spawn.module("tests.chaos.peers", "client", port, method, *NAMES)
    )
    target.start()
    return target


def no_effect(rig: Rig) -> Callable[[], JournalPrecondition]:
    return lambda: JournalPrecondition(
        name="no effect", expected=0, seen=len(rig.destination.received), journal_sequence=0
    )


def effect(rig: Rig) -> Callable[[], JournalPrecondition]:
    return lambda: JournalPrecondition(
        name="effect applied",
        expected=len(NAMES),
        seen=len(rig.destination.received),
        journal_sequence=0,
    )


def plan_for(rig: Rig, name: str, *targets: ChaosTarget, fate: Fate | None) -> KillPlan:
    hold = HeldByRule(rig.client, f"hold-{name}")
    hold.arm(window(name), NAMES)
    return KillPlan(
        injection_id="i1",
        window=name,
        targets=targets,
        hold=hold,
        expected_held=len(NAMES),
        fate=fate,
    )


@pytest.mark.parametrize("fate", list(Fate))
def test_agent_killed_in_request(rig: Rig, spawn: Spawner, fate: Fate) -> None:
    agent = agent_of(rig, spawn, edge=1, method=INVOKE)
    plan = plan_for(rig, "in_request", agent, fate=fate)
    receipt = Injection(plan, rig.client, no_effect(rig)).run()
    assert [step.step for step in receipt.steps] == [
        "held",
        "precondition",
        "frozen",
        "killed",
        "exited",
        "disconnected",
        "released",
        "thawed",
    ]
    assert sorted(receipt.held_workflows) == sorted(NAMES)
    assert receipt.eof_clients_gone == len(NAMES)
    assert receipt.strays == 0
    assert receipt.release is not None
    assert (receipt.release.fate, receipt.release.released) == (fate.name.lower(), len(NAMES))
    (killed,) = receipt.targets
    assert (killed.service, killed.exit_code, killed.oom_killed) == ("agent", 137, False)
    assert killed.exit_monotonic_ns is not None
    assert killed.exit_monotonic_ns >= killed.kill_monotonic_ns
    whole = receipt.model_copy(update={"operations_before": 1, "operations_after": 1})
    assert whole.missing() == []
    assert parse_receipt(whole.model_dump_json()) == whole
    expected = sorted(name.encode() for name in NAMES) if fate is Fate.DELIVER else []
    assert sorted(rig.destination.requests()) == expected


def test_every_step_is_marked_between_the_messages_it_separates(rig: Rig, spawn: Spawner) -> None:
    agent = agent_of(rig, spawn, edge=1, method=INVOKE)
    plan = plan_for(rig, "after_commit", agent, fate=Fate.DROP)
    receipt = Injection(plan, rig.client, effect(rig)).run()
    records = list(rig.client.trace())
    marks = {json.loads(record.mark_json)["step"]: record for record in records if record.mark_json}
    assert [(step.step, step.trace_sequence) for step in receipt.steps] == [
        (name, record.sequence) for name, record in marks.items()
    ]
    order = [record.sequence for record in records if record.kind == "HELD"]
    assert max(order) < marks["held"].sequence
    (frozen,) = [record for record in records if record.kind == "FROZEN"]
    gone = [record.sequence for record in records if record.kind == "CLIENT_GONE"]
    assert marks["precondition"].sequence < frozen.sequence < min(gone)
    assert max(gone) < marks["disconnected"].sequence
    dropped = [record.sequence for record in records if record.kind == "DROPPED"]
    assert len(dropped) == len(NAMES)
    assert min(dropped) > marks["disconnected"].sequence


def test_late_release_delivers_long_after(rig: Rig, spawn: Spawner) -> None:
    agent = agent_of(rig, spawn, edge=1, method=INVOKE)
    plan = plan_for(rig, "in_request", agent, fate=None)
    receipt = Injection(plan, rig.client, no_effect(rig)).run()
    assert receipt.release is None
    assert any("release" in text for text in receipt.missing())
    assert rig.destination.received == []
    late = release_late(receipt, plan, rig.client, fate=Fate.DELIVER, point="after_decision")
    assert late.release is not None
    assert (late.release.point, late.release.released) == ("after_decision", len(NAMES))
    assert sorted(rig.destination.requests()) == sorted(name.encode() for name in NAMES)
    with pytest.raises(ReleaseFailed, match="already"):
        release_late(late, plan, rig.client, fate=Fate.DELIVER, point="again")


def test_memory_killed_comes_back_and_its_host_goes_on(
    loop: Loop, spawn: Spawner, tmp_path: Path
) -> None:
    log = tmp_path / "requests"
    memory = ProcessTarget(
        "memory", lambda: spawn.module("tests.chaos.peers", "server", "0", str(log), "answer")
    )
    memory.start()
    port = first_line(memory.life())
    memory.begin = lambda: spawn.module("tests.chaos.peers", "server", port, str(log), "answer")
    with rig_of(loop) as rig:
        rig.memory.stop()
        rig.running._state.upstreams["memory"]._address = f"127.0.0.1:{port}"
        # The response is held: the memory has answered, its host has not heard of it.
        plan = replace(
            plan_for(rig, "after_lease", memory, fate=Fate.DROP),
            restart=("memory",),
            refresh=("memory",),
        )
        calls = [rig.call(name.encode(), workflow=name, timeout=3.0) for name in NAMES]
        first_life = memory.life().pid
        receipt = Injection(plan, rig.client, no_effect(rig)).run()
        assert [step.step for step in receipt.steps] == [step.value for step in Step]
        assert receipt.healthy_after_ms.keys() == {"memory"}
        assert memory.life().pid != first_life
        for call in calls:
            call.exception()
        answered = rig.call(b"again", workflow="w1").result()
        assert answered == f"again by {memory.life().pid}".encode()


def test_request_held_for_a_dead_target_goes_to_its_next_life(
    loop: Loop, spawn: Spawner, tmp_path: Path
) -> None:
    log = tmp_path / "requests"
    memory = ProcessTarget(
        "memory", lambda: spawn.module("tests.chaos.peers", "server", "0", str(log), "answer")
    )
    memory.start()
    port = first_line(memory.life())
    memory.begin = lambda: spawn.module("tests.chaos.peers", "server", port, str(log), "answer")
    with rig_of(loop) as rig:
        rig.memory.stop()
        rig.running._state.upstreams["memory"]._address = f"127.0.0.1:{port}"
        plan = replace(
            plan_for(rig, "before_intent", memory, fate=Fate.DELIVER),
            restart=("memory",),
            refresh=("memory",),
        )
        calls = [rig.call(name.encode(), workflow=name) for name in NAMES]
        Injection(plan, rig.client, no_effect(rig)).run()
        answers = sorted(call.result() for call in calls)
        pid = memory.life().pid
        assert answers == [f"{name} by {pid}".encode() for name in NAMES]
        assert sorted(log.read_bytes().split()) == [name.encode() for name in NAMES]


def test_window_missed(rig: Rig, spawn: Spawner) -> None:
    agent = agent_of(rig, spawn)
    plan = replace(plan_for(rig, "in_request", agent, fate=Fate.DROP), times=SHORT)
    injection = Injection(plan, rig.client, no_effect(rig))
    with pytest.raises(WindowMissed, match="holds 0 of 3"):
        injection.run()
    assert agent.running()
    lacking = injection.receipt().missing()
    assert any("held: 0 of 3" in text for text in lacking)
    assert any("no target" in text for text in lacking)


def test_precondition_that_does_not_hold_kills_nobody(rig: Rig, spawn: Spawner) -> None:
    agent = agent_of(rig, spawn)
    plan = plan_for(rig, "before_intent", agent, fate=Fate.DROP)
    with pytest.raises(PreconditionFailed, match="effect applied: 0 of 3"):
        Injection(plan, rig.client, effect(rig)).run()
    assert agent.running()
    assert "FROZEN" not in rig.kinds()


def test_exit_that_is_no_sigkill_is_not_proof(
    rig: Rig, spawn: Spawner, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_of(rig, spawn)
    plan = plan_for(rig, "before_intent", agent, fate=Fate.DROP)
    ended = ProcessExit(1, True, agent.started_ns - 1, 0)
    monkeypatch.setattr(agent, "wait_exit", lambda timeout_seconds: ended)
    with pytest.raises(KillNotSeen, match=r"seen: 1.*out of memory.*the one that was killed"):
        Injection(plan, rig.client, no_effect(rig)).run()


def test_connection_that_stays_is_seen(loop: Loop, spawn: Spawner) -> None:
    may_answer = threading.Event()

    def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
        may_answer.wait(WAIT_SECONDS)
        return request

    with rig_of(loop, memory=Target(answer=answer)) as rig:
        agent = agent_of(rig, spawn)
        plan = replace(
            plan_for(rig, "before_intent", agent, fate=Fate.DROP),
            times=replace(SHORT, held=WAIT_SECONDS, exited=WAIT_SECONDS),
        )
        # Somebody else talks with the name of the dead, and goes on to live.
        still_there = rig.call(b"x", workflow="other")
        wait_for(lambda: len(rig.memory.received) == 1, "the request arrives")
        with pytest.raises(StillConnected, match="1 calls still have their client"):
            Injection(plan, rig.client, no_effect(rig)).run()
        still_there.cancel()
        may_answer.set()


def test_target_that_does_not_come_back(loop: Loop, spawn: Spawner, tmp_path: Path) -> None:
    with rig_of(loop, memory=Target()) as rig:
        memory = ProcessTarget(
            "memory",
            lambda: spawn.module(
                "tests.chaos.peers", "server", "0", str(tmp_path / "log"), "answer"
            ),
        )
        memory.start()
        first_line(memory.life())
        plan = replace(
            plan_for(rig, "before_intent", memory, fate=Fate.DROP),
            restart=("memory",),
            refresh=("standby",),
            times=Times(healthy=0.2),
        )
        # Kept: a future that nobody holds cancels its call.
        calls = [rig.call(name.encode(), workflow=name) for name in NAMES]
        with pytest.raises(NotHealthyAgain, match="standby was not healthy"):
            Injection(plan, rig.client, no_effect(rig)).run()
        for call in calls:
            call.cancel()
