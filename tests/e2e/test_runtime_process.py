"""The process runtime with real processes: starts, kills, swaps, failures, nothing left."""

import itertools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest

from orchestrator.errors import StackError, VendorConfigError
from orchestrator.runtimes.base import GcScope
from orchestrator.runtimes.plan import COMPOSE_FILE, make_plan
from orchestrator.runtimes.ports import LOOPBACK, HeldPorts
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.runtimes.process_stack import ProcessStack
from orchestrator.runtimes.process_state import marked_processes, stored_stacks
from orchestrator.vendors import VendorConfig, VendorProcess, load_vendor
from tests.e2e.runtime_helpers import (
    await_line,
    describe_memory,
    kill_and_restart,
    new_run_id,
    new_spec,
    refusal_of,
    start_orchestrator,
)

pytestmark = pytest.mark.e2e_process

MODULE_RUN = new_run_id()


def _python(code: str) -> VendorConfig:
    process = VendorProcess(command=(sys.executable, "-c", code))
    return VendorConfig(name="broken", process=process)


def _left_of(run_id: str) -> list[str]:
    processes = [f"process {m.process.pid}" for m in marked_processes() if m.run_id == run_id]
    folders = [str(each.path) for each in stored_stacks() if each.record.run_id == run_id]
    return processes + folders


