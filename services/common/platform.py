"""The only module with calls that one operating system has and another lacks.

The process runtime runs on Linux, macOS and Windows; everything else in memqual is portable.
psutil is imported where it is used, on Windows only: the images of the services do not carry it.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Literal

__all__ = [
    "KILLED_EXIT_CODE",
    "atomic_write_bytes",
    "fsync_dir",
    "interrupt_process",
    "kill_group",
    "kill_process",
    "on_stop_signal",
    "process_alive",
    "resume_process",
    "spawn_process",
    "suspend_process",
    "terminate_process",
]

# What Popen.returncode shows of a process that was killed hard: minus SIGKILL, or the code that
# TerminateProcess is given.
KILLED_EXIT_CODE = 1 if sys.platform == "win32" else -9


def fsync_dir(path: Path) -> None:
    """Syncs a folder's entries; nothing on Windows, which has no such call and journals them."""
    if sys.platform != "win32":
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Replaces a file so that a reader, or a crash, sees the old or the new bytes and no mixture.

    Raises:
        OSError: the folder cannot be written to; the old file is untouched.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    fsync_dir(path.parent)


def spawn_process(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    output: IO[bytes] | int,
    errors: IO[bytes] | int,
) -> subprocess.Popen[bytes]:
    """Starts a process that leads its own group: Ctrl-C at the parent's terminal does not reach it.

    Raises:
        OSError: it cannot be started.
    """
    if sys.platform == "win32":
        new_session, flags = False, subprocess.CREATE_NEW_PROCESS_GROUP
    else:
        new_session, flags = True, 0
    return subprocess.Popen(
        list(arguments),
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        start_new_session=new_session,
        creationflags=flags,
    )


def kill_process(pid: int) -> None:
    """Ends one process at once, without its knowledge; one that is gone already is no error."""
    if sys.platform == "win32":
        _on_windows(pid, "kill")
    else:
        _send(pid, signal.SIGKILL)


def terminate_process(pid: int) -> None:
    """Asks one process to end (SIGTERM); Windows has no such request and ends it at once."""
    if sys.platform == "win32":
        _on_windows(pid, "kill")
    else:
        _send(pid, signal.SIGTERM)


def interrupt_process(pid: int) -> None:
    """Sends what Ctrl-C (on Windows: Ctrl-Break) sends to one process or its group's leader."""
    if sys.platform == "win32":
        os.kill(pid, signal.CTRL_BREAK_EVENT)
    else:
        _send(pid, signal.SIGINT)


def suspend_process(pid: int) -> None:
    """Stops a process where it is, without its knowledge (SIGSTOP)."""
    if sys.platform == "win32":
        _on_windows(pid, "suspend")
    else:
        _send(pid, signal.SIGSTOP)


def resume_process(pid: int) -> None:
    """Lets a suspended process go on (SIGCONT)."""
    if sys.platform == "win32":
        _on_windows(pid, "resume")
    else:
        _send(pid, signal.SIGCONT)


def kill_group(pid: int) -> None:
    """Ends at once a process that `spawn_process` started and what that one started itself."""
    if sys.platform == "win32":
        import psutil  # noqa: PLC0415  # needed on Windows only; the images do not carry it

        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(pid).children(recursive=True):
                kill_process(child.pid)
        kill_process(pid)
    else:
        _check_pid(pid)
        # macOS answers EPERM for a group whose members are all zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def process_alive(pid: int) -> bool:
    """True while a process with this id exists, a zombie that nobody waited for included."""
    _check_pid(pid)
    if sys.platform == "win32":
        import psutil  # noqa: PLC0415  # needed on Windows only; the images do not carry it

        alive = psutil.pid_exists(pid)
    else:
        try:
            os.kill(pid, 0)
            alive = True
        except ProcessLookupError:
            alive = False
        except PermissionError:
            alive = True
    return alive


def on_stop_signal(callback: Callable[[], None]) -> None:
    """Calls back on each request to stop (SIGTERM, SIGINT; on Windows Ctrl-C and Ctrl-Break).

    Must be called from the main thread. The callback runs in it, between two bytecodes: it may set
    an event and nothing slower.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        callback()

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)
    if sys.platform == "win32":
        signal.signal(signal.SIGBREAK, handle)


def _check_pid(pid: int) -> None:
    # Zero and negative numbers address groups, among them this process's own.
    if pid <= 0:
        raise ValueError("a process id is positive")


def _send(pid: int, number: signal.Signals) -> None:
    _check_pid(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _on_windows(pid: int, action: Literal["kill", "suspend", "resume"]) -> None:
    import psutil  # noqa: PLC0415  # needed on Windows only; the images do not carry it

    with contextlib.suppress(psutil.NoSuchProcess):
        getattr(psutil.Process(pid), action)()
