"""Images and engines that go wrong: named with the next step, and nothing stays."""

from __future__ import annotations

import io
import struct
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from orchestrator.images import ensure_images
from tests.e2e.engine_relay import EngineRelay
from tests.e2e.runs import Bench, await_that, expect, finish, trials_of, verdicts_of
from tests.e2e.vendors import broken
from tests.e2e.vendors.broken import LAST_WORDS

pytestmark = [pytest.mark.e2e_docker, pytest.mark.timeout(400)]

INCOMPLETE = 4
EM_PDP11 = 65


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, runtime="docker")


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    client = docker.from_env(timeout=60)
    yield client
    client.close()


@pytest.fixture(scope="module")
def broken_image(api: Any) -> Iterator[str]:
    """The broken memory in a container: the reference's image and one module."""
    base = ensure_images(["memory"])["memory"].tag
    recipe = f"FROM {base}\nCOPY broken.py /opt/memqual/app/broken.py\nCMD []\n"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, data in (
            ("Dockerfile", recipe.encode()),
            ("broken.py", Path(str(broken.__file__)).read_bytes()),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(data))
    context.seek(0)
    tag = f"memqual-test/broken:{uuid.uuid4().hex[:12]}"
    api.images.build(fileobj=context, custom_context=True, tag=tag, rm=True, network_mode="none")
    yield tag
    api.images.remove(tag, force=True)


@pytest.fixture(scope="module")
def foreign_image(api: Any) -> Iterator[str]:
    """An image whose program is an ELF file for a machine that nobody has."""
    fields = (b"\x7fELF", 2, 1, 1, 0, 0, 2, EM_PDP11, 1, *[0] * 10)
    header = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", *fields)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo("program")
        entry.size, entry.mode = len(header), 0o755
        tar.addfile(entry, io.BytesIO(header))
    tag = f"memqual-test/foreign:{uuid.uuid4().hex[:12]}"
    repository, name = tag.split(":")
    api.api.import_image_from_data(
        archive.getvalue(), repository=repository, tag=name, changes=['ENTRYPOINT ["/program"]']
    )
    yield tag
    api.images.remove(tag, force=True)


def _left(api: Any, bench: Bench) -> list[str]:
    found = []
    for run in bench.run_folders():
        filters = {"label": f"memqual.run={run.name}"}
        found += [one.name for one in api.containers.list(all=True, filters=filters)]
        found += [one.name for one in api.networks.list(filters=filters)]
        found += [one.name for one in api.volumes.list(filters=filters)]
    return found


def _vendor(bench: Bench, image: str, *arguments: str, more: str = "") -> str:
    path = bench.folder / "vendor.yaml"
    words = ", ".join(f'"{word}"' for word in ("broken", *arguments))
    path.write_text(f"name: broken\nimage: {image}\ncommand: [{words}]\n{more}")
    return str(path)


def test_an_image_that_the_engine_does_not_have(bench: Bench, api: Any) -> None:
    ended = bench.qualify("--memory-image", "memqual-test/none:1")
    expect(
        ended,
        INCOMPLETE,
        ["does not have the image", "memqual-test/none:1", "Next step: Check the name"],
    )
    assert _left(api, bench) == []


def test_an_image_for_another_machine(bench: Bench, api: Any, foreign_image: str) -> None:
    ended = bench.qualify("--memory-image", foreign_image)
    expect(ended, INCOMPLETE, ["for another kind of machine", "Next step: Build it for"])
    assert _left(api, bench) == []


NEVER_BEGIN = {
    "crash": (("--start", "dies"), ["ended by itself with exit code 3", LAST_WORDS, "Next step"]),
    "wrong port": (
        ("--start", "wrong_port"),
        ["did not become healthy within 30 s", "Next step: Check that it listens on MEMQUAL_LIS"],
    ),
    "never healthy": (
        ("--start", "never_healthy"),
        ["did not become healthy within 30 s", "its health is NOT_SERVING", "Next step"],
    ),
    "no Vendor service": (
        ("--start", "no_vendor"),
        ["does not answer VendorService.Describe: UNIMPLEMENTED", "Next step: Serve"],
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize(("arguments", "words"), NEVER_BEGIN.values(), ids=NEVER_BEGIN)
def test_a_container_that_lets_no_run_begin(
    bench: Bench, api: Any, broken_image: str, arguments: tuple[str, ...], words: list[str]
) -> None:
    ended = bench.qualify("--vendor", _vendor(bench, broken_image, *arguments))
    expect(ended, INCOMPLETE, words)
    assert _left(api, bench) == []


@pytest.mark.nightly
def test_a_container_that_crashes_again_and_again(
    bench: Bench, api: Any, broken_image: str
) -> None:
    bench.cells = "in_request,after_receipt/none"
    vendor = _vendor(bench, broken_image, "--method", "Begin", "--how", "die")
    expect(bench.qualify("--vendor", vendor), INCOMPLETE, ["INCOMPLETE", LAST_WORDS])
    found = trials_of(bench.run_folders()[0])
    assert len(found) == 20
    assert {trial.verdict.value for trial in found} == {"ERROR"}
    assert all("ended by itself with exit code 3" in trial.cause for trial in found)
    assert _left(api, bench) == []


@pytest.mark.nightly
def test_want_of_memory_is_never_the_memorys_failure(
    bench: Bench, api: Any, broken_image: str
) -> None:
    vendor = _vendor(
        bench,
        broken_image,
        *("--method", "Begin", "--how", "gorge"),
        more="resources: {memory: 192m}\n",
    )
    ended = bench.qualify("--vendor", vendor)
    expect(ended, INCOMPLETE, ["INCOMPLETE", "for want of memory", "RESUME="])
    found = trials_of(bench.run_folders()[0])
    assert {(trial.verdict.value, trial.error_kind) for trial in found} == {
        ("ERROR", "infrastructure")
    }
    assert _left(api, bench) == []


def test_an_engine_that_stops_in_the_middle(bench: Bench, api: Any) -> None:
    bench.cells = "in_request"
    relay = EngineRelay(bench.folder / "engine.sock")
    bench.environment = {"DOCKER_HOST": relay.address}
    running = bench.start()
    await_that(running, lambda: any(trials_of(run) for run in bench.run_folders()))
    relay.cut()
    (run,) = bench.run_folders()
    ended = finish(running)
    expect(
        ended,
        INCOMPLETE,
        [
            "No container engine answers",
            "Left behind: ",
            "Next step: mend that, then run `memqual gc`",
            f"RESUME={run.name}",
        ],
    )
    first = verdicts_of(run)
    assert len(first) == 15
    assert set(first.values()) == {"PASS", "ERROR"}
    bench.environment = {}
    assert _left(api, bench) != []
    expect(bench.gc(), 0, ["removed (docker): container"])
    assert _left(api, bench) == []
    expect(bench.qualify("--resume", run.name), 0, ["QUALIFIED"])
    assert set(verdicts_of(run).values()) == {"PASS"}
    assert _left(api, bench) == []
