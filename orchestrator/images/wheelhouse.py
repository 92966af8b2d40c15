"""Wheelhouses: the wheels of one lock file for one Python and platform, downloaded on the host.

Containers do not trust the host's certificates and builds have no network, so pip runs here. A
wheelhouse's folder name is the digest of what it answers for; a warm start makes no pip call.
"""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ImageError

__all__ = ["WheelTarget", "ensure_wheelhouse"]

DOWNLOAD_TIMEOUT_SECONDS = 900
# manylinux tags start at glibc 2.5; older names are aliases of three of them.
_OLDEST_GLIBC_MINOR = 5
_ALIASES = {5: "manylinux1", 12: "manylinux2010", 17: "manylinux2014"}
_SHOWN_LINES = 15


@dataclass(frozen=True)
class WheelTarget:
    """What wheels must run on.

    Attributes:
        python: Version of the image's interpreter as (major, minor).
        machine: Architecture as the kernel names it, such as ``x86_64`` or ``aarch64``.
        glibc: Version of the image's C library as (major, minor).
    """

    python: tuple[int, int]
    machine: str
    glibc: tuple[int, int]

    def platforms(self) -> tuple[str, ...]:
        """Platform tags whose wheels run there, newest first; pip derives no older ones."""
        tags = []
        for minor in range(self.glibc[1], _OLDEST_GLIBC_MINOR - 1, -1):
            tags.append(f"manylinux_2_{minor}_{self.machine}")
            if minor in _ALIASES:
                tags.append(f"{_ALIASES[minor]}_{self.machine}")
        return (*tags, f"linux_{self.machine}")


def ensure_wheelhouse(
    lock: Path, target: WheelTarget, folder: Path, progress: Callable[[str], None]
) -> Path:
    """The folder with exactly the wheels of ``lock`` for ``target``, downloaded if it is missing.

    Args:
        lock: Requirement file in which every version is pinned by hash.
        target: Where the wheels will be installed.
        folder: Parent of all wheelhouses.
        progress: Told what is being done, one line at a time.

    Raises:
        ImageError: pip could not have a wheel of the lock for this target.
    """
    key = hashlib.sha256(lock.read_bytes().replace(b"\r\n", b"\n") + repr(target).encode())
    wanted = folder / f"{lock.stem}-{key.hexdigest()[:16]}"
    if wanted.is_dir():
        return wanted
    progress(
        f"downloading the wheels of {lock.name} for Python {_dotted(target)}, {target.machine}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="download-", dir=folder) as scratch:
        fresh = Path(scratch) / "wheels"
        _download(lock, target, fresh)
        fresh.rename(wanted)
    return wanted


def _download(lock: Path, target: WheelTarget, into: Path) -> None:
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"),
        # The lock is complete and resolved for Linux: this host's markers must not be asked.
        *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--implementation", "cp", "--python-version", _dotted(target)),
        *(part for tag in target.platforms() for part in ("--platform", tag)),
        *("--requirement", str(lock), "--dest", str(into)),
    ]
    try:
        result = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=DOWNLOAD_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise ImageError(
            f"Downloading the wheels of {lock.name} took more than {DOWNLOAD_TIMEOUT_SECONDS} s.",
            next_step="Check the network and pip's index settings, then run again.",
        ) from error
    if result.returncode != 0:
        shown = "\n".join(result.stderr.strip().splitlines()[-_SHOWN_LINES:])
        raise ImageError(
            f"pip could not download the wheels of {lock.name} for Python {_dotted(target)} on "
            f"{target.machine}:\n{shown}",
            next_step="If a wheel is missing for this Python, use another BASE_IMAGE; "
            "otherwise check the network and pip's index settings.",
        )


def _dotted(target: WheelTarget) -> str:
    return ".".join(map(str, target.python))
