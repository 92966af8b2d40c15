"""The docker runtime with real containers: confinement, kills, swaps, failures, nothing left."""

import dataclasses
import io
import struct
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import grpc
import pytest

from chaos.clock import shared_object
from orchestrator.errors import ImageError, StackError, VendorConfigError
from orchestrator.runtimes.base import GcScope
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.docker_stack import DockerStack
from orchestrator.runtimes.plan import make_plan
from orchestrator.vendors import VendorConfig, VendorProcess
from tests.e2e.runtime_helpers import (
    await_line,
    describe_memory,
    kill_and_restart,
    new_run_id,
    new_spec,
    refusal_of,
    start_orchestrator,
)

pytestmark = pytest.mark.e2e_docker


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    with DockerEngine.connect() as connected:
        yield connected


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    client = docker.from_env(timeout=30)
    yield client
    client.close()


@pytest.fixture(scope="module")
def stack(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerStack]:
    spec = new_spec(tmp_path_factory.mktemp("run"), docker=True)
    started = DockerRuntime().start(spec)
    yield started
    started.close()
    started.close()
    assert _left_of(engine, spec.run_id) == []


def _left_of(engine: DockerEngine, run_id: str) -> list[str]:
    return [f"{each.kind} {each.name}" for each in engine.labelled(f"memqual.run={run_id}")]


def test_everything_is_up_and_only_our_token_opens_the_control_port(stack: DockerStack) -> None:
    assert describe_memory(stack) != ""
    assert refusal_of(stack, "another token") in (
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
    )


def test_everything_is_labelled_with_run_and_owner(
    stack: DockerStack, engine: DockerEngine
) -> None:
    things = engine.labelled(f"memqual.run={stack.spec.run_id}")
    kinds = [thing.kind for thing in things]
    assert [kinds.count(kind) for kind in ("container", "network", "volume")] == [6, 5, 4]
    assert all("memqual.owner-pid" in thing.labels for thing in things)
    assert all(thing.labels["memqual.stack"] == "s1" for thing in things)


def test_the_memory_is_confined(stack: DockerStack, api: Any) -> None:
    facts = api.api.inspect_container(stack.service("memory").container)
    host = facts["HostConfig"]
    assert list(facts["NetworkSettings"]["Networks"]) == [f"memqual-{stack.spec.run_id}-s1-sut"]
    assert (host["ReadonlyRootfs"], host["CapDrop"], host["CapAdd"]) == (True, ["ALL"], None)
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    processors = min(2, api.api.info()["NCPU"])
    assert (host["PidsLimit"], host["Memory"]) == (256, 1 << 30)
    assert host["NanoCpus"] == processors * 10**9
    assert host["Privileged"] is False
    assert not facts["NetworkSettings"]["Ports"]
    writable = [mount["Destination"] for mount in facts["Mounts"] if mount["RW"]]
    assert writable == ["/data"]
    assert not [mount for mount in facts["Mounts"] if mount["Source"].endswith(".sock")]


def test_the_control_port_is_published_on_loopback_only(stack: DockerStack, api: Any) -> None:
    facts = api.api.inspect_container(stack.service("interposer").container)
    bindings = facts["NetworkSettings"]["Ports"]["7100/tcp"]
    assert [binding["HostIp"] for binding in bindings] == ["127.0.0.1"]
    assert stack.control_address == f"127.0.0.1:{bindings[0]['HostPort']}"


def test_the_memory_reaches_its_listener_and_nothing_else(stack: DockerStack) -> None:
    report = stack.describe_isolation()
    assert [check for check in report.checks if not check.held] == []
    assert report.held
    reachable = [check.name for check in report.checks if check.expected == "reachable"]
    assert reachable == ["interposer.sut:7104"]
    tried = " ".join(check.name for check in report.checks)
    for words in ("destination at", ":7001", ":7100", "this machine at", "a way out", "IPv6"):
        assert words in tried


def test_a_hole_in_the_isolation_is_seen(stack: DockerStack, api: Any) -> None:
    hole = api.networks.get(f"memqual-{stack.spec.run_id}-s1-dest")
    memory = stack.service("memory").container
    hole.connect(memory)
    try:
        broken = {check.name for check in stack.describe_isolation().checks if not check.held}
    finally:
        hole.disconnect(memory, force=True)
    assert "the name destination" in broken
    assert {name.rpartition(":")[2] for name in broken if name.startswith("destination at")} == {
        *("7000", "7001"),
    }


@pytest.mark.parametrize("name", ["memory", "agent"])
def test_a_killed_service_comes_back(stack: DockerStack, name: str, api: Any) -> None:
    service = stack.service(name)
    mark = api.containers.get(service.container)
    assert mark.exec_run(["python3", "-c", "open('/data/mark', 'x')"]).exit_code == 0
    kill_and_restart(stack, name)
    assert mark.exec_run(["python3", "-c", "open('/data/mark')"]).exit_code == 0


