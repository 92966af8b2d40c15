"""Build contexts: the exact files of one build, as a reproducible tar and as a digest.

Both come from the same list, so a tag cannot say less than what the engine was sent.
"""

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

__all__ = ["ContextFile", "inputs_digest", "source_files", "text_file", "write_context"]

# Neither read nor imported inside an image.
_LEFT_OUT_SUFFIXES = frozenset({".pyc", ".pyi", ".proto", ".md"})
_LEFT_OUT_FOLDERS = frozenset({"__pycache__"})
_SPOOL_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ContextFile:
    """One file of a build context.

    Attributes:
        name: POSIX path inside the context.
        source: File on disk, or its content.
    """

    name: str
    source: Path | bytes

    def sha256(self) -> str:
        """Digest of the content, lower-case hex."""
        if isinstance(self.source, bytes):
            return hashlib.sha256(self.source).hexdigest()
        with self.source.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def text_file(name: str, text: str) -> ContextFile:
    """A context file with this text; line ends are the same on every host."""
    return ContextFile(name, text.replace("\r\n", "\n").encode())


def source_files(root: Path, sources: Iterable[str]) -> tuple[ContextFile, ...]:
    """The files below each source (a file or a folder of the repository), sorted, each once.

    They are read here and now: what is hashed is what is sent, even while somebody edits.
    """
    found: dict[str, bytes] = {}
    for source in sources:
        start = root / source
        for path in [start] if start.is_file() else start.rglob("*"):
            relative = path.relative_to(root)
            if path.is_file() and not _left_out(relative):
                found[relative.as_posix()] = path.read_bytes()
    return tuple(ContextFile(name, found[name]) for name in sorted(found))


def inputs_digest(parent: str, files: Sequence[ContextFile]) -> str:
    """SHA-256 over the parent's identity and every file's path and content, lower-case hex."""
    digest = hashlib.sha256(parent.encode())
    for file in sorted(files, key=lambda file: file.name):
        digest.update(f"\n{file.sha256()} {file.name}".encode())
    return digest.hexdigest()


def write_context(files: Sequence[ContextFile]) -> IO[bytes]:
    """A tar of the files without owner, time or mode of this host; the caller closes it."""
    # A spooled file: a service's sources stay in memory, a wheelhouse does not.
    stream = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - returned open
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for file in files:
            _add(archive, file)
    stream.seek(0, os.SEEK_SET)
    return stream


def _add(archive: tarfile.TarFile, file: ContextFile) -> None:
    entry = tarfile.TarInfo(file.name)
    entry.mode = 0o644
    if isinstance(file.source, bytes):
        entry.size = len(file.source)
        archive.addfile(entry, io.BytesIO(file.source))
        return
    with file.source.open("rb") as stream:
        entry.size = os.fstat(stream.fileno()).st_size
        archive.addfile(entry, stream)


def _left_out(path: Path) -> bool:
    return path.suffix in _LEFT_OUT_SUFFIXES or not _LEFT_OUT_FOLDERS.isdisjoint(path.parts)