@pytest.fixture(scope="module", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMQUAL_STATE_DIR", str(folder))
        yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def stack(state: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessStack]:
    spec = new_spec(tmp_path_factory.mktemp("run"), docker=False, run_id=MODULE_RUN)
    started = ProcessRuntime().start(spec)
    yield started
    started.close()
    started.close()
    assert _left_of(MODULE_RUN) == []


def test_everything_is_up_and_only_our_token_opens_the_control_port(stack: ProcessStack) -> None:
    assert stack.service_names == (
        *("interposer", "memory", "destination", "observer", "agent", "standby"),
    )
    assert stack.control_address.startswith(f"{LOOPBACK}:")
    assert describe_memory(stack) != ""
    assert refusal_of(stack, "another token") in (
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
    )


@pytest.mark.parametrize("name", ["memory", "agent", "destination"])
def test_a_killed_service_comes_back_with_its_volume(stack: ProcessStack, name: str) -> None:
    mount = next(m for m in stack.plan.topology.service(name).mounts if not m.read_only)
    mark = stack._volume(mount.source) / "mark"
    mark.touch()
    kill_and_restart(stack, name)
    assert mark.exists()


def test_a_stopped_service_stands_still_until_it_is_continued(stack: ProcessStack) -> None:
    service = stack.service("standby")
    pid = service.pid()
    assert pid is not None
    service.stop()
    assert _status_within(pid, psutil.STATUS_STOPPED)
    with pytest.raises(StackError, match="did not become healthy"):
        stack.await_healthy(("standby",), 1.0)
    service.cont()
    stack.await_healthy(("standby",), 30.0)
    assert service.pid() == pid


def _status_within(pid: int, status: str, seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while psutil.Process(pid).status() != status:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_what_does_not_run_cannot_be_killed(stack: ProcessStack) -> None:
    service = stack.service("observer")
    service.kill()
    service.wait_exit(30)
    for act in (service.kill, service.stop, service.cont):
        with pytest.raises(StackError, match="does not run"):
            act()
    service.start()
    with pytest.raises(StackError, match="runs already"):
        service.start()
    with pytest.raises(StackError, match="still runs"):
        service.wait_exit(0.05)
    stack.await_healthy(("observer",), 30.0)


def test_another_memory_begins_empty_at_the_same_address(stack: ProcessStack) -> None:
    name, old_pid = describe_memory(stack), stack.service("memory").pid()
    old_volume = stack._volume("memory-data")
    stack.replace_memory(
        VendorConfig(name="again", process=VendorProcess(module="services.memory"))
    )
    assert describe_memory(stack) == name
    assert stack.service("memory").pid() != old_pid
    assert stack._volume("memory-data") != old_volume
    assert stack.spec.vendor is not None
    assert stack.spec.vendor.name == "again"
    assert not old_volume.exists()


def test_a_second_configuration_has_the_volume_of_the_first(stack: ProcessStack) -> None:
    name, old_pid = describe_memory(stack), stack.service("memory").pid()
    volume = stack._volume("memory-data")
    (volume / "kept").write_text("there")
    stack.reconfigure_memory({"TZ": "Pacific/Kiritimati"})
    assert describe_memory(stack) == name
    pid = stack.service("memory").pid()
    assert pid is not None
    assert pid != old_pid
    assert psutil.Process(pid).environ()["TZ"] == "Pacific/Kiritimati"
    assert stack._volume("memory-data") == volume
    assert (volume / "kept").read_text() == "there"


def test_checked_in_memories_can_be_swapped_in(stack: ProcessStack) -> None:
    names = {}
    for vendor in ("naive", "null", "reference"):
        stack.replace_memory(load_vendor(COMPOSE_FILE.parent / "vendors" / f"{vendor}.yaml"))
        names[vendor] = describe_memory(stack)
    assert len(set(names.values())) == 3
    assert all(vendor in names[vendor] for vendor in names)


def test_logs_are_kept_beside_the_stack(stack: ProcessStack) -> None:
    assert "serving" in stack.service("destination").logs_tail(50)
    assert (stack.spec.stack_folder / "destination.log").stat().st_size > 0


def test_isolation_is_not_claimed(stack: ProcessStack) -> None:
    report = stack.describe_isolation()
    assert (report.supported, report.held, report.checks) == (False, False, ())
    assert report.reason


def test_gc_leaves_a_living_owners_stack_alone(stack: ProcessStack) -> None:
    pids = {stack.service(name).pid() for name in stack.service_names}
    report = ProcessRuntime().gc(GcScope())
    assert {f"process {pid}" for pid in pids} <= set(report.kept)
    assert {stack.service(name).pid() for name in stack.service_names} == pids


@pytest.mark.parametrize(
    ("vendor", "kind", "words"),
    [
        (_python("import sys; sys.exit('boom')"), StackError, "exit code 1:\nboom"),
        (_python("import time; time.sleep(60)"), StackError, "'memory' did not become healthy"),
        (
            VendorConfig(name="v", process=VendorProcess(command=("./missing",))),
            StackError,
            "'memory' cannot be started",
        ),
        (
            VendorConfig(name="v", process=VendorProcess(module="no.such.module")),
            StackError,
            "No module named",
        ),
        (VendorConfig(name="v", image="x:1"), VendorConfigError, "has no process"),
    ],
    ids=["crash", "never healthy", "no program", "no module", "image only"],
)
def test_a_broken_memory_is_named_and_nothing_stays(
    tmp_path: Path, vendor: VendorConfig, kind: type[Exception], words: str
) -> None:
    spec = new_spec(tmp_path, docker=False, vendor=vendor, healthy_within_seconds=8.0)
    with pytest.raises(kind, match="memory") as caught:
        ProcessRuntime().start(spec)
    assert words in str(caught.value)
    assert _left_of(spec.run_id) == []


def test_a_port_that_is_taken_meanwhile_costs_another_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thieves: list[socket.socket] = []
    let_go = HeldPorts.let_go

    def stolen_once(self: HeldPorts, hosts: tuple[str, ...]) -> None:
        let_go(self, hosts)
        if "memory" in hosts and not thieves:
            port = next(port for address, port in self.ports.items() if address.host == "memory")
            thieves.append(socket.create_server((LOOPBACK, port)))

    monkeypatch.setattr(HeldPorts, "let_go", stolen_once)
    spec = new_spec(tmp_path, docker=False)
    stack = ProcessRuntime().start(spec)
    try:
        assert describe_memory(stack) != ""
        assert thieves[0].getsockname()[1] not in stack._held().ports.values()
    finally:
        stack.close()
        thieves[0].close()
    assert _left_of(spec.run_id) == []


def test_a_signal_handler_can_close_a_stack_that_is_being_started(tmp_path: Path) -> None:
    spec = new_spec(tmp_path, docker=False)
    stack = ProcessStack(make_plan(spec))
    old = signal.signal(signal.SIGINT, lambda number, frame: stack.close())
    timer = threading.Timer(0.4, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        with pytest.raises(StackError):
            stack.open()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, old)
    assert _left_of(spec.run_id) == []


@pytest.mark.parametrize("when", ["starting", "started"])
def test_gc_finds_what_a_killed_orchestrator_left(tmp_path: Path, when: str) -> None:
    run_id = new_run_id()
    orchestrator = start_orchestrator("process", run_id, tmp_path)
    await_line(orchestrator, when)
    if when == "starting":
        _await_some(run_id)
    else:
        assert len(_left_of(run_id)) == 7
    orchestrator.kill()
    orchestrator.communicate(timeout=10)
    ProcessRuntime().gc(GcScope())
    assert _left_of(run_id) == []


def _await_some(run_id: str) -> None:
    for _ in itertools.repeat(None, 500):
        if len(_left_of(run_id)) >= 3:
            return
        time.sleep(0.01)
    raise AssertionError("the orchestrator started nothing")


def test_this_process_is_never_an_orphan() -> None:
    assert os.getpid() not in {marked.process.pid for marked in marked_processes()}