def test_a_kill_by_way_of_the_engine(stack: DockerStack, monkeypatch: pytest.MonkeyPatch) -> None:
    service = stack.service("observer")
    monkeypatch.setattr(service, "pid", lambda: None)
    service.stop()
    with pytest.raises(StackError, match="did not become healthy"):
        stack.await_healthy(("observer",), 1.0)
    service.cont()
    stack.await_healthy(("observer",), 30.0)
    service.kill()
    assert service.wait_exit(30).exit_code == 137
    with pytest.raises(StackError, match="does not run"):
        service.kill()
    service.start()
    stack.await_healthy(("observer",), 30.0)


def test_a_stopped_service_stands_still_until_it_is_continued(stack: DockerStack) -> None:
    service = stack.service("standby")
    pid = service.pid()
    service.stop()
    with pytest.raises(StackError, match="did not become healthy"):
        stack.await_healthy(("standby",), 1.0)
    service.cont()
    stack.await_healthy(("standby",), 30.0)
    assert service.pid() == pid
    with pytest.raises(StackError, match="still runs"):
        service.wait_exit(0.2)
    with pytest.raises(StackError, match="runs already"):
        service.start()


def test_a_second_configuration_has_the_volume_of_the_first(
    stack: DockerStack, engine: DockerEngine, api: Any
) -> None:
    name, old = describe_memory(stack), stack.service("memory").container
    kept = b"".join(stack.volume_bytes("memory"))
    stack.reconfigure_memory({"TZ": "Pacific/Kiritimati"})
    assert describe_memory(stack) == name
    new = stack.service("memory").container
    assert new != old
    environment = api.containers.get(new).attrs["Config"]["Env"]
    assert "TZ=Pacific/Kiritimati" in environment
    assert kept
    assert len(b"".join(stack.volume_bytes("memory"))) >= len(kept)
    mine = [each for each in _left_of(engine, stack.spec.run_id) if "memory" in each]
    prefix = f"memqual-{stack.spec.run_id}-s1"
    assert mine == [f"container {prefix}-memory", f"volume {prefix}-memory-data"]


def test_another_memory_begins_empty_at_the_same_address(
    stack: DockerStack, engine: DockerEngine
) -> None:
    name, old = describe_memory(stack), stack.service("memory").container
    stack.replace_memory(VendorConfig(name="again", recipe="memory"))
    assert describe_memory(stack) == name
    assert stack.service("memory").container != old
    kept = [each for each in _left_of(engine, stack.spec.run_id) if "memory" in each]
    prefix = f"memqual-{stack.spec.run_id}-s1"
    assert kept == [f"container {prefix}-memory-1", f"volume {prefix}-memory-data-1"]
    assert (stack.spec.stack_folder / "memory.log").exists()
    with pytest.raises(StackError, match="listens on port 8080"):
        stack.replace_memory(VendorConfig(name="v", image="x:1", port=8080))


def test_a_second_stack_of_the_run_stands_beside_the_first(
    stack: DockerStack, tmp_path: Path
) -> None:
    spec = new_spec(tmp_path, docker=True, run_id=stack.spec.run_id, stack_id="s2")
    second = DockerRuntime().start(spec)
    try:
        assert second.control_address != stack.control_address
        assert describe_memory(second) == describe_memory(stack)
        removed = DockerRuntime().gc(GcScope()).removed
        assert [name for name in removed if stack.spec.run_id in name] == []
    finally:
        second.close()
    assert describe_memory(stack) != ""


def test_the_same_stack_twice_is_refused_and_the_first_goes_on(
    stack: DockerStack, tmp_path: Path
) -> None:
    spec = new_spec(tmp_path, docker=True, run_id=stack.spec.run_id)
    with pytest.raises(StackError, match="exists already"):
        DockerRuntime().start(spec)
    assert describe_memory(stack) != ""


def _foreign_image(api: Any) -> str:
    """An image whose program is an ELF file for a machine that nobody has (EM_PDP11)."""
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 2, 65, 1, *[0] * 10)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo("program")
        entry.size, entry.mode = len(header), 0o755
        tar.addfile(entry, io.BytesIO(header))
    tag = f"memqual-test/foreign:{new_run_id()}"
    repository, name = tag.split(":")
    api.api.import_image_from_data(
        archive.getvalue(), repository=repository, tag=name, changes=['ENTRYPOINT ["/program"]']
    )
    return tag


