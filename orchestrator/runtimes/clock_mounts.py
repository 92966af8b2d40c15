"""The folders of this machine through which services' clocks are set (DESIGN §5).

A service whose clock can be set runs with libfaketime in front of its C library. That reads a
timestamp file at every call; folders are mounted, never single files, since a replaced file would
stay unseen behind a mount of its own.
"""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import PreflightError

__all__ = [
    "CLOCK_TARGET",
    "FAKETIME_TARGET",
    "TIMESTAMP_FILE",
    "ClockMounts",
    "clock_library",
    "make_clock_mounts",
    "readable_folder",
]

# Where compose.yaml mounts them, and the file that its FAKETIME_TIMESTAMP_FILE names.
CLOCK_TARGET = "/run/memqual/clock"
FAKETIME_TARGET = "/run/memqual/faketime"
TIMESTAMP_FILE = "timestamp"

_LIBRARY = Path("vendor", "libfaketime", "src", "libfaketime.so.1")
# What libfaketime takes as "the time as it is".
_NO_SKEW = "+0\n"


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
    found = importlib.util.find_spec("libfaketime")
    if found is not None and found.origin is not None:
        library = Path(found.origin).parent / _LIBRARY
        if library.is_file():
            return library
    raise PreflightError(
        f"There is no libfaketime for {platform.system()} on {platform.machine()}.",
        next_step="Start without clock skew; its cells are N/R (platform) here.",
    )


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
        file = path / TIMESTAMP_FILE
        file.write_text(_NO_SKEW, encoding="ascii")
        file.chmod(0o644)
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
