"""The folders of this machine through which services' clocks are set (DESIGN §5).

A service whose clock can be set runs with libfaketime in front of its C library. That reads a
timestamp file at every call; folders are mounted, never single files, since a replaced file would
stay unseen behind a mount of its own.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chaos.clock import shared_object, write_offset_ns
from orchestrator.runtimes.topology import ServiceSpec

__all__ = [
    "CLOCK_TARGET",
    "FAKETIME_TARGET",
    "ClockMounts",
    "is_preloaded",
    "make_clock_mounts",
    "readable_folder",
    "without_preload",
]

# Where compose.yaml mounts them.
CLOCK_TARGET = "/run/memqual/clock"
FAKETIME_TARGET = "/run/memqual/faketime"
PRELOAD_VARIABLE = "LD_PRELOAD"


@dataclass(frozen=True)
class ClockMounts:
    """What compose.yaml is told about clocks.

    Attributes:
        folders: Folder of each service whose clock can be set; empty without skew.
        variables: Values of compose.yaml's variables.
    """

    folders: Mapping[str, Path]
    variables: Mapping[str, str]


def make_clock_mounts(services: Iterable[str], folder: Path, *, skew: bool) -> ClockMounts:
    """Makes the folders below `folder`.

    Without skew, or on a platform that has no libfaketime, they stay empty, nothing is preloaded
    and no service has a clock that can be set.
    """
    folders = {name: readable_folder(folder / name) for name in services}
    library_folder = readable_folder(folder / "library")
    variables = {
        "MEMQUAL_FAKETIME": str(library_folder),
        **{f"MEMQUAL_CLOCK_{name.upper()}": str(path) for name, path in folders.items()},
    }
    library = shared_object() if skew else None
    if library is None:
        return ClockMounts(folders={}, variables=variables)
    # A copy: the installed one may lie where a container's user, or the engine, cannot read.
    copy = library_folder / library.name
    shutil.copyfile(library, copy)
    copy.chmod(0o755)
    for path in folders.values():
        write_offset_ns(path, 0)
    variables["MEMQUAL_CLOCK_PRELOAD"] = f"{FAKETIME_TARGET}/{library.name}"
    return ClockMounts(folders=folders, variables=variables)


def is_preloaded(service: ServiceSpec) -> bool:
    """Whether a service starts with the library in front of its own."""
    return bool(service.environment.get(PRELOAD_VARIABLE))


def without_preload(service: ServiceSpec) -> ServiceSpec:
    """The same service with the clock that it has."""
    environment = {**service.environment, PRELOAD_VARIABLE: ""}
    return dataclasses.replace(service, environment=environment)


def readable_folder(folder: Path) -> Path:
    """Makes a folder that a service with another user id can read."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    return folder