def test_an_image_for_another_machine(api: Any, engine: DockerEngine, tmp_path: Path) -> None:
    tag = _foreign_image(api)
    try:
        spec = new_spec(tmp_path, docker=True, vendor=VendorConfig(name="v", image=tag))
        with pytest.raises(ImageError, match="another kind of machine"):
            DockerRuntime().start(spec)
    finally:
        api.images.remove(tag, force=True)
    assert _left_of(engine, spec.run_id) == []


# What musl's loader says and does when it is to load a library made for another C library.
MUSL = """
FROM {image}
ENTRYPOINT ["sh", "-c", "\\
if [ -n \\"$LD_PRELOAD\\" ]; then \\
  echo \\"Error relocating $LD_PRELOAD: dlvsym: symbol not found\\" >&2; exit 127; \\
fi; exec python3 -m services.memory"]
CMD []
"""


def test_a_memory_that_cannot_load_the_clocks_library_runs_with_its_own_clock(
    api: Any, engine: DockerEngine, tmp_path: Path
) -> None:
    # Elsewhere than on x86-64 the pinned wheel has no shared object, and skew is N/R (platform).
    if shared_object() is None:
        pytest.skip("no libfaketime for this platform, so nothing is preloaded")
    spec = new_spec(tmp_path, docker=True, clock_skew=True)
    tag = f"memqual-test/musl:{new_run_id()}"
    recipe = MUSL.format(image=spec.images["memory"].tag).encode()
    api.images.build(fileobj=io.BytesIO(recipe), tag=tag, rm=True, network_mode="none")
    vendor = VendorConfig(name="musl", image=tag)
    stack = DockerRuntime().start(dataclasses.replace(spec, vendor=vendor))
    try:
        assert describe_memory(stack) != ""
        assert stack.service("memory").clock_folder is None
        assert stack.service("destination").clock_folder is not None
        stack.replace_memory(None)
        assert stack.service("memory").clock_folder is not None
    finally:
        stack.close()
        api.images.remove(tag, force=True)
    assert _left_of(engine, spec.run_id) == []


@pytest.mark.parametrize(
    ("vendor", "kind", "words"),
    [
        (VendorConfig(name="v", image="memqual-test/none:1"), ImageError, "memqual-test/none:1"),
        (
            VendorConfig(name="v", recipe="memory", command=("no.such.module",)),
            StackError,
            "No module named",
        ),
        (
            VendorConfig(name="v", recipe="memory", command=("http.server", "9999")),
            StackError,
            "'memory' did not become healthy",
        ),
        (
            VendorConfig(name="v", process=VendorProcess(module="m")),
            VendorConfigError,
            "has no image",
        ),
    ],
    ids=["no image", "crash", "wrong port", "process only"],
)
def test_a_broken_memory_is_named_and_nothing_stays(
    engine: DockerEngine, tmp_path: Path, vendor: VendorConfig, kind: type[Exception], words: str
) -> None:
    spec = new_spec(tmp_path, docker=True, vendor=vendor, healthy_within_seconds=5.0)
    with pytest.raises(kind) as caught:
        DockerRuntime().start(spec)
    assert words in str(caught.value)
    assert _left_of(engine, spec.run_id) == []


@pytest.mark.parametrize("delay_seconds", [0.0, 0.1, 0.9])
def test_closing_in_the_middle_of_a_start_leaves_nothing(
    engine: DockerEngine, tmp_path: Path, delay_seconds: float
) -> None:
    spec = new_spec(tmp_path, docker=True)
    stack = DockerStack(make_plan(spec))
    timer = threading.Timer(delay_seconds, stack.close)
    timer.start()
    with pytest.raises((StackError, ImageError)):
        stack.open()
    timer.join()
    assert _left_of(engine, spec.run_id) == []


@pytest.mark.parametrize("delay_seconds", [0.6, None])
def test_gc_finds_what_a_killed_orchestrator_left(
    engine: DockerEngine, tmp_path: Path, delay_seconds: float | None
) -> None:
    run_id = new_run_id()
    orchestrator = start_orchestrator("docker", run_id, tmp_path)
    await_line(orchestrator, "starting" if delay_seconds is not None else "started")
    if delay_seconds is None:
        assert len(_left_of(engine, run_id)) == 15
    time.sleep(delay_seconds or 0.0)
    orchestrator.kill()
    orchestrator.communicate(timeout=10)
    _await_settled(engine, run_id)
    DockerRuntime().gc(GcScope())
    assert _left_of(engine, run_id) == []


def _await_settled(engine: DockerEngine, run_id: str) -> None:
    """Waits until the engine has done what the killed orchestrator had still asked for."""
    before: list[str] | None = None
    for _ in range(50):
        now = _left_of(engine, run_id)
        if now == before:
            return
        before = now
        time.sleep(0.3)
    raise AssertionError("the engine goes on making things")
