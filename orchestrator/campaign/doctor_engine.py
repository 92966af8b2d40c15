"""What a run needs of the container engine, and what dead runs left; nothing is changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import psutil

from orchestrator.campaign.doctor_findings import Finding, State
from orchestrator.errors import EngineError, ImageError
from orchestrator.images import look_for, recipe_names
from orchestrator.report.text import counted
from orchestrator.runtimes.docker_engine import DockerEngine
from orchestrator.runtimes.docker_labels import RUN_LABEL, owner_of
from orchestrator.runtimes.docker_runtime import DockerRuntime
from orchestrator.runtimes.owner import Liveness, Owner
from orchestrator.runtimes.process_state import marked_processes, stored_stacks

__all__ = ["check_debootstrap", "check_engine", "check_images", "check_leftovers"]

VENDOR_PREFIX = "vendor-"
_NAMED_MAX = 5


def check_engine() -> Finding:
    """Whether a container engine of this machine answers."""
    found = DockerRuntime().available()
    if found.available:
        return Finding("container engine", State.OK, found.reason)
    return Finding(
        "container engine",
        State.MISSING,
        found.reason,
        "Start Docker; without it runs use local processes, which cannot isolate the memory.",
    )


def check_debootstrap() -> Finding:
    """Whether a base image can be made of this host's Debian packages."""
    lacking = [
        program for program in ("debootstrap", "apt-get", "tar") if not shutil.which(program)
    ]
    superuser = psutil.Process().username() == "root"
    if not lacking and superuser:
        return Finding("debootstrap", State.OK, "a base image can be made here")
    why = f"not installed: {', '.join(lacking)}" if lacking else "it has to run as root"
    return Finding(
        "debootstrap",
        State.WARNING,
        why,
        "Needed only to make a base image: apt-get install debootstrap and run as root, or name "
        "an image with glibc and Python 3.11 or newer: BASE_IMAGE=name:tag.",
    )


def check_images(debootstrap: Finding) -> Finding:
    """Whether the engine has the images of a run, or what they can be built on.

    Args:
        debootstrap: Whether a base can be made.
    """
    name = "images"
    try:
        # A vendor's own image is built when that vendor is qualified.
        names = [one for one in recipe_names() if not one.startswith(VENDOR_PREFIX)]
        found = look_for(names)
    except (EngineError, ImageError) as error:
        return Finding(name, State.MISSING, error.diagnosis, error.next_step)
    if not found.missing:
        return Finding(name, State.OK, f"all {len(found.present)} present")
    absent = f"not built yet: {', '.join(found.missing)}"
    if found.base_present:
        return Finding(
            name,
            State.WARNING,
            f"{absent}; the base {found.base} is present",
            "The next run builds them and downloads their wheels; or build them now: make images.",
        )
    if found.base_named:
        return Finding(
            name,
            State.WARNING,
            f"{absent}; their base {found.base} is not here",
            f"The next run pulls it; or load it now: docker pull {found.base}.",
        )
    if debootstrap.state is State.OK:
        return Finding(
            name,
            State.WARNING,
            f"{absent}; their base is not made yet",
            "The next run makes it and downloads wheels, in about two minutes; or: make images.",
        )
    return Finding(name, State.MISSING, f"{absent}; no base can be made", debootstrap.next_step)


def check_leftovers(*, engine: bool) -> tuple[Finding, ...]:
    """What dead runs left, by runtime; nothing is removed.

    Args:
        engine: Whether a container engine answers.
    """
    findings = [_leftovers("leftovers (process)", _process_things)]
    if engine:
        findings.append(_leftovers("leftovers (docker)", _engine_things))
    return tuple(findings)


def _leftovers(name: str, things: Callable[[], Iterator[tuple[str, Owner]]]) -> Finding:
    try:
        found = [(thing, owner.liveness()) for thing, owner in things()]
    except EngineError as error:
        return Finding(name, State.WARNING, error.diagnosis, error.next_step)
    dead = [thing for thing, liveness in found if liveness is Liveness.DEAD]
    alive = len(found) - len(dead)
    beside = f"; {counted(alive, 'thing')} of runs that go on" if alive else ""
    if not dead:
        return Finding(name, State.OK, f"none{beside}")
    named = ", ".join(dead[:_NAMED_MAX]) + (", …" if len(dead) > _NAMED_MAX else "")
    told = f"{len(dead)} of dead runs: {named}{beside}"
    return Finding(name, State.WARNING, told, "Remove them: memqual gc. The next run does, too.")


def _process_things() -> Iterator[tuple[str, Owner]]:
    for marked in marked_processes():
        yield f"process {marked.process.pid}", marked.owner
    for stored in stored_stacks():
        yield f"folder {stored.path.name}", stored.record.owner


def _engine_things() -> Iterator[tuple[str, Owner]]:
    with DockerEngine.connect() as engine:
        for thing in engine.labelled(RUN_LABEL):
            yield f"{thing.kind} {thing.name}", owner_of(thing.labels)
