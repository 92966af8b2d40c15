"""The engine's answers as memqual's data and errors, against a fake that can go away."""

import os
import platform
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.errors import EngineError, ImageError, StackError
from orchestrator.runtimes.base import GcScope
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.docker_types import ContainerOptions, ContainerState, ImageFacts
from orchestrator.runtimes.owner import start_mark
from tests.orchestrator.runtimes.fake_engine import FakeEngine, running_engine

STATE: dict[str, Any] = {
    "Image": "sha256:abc",
    "State": {
        "Running": False,
        "Pid": 0,
        "ExitCode": 137,
        "OOMKilled": True,
        "StartedAt": "2026-01-02T03:04:05.000000006Z",
        "FinishedAt": "2026-01-02T03:04:06.5Z",
        "Error": "",
    },
    "NetworkSettings": {
        "Networks": {"a": {"IPAddress": "10.0.0.2"}, "b": {"IPAddress": ""}},
        "Ports": {"7100/tcp": [{"HostIp": "127.0.0.1", "HostPort": "4242"}], "1/tcp": None},
    },
}


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEngine]:
    with running_engine() as (fake, address):
        monkeypatch.setenv("DOCKER_HOST", address)
        yield fake


def test_a_container_as_data(engine: FakeEngine) -> None:
    engine.answers["GET /containers/c/json"] = (200, STATE)
    with DockerEngine.connect() as connection:
        state = connection.state("c")
    seconds = 1_767_323_045
    assert state == ContainerState(
        running=False,
        pid=0,
        exit_code=137,
        oom_killed=True,
        started_at_ns=seconds * 10**9 + 6,
        finished_at_ns=(seconds + 1) * 10**9 + 500_000_000,
        error="",
        image_digest="sha256:abc",
        addresses={"a": "10.0.0.2"},
        ports={7100: 4242},
    )


def test_never_is_zero(engine: FakeEngine) -> None:
    never = {**STATE, "State": {**STATE["State"], "FinishedAt": "0001-01-01T00:00:00Z"}}
    engine.answers["GET /containers/c/json"] = (200, never)
    with DockerEngine.connect() as connection:
        assert connection.state("c").finished_at_ns == 0


def test_images(engine: FakeEngine) -> None:
    engine.answers["GET /images/x:1/json"] = (200, {"Id": "sha256:1", "Architecture": "arm64"})
    engine.answers["GET /images/y:1/json"] = (404, {"message": "No such image: y:1"})
    with DockerEngine.connect() as connection:
        assert connection.image("x:1") == ImageFacts("sha256:1", "arm64")
        with pytest.raises(ImageError, match="y:1"):
            connection.image("y:1")


@pytest.mark.parametrize(
    ("asked", "given"), [(0.5, 500_000_000), (2.0, 2_000_000_000), (8.0, 2_000_000_000), (None, 0)]
)
def test_no_container_asks_for_more_processors_than_there_are(
    engine: FakeEngine, asked: float | None, given: int
) -> None:
    engine.answers["POST /containers/create"] = (201, {"Id": "c"})
    options = ContainerOptions(name="n", image="x:1", labels={}, network="net", cpus=asked)
    with DockerEngine.connect() as connection:
        assert connection.create_container(options) == "c"
    host = engine.bodies["POST /containers/create"]["HostConfig"]
    assert host.get("NanoCpus", 0) == given


def test_no_address_range_left(engine: FakeEngine) -> None:
    message = "could not find an available, non-overlapping IPv4 address pool among the defaults"
    engine.answers["POST /networks/create"] = (500, {"message": message})
    with DockerEngine.connect() as connection, pytest.raises(StackError) as caught:
        connection.create_network("n", internal=True, options={}, labels={})
    assert "memqual gc" in caught.value.next_step


def test_an_engine_that_goes_away_is_said_to(engine: FakeEngine) -> None:
    with DockerEngine.connect() as connection:
        engine.gone = True
        with pytest.raises(EngineError, match="No container engine answers"):
            connection.state("c")
        with pytest.raises(EngineError, match="No container engine answers"):
            connection.wait("c", 1.0)


def test_no_engine_makes_docker_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    found = DockerRuntime().available()
    assert not found.available
    assert "No container engine answers" in found.reason


def test_an_engine_elsewhere_is_refused(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = DockerRuntime().available()
    assert (found.available, found.reason) == (True, "engine 20.10.0, amd64")
    monkeypatch.setattr("docker.APIClient", _Elsewhere)
    found = DockerRuntime().available()
    assert not found.available
    assert "another machine" in found.reason


class _Elsewhere:
    base_url = "http://10.0.0.1:2375"

    def __init__(self, **settings: object) -> None:
        pass

    def version(self) -> dict[str, str]:
        return {"Version": "1", "Arch": "amd64"}

    def close(self) -> None:
        pass


def _volume(name: str, run: str, pid: int, started: str, machine: str) -> dict[str, object]:
    labels = {
        "memqual.run": run,
        "memqual.owner-pid": str(pid),
        "memqual.owner-started": started,
        "memqual.owner-machine": machine,
    }
    return {"Name": name, "Labels": labels}


def test_gc_takes_what_dead_owners_left_and_nothing_else(engine: FakeEngine) -> None:
    pid, here = os.getpid(), platform.node()
    mark = start_mark(pid) or ""
    volumes = [
        _volume("alive", "a", pid, mark, here),
        _volume("reused-id", "b", pid, "other-boot:1" if ":" in mark else "1.0", here),
        _volume("elsewhere", "c", pid, "other-boot:1", "another-machine"),
        {"Name": "unowned", "Labels": {"memqual.run": "d"}},
    ]
    engine.answers |= {
        "GET /containers/json": (200, []),
        "GET /networks": (200, []),
        "GET /volumes": (200, {"Volumes": volumes}),
        "DELETE /volumes/reused-id": (204, None),
    }
    report = DockerRuntime().gc(GcScope())
    assert report.removed == ("volume reused-id",)
    assert report.kept == ("volume alive", "volume elsewhere", "volume unowned")
    assert report.failed == ()
    assert [call for call in engine.seen if call.startswith("DELETE")] == [
        "DELETE /volumes/reused-id"
    ]


def test_gc_of_one_run_takes_all_of_it(engine: FakeEngine) -> None:
    pid, mark = os.getpid(), start_mark(os.getpid()) or ""
    volumes = [_volume(name, name, pid, mark, platform.node()) for name in ("one", "two")]
    engine.answers |= {
        "GET /containers/json": (200, []),
        "GET /networks": (200, []),
        "GET /volumes": (200, {"Volumes": volumes}),
        "DELETE /volumes/two": (409, {"message": "volume is in use"}),
    }
    report = DockerRuntime().gc(GcScope(run_id="two"))
    assert report.kept == ("volume one",)
    assert report.removed == ()
    assert report.failed[0].startswith("volume two: ")
