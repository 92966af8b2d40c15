"""SHA256SUMS of a bundle: written last, checked first (DESIGN §8)."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from services.common.platform import atomic_write_bytes

__all__ = ["SUMS_FILE", "check_sums", "digest_of", "write_sums"]

SUMS_FILE = "SHA256SUMS"
_LOCK_FILE = ".lock"
_CHUNK_BYTES = 1 << 20
# Changes after the sums are written, or belongs to no bundle.
_LEFT_OUT = (SUMS_FILE, _LOCK_FILE)
_LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>.+)")


def write_sums(root: Path) -> None:
    """Write the digest of every file of a bundle, in `sha256sum`'s format, sorted by name."""
    lines = [f"{digest_of(path)}  {name}\n" for name, path in _files(root).items()]
    atomic_write_bytes(root / SUMS_FILE, "".join(lines).encode())


def check_sums(root: Path) -> list[str]:
    """What differs from SHA256SUMS, in words; empty when nothing does.

    Raises:
        OSError: There is no SHA256SUMS, or a file cannot be read.
    """
    # What is no UTF-8 was altered, and then is listed under no name that is there.
    text = (root / SUMS_FILE).read_bytes().decode(errors="replace")
    listed, problems = _parse(text)
    present = _files(root)
    problems += [f"{name} is listed and missing" for name in sorted(listed.keys() - present.keys())]
    problems += [f"{name} is not listed" for name in sorted(present.keys() - listed.keys())]
    for name in sorted(listed.keys() & present.keys()):
        if digest_of(present[name]) != listed[name]:
            problems.append(f"{name} was changed")
    if not problems and list(listed) != sorted(listed):
        problems.append(f"{SUMS_FILE} is not sorted by name")
    problems += [f"{_name(root, path)} is no regular file" for path in _strange(root)]
    lock = root / _LOCK_FILE
    if lock.is_file() and lock.stat().st_size:
        problems.append(f"{_LOCK_FILE} is not empty")
    return problems


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _parse(text: str) -> tuple[dict[str, str], list[str]]:
    """Digests by name, and what is wrong with the lines."""
    listed: dict[str, str] = {}
    problems = []
    lines = text.split("\n")
    if lines.pop():
        problems.append(f"{SUMS_FILE} ends in the middle of a line")
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            problems.append(f"{SUMS_FILE} line {number} is no digest and name")
        elif match["name"] in listed:
            problems.append(f"{SUMS_FILE} line {number} lists a file twice")
        else:
            listed[match["name"]] = match["digest"]
    return listed, problems


def _files(root: Path) -> dict[str, Path]:
    """Every regular file of the bundle by name, sorted; the same order on every system."""
    found = {
        _name(root, path): path
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    return {name: found[name] for name in sorted(found) if name not in _LEFT_OUT}


def _strange(root: Path) -> list[Path]:
    """Links, pipes, devices: nothing that a run writes, and a way out of the bundle."""
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_symlink() or not (path.is_file() or path.is_dir())
    )


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
