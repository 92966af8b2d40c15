"""`python -m chaos.storage FOLDER MOUNT`: one volume, mounted until its parent is gone.

Commands come as JSON lines on standard input, answers go to standard output; the first answer says
that the volume is mounted. The end of standard input, which the kernel makes when the parent dies,
ends the mount and the process.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path

import mfusepy

from chaos.storage.gate import Gate
from chaos.storage.mounts import unmount
from chaos.storage.passthrough import Passthrough
from chaos.storage.serving import Commands
from chaos.storage.volume import Volume

__all__ = ["main"]


def main() -> None:
    """Mounts and serves."""
    parser = argparse.ArgumentParser(prog="python -m chaos.storage", description=__doc__)
    parser.add_argument("folder", type=Path, help="empty folder for the contents")
    parser.add_argument("mount", type=Path, help="empty folder that becomes the volume")
    options = parser.parse_args()
    lock, gate = threading.RLock(), Gate()
    owner = options.folder.stat()
    volume = Volume(options.folder, uid=owner.st_uid, gid=owner.st_gid)
    operations = Passthrough(volume, gate, lock)
    commands = Commands(volume, operations, gate, lock)

    def serve() -> None:
        commands.serve(sys.stdin, sys.stdout)
        gate.stop()
        unmount(options.mount)

    threading.Thread(target=serve, daemon=True).start()
    mfusepy.FUSE(
        operations,
        str(options.mount),
        foreground=True,
        fsname="memqual",
        **_options(owner.st_uid),
    )
    os._exit(0)


def _options(uid: int) -> dict[str, object]:
    caches: dict[str, object] = {"attr_timeout": 0, "entry_timeout": 0, "negative_timeout": 0}
    return {"use_ino": True, **caches, **({"allow_other": True} if _may_share(uid) else {})}


def _may_share(uid: int) -> bool:
    """Whether this user may let others in: root, or where the machine's owner says so."""
    if uid == 0:
        return True
    try:
        return "user_allow_other" in Path("/etc/fuse.conf").read_text().split()
    except OSError:
        return False


if __name__ == "__main__":
    main()
