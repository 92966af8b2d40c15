"""What the storage process is told and what it answers: one JSON object a line."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from chaos.receipt_base import FrozenModel
from chaos.storage.gate import Fate

__all__ = ["Command", "Reply", "Verb"]


class Verb(StrEnum):
    """What can be asked for."""

    STATUS = "status"
    LOSE_POWER = "lose_power"
    FILL = "fill"
    LIFT = "lift"
    HOLD = "hold"
    AWAIT_HELD = "await_held"
    RELEASE = "release"
    SNAPSHOT = "snapshot"
    RESTORE = "restore"
    WIPE = "wipe"


class Command(FrozenModel):
    """One line to the storage process.

    Attributes:
        verb: What to do.
        after: FILL, HOLD: operations that pass before.
        everything: FILL: writes within a file need room, too.
        writes_only: HOLD: only writes of content count.
        seconds: AWAIT_HELD, LOSE_POWER: how long to wait at most.
        fate: RELEASE: what becomes of the held operation.
    """

    verb: Verb
    after: int = Field(default=0, ge=0)
    everything: bool = False
    writes_only: bool = False
    seconds: float = Field(default=0.0, ge=0.0)
    fate: Fate = Fate.APPLY


class Reply(FrozenModel):
    """One line from the storage process.

    Attributes:
        error: Why it could not be done; empty when it was.
        operations: Operations on the volume so far.
        open_files: Files that are open now.
        refused: Operations that found no room since the last FILL.
        held: The operation that stands still; empty when none does.
        held_offset: Where its write begins, bytes.
        held_bytes: Bytes of its write.
        dropped_writes: LOSE_POWER: writes and truncations that were taken back.
        dropped_bytes: LOSE_POWER: bytes of them, in whole blocks.
        dropped_names: LOSE_POWER: names that changed back.
        content_bytes: SNAPSHOT, RESTORE: bytes of all files of the copy.
        differs: RESTORE: the volume was another one than the copy.
    """

    error: str = ""
    operations: int = 0
    open_files: int = 0
    refused: int = 0
    held: str = ""
    held_offset: int = 0
    held_bytes: int = 0
    dropped_writes: int = 0
    dropped_bytes: int = 0
    dropped_names: int = 0
    content_bytes: int = 0
    differs: bool = False
