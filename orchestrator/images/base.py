"""The base system of all images: Debian packages by debootstrap, or an image that the user names.

The mirror is the one that the host's own apt uses; the repository names none. Documentation,
translations and package caches are removed: services never read them.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ImageError

__all__ = ["AptSource", "base_tag", "choose_source", "make_rootfs_tar", "read_os_release"]

# python3 brings the whole standard library (sqlite3 and ssl among it); python3-minimal does not.
PACKAGES = ("python3",)
REMOVED = (
    "usr/share/bash-completion",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "var/cache/apt",
    "var/cache/debconf",
    "var/lib/apt/lists",
    "var/log",
)
# Removed folders that programs expect to exist.
KEPT_EMPTY = ("var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/log")

DEBOOTSTRAP_TIMEOUT_SECONDS = 900
TAR_TIMEOUT_SECONDS = 300
APT_TIMEOUT_SECONDS = 60
UMOUNT_TIMEOUT_SECONDS = 30
_KNOWN_ORIGINS = frozenset({"Debian", "Ubuntu"})
_MIRROR_LIST = "mirror+file:"
_SHOWN_LINES = 12
_NEXT_STEP = (
    "On Debian or Ubuntu run as root with debootstrap installed (apt-get install debootstrap); "
    "elsewhere name an image with glibc and Python >= 3.11: make ... BASE_IMAGE=name:tag."
)


@dataclass(frozen=True)
class AptSource:
    """Where the host's packages come from.

    Attributes:
        mirror: Address of the archive, as apt knows it.
        suite: Code name of the host's release, such as ``bookworm``.
    """

    mirror: str
    suite: str


def base_tag(os_release: Mapping[str, str], machine: str) -> str:
    """Tag of the base image: a digest of its recipe, the host's release and the architecture.

    Raises:
        ImageError: the host is not Debian or Ubuntu.
    """
    suite = os_release.get("VERSION_CODENAME", "")
    if os_release.get("ID") not in {"debian", "ubuntu"} or not suite:
        raise ImageError(
            "This host has no Debian packages from which a base image could be made.",
            next_step=_NEXT_STEP,
        )
    recipe = json.dumps([os_release["ID"], suite, machine, PACKAGES, REMOVED, KEPT_EMPTY])
    return hashlib.sha256(recipe.encode()).hexdigest()


def read_os_release(path: Path = Path("/etc/os-release")) -> dict[str, str]:
    """The host's release file as a mapping; empty where there is none."""
    if not path.is_file():
        return {}
    pairs = re.findall(r'^(\w+)="?([^"\n]*)"?$', path.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(pairs)


def choose_source(listing: str, suite: str) -> AptSource:
    """The archive that holds the release's main packages.

    Args:
        listing: One index a line: address, release, code name, component, origin, parted by `|`.
        suite: Code name of the host's release.

    Raises:
        ImageError: none of the lines is such an archive.
    """
    candidates = []
    for line in listing.splitlines():
        mirror, release, codename, component, origin = (line.split("|") + [""] * 5)[:5]
        if component == "main" and suite in (release, codename):
            # Before the first apt-get update apt does not know origins yet.
            candidates.append((origin not in _KNOWN_ORIGINS, origin != "", mirror))
    if not candidates:
        raise ImageError(
            f"apt on this host names no archive for {suite} main.", next_step=_NEXT_STEP
        )
    return AptSource(mirror=_first_of_list(min(candidates)[2]), suite=suite)


def make_rootfs_tar(suite: str, scratch: Path, progress: Callable[[str], None]) -> Path:
    """Installs the base system below ``scratch`` and returns it as a tar.

    Takes about 40 s; ``scratch`` must allow devices and programs (no nodev, no noexec).

    Raises:
        ImageError: debootstrap is missing, not allowed, or failed.
    """
    for program in ("debootstrap", "apt-get", "tar"):
        if shutil.which(program) is None:
            raise ImageError(f"The program {program} is not installed.", next_step=_NEXT_STEP)
    source = choose_source(_apt_indexes(), suite)
    progress(f"installing a base system ({suite} with {', '.join(PACKAGES)}) with debootstrap")
    rootfs = scratch / "rootfs"
    try:
        _run(
            [
                *("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}"),
                *(source.suite, str(rootfs), source.mirror),
            ],
            DEBOOTSTRAP_TIMEOUT_SECONDS,
            env=_with_apt_proxy(os.environ),
        )
    finally:
        # One that is cut short leaves these mounted, and the folder could not be removed.
        for mounted in (rootfs / "proc", rootfs / "sys"):
            if os.path.ismount(mounted):
                _run(["umount", str(mounted)], UMOUNT_TIMEOUT_SECONDS)
    for path in REMOVED:
        shutil.rmtree(rootfs / path, ignore_errors=True)
    for path in KEPT_EMPTY:
        (rootfs / path).mkdir(parents=True, exist_ok=True)
    archive = scratch / "rootfs.tar"
    _run(
        [
            "tar",
            "--numeric-owner",
            "--one-file-system",
            "-C",
            str(rootfs),
            "-cf",
            str(archive),
            ".",
        ],
        TAR_TIMEOUT_SECONDS,
    )
    return archive


def _apt_indexes() -> str:
    line = "$(REPO_URI)|$(RELEASE)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)"
    return _run(
        ["apt-get", "indextargets", "--format", line, "Created-By: Packages"], APT_TIMEOUT_SECONDS
    )


def _with_apt_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    # apt has its own proxy setting; debootstrap reads the usual variables.
    shell = _run(["apt-config", "shell", "PROXY", "Acquire::http::Proxy"], APT_TIMEOUT_SECONDS)
    found = re.search(r"^PROXY='([^']+)'$", shell, re.MULTILINE)
    settings = dict(environment)
    if found is not None and found[1] != "DIRECT":
        settings.setdefault("http_proxy", found[1])
    return settings


def _first_of_list(mirror: str) -> str:
    if not mirror.startswith(_MIRROR_LIST):
        return mirror
    lines = Path(mirror.removeprefix(_MIRROR_LIST).rstrip("/")).read_text(encoding="utf-8")
    addresses = [
        line.split()[0] for line in lines.splitlines() if line.strip()[:1] not in ("", "#")
    ]
    if not addresses:
        raise ImageError("apt's list of mirrors is empty.", next_step=_NEXT_STEP)
    return addresses[0]


def _run(command: list[str], timeout_seconds: int, env: Mapping[str, str] | None = None) -> str:
    try:
        result = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_seconds,
            env=env,
        )
    except subprocess.TimeoutExpired as error:
        raise ImageError(
            f"{command[0]} took more than {timeout_seconds} s.", next_step=_NEXT_STEP
        ) from error
    if result.returncode != 0:
        shown = "\n".join(result.stdout.strip().splitlines()[-_SHOWN_LINES:])
        raise ImageError(f"{command[0]} failed:\n{shown}", next_step=_NEXT_STEP)
    return result.stdout
