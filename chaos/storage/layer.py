"""One storage layer as its owner holds it: started, commanded, taken away (`chaos.storage`)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from chaos.errors import FaultNotPossible
from chaos.storage.gate import Fate
from chaos.storage.mounts import unmount
from chaos.storage.protocol import Command, Reply, Verb

__all__ = ["PowerLoss", "StorageLayer"]

_START_SECONDS = 10.0
_LOOK_SECONDS = 0.02
_END_SECONDS = 5.0
_RELEASE_SECONDS = 5.0
_FAULT = "storage"
_DEVICE = Path("/dev/fuse")
_CANARY = b"memqual canary\n"
_SOURCES = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class PowerLoss:
    """What a loss of power did.

    Attributes:
        dropped_writes: Writes and truncations that were taken back.
        dropped_bytes: Bytes of them, in whole blocks.
        dropped_names: Creations, renames and removals that were taken back.
        unsynced_gone: A file that was written through the mount and not synced is gone.
        synced_there: Another one that was synced is there, whole.
    """

    dropped_writes: int
    dropped_bytes: int
    dropped_names: int
    unsynced_gone: bool
    synced_there: bool


class StorageLayer:
    """A volume on this machine whose power can fail and whose room can end.

    Args:
        folder: Empty folder; the volume is `mount` in it.
        log: File to which the process's output is added.
        marks: Further environment, by which gc knows whose the process is.

    Raises:
        FaultNotPossible: There is no FUSE here, or the volume cannot be mounted.
    """

    def __init__(
        self, folder: Path, log: Path, marks: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        if not _DEVICE.exists():
            raise FaultNotPossible(_FAULT, f"{_DEVICE} is not here")
        if not os.access(_DEVICE, os.R_OK | os.W_OK):
            raise FaultNotPossible(_FAULT, f"{_DEVICE} cannot be opened")
        self.mount = folder / "mount"
        contents = folder / "contents"
        for each in (self.mount, contents):
            each.mkdir(parents=True)
        self._asking = threading.Lock()
        self._log = log
        arguments = [sys.executable, "-m", "chaos.storage", str(contents), str(self.mount)]
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(_SOURCES), **marks},
                start_new_session=True,
                text=True,
            )
        self._await_mount()

    def _await_mount(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not os.path.ismount(self.mount):
            ended = self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                self.close()
                words = self._log.read_text(errors="replace").strip().splitlines()[-1:]
                raise FaultNotPossible(
                    _FAULT, f"it cannot be mounted: {' '.join(words) or 'it did not say why'}"
                )
            time.sleep(_LOOK_SECONDS)

    @property
    def pid(self) -> int:
        """Id of its process."""
        return self._process.pid

    def status(self) -> Reply:
        """How many operations there were, how many files are open, what is held."""
        return self._ask(Command(verb=Verb.STATUS))

    def lose_power(self) -> PowerLoss:
        """Takes back what was not synced; nobody may use the volume.

        A file that was not synced and another one that was go through the mount beside whatever
        the volume's user had: they prove that the mechanism works where that user lost nothing.

        Raises:
            FaultNotPossible: Somebody still has files open.
        """
        unsynced, synced = self.mount / ".memqual-unsynced", self.mount / ".memqual-synced"
        unsynced.write_bytes(_CANARY)
        with synced.open("wb") as file:
            file.write(_CANARY)
            file.flush()
            os.fsync(file.fileno())
        reply = self._ask(Command(verb=Verb.LOSE_POWER, seconds=_RELEASE_SECONDS))
        there = synced.exists() and synced.read_bytes() == _CANARY
        gone = not unsynced.exists()
        synced.unlink(missing_ok=True)
        unsynced.unlink(missing_ok=True)
        self._sync_root()
        # Less the canary itself: one write, one block, one name.
        return PowerLoss(
            dropped_writes=max(reply.dropped_writes - 1, 0),
            dropped_bytes=max(reply.dropped_bytes - len(_CANARY), 0),
            dropped_names=max(reply.dropped_names - 1, 0),
            unsynced_gone=gone,
            synced_there=there,
        )

    def fill(self, after: int = 0, *, everything: bool = False) -> None:
        """No room any more, once so many operations that need some have passed.

        Args:
            after: How many still find room.
            everything: Writes within a file need room, too, as where nothing is written in place.
        """
        self._ask(Command(verb=Verb.FILL, after=after, everything=everything))

    def lift(self) -> int:
        """There is room again; returns how many operations found none."""
        return self._ask(Command(verb=Verb.LIFT)).refused

    def hold(self, after: int, *, writes_only: bool = False) -> None:
        """The operation after so many others stands still, once."""
        self._ask(Command(verb=Verb.HOLD, after=after, writes_only=writes_only))

    def await_held(self, seconds: float) -> Reply:
        """Waits for the held operation; `held` is empty when none came in time."""
        return self._ask(Command(verb=Verb.AWAIT_HELD, seconds=seconds))

    def release(self, fate: Fate) -> None:
        """Lets the held operation go on, and holds none any more."""
        self._ask(Command(verb=Verb.RELEASE, fate=fate))

    def snapshot(self) -> int:
        """Copies the volume as it is now, in place of the copy before; returns bytes."""
        return self._ask(Command(verb=Verb.SNAPSHOT)).content_bytes

    def restore(self) -> Reply:
        """Puts the copy in the volume's place; nobody may use it. Raises without a copy."""
        return self._ask(Command(verb=Verb.RESTORE))

    def wipe(self) -> None:
        """Empties the volume; nobody may use it."""
        self._ask(Command(verb=Verb.WIPE))

    def close(self) -> None:
        """Ends process and mount; may be called again."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with contextlib.suppress(OSError):  # It is gone already.
                self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_SECONDS)
        if os.path.ismount(self.mount) or not _is_readable(self.mount):
            unmount(self.mount)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _sync_root(self) -> None:
        folder = os.open(self.mount, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _ask(self, command: Command) -> Reply:
        """One command and its answer.

        Raises:
            FaultNotPossible: It was refused, or the process is gone.
        """
        with self._asking:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None
            assert stdout is not None
            try:
                stdin.write(command.model_dump_json() + "\n")
                stdin.flush()
                line = stdout.readline()
            except (OSError, ValueError) as error:
                raise FaultNotPossible(_FAULT, f"its process is gone: {error}") from error
        if not line:
            raise FaultNotPossible(_FAULT, "its process has ended; see its log")
        reply = Reply.model_validate_json(line)
        if reply.error:
            raise FaultNotPossible(_FAULT, f"{command.verb.value}: {reply.error}")
        return reply


def _is_readable(folder: Path) -> bool:
    """Whether a folder can be looked at: the mount of a dead process cannot."""
    try:
        folder.stat()
    except OSError:
        return False
    return True
