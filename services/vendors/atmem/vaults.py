"""One vault a namespace: folders of the data volume, their locks, and their removal."""

import shutil
import threading
import uuid
from pathlib import Path
from typing import Final

from services.common.canonical import sha256_hex
from services.common.platform import fsync_dir

__all__ = ["Vaults"]

_LOCKS: Final = 256


class Vaults:
    """The namespaces of one data folder.

    A namespace's folder is named by a digest, so that any id can be one. Locks are shared by a
    fixed number of namespaces: a call holds one, and never two.
    """

    def __init__(self, data_dir: Path) -> None:
        """Uses a folder, and removes what a removal that was cut short has left."""
        self._namespaces = data_dir / "namespaces"
        self._removed = data_dir / "removed"
        self._namespaces.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._removed, ignore_errors=True)
        self._removed.mkdir(exist_ok=True)
        self._locks = tuple(threading.RLock() for _ in range(_LOCKS))

    def lock(self, namespace: str) -> threading.RLock:
        """The lock that every call on a namespace holds."""
        return self._locks[int(sha256_hex(namespace.encode())[:8], 16) % _LOCKS]

    def continuity(self, namespace: str) -> Path:
        """Folder of the continuity vault; it may not exist yet."""
        return self._folder(namespace) / "continuity"

    def household(self, namespace: str) -> Path:
        """File of the household, atmem's database of records; it may not exist yet."""
        return self._folder(namespace) / "records" / "memory.db"

    def reviews(self, namespace: str) -> Path:
        """Folder of open challenges; it may not exist yet."""
        return self._folder(namespace) / "reviews"

    def reset(self, namespace: str) -> None:
        """Removes everything of a namespace: out of sight first, then from the disk.

        The caller holds the namespace's lock.
        """
        folder = self._folder(namespace)
        if not folder.exists():
            return
        out_of_sight = self._removed / uuid.uuid4().hex
        folder.replace(out_of_sight)
        fsync_dir(self._namespaces)
        shutil.rmtree(out_of_sight, ignore_errors=True)

    def _folder(self, namespace: str) -> Path:
        return self._namespaces / sha256_hex(namespace.encode())
