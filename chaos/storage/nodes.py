"""Files and directories of a volume: what its users see, and what the disk has."""

from __future__ import annotations

import io
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["BLOCK_BYTES", "Directory", "File", "Node", "Symlink", "walk"]

BLOCK_BYTES = 4096


@dataclass(eq=False)
class Node:
    """What all kinds have; two names of one node are the same file.

    Attributes:
        number: Inode number, unique in a volume.
        mode: Permission bits, without the kind.
        uid: Owner.
        gid: Group.
        changed_ns: Last change of content or names, nanoseconds since 1970.
        read_ns: Last access, as far as it was told.
    """

    number: int
    mode: int
    uid: int
    gid: int
    changed_ns: int = field(default_factory=time.time_ns)
    read_ns: int = field(default_factory=time.time_ns)

    @property
    def kind(self) -> int:
        """The kind's bits of a mode."""
        raise AssertionError("a kind of node says")

    def touch(self) -> None:
        """Notes a change."""
        self.changed_ns = time.time_ns()


@dataclass(eq=False)
class Directory(Node):
    """A directory.

    Attributes:
        entries: Names as its users see them.
        kept: Names that survive a loss of power.
    """

    entries: dict[str, Node] = field(default_factory=dict)
    kept: dict[str, Node] = field(default_factory=dict)

    @property
    def kind(self) -> int:
        """The kind's bits of a mode."""
        return stat.S_IFDIR


@dataclass(eq=False)
class Symlink(Node):
    """A symbolic link; it survives with its name."""

    target: str = ""

    @property
    def kind(self) -> int:
        """The kind's bits of a mode."""
        return stat.S_IFLNK


@dataclass(eq=False)
class File(Node):
    """A file's content, twice: as its users see it, and as the disk has it.

    Attributes:
        folder: Where both lie on this machine.
        dirty: Numbers of blocks that were written since the last sync.
        low_bytes: Smallest size since the last sync; what lay beyond is gone there.
        writes: Writes and truncations since the last sync.
        replaced: It took another file's name by rename: its content survives with that name.
    """

    folder: Path = Path()
    dirty: set[int] = field(default_factory=set)
    low_bytes: int = 0
    writes: int = 0
    replaced: bool = False

    def __post_init__(self) -> None:
        self._seen = self._made("seen")
        self._disk = self._made("disk")

    def _made(self, name: str) -> io.FileIO:
        path = self.folder / f"{self.number}.{name}"
        path.touch()
        return path.open("r+b", buffering=0)

    @property
    def kind(self) -> int:
        """The kind's bits of a mode."""
        return stat.S_IFREG

    @property
    def size(self) -> int:
        """Bytes, as its users see it."""
        return self._seen.seek(0, io.SEEK_END)

    def read(self, offset: int, size: int) -> bytes:
        """What its users see."""
        self._seen.seek(offset)
        return self._seen.read(size)

    def write(self, offset: int, data: bytes) -> None:
        """Writes for its users to see; the disk has it from the next sync on."""
        if not data:
            return
        size = self.size
        if offset > size:
            self._note(size, offset)
        self._seen.seek(offset)
        self._seen.write(data)
        self._note(offset, offset + len(data))
        self.writes += 1
        self.touch()

    def truncate(self, size: int) -> None:
        """Cuts or lengthens it for its users."""
        before = self.size
        self._seen.truncate(size)
        self.low_bytes = min(self.low_bytes, size)
        if size > before:
            self._note(before, size)
        self.writes += 1
        self.touch()

    @property
    def dirty_bytes(self) -> int:
        """Bytes that a loss of power would take back, in whole blocks, at most its size."""
        return min(len(self.dirty) * BLOCK_BYTES, self.size) if self.dirty else 0

    @property
    def is_synced(self) -> bool:
        """Whether users and disk have the same."""
        return not self.writes

    def sync(self) -> None:
        """Gives the disk what users see."""
        if self.is_synced:
            return
        size = self.size
        self._disk.truncate(self.low_bytes)
        self._disk.truncate(size)
        for block in sorted(self.dirty):
            self._seen.seek(block * BLOCK_BYTES)
            data = self._seen.read(BLOCK_BYTES)
            self._disk.seek(block * BLOCK_BYTES)
            self._disk.write(data)
        self._clean(size)

    def lose_power(self) -> None:
        """Gives users what the disk has."""
        if self.is_synced:
            return
        self._disk.seek(0)
        data = self._disk.read()
        self._seen.truncate(0)
        self._seen.seek(0)
        self._seen.write(data)
        self._clean(len(data))
        self.touch()

    def discard(self) -> None:
        """Removes both contents from this machine."""
        for file in (self._seen, self._disk):
            file.close()
        for name in ("seen", "disk"):
            (self.folder / f"{self.number}.{name}").unlink(missing_ok=True)

    def _note(self, begin: int, end: int) -> None:
        self.dirty.update(range(begin // BLOCK_BYTES, -(-end // BLOCK_BYTES)))

    def _clean(self, size: int) -> None:
        self.dirty.clear()
        self.low_bytes, self.writes = size, 0


def walk(root: Directory, *, kept: bool = False) -> Iterator[tuple[Directory, str, Node]]:
    """Every name below a directory with the directory that holds it, in order of depth.

    Args:
        root: Where to begin.
        kept: The names that survive a loss of power, not those that users see.
    """
    todo = [root]
    while todo:
        directory = todo.pop()
        for name, node in (directory.kept if kept else directory.entries).items():
            yield directory, name, node
            if isinstance(node, Directory):
                todo.append(node)
