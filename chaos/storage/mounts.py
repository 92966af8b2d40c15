"""Taking mounts away again, also those whose process has died (Linux only; nothing elsewhere)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["mounts_below", "unmount"]

_MOUNTS = Path("/proc/self/mountinfo")
_TARGET_FIELD = 4
_SECONDS = 10.0
_ESCAPED = re.compile(r"\\([0-7]{3})")


def mounts_below(folder: Path) -> tuple[Path, ...]:
    """What is mounted in a folder or below it, the deepest first; nothing where none is told."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ()
    # A path of a dead mount cannot be resolved, only compared.
    beneath = folder.resolve()
    targets = {Path(_plain(line.split()[_TARGET_FIELD])) for line in lines}
    found = [target for target in targets if target == beneath or beneath in target.parents]
    return tuple(sorted(found, reverse=True))


def unmount(target: Path) -> bool:
    """Takes a mount out of the tree at once, whoever still uses it; False when it is still there.

    It ends when its last user goes.
    """
    for program in (("fusermount", "-u", "-z"), ("fusermount3", "-u", "-z"), ("umount", "-l")):
        if shutil.which(program[0]) is None:
            continue
        done = subprocess.run(
            [*program, str(target)], capture_output=True, timeout=_SECONDS, check=False
        )
        if done.returncode == 0:
            return True
    return target not in mounts_below(target.parent)


def _plain(text: str) -> str:
    """Undoes mountinfo's octal escapes."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
