"""The volume as a file system in user space: what the kernel asks, by path and handle.

Needs libfuse; importing this module without it raises OSError. The kernel keeps no names and no
attributes for any time, since a loss of power changes them under it; pages of a file are dropped
when it is opened. Shared mappings work, so SQLite's WAL does (no `direct_io`).
"""

from __future__ import annotations

import itertools
import os
import threading
from dataclasses import dataclass

import mfusepy

from chaos.storage.gate import Fate, Gate
from chaos.storage.nodes import BLOCK_BYTES, Directory, File, Node, Symlink
from chaos.storage.volume import Volume

__all__ = ["Passthrough"]

_SYNCED_WRITES = getattr(os, "O_SYNC", 0) | getattr(os, "O_DSYNC", 0)
_ROOM_BLOCKS = 1 << 20
_NAME_BYTES = 255


@dataclass(frozen=True)
class _Handle:
    node: Node
    syncs: bool


class Passthrough(mfusepy.Operations):
    """Answers the kernel from a volume.

    Args:
        volume: What is served.
        gate: What every operation passes.
        lock: Held around every use of the volume.
    """

    use_ns = True

    def __init__(self, volume: Volume, gate: Gate, lock: threading.RLock) -> None:
        self._volume = volume
        self._gate = gate
        self._lock = lock
        self._handles: dict[int, _Handle] = {}
        self._numbers = itertools.count(1)

    @property
    def open_files(self) -> int:
        """Files that somebody has open."""
        return len(self._handles)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        """Attributes of an open file, or of a path's."""
        with self._lock:
            handle = self._handles.get(fh) if fh else None
            node = self._volume.find(path) if handle is None else handle.node
            size = node.size if isinstance(node, File) else 0
            if isinstance(node, Symlink):
                size = len(os.fsencode(node.target))
            return {
                "st_ino": node.number,
                "st_mode": node.kind | node.mode,
                "st_nlink": 2 if isinstance(node, Directory) else max(self._volume.links(node), 1),
                "st_uid": node.uid,
                "st_gid": node.gid,
                "st_size": size,
                "st_blocks": -(-size // BLOCK_BYTES) * (BLOCK_BYTES // 512),
                "st_blksize": BLOCK_BYTES,
                "st_atime": node.read_ns,
                "st_mtime": node.changed_ns,
                "st_ctime": node.changed_ns,
            }

    def readdir(self, path: str, fh: int) -> list[str]:
        """Names in a directory."""
        with self._lock:
            return [".", "..", *self._volume.directory(path).entries]

    def readlink(self, path: str) -> str:
        """Where a symbolic link leads."""
        with self._lock:
            node = self._volume.find(path)
            return node.target if isinstance(node, Symlink) else ""

    def create(self, path: str, mode: int, fi: int | None = None) -> int:
        """Makes a file and opens it."""
        self._gate.pass_through(f"create {path}", grows=True)
        with self._lock:
            return self._opened(self._volume.create(path, mode, *_caller()), fi or 0)

    def open(self, path: str, flags: int) -> int:
        """Opens a file."""
        self._gate.pass_through(f"open {path}")
        with self._lock:
            file = self._volume.file(path)
            if flags & os.O_TRUNC:
                file.truncate(0)
            return self._opened(file, flags)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """Reads."""
        self._gate.pass_through(f"read {path}")
        with self._lock:
            return self._file(path, fh).read(offset, size)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        """Writes; a write that is torn says that it was done, to whoever is being killed."""
        with self._lock:
            grows = offset + len(data) > -(-self._file(path, fh).size // BLOCK_BYTES) * BLOCK_BYTES
        fate = self._gate.pass_through(
            f"write {path}", grows=grows, writes=True, offset=offset, size=len(data)
        )
        with self._lock:
            file = self._file(path, fh)
            file.write(offset, data[: len(data) // 2] if fate is Fate.TEAR else data)
            if fh in self._handles and self._handles[fh].syncs:
                self._volume.sync_file(file)
        return len(data)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        """Cuts or lengthens a file."""
        with self._lock:
            grows = length > self._file(path, fh).size
        self._gate.pass_through(f"truncate {path}", grows=grows)
        with self._lock:
            self._file(path, fh).truncate(length)
        return 0

    def flush(self, path: str, fh: int) -> int:
        """A handle is closed: promises nothing."""
        return 0

    def release(self, path: str, fh: int) -> int:
        """Nobody uses a handle any more."""
        with self._lock:
            self._handles.pop(fh, None)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        """Fsync or fdatasync of a file; sizes are content here, so that both are one."""
        self._gate.pass_through(f"fsync {path}")
        with self._lock:
            self._volume.sync_file(self._file(path, fh))
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        """Fsync of a directory."""
        self._gate.pass_through(f"fsyncdir {path}")
        with self._lock:
            self._volume.sync_directory(self._volume.directory(path))
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        """Makes a directory."""
        self._gate.pass_through(f"mkdir {path}", grows=True)
        with self._lock:
            self._volume.make_directory(path, mode, *_caller())
        return 0

    def rmdir(self, path: str) -> int:
        """Removes an empty directory."""
        self._gate.pass_through(f"rmdir {path}")
        with self._lock:
            self._volume.remove_directory(path)
        return 0

    def unlink(self, path: str) -> int:
        """Removes a name."""
        self._gate.pass_through(f"unlink {path}")
        with self._lock:
            self._volume.unlink(path)
        return 0

    def rename(self, old: str, new: str) -> int:
        """Moves a name."""
        self._gate.pass_through(f"rename {old}")
        with self._lock:
            self._volume.rename(old, new)
        return 0

    def link(self, target: str, source: str) -> int:
        """Gives a file one more name."""
        self._gate.pass_through(f"link {source}")
        with self._lock:
            self._volume.link(source, target)
        return 0

    def symlink(self, target: str, source: str) -> int:
        """Makes a symbolic link."""
        self._gate.pass_through(f"symlink {target}", grows=True)
        with self._lock:
            self._volume.make_link(target, source, *_caller())
        return 0

    def chmod(self, path: str, mode: int) -> int:
        """Sets permission bits, durably."""
        with self._lock:
            self._volume.find(path).mode = mode & 0o7777
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        """Sets owners, durably; -1 leaves one as it is."""
        with self._lock:
            node = self._volume.find(path)
            node.uid, node.gid = _or(uid, node.uid), _or(gid, node.gid)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """Sets times in nanoseconds, durably."""
        with self._lock:
            node = self._volume.find(path)
            if times is None:
                node.touch()
            else:
                node.read_ns, node.changed_ns = times
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        """Room: enough, whatever a FILL refuses; nobody should choose by it."""
        return {
            "f_bsize": BLOCK_BYTES,
            "f_frsize": BLOCK_BYTES,
            "f_blocks": _ROOM_BLOCKS,
            "f_bfree": _ROOM_BLOCKS // 2,
            "f_bavail": _ROOM_BLOCKS // 2,
            "f_files": _ROOM_BLOCKS,
            "f_ffree": _ROOM_BLOCKS // 2,
            "f_namemax": _NAME_BYTES,
        }

    def _opened(self, node: Node, flags: int) -> int:
        number = next(self._numbers)
        self._handles[number] = _Handle(node, bool(flags & _SYNCED_WRITES))
        return number

    def _file(self, path: str, fh: int | None) -> File:
        handle = self._handles.get(fh) if fh else None
        if handle is not None and isinstance(handle.node, File):
            return handle.node
        return self._volume.file(path)


def _caller() -> tuple[int, int]:
    uid, gid, _ = mfusepy.fuse_get_context()
    return uid, gid


def _or(wanted: int, present: int) -> int:
    unchanged = wanted in (-1, 0xFFFFFFFF)
    return present if unchanged else wanted
