"""One volume: its names, what of them survives, and a loss of power (`chaos.storage`).

Not safe for threads by itself: whoever shares a volume holds one lock around each call.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chaos.storage.nodes import Directory, File, Node, Symlink, walk

__all__ = ["Dropped", "Image", "Kept", "Volume"]

_HIDDEN = ".fuse_hidden"
"""What libfuse renames an open file to that loses its name: nothing that a disk would have."""

_N = TypeVar("_N", bound=Node)


@dataclass(frozen=True)
class Dropped:
    """What a loss of power took back.

    Attributes:
        writes: Writes and truncations.
        written_bytes: Bytes of them, in whole blocks.
        names: Creations, renames and removals, counted as names that changed.
    """

    writes: int
    written_bytes: int
    names: int


@dataclass(frozen=True)
class Kept:
    """One file, directory or link of an image.

    Attributes:
        path: From the root of the volume, without a leading slash.
        mode: Kind and permission bits.
        uid: Owner.
        gid: Group.
        content: A file's bytes, a link's target, nothing for a directory.
    """

    path: str
    mode: int
    uid: int
    gid: int
    content: bytes = b""


@dataclass(frozen=True)
class Image:
    """A copy of a whole volume at one moment; parents stand before their children."""

    entries: tuple[Kept, ...]

    @property
    def content_bytes(self) -> int:
        """Bytes of all files."""
        return sum(len(one.content) for one in self.entries)


class Volume:
    """See the module.

    Args:
        folder: Empty folder of this machine for the contents.
        uid: Owner of the root.
        gid: Group of the root.
    """

    def __init__(self, folder: Path, *, uid: int = 0, gid: int = 0) -> None:
        self._folder = folder
        self._numbers = itertools.count(2)
        self.root = Directory(1, 0o777, uid, gid)

    def find(self, path: str) -> Node:
        """The node of a path. Raises OSError ENOENT or ENOTDIR."""
        node: Node = self.root
        for name in _parts(path):
            if not isinstance(node, Directory):
                raise _refused(errno.ENOTDIR)
            if name not in node.entries:
                raise _refused(errno.ENOENT)
            node = node.entries[name]
        return node

    def file(self, path: str) -> File:
        """The file of a path. Raises OSError ENOENT, ENOTDIR, EISDIR or EINVAL."""
        node = self.find(path)
        if isinstance(node, Directory):
            raise _refused(errno.EISDIR)
        return _of(node, File, errno.EINVAL)

    def directory(self, path: str) -> Directory:
        """The directory of a path. Raises OSError ENOENT or ENOTDIR."""
        return _of(self.find(path), Directory, errno.ENOTDIR)

    def create(self, path: str, mode: int, uid: int, gid: int) -> File:
        """Makes an empty file, which the disk does not have yet. Raises OSError EEXIST."""
        number = next(self._numbers)
        file = File(number, stat.S_IMODE(mode), uid, gid, folder=self._folder)
        self._add(path, file)
        return file

    def make_directory(self, path: str, mode: int, uid: int, gid: int) -> None:
        """Makes a directory. Raises OSError EEXIST."""
        self._add(path, Directory(next(self._numbers), stat.S_IMODE(mode), uid, gid))

    def make_link(self, path: str, target: str, uid: int, gid: int) -> None:
        """Makes a symbolic link. Raises OSError EEXIST."""
        self._add(path, Symlink(next(self._numbers), 0o777, uid, gid, target=target))

    def link(self, path: str, new_path: str) -> None:
        """Gives a file one more name. Raises OSError EEXIST or EISDIR."""
        self._add(new_path, self.file(path))

    def unlink(self, path: str) -> None:
        """Takes a name away that is no directory's. Raises OSError EISDIR."""
        parent, name = self._parent(path)
        if isinstance(self.find(path), Directory):
            raise _refused(errno.EISDIR)
        del parent.entries[name]
        parent.touch()

    def remove_directory(self, path: str) -> None:
        """Takes an empty directory away. Raises OSError ENOTEMPTY."""
        parent, name = self._parent(path)
        if self.directory(path).entries:
            raise _refused(errno.ENOTEMPTY)
        del parent.entries[name]
        parent.touch()

    def rename(self, old: str, new: str) -> None:
        """Moves a name, over another one if need be. Raises OSError ENOTEMPTY, EISDIR, ENOTDIR."""
        node = self.find(old)
        parent, name = self._parent(old)
        new_parent, new_name = self._parent(new)
        there = new_parent.entries.get(new_name)
        if there is node:
            return
        if isinstance(there, Directory):
            if not isinstance(node, Directory):
                raise _refused(errno.EISDIR)
            if there.entries:
                raise _refused(errno.ENOTEMPTY)
        elif there is not None and isinstance(node, Directory):
            raise _refused(errno.ENOTDIR)
        if isinstance(node, File) and there is not None:
            node.replaced = True
        del parent.entries[name]
        new_parent.entries[new_name] = node
        parent.touch()
        new_parent.touch()

    def links(self, node: Node) -> int:
        """How many names a node has."""
        return sum(other is node for _, _, other in walk(self.root))

    def sync_file(self, file: File) -> None:
        """What fsync of a file does."""
        file.sync()
        self._keep_names(file)

    def sync_directory(self, directory: Directory) -> None:
        """What fsync of a directory does."""
        seen = {name: node for name, node in directory.entries.items() if not _is_hidden(name)}
        changed = [
            node
            for name, node in (*seen.items(), *directory.kept.items())
            if seen.get(name) is not directory.kept.get(name)
        ]
        directory.kept = seen
        for node in changed:
            if isinstance(node, File) and node.replaced:
                node.sync()
            # A rename between two directories is whole or not at all.
            self._keep_names(node)
        self._keep_names(directory)

    def sync_all(self) -> None:
        """Gives the disk everything."""
        for _, _, node in walk(self.root):
            if isinstance(node, File):
                node.sync()
        for directory in self._directories():
            self.sync_directory(directory)

    def lose_power(self) -> Dropped:
        """Takes back whatever was not synced, for everybody."""
        seen, kept = list(walk(self.root)), list(walk(self.root, kept=True))
        before = {(id(holder), name): id(node) for holder, name, node in seen}
        after = {(id(holder), name): id(node) for holder, name, node in kept}
        names = sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
        files = {node for _, _, node in (*seen, *kept) if isinstance(node, File)}
        writes = sum(file.writes for file in files)
        written_bytes = sum(file.dirty_bytes for file in files)
        for directory in (self.root, *(n for _, _, n in kept if isinstance(n, Directory))):
            directory.entries = dict(directory.kept)
        survivors = {node for _, _, node in kept}
        for file in files:
            file.lose_power()
            if file not in survivors:
                file.discard()
        return Dropped(writes, written_bytes, names)

    def image(self) -> Image:
        """A copy of everything that users see."""
        return Image(tuple(self._images(self.root, "")))

    def restore(self, image: Image) -> None:
        """Puts a copy in everything's place; the disk has it, too."""
        old = {node for _, _, node in walk(self.root) if isinstance(node, File)}
        old |= {node for _, _, node in walk(self.root, kept=True) if isinstance(node, File)}
        self.root.entries, self.root.kept = {}, {}
        for file in old:
            file.discard()
        for one in image.entries:
            if stat.S_ISDIR(one.mode):
                self.make_directory(one.path, one.mode, one.uid, one.gid)
            elif stat.S_ISLNK(one.mode):
                self.make_link(one.path, os.fsdecode(one.content), one.uid, one.gid)
            else:
                self.create(one.path, one.mode, one.uid, one.gid).write(0, one.content)
        self.sync_all()

    def _images(self, directory: Directory, before: str) -> Iterator[Kept]:
        for name, node in sorted(directory.entries.items()):
            if _is_hidden(name):
                continue
            path, mode = f"{before}{name}", node.kind | node.mode
            content = b""
            if isinstance(node, File):
                content = node.read(0, node.size)
            elif isinstance(node, Symlink):
                content = os.fsencode(node.target)
            yield Kept(path, mode, node.uid, node.gid, content)
            if isinstance(node, Directory):
                yield from self._images(node, f"{path}/")

    def _keep_names(self, node: Node) -> None:
        """Makes a node's present names survive and its former ones not, up to the root."""
        for directory in self._directories():
            for name in [name for name, other in directory.kept.items() if other is node]:
                if directory.entries.get(name) is not node:
                    del directory.kept[name]
            for name, other in directory.entries.items():
                if other is node and not _is_hidden(name):
                    self._keep_name(directory, name, node)

    def _keep_name(self, directory: Directory, name: str, node: Node) -> None:
        if directory.kept.get(name) is not node:
            directory.kept[name] = node
            if isinstance(node, File) and node.replaced:
                node.sync()
        if directory is not self.root:
            self._keep_names(directory)

    def _directories(self) -> list[Directory]:
        """Every directory that is there or that survives, the root first."""
        found = {self.root: None}
        for kept in (False, True):
            for _, _, node in walk(self.root, kept=kept):
                if isinstance(node, Directory):
                    found[node] = None
        return list(found)

    def _parent(self, path: str) -> tuple[Directory, str]:
        *above, name = _parts(path) or [""]
        return self.directory("/".join(above)), name

    def _add(self, path: str, node: Node) -> None:
        parent, name = self._parent(path)
        if not name or name in parent.entries:
            raise _refused(errno.EEXIST)
        parent.entries[name] = node
        parent.touch()


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _is_hidden(name: str) -> bool:
    return name.startswith(_HIDDEN)


def _of(node: Node, kind: type[_N], otherwise: int) -> _N:
    if not isinstance(node, kind):
        raise _refused(otherwise)
    return node


def _refused(code: int) -> OSError:
    return OSError(code, os.strerror(code))
