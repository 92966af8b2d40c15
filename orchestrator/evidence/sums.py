"""SHA256SUMS of a bundle: written last, checked first (DESIGN §8)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from services.common.platform import atomic_write_bytes

__all__ = ["SUMS_FILE", "check_sums", "write_sums"]

SUMS_FILE = "SHA256SUMS"
_CHUNK_BYTES = 1 << 20
# Changes after the sums are written, or belongs to no bundle.
_LEFT_OUT = (SUMS_FILE, ".lock")


def write_sums(root: Path) -> None:
    """Write the digest of every file of a bundle, in `sha256sum`'s format, sorted by name."""
    lines = [f"{digest_of(path)}  {_name(root, path)}\n" for path in _files(root)]
    atomic_write_bytes(root / SUMS_FILE, "".join(lines).encode())


def check_sums(root: Path) -> list[str]:
    """What differs from SHA256SUMS, in words; empty when nothing does.

    Raises:
        OSError: There is no SHA256SUMS, or a file cannot be read.
    """
    listed: dict[str, str] = {}
    for line in (root / SUMS_FILE).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    present = {_name(root, path): path for path in _files(root)}
    problems = [f"{name} is listed and missing" for name in sorted(listed.keys() - present.keys())]
    problems += [f"{name} is not listed" for name in sorted(present.keys() - listed.keys())]
    for name in sorted(listed.keys() & present.keys()):
        if digest_of(present[name]) != listed[name]:
            problems.append(f"{name} was changed")
    return problems


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _files(root: Path) -> list[Path]:
    return sorted(
        path for path in root.rglob("*") if path.is_file() and _name(root, path) not in _LEFT_OUT
    )


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
