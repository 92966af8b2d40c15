"""Carries out what the storage process is told (`chaos.storage`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol, TextIO

from chaos.storage.gate import Gate
from chaos.storage.protocol import Command, Reply, Verb
from chaos.storage.volume import Image, Volume

__all__ = ["Commands", "Users"]

_LOOK_SECONDS = 0.01


class Users(Protocol):
    """Whoever has files of the volume open."""

    @property
    def open_files(self) -> int:
        """How many."""


class Commands:
    """See the module.

    Args:
        volume: The volume.
        users: Who has files open.
        gate: What operations pass.
        lock: Held around every use of the volume.
    """

    def __init__(self, volume: Volume, users: Users, gate: Gate, lock: threading.RLock) -> None:
        self._volume = volume
        self._users = users
        self._gate = gate
        self._lock = lock
        self._image: Image | None = None
        self._do: Mapping[Verb, Callable[[Command], Reply]] = MappingProxyType(
            {
                Verb.STATUS: lambda command: Reply(),
                Verb.LOSE_POWER: self._lose_power,
                Verb.FILL: self._fill,
                Verb.LIFT: self._lift,
                Verb.HOLD: self._hold,
                Verb.AWAIT_HELD: self._await_held,
                Verb.RELEASE: self._release,
                Verb.SNAPSHOT: self._snapshot,
                Verb.RESTORE: self._restore,
                Verb.WIPE: self._wipe,
            }
        )

    def serve(self, commands: TextIO, replies: TextIO) -> None:
        """Answers every line until there are no more."""
        for line in commands:
            try:
                command = Command.model_validate_json(line)
                reply = self.answer(command)
            except (ValueError, OSError) as error:
                reply = Reply(error=f"{type(error).__name__}: {error}")
            replies.write(reply.model_dump_json() + "\n")
            replies.flush()

    def answer(self, command: Command) -> Reply:
        """Carries one command out."""
        reply = self._do[command.verb](command)
        held = self._gate.held
        return reply.model_copy(
            update={
                "operations": self._gate.operations,
                "open_files": self._users.open_files,
                "refused": self._gate.refused,
                "held": "" if held is None else held.what,
                "held_offset": 0 if held is None else held.offset,
                "held_bytes": 0 if held is None else held.size,
            }
        )

    def _lose_power(self, command: Command) -> Reply:
        # What a dead process had mapped is written when its last handle goes.
        deadline = time.monotonic() + command.seconds
        while self._users.open_files and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        if self._users.open_files:
            return Reply(error=f"{self._users.open_files} files are still open")
        with self._lock:
            dropped = self._volume.lose_power()
        return Reply(
            dropped_writes=dropped.writes,
            dropped_bytes=dropped.written_bytes,
            dropped_names=dropped.names,
        )

    def _fill(self, command: Command) -> Reply:
        self._gate.fill(command.after, everything=command.everything)
        return Reply()

    def _lift(self, command: Command) -> Reply:
        self._gate.lift()
        return Reply()

    def _hold(self, command: Command) -> Reply:
        self._gate.hold(command.after, writes_only=command.writes_only)
        return Reply()

    def _await_held(self, command: Command) -> Reply:
        self._gate.await_held(command.seconds)
        return Reply()

    def _release(self, command: Command) -> Reply:
        self._gate.release(command.fate)
        return Reply()

    def _snapshot(self, command: Command) -> Reply:
        with self._lock:
            self._image = self._volume.image()
        return Reply(content_bytes=self._image.content_bytes)

    def _restore(self, command: Command) -> Reply:
        if self._image is None:
            return Reply(error="there is no snapshot")
        with self._lock:
            differs = self._volume.image() != self._image
            self._volume.restore(self._image)
        return Reply(content_bytes=self._image.content_bytes, differs=differs)

    def _wipe(self, command: Command) -> Reply:
        with self._lock:
            self._volume.restore(Image(()))
        return Reply()
