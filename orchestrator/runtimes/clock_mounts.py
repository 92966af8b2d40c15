"""The folders of this machine through which services' clocks are set (DESIGN §5).

A service whose clock can be set runs with libfaketime in front of its C library. That reads a
timestamp file at every call; folders are mounted, never single files, since a replaced file would
stay unseen behind a mount of its own.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chaos.clock import shared_object, write_offset_ns
from orchestrator.errors import PreflightError

__all__ = [
    "CLOCK_TARGET",
    "FAKETIME_TARGET",
    "ClockMounts",
    "clock_library",
    "make_clock_mounts",
    "readable_folder",
]

# Where compose.yaml mounts them.
CLOCK_TARGET = "/run/memqual/clock"
FAKETIME_TARGET = "/run/memqual/faketime"


@dataclass(frozen=True)
class ClockMounts:
    """What compose.yaml is told about clocks.

    Attributes:
        folders: Folder of each service whose clock can be set; empty without skew.
        variables: Values of compose.yaml's variables.
    """

    folders: Mapping[str, Path]
    variables: Mapping[str, str]


def clock_library() -> Path:
    """The pinned libfaketime of this installation.

    Raises:
        PreflightError: there is none for this platform.
    """
    library = shared_object()
    if library is None:
        raise PreflightError(
            f"There is no libfaketime for {platform.system()} on {platform.machine()}.",
            next_step="Start without clock skew; its cells are N/R (platform) here.",
        )
    return library


def make_clock_mounts(services: Iterable[str], folder: Path, *, skew: bool) -> ClockMounts:
    """Makes the folders below `folder`; without skew they are empty and nothing is preloaded.

    Raises:
        PreflightError: skew is wanted and there is no libfaketime for this platform.
    """
    folders = {name: readable_folder(folder / name) for name in services}
    variables = {f"MEMQUAL_CLOCK_{name.upper()}": str(path) for name, path in folders.items()}
    if not skew:
        library = readable_folder(folder / "library")
        return ClockMounts(folders={}, variables=variables | {"MEMQUAL_FAKETIME": str(library)})
    library = clock_library()
    for path in folders.values():
        write_offset_ns(path, 0)
    return ClockMounts(
        folders=folders,
        variables=variables
        | {
            "MEMQUAL_FAKETIME": str(library.parent),
            "MEMQUAL_CLOCK_PRELOAD": f"{FAKETIME_TARGET}/{library.name}",
        },
    )


def readable_folder(folder: Path) -> Path:
    """Makes a folder that a service with another user id can read."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    return folder
