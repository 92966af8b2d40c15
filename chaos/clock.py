"""Sets a service's wall clock through libfaketime, and proves on this machine that it works.

libfaketime stands before the C library of a service and reads a timestamp file at every look at the
clock. Its relative form ("+121.500000000": seconds, fractions allowed, either sign) moves the wall
clock alone; FAKETIME_DONT_FAKE_MONOTONIC keeps the monotonic clock, and with it every timeout, as
it is. FAKETIME_NO_CACHE makes a jump show at the next look instead of up to ten seconds later.

Where two threads look at once, libfaketime 3.0.1 can find the name of its file empty, since both
print it into one buffer: it then takes the next file of its list, and without one the real time, a
jump that nobody asked for. So the same offset stands in a second file, which lies where it looks
next: in containers under a name that it never prints, for processes in their home folder.
"""

import importlib.util
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from chaos.errors import ClockError

__all__ = [
    "FALLBACK_FILE",
    "FALLBACK_TARGET",
    "OFFSET_MAX_NS",
    "TIMESTAMP_FILE",
    "clock_environment",
    "read_offset_ns",
    "remove_shared_memory",
    "shared_object",
    "write_offset_ns",
]

# Within a service's clock folder; compose.yaml's FAKETIME_TIMESTAMP_FILE names it, too.
TIMESTAMP_FILE = "timestamp"
# Beside it: the second file, and where libfaketime looks for it in a container.
FALLBACK_FILE = ".faketimerc"
FALLBACK_TARGET = "/etc/faketimerc"
LIBRARY = Path("vendor", "libfaketime", "src", "libfaketime.so.1")
NANOSECONDS_PER_SECOND = 1_000_000_000
# A century: beyond it the number no longer fits what libfaketime parses exactly (a double).
OFFSET_MAX_NS = 100 * 365 * 86_400 * NANOSECONDS_PER_SECOND
READABLE_BY_ALL = 0o644
SHARED_MEMORY_FOLDER = Path("/dev/shm")


def shared_object() -> Path | None:
    """The libfaketime of this installation; None where there is none (macOS, Windows, arm64)."""
    found = importlib.util.find_spec("libfaketime")
    if found is None or found.origin is None:
        return None
    library = Path(found.origin).parent / LIBRARY
    return library if library.is_file() else None


def clock_environment(library: str, timestamp_file: str) -> Mapping[str, str]:
    """Variables with which a process's clock can be set.

    Args:
        library: path of the shared object, as the process sees it.
        timestamp_file: path of the timestamp file, as the process sees it.
    """
    return {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": timestamp_file,
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Its own mending of monotonic waits makes a busy loop of every one of them: threads that
        # wait for an interpreter's lock then take turns every few hundred milliseconds.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }


def write_offset_ns(folder: Path, offset_ns: int) -> None:
    """Sets a service's wall clock to the real time plus an offset, from its next look on.

    The file is replaced as a whole and is readable by every user from its first moment: a look that
    found none, or none that it may read, would see the real time, a jump that nobody asked for.

    Args:
        folder: the service's clock folder on this machine.
        offset_ns: nanoseconds to add; 0: the real time.

    Raises:
        ClockError: beyond a century, or the folder cannot be written to.
    """
    if abs(offset_ns) > OFFSET_MAX_NS:
        raise ClockError(f"an offset of {offset_ns} ns is beyond a century")
    sign = "-" if offset_ns < 0 else "+"
    seconds, nanoseconds = divmod(abs(offset_ns), NANOSECONDS_PER_SECOND)
    text = f"{sign}{seconds:012d}.{nanoseconds:09d}\n"
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{TIMESTAMP_FILE}.", dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
            Path(name).chmod(READABLE_BY_ALL)
            Path(name).replace(folder / TIMESTAMP_FILE)
            _overwrite(folder / FALLBACK_FILE, text.encode("ascii"))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ClockError(f"the clock file in {folder} cannot be written: {error}") from error


def _overwrite(path: Path, content: bytes) -> None:
    """Write a file that is mounted by itself: in place, in one piece of always the same length."""
    if not path.exists():
        path.write_bytes(content)
        path.chmod(READABLE_BY_ALL)
        return
    with path.open("r+b", buffering=0) as file:
        file.write(content)


def read_offset_ns(folder: Path) -> int:
    """The offset that a service's clock is set to.

    Raises:
        ClockError: there is no timestamp file, or it holds no relative offset.
    """
    try:
        text = (folder / TIMESTAMP_FILE).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ClockError(f"the clock file in {folder} cannot be read: {error}") from error
    sign, number = text[:1], text[1:]
    seconds, _, fraction = number.partition(".")
    if sign not in ("+", "-") or not seconds.isdecimal() or not (fraction or "0").isdecimal():
        raise ClockError(f"the clock file in {folder} holds no relative offset: {text!r}")
    nanoseconds = int(seconds) * NANOSECONDS_PER_SECOND + int(f"{fraction:0<9}"[:9])
    return -nanoseconds if sign == "-" else nanoseconds


def remove_shared_memory(pid: int) -> list[Path]:
    """Removes what libfaketime of a killed process left in shared memory; returns what was there.

    A container takes its shared memory with it; a process of this machine does not when it is
    killed. Call it only for a process that has ended.
    """
    names = (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}")
    left = [SHARED_MEMORY_FOLDER / name for name in names]
    removed = [path for path in left if path.exists()]
    for path in removed:
        path.unlink(missing_ok=True)
    return removed
