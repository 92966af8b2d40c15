"""The layer under the memory's volume whose power can fail (DESIGN §6), as a stack's part.

Where the machine has none, the stack has a plain volume and tells why: what needs the layer is N/R.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import structlog

from chaos.errors import FaultNotPossible
from chaos.storage.gate import Fate
from chaos.storage.layer import StorageLayer
from orchestrator.runtimes.process_state import StateFolder, marks_of

__all__ = ["StorageSlot", "lacking_storage"]

FUSE_NEED = "fuse"
"""As `families.Need` calls it."""

_PLAIN = "this stack's memory has a plain volume"


@dataclass
class StorageSlot:
    """Where a stack keeps its layer.

    Attributes:
        layer: The layer; None without one.
        missing: Why there is none; empty when there is one.
    """

    layer: StorageLayer | None = None
    missing: str = _PLAIN

    def open(self, state: StateFolder, log_folder: Path) -> None:
        """Mounts the layer in a stack's state folder, or notes why it cannot be."""
        log_folder.mkdir(parents=True, exist_ok=True)
        try:
            self.layer = StorageLayer(
                state.path / "storage", log_folder / "storage.log", marks_of(state.record)
            )
        except FaultNotPossible as error:
            self.missing = error.reason
            structlog.get_logger(__name__).warning("no_storage_layer", cause=error.reason)
        else:
            self.missing = ""

    def give_up(self, why: str) -> None:
        """The layer is there and is of no use."""
        self.close()
        self.missing = why

    def let_go(self) -> None:
        """Nothing stands still on it any more, so that its users can end."""
        if self.layer is not None:
            with contextlib.suppress(FaultNotPossible):  # Its process is gone.
                self.layer.release(Fate.REFUSE)

    def close(self) -> None:
        """Takes the layer away; its user must be gone. May be called again."""
        layer, self.layer = self.layer, None
        if layer is not None:
            layer.close()


def lacking_storage(slot: StorageSlot) -> Mapping[str, str]:
    """What a stack lacks of what a case may need of its storage, and why."""
    return MappingProxyType({FUSE_NEED: slot.missing} if slot.missing else {})
