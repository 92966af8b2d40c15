"""Images on a real engine: built once, sandboxed as DESIGN §3 wants them, and failing in words."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from orchestrator.errors import EngineError, ImageError
from orchestrator.images import ImageRef, ensure_images, recipes

pytestmark = [pytest.mark.e2e_docker, pytest.mark.timeout(600)]

RUN_TIMEOUT_SECONDS = 60


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    client = docker.from_env(timeout=RUN_TIMEOUT_SECONDS)
    yield client
    client.close()


@pytest.fixture(scope="module")
def memory() -> ImageRef:
    return ensure_images(["memory"])["memory"]


@pytest.fixture
def private_repository(tmp_path: Path, engine: docker.DockerClient) -> Iterator[Path]:
    """A repository with one image of its own: nobody edits it, and its images go afterwards."""
    for folder in ("compose/images/python", "requirements"):
        shutil.copytree(recipes.REPO_ROOT / folder, tmp_path / folder)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text(f"NOW = {time.time_ns()}\n", encoding="utf-8")
    recipe = tmp_path / "compose" / "images" / "selftest" / "Dockerfile"
    recipe.parent.mkdir()
    recipe.write_text(
        "ARG PYTHON=memqual/python:python-base\nFROM ${PYTHON}\nCOPY app app\n", encoding="utf-8"
    )
    yield tmp_path
    for image in engine.images.list("memqual/selftest"):
        for tag in image.tags:
            engine.images.remove(tag, force=True)


def run(engine: docker.DockerClient, tag: str, code: str) -> str:
    output = engine.containers.run(
        tag,
        ["-c", code],
        entrypoint=["python3"],
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        remove=True,
        labels={"memqual.run": "tests", "memqual.owner-pid": "0"},
    )
    return output.decode().strip()


def test_image_runs_as_its_own_user_on_a_read_only_root(
    engine: docker.DockerClient, memory: ImageRef
) -> None:
    code = (
        "import os, pwd; uid = os.getuid()\n"
        "print(uid, pwd.getpwuid(uid).pw_name, os.stat('/data').st_uid)"
    )
    assert run(engine, memory.tag, code) == "10001 memqual 10001"


def test_a_named_volume_can_be_written_by_that_user(
    engine: docker.DockerClient, memory: ImageRef
) -> None:
    volume = engine.volumes.create(labels={"memqual.run": "tests", "memqual.owner-pid": "0"})
    try:
        output = engine.containers.run(
            memory.tag,
            ["-c", "open('/data/x', 'w').write('1'); print(open('/data/x').read())"],
            entrypoint=["python3"],
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            remove=True,
            volumes={volume.name: {"bind": "/data", "mode": "rw"}},
        )
        assert output.decode().strip() == "1"
    finally:
        volume.remove()


def test_image_holds_compiled_code_of_its_own_packages_only(
    engine: docker.DockerClient, memory: ImageRef
) -> None:
    code = (
        "import importlib.util as u, os, pathlib as p, services.common as s, sqlite3, ssl, grpc\n"
        "names = ['services.memory', 'services.destination', 'orchestrator', 'chaos', 'pip']\n"
        "print([name for name in names if u.find_spec(name)], os.path.exists(s.__cached__))"
    )
    assert run(engine, memory.tag, code) == "['services.memory'] True"


def test_second_call_builds_nothing(engine: docker.DockerClient, private_repository: Path) -> None:
    first = ensure_images(["selftest"], root=private_repository)
    lines: list[str] = []
    assert ensure_images(["selftest"], progress=lines.append, root=private_repository) == first
    assert lines == []
    assert engine.images.get("memqual/selftest:latest").id == first["selftest"].digest


def test_two_calls_at_once_build_once(private_repository: Path) -> None:
    lines: list[str] = []
    found: list[ImageRef] = []

    def ensure() -> None:
        images = ensure_images(["selftest"], progress=lines.append, root=private_repository)
        found.append(images["selftest"])

    threads = [threading.Thread(target=ensure) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=RUN_TIMEOUT_SECONDS)
    assert len(found) == 2
    assert found[0] == found[1]
    assert [line for line in lines if line.startswith("building")] == [f"building {found[0].tag}"]


def test_failed_step_is_shown_and_leaves_no_image(
    engine: docker.DockerClient, private_repository: Path
) -> None:
    recipe = private_repository / "compose" / "images" / "selftest" / "Dockerfile"
    label = f"memqual.selftest={time.time_ns()}"
    with recipe.open("a", encoding="utf-8") as stream:
        stream.write(f"LABEL {label}\nRUN echo the reason >&2 && exit 7\n")
    with pytest.raises(ImageError, match=r"(?s)the reason.*7"):
        ensure_images(["selftest"], root=private_repository)
    assert engine.images.list(all=True, filters={"label": label}) == []


def test_unknown_base_image_is_named() -> None:
    with pytest.raises(ImageError, match="memqual/never-built:1") as caught:
        ensure_images(["memory"], base_image="memqual/never-built:1")
    assert "docker pull memqual/never-built:1" in caught.value.next_step


def test_base_image_without_python_is_refused(
    engine: docker.DockerClient, private_repository: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "empty.tar"
    archive.write_bytes(b"\0" * 10240)
    engine.api.import_image_from_file(str(archive), repository="memqual/selftest", tag="empty")
    with pytest.raises(ImageError, match="cannot be the base image: it does not start python3"):
        ensure_images(["selftest"], base_image="memqual/selftest:empty", root=private_repository)
    left = engine.containers.list(all=True, filters={"ancestor": "memqual/selftest:empty"})
    assert left == []


def test_silent_engine_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    with pytest.raises(EngineError) as caught:
        ensure_images(["memory"])
    assert "RUNTIME=process" in caught.value.next_step
