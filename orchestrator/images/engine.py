"""The few requests that image building makes of the container engine, as typed calls."""

import contextlib
import json
import os
import re
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import docker
import docker.errors
import requests

from orchestrator.errors import EngineError, ImageError
from orchestrator.images.wheelhouse import WheelTarget

__all__ = ["Engine"]

# Bounds one request; a build's answer is a stream with output at every step.
REQUEST_TIMEOUT_SECONDS = 300
_SHOWN_LINES = 20
_SHOWN_CHARACTERS = 200
_STEP_DONE = re.compile(r"^ ---> ([0-9a-f]{12,64})$")
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_PROBE = (
    "import json, platform, sys; print(json.dumps([list(sys.version_info[:2]), "
    "platform.machine(), *platform.libc_ver()]))"
)
_OLDEST_PYTHON = (3, 11)
_FAILURES = (docker.errors.DockerException, requests.RequestException)


class Engine:
    """A connection to the container engine; close it, or use it as a context manager."""

    def __init__(self, client: docker.DockerClient, machine: str) -> None:
        self._client = client
        self.machine = machine

    @classmethod
    def connect(cls) -> Self:
        """Connects to the engine that the environment names.

        Raises:
            EngineError: no engine answers, or it does not run Linux containers.
        """
        try:
            client = docker.from_env(timeout=REQUEST_TIMEOUT_SECONDS)
            version = client.version()
        except _FAILURES as error:
            raise EngineError(
                f"No container engine answers: {error}",
                next_step="Start Docker, or use local processes: RUNTIME=process.",
            ) from error
        if version["Os"] != "linux":
            client.close()
            raise EngineError(
                f"The container engine runs {version['Os']} containers.",
                next_step="Switch it to Linux containers, or use local processes: RUNTIME=process.",
            )
        architecture = str(version["Arch"])
        return cls(client, _MACHINES.get(architecture, architecture))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def image_id(self, tag: str) -> str | None:
        """Identity of an image, or None if the engine does not have it."""
        try:
            return str(self._client.images.get(tag).id)
        except docker.errors.ImageNotFound:
            return None
        except _FAILURES as error:
            raise _refused(f"looking for the image {tag}", error) from error

    def require(self, tag: str) -> str:
        """Identity of an image that must be there, pulled if it is not.

        Raises:
            ImageError: it is neither here nor to be had.
        """
        found = self.image_id(tag)
        if found is not None:
            return found
        try:
            self._client.images.pull(tag)
        except _FAILURES as error:
            raise ImageError(
                f"The image {tag} is not here and cannot be pulled: {error}",
                next_step=f"Check the name, or load it first: docker pull {tag}.",
            ) from error
        return str(self._client.images.get(tag).id)

    def build(
        self, context: IO[bytes], tag: str, arguments: dict[str, str], labels: dict[str, str]
    ) -> str:
        """Builds an image without network and returns its identity.

        Raises:
            ImageError: a step of its Dockerfile failed; the diagnosis ends with the step's output.
        """
        output: list[str] = []
        try:
            steps = self._client.api.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                buildargs=arguments,
                labels=labels,
                network_mode="none",
                rm=True,
                forcerm=True,
                decode=True,
            )
            for step in steps:
                output += str(step.get("stream", "")).splitlines()
                if "error" in step:
                    self._remove_unfinished(output)
                    shown = "\n".join([*filter(str.strip, output), step["error"]][-_SHOWN_LINES:])
                    raise ImageError(
                        f"Building {tag} failed:\n{shown}",
                        next_step="Mend the step named above; `make images` repeats the build.",
                    )
        except _FAILURES as error:
            raise _refused(f"building {tag}", error) from error
        built = self.image_id(tag)
        if built is None:
            raise ImageError(
                f"The engine built {tag} but does not have it.",
                next_step="Check that nothing else removes images, then run again.",
            )
        return built

    def _remove_unfinished(self, output: list[str]) -> None:
        # The last finished step of a failed build is an image without a name; its parent is named.
        steps = [match[1] for match in map(_STEP_DONE.match, output) if match]
        # One that another build has gone on from is refused, and goes when that one does.
        with contextlib.suppress(docker.errors.APIError):
            if steps and not self._client.images.get(steps[-1]).tags:
                self._client.images.remove(steps[-1])

    def add_tag(self, tag: str, repository: str, alias: str) -> None:
        """Gives an image a second, moving name, for people and for compose.yaml by hand."""
        try:
            self._client.images.get(tag).tag(repository, tag=alias)
        except _FAILURES as error:
            raise _refused(f"tagging {tag}", error) from error

    def import_rootfs(self, archive: Path, tag: str) -> None:
        """Makes an image of a file system in a tar.

        Raises:
            ImageError: the engine did not take it.
        """
        repository, name = tag.rsplit(":", 1)
        try:
            answer = self._client.api.import_image_from_file(
                str(archive), repository=repository, tag=name, changes=["LABEL memqual.image=base"]
            )
        except _FAILURES as error:
            raise _refused(f"importing {tag}", error) from error
        if self.image_id(tag) is None:
            raise ImageError(
                f"The engine did not import the base system: {answer}",
                next_step="Check the engine's disk space (docker system df), then run again.",
            )

    def wheel_target(self, tag: str) -> WheelTarget:
        """What a base image runs: its Python, architecture and C library.

        Raises:
            ImageError: it has no python3, an old one, or no glibc.
        """
        status, answer = self._probe(tag)
        if status != 0:
            raise _unfit(tag, f"its python3 failed: {answer[-_SHOWN_CHARACTERS:]}")
        try:
            python, machine, libc, libc_version = json.loads(answer)
        except ValueError as error:
            shown = answer[:_SHOWN_CHARACTERS]
            raise _unfit(tag, f"its python3 answers {shown!r}") from error
        if tuple(python) < _OLDEST_PYTHON:
            raise _unfit(tag, f"its Python is {python[0]}.{python[1]}")
        if libc != "glibc":
            raise _unfit(tag, "its C library is not glibc")
        major, minor = libc_version.split(".")[:2]
        return WheelTarget((python[0], python[1]), machine, (int(major), int(minor)))

    def _probe(self, tag: str) -> tuple[int, str]:
        """Exit status and output of the probe in a base image; nothing of it is left behind."""
        try:
            container = self._client.containers.create(
                tag,
                ["-c", _PROBE],
                entrypoint=["python3"],
                network_mode="none",
                labels={"memqual.run": "images", "memqual.owner-pid": str(os.getpid())},
            )
        except _FAILURES as error:
            raise _refused(f"making a container of {tag}", error) from error
        # Not run(remove=True): the engine keeps a container that could not be started.
        try:
            container.start()
            status = int(container.wait(timeout=REQUEST_TIMEOUT_SECONDS)["StatusCode"])
            return status, container.logs().decode(errors="replace")
        except docker.errors.APIError as error:
            raise _unfit(tag, f"it does not start python3: {error.explanation}") from error
        except _FAILURES as error:
            raise _refused(f"starting {tag}", error) from error
        finally:
            with contextlib.suppress(docker.errors.NotFound):
                container.remove(force=True)

    def prune_images(self, older_than_hours: int) -> int:
        """Removes unused images of memqual made before that many hours; returns freed bytes."""
        filters = {
            "dangling": False,
            "label": "memqual.image",
            "until": f"{older_than_hours}h",
        }
        try:
            return int(self._client.images.prune(filters=filters)["SpaceReclaimed"])
        except _FAILURES as error:
            raise _refused("removing old images", error) from error

    def remove_stage(self, stage: str) -> None:
        """Removes the intermediate stage, named by a label, that one build left without a tag."""
        try:
            self._client.images.prune(filters={"dangling": True, "label": f"memqual.stage={stage}"})
        except _FAILURES as error:
            raise _refused("removing build stages", error) from error


def _refused(doing: str, error: Exception) -> EngineError:
    return EngineError(
        f"The container engine failed at {doing}: {error}",
        next_step="Check the engine (docker info, disk space), then run again.",
    )


def _unfit(tag: str, reason: str) -> ImageError:
    return ImageError(
        f"{tag} cannot be the base image: {reason}.",
        next_step="Name an image with glibc and Python >= 3.11: BASE_IMAGE=name:tag.",
    )
