"""What plays on the memory's volume share: its layer, what is acknowledged, what is asked again."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.errors import FaultNotPossible
from chaos.storage.layer import StorageLayer
from orchestrator.plan import Member
from orchestrator.suites.continuity.plays.asking import asking, granted, label
from orchestrator.suites.continuity.specs import spec_of
from orchestrator.suites.continuity.stage import Stage

__all__ = ["acknowledge", "ask_again", "layer_of"]


def layer_of(stage: Stage) -> StorageLayer:
    """The layer under the memory's volume.

    Raises:
        FaultNotPossible: There is none; a case that needs one is N/R before.
    """
    slot = stage.context.stack.storage
    if slot.layer is None:
        raise FaultNotPossible("storage", slot.missing)
    return slot.layer


def acknowledge(stage: Stage, member: Member, *, complete: bool, call: str = "0") -> None:
    """One operation is granted and, if wanted, completed; the memory has said so."""
    held = granted(stage, member, name=f"first-{call}", spec=spec_of(member, call))
    if held is not None and complete:
        held.record()


def ask_again(stage: Stage, members: Iterable[Member], calls: Iterable[str] = ("0",)) -> None:
    """A new life asks about what was acknowledged."""
    wanted = tuple(calls)
    for member in members:
        for call in wanted:
            label(stage, member, f"again-{call}")
            asking(stage, member, f"again-{call}").begin(spec_of(member, call))
